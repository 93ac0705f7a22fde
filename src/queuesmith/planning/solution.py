"""What is told about the plan that was found: what is proven, and what took how long."""

from __future__ import annotations

from typing import Any

from queuesmith.planning.plans import planned
from queuesmith.planning.snapshot import Snapshot
from queuesmith.schedule import Schedule
from queuesmith.solving.status import Proof
from queuesmith.workload.workload import Ints


def solution(
    snapshot: Snapshot,
    start: Ints,
    proof: Proof,
    *,
    policy: str,
    policy_value: float,
    seconds: float,
    facts: dict[str, Any],
) -> Schedule:
    """Return the best plan found, with its proof, beside the best policy.

    ``quality`` is its value over that of the policy (Grothklags and Streit, eq. 7);
    ``loss_percent`` is what is lost by following the policy instead.
    """
    quality = proof.value / policy_value if policy_value else 1.0
    told = {
        "policy": policy,
        "policy_value": policy_value,
        "quality": quality,
        "loss_percent": 100.0 * (1.0 - quality),
    }
    return planned(
        snapshot, start, "optimal", seconds=seconds, proof=proof, facts={**told, **facts}
    )


def solution_facts(found: Schedule) -> dict[str, Any]:
    """Return what is known about a solution, ready for JSON."""
    assert found.proof is not None
    told = dict(found.facts)
    told.pop("quality", None)
    policy = {name: told.pop(name) for name in ("policy", "policy_value", "loss_percent")}
    return {
        "name": found.workload.name,
        "jobs": len(found),
        "cores": found.cluster.cores,
        "objective": found.proof.objective,
        "value": found.proof.value,
        "lower_bound": found.lower_bound,
        "gap_percent": found.gap_percent,
        "status": str(found.status),
        **policy,
        "seconds": found.seconds,
        **told,
    }
