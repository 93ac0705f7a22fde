"""A running cluster in one picture of text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from queuesmith.base.words import so_many
from queuesmith.cluster.hostlist import folded
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import away, walltime_left
from queuesmith.live.state import ClusterState

WIDTH = 40
#: So many lines of each list; what is more is counted.
MOST_LINES = 12


def picture(state: ClusterState) -> str:
    """Return the state as text for a terminal: load, partitions, who waits, what was not read."""
    parts = [
        _headline(state),
        _section("Partitions", _partitions(state)),
        _section("Waiting, by account", _accounts(state)),
        _section("First in the queue", _queue(state)),
        _section("Why jobs wait", _reasons(state)),
        _section("Nodes that are away", _outages(state)),
        _section("Not read", state.notes),
    ]
    return "\n\n".join(part for part in parts if part)


def span(seconds: float) -> str:
    """Return a span of time as people say it: ``45 s``, ``12 min``, ``3.5 h``, ``2.1 d``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86_400 else f"{seconds / 86_400:.1f} d"


def _section(title: str, lines: Iterable[str]) -> str:
    shown = list(lines)
    more = [f"... {len(shown) - MOST_LINES} more"] if len(shown) > MOST_LINES else []
    return (
        "\n".join([title, *(f"  {line}" for line in [*shown[:MOST_LINES], *more])]) if shown else ""
    )


def _headline(state: ClusterState) -> str:
    machine = state.machine
    busy = sum(job.cores for job in state.running)
    bar = "#" * round(WIDTH * min(busy / machine.cores, 1))
    waiting = sum(job.tasks for job in state.waiting)
    held = sum(job.tasks for job in state.waiting if job.held)
    hidden = f", of those shown to '{state.hidden_from}'" if state.hidden_from else ""
    return (
        f"{state.cluster}, Slurm {state.version}: {so_many(len(machine.node_names), 'node')}, "
        f"{so_many(machine.cores, 'core')}\n"
        f"[{bar:.<{WIDTH}}] {so_many(busy, 'core')} in use by "
        f"{so_many(len(state.running), 'job')}{hidden}\n"
        f"{_waiting(waiting)}{f', {held:,} of them held' if held else ''}"
    )


def _waiting(count: int) -> str:
    return so_many(count, "job waits", "jobs wait")


def _partitions(state: ClusterState) -> Iterable[str]:
    waiting = _by_partition(state.waiting)
    sizes = zip(state.machine.node_names, state.machine.places.cores.tolist(), strict=True)
    used = {node: size - state.free_cores[node] for node, size in sizes}
    for partition in state.machine.partitions:
        name = partition.name
        wanted = sum(job.tasks * job.cores for job in waiting[name])
        yield (
            f"{name:<16} {so_many(len(partition.nodes), 'node'):>11}  "
            f"{so_many(sum(used[node] for node in partition.nodes), 'core'):>13} in use  "
            f"{_waiting(sum(job.tasks for job in waiting[name])):>16} for {so_many(wanted, 'core')}"
            f"{'' if partition.up else '  (down)'}"
        )


def _by_partition(jobs: Iterable[LiveJob]) -> defaultdict[str, list[LiveJob]]:
    found: defaultdict[str, list[LiveJob]] = defaultdict(list)
    for job in jobs:
        for name in job.partition.split(","):
            found[name].append(job)
    return found


def _accounts(state: ClusterState) -> Iterable[str]:
    of_account: defaultdict[str, list[LiveJob]] = defaultdict(list)
    for job in state.waiting:
        of_account[job.account or "(none)"].append(job)
    for name, jobs in sorted(of_account.items(), key=lambda item: -sum(j.tasks for j in item[1])):
        longest = max(state.now - job.submit for job in jobs)
        yield (
            f"{name:<16} {so_many(sum(job.tasks for job in jobs), 'job'):>11} of "
            f"{so_many(len({job.user for job in jobs}), 'user')}, the longest for {span(longest)}"
        )


def _queue(state: ClusterState) -> Iterable[str]:
    for job in state.waiting:
        many = f" x {job.tasks}" if job.tasks > 1 else ""
        yield (
            f"{job.id:<9} {job.user:<12} {so_many(job.cores, 'core'):>12}{many}, "
            f"{span(job.walltime):>7}, priority {job.priority:,}, waits "
            f"{span(state.now - job.submit)} ({job.reason})"
        )


def _reasons(state: ClusterState) -> Iterable[str]:
    reasons: Counter[str] = Counter()
    for job in state.waiting:
        reasons[job.reason] += job.tasks
    for reason, number in reasons.most_common():
        yield f"{reason:<28} {number:>6,}"
    ends = sorted(walltime_left(job) for job in state.running)
    if ends:
        first, last = span(ends[0]), span(ends[-1])
        yield f"(the first running job must end within {first}, the last within {last})"


def _outages(state: ClusterState) -> Iterable[str]:
    gone = away(state.machine, state.now)
    for outage in state.machine.outages:
        if set(outage.nodes or state.machine.node_names) & gone:
            yield f"{folded(outage.nodes) or 'all'}: {outage.reason}"
