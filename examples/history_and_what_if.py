"""Read Slurm accounting and ask what backfilling would have done.

Shows: a sacct text, what is left out of it, the schedule that really happened, a comparison.
"""

from pathlib import Path

import queuesmith as qs

SACCT = """\
JobID|User|Partition|Submit|Start|Elapsed|Timelimit|State|AllocCPUS
101|eve|day|2024-05-01T08:00:00|2024-05-01T08:00:00|02:00:00|03:00:00|COMPLETED|6
102|bob|day|2024-05-01T08:10:00|2024-05-01T10:00:00|01:00:00|01:00:00|COMPLETED|8
103|eve|day|2024-05-01T08:20:00|2024-05-01T11:00:00|00:30:00|01:00:00|COMPLETED|2
103.batch||day|2024-05-01T11:00:00|2024-05-01T11:00:00|00:30:00||COMPLETED|2
104|ann|day|2024-05-01T08:30:00|2024-05-01T11:00:00|00:45:00|02:00:00|FAILED|2
105|bob|day|2024-05-01T09:00:00|Unknown|00:00:00|02:00:00|CANCELLED by 12|0
"""

Path("may.sacct").write_text(SACCT, encoding="utf-8")
log = qs.read("may.sacct", timezone="Europe/Berlin")
for change in log.changes:
    print("note:", change)

comparison = qs.compare(
    log,
    cores=8,  # sacct does not tell the size of the machine
    policies=["fcfs", "fcfs+easy"],
    metrics=["mean_wait", "max_wait", "makespan"],
)
print(comparison)
real, easy = comparison.schedules[0], comparison.schedules[2]
for job, before, after in zip(log.id, real.wait, easy.wait, strict=True):
    print(f"job {job} waited {before // 60} min, with fcfs+easy {after // 60} min")
