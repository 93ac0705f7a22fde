"""Each pass of a real backfill beside the rules of ``slurm(...)``, from the same state.

    python -m tests.lab.passes FOLDER

A whole run tells little of single rules: one start that is a second late changes all that follow.
So the rules are asked at each pass of Slurm's own backfill anew, with the jobs that really ran and
waited then. FOLDER is a lab that ran with ``SlurmctldDebug=debug`` and ``DebugFlags=Backfill``:
``etc`` has its configuration and accounting, ``state/slurmctld.log`` what it did.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from queuesmith.cluster.fitting import fitting
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.sources import machine_from
from queuesmith.policy import Slurm
from queuesmith.testing.twin_slurm import NodeTask, SlurmTwin
from queuesmith.workload.files import read

_LINE = re.compile(r"\[(\S+)\] (.*)")
_BEGIN, _END = "_attempt_backfill: beginning", "completed testing"
_TESTED = re.compile(r"test for JobId=(\d+) Prio=(\d+)")
_BACKFILLED = re.compile(r"Started JobId=(\d+) in \S+ on (\S+)")
_STARTED = re.compile(r"sched: Allocate JobId=(\d+) NodeList=(\S+) ")
_ENDED = re.compile(r"_job_complete: JobId=(\d+) done")


@dataclass
class Pass:
    """One pass of the backfill: which jobs were looked at, in this order, and which started."""

    instant: int
    tested: dict[int, int] = field(default_factory=dict)  # and their priorities
    started: set[int] = field(default_factory=set)


class Follower:
    """The state of a machine as a log tells it, and what the rules do with it."""

    def __init__(self, folder: Path) -> None:
        machine = machine_from(folder / "etc")
        self.log = fitting(read(folder / "etc" / "jobs.sacct"), machine)
        self.twin = SlurmTwin(self.log, machine, Slurm())
        self.place = {int(job): i for i, job in enumerate(self.log.id)}
        self.names = [machine.node_names[i] for i in self.twin.order]
        self.there: dict[int, NodeTask] = {}

    def begin(self, job: int, instant: int, nodes: str) -> None:
        """Let a job run where it really ran; light nodes are filled first."""
        weights = self.twin.nodes.weight
        chosen = [self.names.index(node) for node in expanded(nodes)]
        chosen.sort(key=lambda node: (int(weights[self.twin.order[node]]), node))
        task = NodeTask(self.place[job], start=instant)
        self.twin.hold(task, chosen, self.twin.free)
        self.twin.running.append(task)
        self.there[job] = task

    def end(self, job: int) -> None:
        """Let a job be gone."""
        task = self.there.pop(job)
        self.twin.release(task, self.twin.free)
        self.twin.running.remove(task)

    def would_start(self, each: Pass) -> set[int]:
        """Return the jobs that the rules start in a pass, and leave the state as it was."""
        twin = self.twin
        free, running = dict(twin.free), list(twin.running)
        for job, priority in each.tested.items():
            twin.waiting.append(NodeTask(self.place[job], priority=priority))
        twin.backfill_pass(each.instant)
        started = {int(self.log.id[t.place]) for t in twin.running if t not in running}
        twin.free, twin.running, twin.waiting = free, running, []
        return started


def passes(folder: Path) -> Iterator[tuple[Pass, set[int]]]:
    """Yield each pass of a log with the jobs that the rules would have started."""
    state, now = Follower(folder), None
    later: list[tuple[int, int, str]] = []
    for line in (folder / "state" / "slurmctld.log").read_text().splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        moment = datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp()
        instant, said = int(moment) - (state.log.epoch or 0), match[2]
        if _BEGIN in said:
            now, later = Pass(instant), []
        elif now is not None and (found := _TESTED.search(said)):
            now.tested[int(found[1])] = int(found[2])
        elif found := _BACKFILLED.search(said):
            later.append((int(found[1]), instant, found[2]))
        elif found := _STARTED.search(said):
            state.begin(int(found[1]), instant, found[2])
        elif found := _ENDED.search(said):
            state.end(int(found[1]))
        elif now is not None and _END in said:
            now.started = {job for job, _, _ in later}
            yield now, state.would_start(now)
            for job, begun, nodes in later:
                state.begin(job, begun, nodes)
            now = None


def main(argv: list[str]) -> int:
    """Print what differs, and how often the two agree."""
    count = same = real = both = only = 0
    for each, rules in passes(Path(argv[0])):
        count, same = count + 1, same + (rules == each.started)
        real, both = real + len(each.started), both + len(rules & each.started)
        only += len(rules - each.started)
        if rules != each.started:
            print(f"{each.instant} s: Slurm {sorted(each.started)}, the rules {sorted(rules)}")
    print(
        f"{count} passes, the same jobs start in {same}; Slurm starts {real}, of which the rules "
        f"start {both}, and {only} others"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
