"""What must be said wherever history stands beside replays, and when nothing is recommended."""

from __future__ import annotations

from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.report.comparison import Comparison
from queuesmith.report.wording import duration, verdict
from queuesmith.schedule.fidelity import UNTRUE_PERCENT, Fidelity
from queuesmith.schedule.schedule import HISTORY, Schedule
from queuesmith.workload.busy import most_at_once

NO_HISTORY = (
    "The log does not tell what really happened, so nothing says how true these replays are."
)


def history_caution(comparison: Comparison) -> str | None:
    """Say that history and replays are not alike, and where history contradicts the machine.

    None where there is no history.
    """
    real = comparison.schedules[0]
    if real.policy != HISTORY:
        return None
    waited, cores = duration(float(real.wait.mean())), real.cluster.cores
    sentences = [
        f"What really happened (a mean wait of {waited}) stands apart: the replays know "
        f"{_known_machine(real)}.",
    ]
    if comparison.fidelity is not None:
        sentences.append(comparison.fidelity.sentence)
    # Of nodes the log counts CPUs, the machine cores.
    peak = 0 if isinstance(real.cluster, NodeCluster) else _peak(real)
    if peak > cores:
        sentences.append(
            f"And the log contradicts the machine: {peak:,} cores were really busy at once, but "
            f"it has {cores:,}."
        )
    return " ".join(sentences)


def _peak(real: Schedule) -> int:
    jobs = real.workload
    return most_at_once(real.start, jobs.runtime, jobs.cores) if len(jobs) else 0


def _known_machine(real: Schedule) -> str:
    machine = real.cluster
    if isinstance(machine, NodeCluster):
        return (
            f"the {so_many(len(machine.node_names), 'node')}, "
            f"{so_many(len(machine.partitions), 'partition')} and limits of '{machine.name}', not "
            "what happened to them"
        )
    return (
        f"a pool of {so_many(machine.cores, 'equal core')}, no nodes, partitions, limits or "
        "downtimes"
    )


def is_untrue(fidelity: Fidelity | None) -> bool:
    """Tell whether a replay is so far from what happened that nothing may be recommended by it."""
    if fidelity is None:
        return False
    error = fidelity.error_percent
    return not fidelity.grade.trustworthy if error is None else abs(error) >= UNTRUE_PERCENT


def refusal(fidelity: Fidelity) -> str:
    """Say that nothing is recommended, why, and what to do about it."""
    error = fidelity.error_percent
    off = "not at all" if error is None else f"with an error of {abs(error):,.0f} %"
    return (
        f"No policy is recommended: the replay of {fidelity.replayed.policy} agrees with what "
        f"really happened {off}, {UNTRUE_PERCENT:.0f} % or more. Describe the machine better "
        "(--machine), name the policy that really ran (--today), or say --although-untrue."
    )


def conclusion(comparison: Comparison, *, although_untrue: bool = False) -> str:
    """Say in a sentence or two what came out of a comparison, and whether to believe it.

    Parameters
    ----------
    comparison
        What was compared.
    although_untrue
        Whether to name the best policy even where the replays are far from what happened.
    """
    fidelity = comparison.fidelity
    if is_untrue(fidelity) and fidelity is not None and not although_untrue:
        return refusal(fidelity)
    return f"{verdict(comparison)} {_belief(comparison)}".rstrip()


def _belief(comparison: Comparison) -> str:
    """Say how far the replays can be believed, as far as that is known."""
    fidelity, first = comparison.fidelity, comparison.schedules[0]
    if fidelity is not None:
        true = fidelity.grade.trustworthy
        means = "" if true else ", so this shows a direction at most"
        return f"The replays have grade {fidelity.grade} against what happened{means}."
    planned = any(schedule.proof is not None for schedule in comparison.schedules)
    replayed = isinstance(first.cluster, Cluster | NodeCluster) and not planned
    return NO_HISTORY if replayed and first.workload.real_start is None else ""


def recommended(comparison: Comparison, *, although_untrue: bool = False) -> str | None:
    """Return the best policy by the first metric; None where nothing is recommended."""
    if is_untrue(comparison.fidelity) and not although_untrue:
        return None
    return comparison.best(comparison.metrics[0])
