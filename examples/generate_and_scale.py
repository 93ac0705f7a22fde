"""Make a log, scale it to a larger machine, and raise its load.

Shows: ``lublin``, ``write`` and ``read``, ``scale``, ``with_load``, ``describe``.
"""

import queuesmith as qs

log = qs.lublin(2_000, 128, load=0.7, users=40, seed=1, name="small")
qs.write(log, "small.swf.gz")
log = qs.read("small.swf.gz")

larger = qs.scale(log, from_cores=128, to_cores=320, seed=1).renamed("larger")
busier = larger.with_load(0.9, cores=320).renamed("busier")

for workload, cores in ((log, 128), (larger, 320), (busier, 320)):
    schedule = qs.simulate(workload, cores=cores, policy="fcfs+easy")
    hours = schedule.value("mean_wait") / 3600
    load = workload.load(cores)
    print(f"{workload.name:8}{len(workload):6,} jobs  {cores} cores  load {load:.2f}  ", end="")
    print(f"mean wait {hours:5.2f} h")

for what, value in busier.describe().rows()[:4]:
    print(f"{what:14}{value}")
