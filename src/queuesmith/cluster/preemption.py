"""Who may preempt whom: which jobs are stopped so that others can start."""

from __future__ import annotations

from collections.abc import Iterable

from queuesmith.base.errors import ClusterError
from queuesmith.base.registry import no_such
from queuesmith.cluster.limits import QualityOfService


def check_preemption(qos: Iterable[QualityOfService]) -> None:
    """Refuse QOS that preempt one that there is not, or each other in a circle, as Slurm does."""
    preempts = {each.name: each.preempts for each in qos}
    for name, others in preempts.items():
        absent = next((other for other in others if other not in preempts), None)
        if absent is not None:
            sentence = no_such("QOS", absent, list(preempts))
            raise ClusterError(f"in Preempt of QOS '{name}', {sentence}")
    for name in preempts:
        circle = _circle([name], preempts)
        if circle:
            raise ClusterError(
                f"QOS '{name}' preempts itself: {' > '.join(circle)}. Take one of them out of a "
                "Preempt list."
            )


def _circle(path: list[str], preempts: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the way on which a QOS preempts itself, empty where there is none."""
    for other in preempts[path[-1]]:
        if other == path[0]:
            return [*path, other]
        found = [] if other in path else _circle([*path, other], preempts)
        if found:
            return found
    return []
