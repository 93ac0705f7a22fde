"""The long run: a real Slurm judges ``slurm(...)``, and a page tells what came out.

    python -m tests.lab.fidelity --out docs/results/fidelity.md

Three labs run the same jobs side by side: one as it is, two with one setting changed. Each is
replayed from its own configuration and accounting; what the changes do is foretold from the first
alone. Then real logs are replayed on a pool of cores and on the machine that is inferred from them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import NodeCluster, as_cluster
from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.sources import machine_from
from queuesmith.policy import Slurm, as_policy
from queuesmith.schedule import history
from queuesmith.schedule.fidelity import Fidelity, rank_correlation
from queuesmith.workload.files import read
from tests.lab import absent
from tests.lab.submissions import random_submissions, run_lab

#: Fixed before the first run; no rule was changed after its outcome was first looked at.
JOBS, WITHIN, SEED = 200, 150.0, 7
LONGEST = 3600.0
#: So many replays look at other instants.
DRAWS = 16
DATA = Path(os.environ.get("QUEUESMITH_DATA", Path(__file__).resolve().parents[3] / "shared"))
POOL = "fcfs+easy"


class Change(NamedTuple):
    """One setting that a lab has otherwise than the first."""

    name: str
    settings: dict[str, str]
    policy: str


CHANGES = (
    Change(
        "bf_interval",
        {"SchedulerParameters": "bf_interval=60,bf_resolution=10,bf_window=60"},
        "slurm(bf_interval=60)",
    ),
    Change("size", {"PriorityWeightJobSize": "50000"}, "slurm(PriorityWeightJobSize=50000)"),
)
#: Of the logs at hand those with a history, on machines of nodes like Slurm's.
LOGS = (
    "slurm-runs/micro/sacct.out",
    "sacct/phillips.sacct.gz",
    "traces/KTH-SP2-1996-2.1-cln.swf.gz",
    "traces/SDSC-SP2-1998-4.2-cln.swf.gz",
    "traces/CTC-SP2-1996-3.1-cln.swf.gz",
    "traces/LANL-CM5-1994-4.1-cln.swf.gz",
)
#: Exports of sacct with the columns of Open XDMoD and no header line.
WITHOUT_HEADER = ("sacct/phillips.sacct.gz",)


def run_labs(folder: Path) -> None:
    """Run all labs that have not been run yet, side by side."""
    submissions = random_submissions(JOBS, within=WITHIN, seed=SEED)
    todo = [
        (folder / name, settings)
        for name, settings in (("base", {}), *((c.name, c.settings) for c in CHANGES))
        if not (folder / name / "etc" / "jobs.sacct").exists()
    ]
    with ThreadPoolExecutor(max(len(todo), 1)) as pool:
        runs = [
            pool.submit(run_lab, place, submissions, settings=settings, longest=LONGEST)
            for place, settings in todo
        ]
        for run in runs:
            run.result()


def judged(folder: Path, policy: str = "slurm()") -> Fidelity:
    """Return how well a replay of a lab's accounting agrees with what its Slurm did."""
    machine = machine_from(folder)
    log = fitting(read(folder / "jobs.sacct"), machine)
    real = history(log, machine)
    assert real is not None
    return Fidelity(real, verify(simulate(log, machine, policy)))


def drawn(folder: Path, policy: str = "slurm()") -> Fidelity:
    """Return the same for the mean of several replays that look at other instants."""
    machine = machine_from(folder)
    log = fitting(read(folder / "jobs.sacct"), machine)
    real = history(log, machine)
    assert real is not None
    first = int(log.submit[0]) + (log.epoch or 0)
    chosen = as_policy(policy)
    assert isinstance(chosen, Slurm)
    policies = chosen.with_other_clocks(machine.settings, first, DRAWS)
    replayed, *others = (simulate(log, machine, each) for each in policies)
    return Fidelity(real, replayed, tuple(others))


def pooled(log: Workload, cores: int) -> Fidelity:
    """Return the same for a number of cores that knows no nodes."""
    cluster = Cluster(cores)
    fit = log.fitting(cores)
    real = history(fit, cluster)
    assert real is not None
    return Fidelity(real, simulate(fit, cluster, POOL))


# -- the page --------------------------------------------------------------------------------------


def lab_rows(folder: Path) -> Iterator[str]:
    """Yield the table of the labs."""
    yield "| run | jobs | really | replayed | off | rank correlation | a job's error | grade |"
    yield "|---|---|---|---|---|---|---|---|"
    base = folder / "base" / "etc"
    pool = pooled(read(base / "jobs.sacct"), machine_from(base).cores)
    yield _row(f"as it is, as a pool ({POOL})", pool)
    yield _row("as it is, `slurm()`", judged(base))
    for change in CHANGES:
        yield _row(f"`{change.policy[6:-1]}`, `slurm()`", judged(folder / change.name / "etc"))


def _row(name: str, found: Fidelity) -> str:
    off = "-" if found.error_percent is None else f"{found.error_percent:+.1f} %"
    rank = "-" if found.rank_correlation is None else f"{found.rank_correlation:.2f}"
    return (
        f"| {name} | {len(found.history)} | {found.mean_wait_history:,.0f} s | "
        f"{found.mean_wait_replayed:,.0f} s | {off} | {rank} | {found.mean_error:,.0f} s | "
        f"{found.grade} |"
    )


def draw_rows(folder: Path) -> Iterator[str]:
    """Yield how much of a job's wait hangs on the instants at which Slurm looked."""
    yield (
        "| run | replays among each other | one replay and reality | "
        f"mean of {DRAWS} and reality | off | a job's error |"
    )
    yield "|---|---|---|---|---|---|"
    for name in ("base", *(change.name for change in CHANGES)):
        found = drawn(folder / name / "etc")
        schedules = (found.replayed, *found.draws)
        ranks = [rank_correlation(a.wait, b.wait) or 0.0 for a, b in combinations(schedules, 2)]
        single = [rank_correlation(each.wait, found.history.wait) or 0.0 for each in schedules]
        yield (
            f"| {name} | {sum(ranks) / len(ranks):.2f} | {sum(single) / len(single):.2f} | "
            f"{found.rank_correlation:.2f} | {found.error_percent:+.1f} % | "
            f"{found.mean_error:,.0f} s |"
        )


def change_rows(folder: Path) -> Iterator[str]:
    """Yield the table of what one changed setting did, and what was foretold."""
    yield (
        "| changed | mean wait, really | foretold by one replay of the first run | foretold / real "
        f"| by the mean of {DRAWS} | foretold / real |"
    )
    yield "|---|---|---|---|---|---|"
    base = folder / "base" / "etc"
    before = drawn(base)
    for change in CHANGES:
        after = drawn(base, change.policy)
        tried = judged(folder / change.name / "etc")
        real = tried.mean_wait_history - before.mean_wait_history
        one = float(after.replayed.wait.mean() - before.replayed.wait.mean())
        mean = after.mean_wait_replayed - before.mean_wait_replayed
        yield (
            f"| `{change.policy[6:-1]}` | {real:+,.0f} s "
            f"({100 * real / before.mean_wait_history:+.0f} %) | {one:+,.0f} s | {one / real:.2f} "
            f"| {mean:+,.0f} s | {mean / real:.2f} |"
        )


def log_rows(data: Path) -> Iterator[str]:
    """Yield the table of real logs: the pool beside the machine that is inferred from each."""
    yield (
        f"| log | jobs | real mean wait | {POOL} on a pool | rank | `slurm()` on the inferred "
        "machine | rank |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in LOGS:
        if (data / name).exists():
            yield _log_row(name, data / name)


def _log_row(name: str, path: Path) -> str:
    began = time.process_time()
    log = read(path, columns="xdmod" if name in WITHOUT_HEADER else None)
    machine = machine_from("infer", log=log)
    plain = pooled(log, _pool_size(log, machine))
    try:
        fit = fitting(log, machine)
        real = history(fit, machine)
        assert real is not None
        inferred = _short(Fidelity(real, simulate(fit, machine, "slurm()")))
    except QueuesmithError as error:
        inferred = f"refused: {error} | -"
    row = (
        f"| {path.name} | {len(log):,} | {plain.mean_wait_history / 60:,.1f} min | "
        f"{_short(plain)} | {inferred} |"
    )
    print(f"{row} {time.process_time() - began:.0f} CPU s", file=sys.stderr, flush=True)
    return row


def _pool_size(log: Workload, machine: NodeCluster) -> int:
    """Return the cores that the log states, those of the inferred machine where it does not."""
    try:
        return as_cluster(log, None, None).cores
    except QueuesmithError:
        return machine.cores


def _short(found: Fidelity) -> str:
    off = "-" if found.error_percent is None else f"{found.error_percent:+.0f} %"
    rank = "-" if found.rank_correlation is None else f"{found.rank_correlation:.2f}"
    return f"{found.mean_wait_replayed / 60:,.1f} min ({off}) | {rank}"


def page(folder: Path, data: Path) -> str:
    """Return the page of results."""
    text = (Path(__file__).parent / "fidelity.md").read_text()
    tables = {
        "labs": lab_rows(folder),
        "draws": draw_rows(folder),
        "changes": change_rows(folder),
        "logs": log_rows(data),
    }
    for name, rows in tables.items():
        text = text.replace(f"{{{name}}}", "\n".join(rows))
    return text


def main(argv: list[str] | None = None) -> int:
    """Run what is still to be run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the page to write")
    parser.add_argument("--runs", type=Path, help="keep the runs here, and use those that are")
    options = parser.parse_args(argv)
    if (reason := absent()) is not None:
        print(reason, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="slurm-lab-") as temporary:
        folder = options.runs or Path(temporary)
        run_labs(folder)
        options.out.write_text(page(folder, DATA))
    return 0


if __name__ == "__main__":
    sys.exit(main())
