"""What a log alone tells of its machine."""

import numpy as np
import pytest

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.infer import infer_machine
from queuesmith.cluster.levels import levels, peaks
from queuesmith.cluster.sources import machine_from
from queuesmith.cluster.toml import write_machine
from queuesmith.workload import Workload
from queuesmith.workload.files import read
from queuesmith.workload.sacct import parse_sacct
from queuesmith.workload.swf import parse_swf

HOUR, DAY = 3600, 86_400
NAMES = (
    "JobID|User|Account|Partition|QOS|Submit|Start|Elapsed|Timelimit|State|NNodes|NCPUS|ReqMem"
    "|ReqGRES|Constraints|NodeList"
)


def log(*rows):
    """Read rows of user, partition, submit, start, hours, nodes, cores, node list and the rest."""
    lines = [NAMES]
    for number, row in enumerate(rows, 1):
        user, partition, submit, start, hours, nodes, cores, where, *rest = row
        memory, gres, constraint = [*rest, *("", "", "")[len(rest) :]]
        lines.append(
            f"{number}|{user}|bio|{partition}|normal|{1000 + submit}|{1000 + start}|{hours}:00:00"
            f"|48:00:00|COMPLETED|{nodes}|{cores}|{memory}|{gres}|{constraint}|{where}"
        )
    return parse_sacct("\n".join(lines).encode(), "made.sacct")


def test_levels_rise_with_starts_and_fall_with_ends():
    line, submit = np.array([0, 0, 1]), np.array([0, 0, 5])
    start, end = np.array([0, 10, 6]), np.array([10, 20, 9])
    found = levels(line, submit, start, end, np.array([4, 3, 7]))
    assert found.line.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.time.tolist() == [0, 10, 20, 5, 6, 9]
    assert found.lasts.tolist() == [10, 10, 0, 1, 3, 0]
    assert found.held.tolist() == [4, 3, 0, 0, 7, 0]
    assert found.waiting.tolist() == [1, 0, 0, 1, 0, 0]
    assert peaks(found, 3).tolist() == [4, 7, 0]


def test_nodes_are_as_large_as_what_ran_on_them_at_once():
    machine = infer_machine(
        log(
            ("ann", "day", 0, 0, 2, 2, 16, "n[1-2]", "1000Mc"),
            ("bob", "day", 0, 0, 2, 1, 4, "n1", "6000Mn"),
            ("bob", "day", 0, 0, 2, 1, 4, "n2"),
            ("bob", "gpu", 0, 0, 2, 1, 3, "g1", "", "gpu:2"),
            ("bob", "day", 0, 2 * HOUR - 2, 1, 1, 12, "n1"),  # Slurm's records overlap a little
            ("bob", "day", 0, 0, 2, 1, 5, "n3"),
        )
    )
    found = {k.nodes: (k.cores, k.memory, k.gpus) for k in machine.kinds}
    # n3 was never full, but is called as n1 and n2 are.
    assert found == {("g1",): (3, None, 2), ("n1", "n2", "n3"): (12, 14_000, 0)}
    day = machine.partition("day")
    assert (day.nodes, day.default, day.max_nodes) == (("n1", "n2", "n3"), True, 2)
    assert day.max_time == 2 * DAY
    assert {"nodes", "memory", "gpus", "partitions", "accounts"} <= set(machine.inferred)


def test_a_job_of_a_second_had_room_on_its_node():
    jobs = log(
        ("ann", "day", 0, 0, 2, 1, 4, "n1", "1000Mn"),
        ("bob", "day", 0, 3 * HOUR, 0, 1, 16, "n1", "9000Mn"),
    )
    machine = infer_machine(jobs)
    assert (machine.kinds[0].cores, machine.kinds[0].memory) == (16, 9000)
    assert len(fitting(jobs, machine)) == 2


def test_nodes_have_the_features_that_jobs_on_them_asked_for():
    machine = infer_machine(
        log(
            ("ann", "day", 0, 0, 2, 1, 4, "n1", "", "", "ib&new"),
            ("ann", "day", 0, 0, 2, 1, 4, "n2", "", "", "old*1"),
        )
    )
    assert [k.features for k in machine.kinds] == [("ib", "new"), ()]


def test_a_limit_is_what_several_reached_while_they_waited_and_none_exceeded():
    rows = [
        (user, "day", 0, HOUR * 4 * (number // 2), 4, 1, 1, f"n{place}")
        for place, user in enumerate(("ann", "bob", "eve", "joe"))
        for number in range(6)
    ]
    machine = infer_machine(log(*rows))
    limits = machine.qos[0].limits.user
    assert limits.jobs == 2
    assert "qos normal: jobs of a user" in machine.inferred


def test_what_nobody_waited_at_is_no_limit():
    rows = [(user, "day", 0, 0, 4, 1, 1, "n1") for user in ("ann", "bob", "eve") for _ in (1, 2)]
    assert infer_machine(log(*rows)).qos[0].limits.user.jobs is None


def test_gaps_in_which_jobs_waited_are_outages():
    machine = infer_machine(
        log(
            ("ann", "day", 0, 0, 2, 1, 4, "n1"),
            ("ann", "day", HOUR, 8 * HOUR, 2, 1, 4, "n1"),
            ("ann", "day", 20 * HOUR, 20 * HOUR, 2, 1, 4, "n1"),  # nobody waited before
        )
    )
    assert [(o.begin - 1000, o.end - 1000) for o in machine.outages] == [(2 * HOUR, 8 * HOUR)]
    assert machine.outages[0].nodes == ()


def test_a_node_without_jobs_for_a_day_while_others_wait_is_away():
    rows = [("ann", "day", 0, hour * HOUR, 2, 1, 4, "n1") for hour in range(0, 80, 2)]
    rows += [("bob", "day", 0, 0, 2, 1, 4, "n2"), ("bob", "day", 0, 70 * HOUR, 2, 1, 4, "n2")]
    machine = infer_machine(log(*rows))
    away = [(o.nodes, o.begin - 1000, o.end - 1000) for o in machine.outages]
    assert away == [(("n2",), 2 * HOUR, 70 * HOUR)]


def test_without_node_lists_the_header_or_the_widths_tell_the_size_of_nodes():
    line = "{} 0 0 100 {} -1 -1 {} 200 -1 1 1 1 1 {} 1 -1 -1\n"
    body = "".join(line.format(i, w, w, i % 2) for i, w in enumerate((8, 16, 24, 64), 1))
    stated = infer_machine(parse_swf(b"; MaxProcs: 64\n; MaxNodes: 4\n" + body.encode(), "a.swf"))
    assert (len(stated.node_names), stated.kinds[0].cores) == (4, 16)
    common = infer_machine(parse_swf(b"; MaxProcs: 64\n" + body.encode(), "a.swf"))
    assert (len(common.node_names), common.kinds[0].cores) == (8, 8)
    assert [p.name for p in common.partitions] == ["1", "0"]  # the queues


def test_a_partition_that_never_exceeded_its_peak_while_jobs_waited_has_a_limit():
    count = 60
    start = np.arange(count) * HOUR
    jobs = Workload(
        np.zeros(2 * count),
        np.full(2 * count, HOUR),
        np.full(2 * count, 2 * HOUR),
        np.repeat([8, 50], count),
        extra={
            "real_start": np.tile(start, 2),
            "partition": np.repeat([0, 1], count),
        },
        labels={"partition": ("small", "large")},
        machine_cores=100,
    )
    machine = infer_machine(jobs)
    small = machine.partition("small")
    limits = {qos.name: qos.limits.group.cores for qos in machine.qos}
    assert limits[small.qos] == 8
    assert "cores of partition small" in machine.inferred


def test_a_log_that_tells_nothing_says_so():
    with pytest.raises(ClusterError, match="nothing can be inferred"):
        infer_machine(Workload([0], [1], [1], [1]))
    with pytest.raises(ClusterError, match="only be inferred from a log"):
        machine_from("infer")


@pytest.mark.data
def test_the_nodes_of_a_real_run_are_found_again(data):
    jobs = read(data / "slurm-runs" / "micro" / "sacct.out")
    found = machine_from("infer", log=jobs)
    real = machine_from(data / "slurm-runs" / "micro")
    assert sorted(found.node_names) == sorted(real.node_names)
    assert found.cores == real.cores == 120
    assert {n for k in found.kinds if k.gpus == 2 for n in k.nodes} == {"g1"}
    assert {n for k in found.kinds if (k.memory or 0) > 500_000 for n in k.nodes} == {"b1"}
    assert fitting(jobs, found) is jobs


@pytest.mark.data
def test_a_real_log_fits_the_machine_inferred_from_it(data, tmp_path):
    jobs = read(data / "sacct" / "phillips.sacct.gz", columns="xdmod")
    machine = machine_from("infer", log=jobs)
    assert (len(machine.node_names), machine.cores) == (46, 372)
    assert fitting(jobs, machine) is jobs
    write_machine(machine, tmp_path / "machine.toml")
    assert machine_from(tmp_path) == machine


def test_jobs_without_a_partition_or_a_start_are_no_reason_to_fail():
    nameless = Workload(
        [0, 5], [10, 10], [10, 10], [1, 2], extra={"real_start": np.array([0, 5])}, machine_cores=8
    )
    assert infer_machine(nameless).cores == 8
    unknown = Workload([0, 5], [10, 10], [10, 10], [1, 2], machine_cores=8)
    assert infer_machine(unknown).cores == 8
