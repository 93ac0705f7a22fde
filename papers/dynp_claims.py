"""What the paper on dynP and optimal schedules says, beside what the study found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.study import rank_correlation
from queuesmith.planning import Snapshot
from queuesmith.planning.gap import GapStep, GapStudy
from queuesmith.planning.plans import POLICIES, plan, plan_value

#: Two values closer than this are the same schedule's.
SAME = 1e-9
#: What still counts as about a second; a plan within 1 % of the optimum counts as one.
ABOUT_A_SECOND = 1.5
#: A size tells how long a model takes if ranks agree so well.
TELLING_RANKS = 0.7


def claims(
    ours: GapStudy, steps: Sequence[Snapshot], solved: Sequence[tuple[Snapshot, dict[str, Any]]]
) -> list[Claim]:
    """Return the rows of the table.

    Parameters
    ----------
    ours
        What was found at one-second precision.
    steps
        The steps themselves.
    solved
        Those that were solved by the paper's model, with what it found.
    """
    by_step = {step.submission: step for step in ours.steps}
    finished = [
        (by_step[step.now], piece) for step, piece in solved if piece["status"] == "optimal"
    ]
    return [
        _close(ours, finished),
        _largest(ours),
        _negative(finished),
        _never_worse(ours),
        _quick_policies(ours),
        _unpractical(ours, finished, len(solved)),
        _unpredictable([piece for _, piece in finished], len(solved)),
        _longest_plan(steps),
    ]


def _close(ours: GapStudy, finished: Sequence[tuple[GapStep, dict[str, Any]]]) -> Claim:
    loss = float(ours.column("loss_percent").mean())
    scaled = [_loss(step, piece) for step, piece in finished]
    same = [step.loss_percent for step, _ in finished]
    return Claim(
        "the best policy loses less than 1 % on average, 0.7 % (table 1, section 5)",
        f"{loss:.2f} % on {len(ours.steps)} steps; by the paper's model {np.mean(scaled):.2f} % on "
        f"the {len(finished)} steps that it finished, at one second {np.mean(same):.2f} % there",
        loss < 1,
        "the paper does not say which steps its average is over; those that its model finishes "
        "here are small ones",
    )


def _largest(ours: GapStudy) -> Claim:
    largest = float(ours.column("loss_percent").max())
    return Claim(
        "a policy may be significantly worse: the largest loss is close to 11 % (section 4)",
        f"{largest:.2f} % at most",
        largest > 5,
        "taken as: a loss above 5 % is found",
    )


def _negative(finished: Sequence[tuple[GapStep, dict[str, Any]]]) -> Claim:
    better = sum(piece["value"] > step.policy_value * (1 + SAME) for step, piece in finished)
    return Claim(
        "sometimes a policy is better than the model, because of the time scale (section 4)",
        f"on {better} of the {len(finished)} steps that the paper's model finished",
        better > 0,
        "" if better else "too few steps were finished to meet one",
        instead="" if better else "undecided",
    )


def _never_worse(ours: GapStudy) -> Claim:
    value, policy = ours.column("value"), ours.column("policy_value")
    worse = int(np.count_nonzero(value > policy * (1 + SAME)))
    better = int(np.count_nonzero(value < policy * (1 - SAME)))
    return Claim(
        "without time scaling a solver always finds at least a policy's schedule, most likely a "
        "better one (section 4)",
        f"at one second worse on {worse}, better on {better} of {len(ours.steps)} steps",
        worse == 0 and better > len(ours.steps) / 2,
        "our search begins with the policies' plans",
    )


def _quick_policies(ours: GapStudy) -> Claim:
    jobs = ours.column("jobs")
    around = (jobs >= 20) & (jobs <= 30)
    milliseconds = 1000 * ours.column("policy_seconds")[around].mean()
    return Claim(
        "policies schedule 25 waiting jobs in less than 10 milliseconds (section 3)",
        f"all three together {milliseconds:.2f} ms, with 20 to 30 waiting jobs",
        bool(milliseconds < 10),
    )


def _unpractical(
    ours: GapStudy, finished: Sequence[tuple[GapStep, dict[str, Any]]], tried: int
) -> Claim:
    told = ours.to_dict()
    longest = float(ours.column("seconds").max())
    return Claim(
        "optimal schedules are not practical: a scheduler has about a second, CPLEX took five "
        "hours on average (sections 3 and 4)",
        f"at most {longest:.1f} s a step: {told['proven_optimal_percent']:.0f} % proven optimal, "
        f"the others within {told['max_proven_gap_percent']:.2f} %, "
        f"{told['mean_proven_gap_percent']:.2f} % on average",
        longest > ABOUT_A_SECOND or told["mean_proven_gap_percent"] > 1,
        f"by another method; the paper's model, on SCIP of today, finished {len(finished)} of "
        f"{tried} steps in a minute each",
    )


def _unpredictable(pieces: Sequence[dict[str, Any]], tried: int) -> Claim:
    size, seconds = (
        np.array([piece[name] for piece in pieces]) for name in ("variables", "seconds")
    )
    agreement = rank_correlation(size, seconds)
    return Claim(
        "the computing time cannot be predicted from the size of the problem (section 4)",
        f"of the {len(pieces)} steps that the paper's model finished, ranks of variables and of "
        f"seconds agree by {agreement:.2f}; {seconds.min():.1f} to {seconds.max():.0f} s",
        abs(agreement) < TELLING_RANKS,
        f"{tried - len(pieces)} steps that did not end in a minute are not in it",
    )


def _longest_plan(steps: Sequence[Snapshot]) -> Claim:
    counts: Counter[str] = Counter()
    for step in steps:
        ends = {name: plan_value(plan(step, name), "makespan") for name in POLICIES}
        counts.update(name for name, end in ends.items() if end == max(ends.values()))
    told = ", ".join(f"{name.upper()} {counts[name]}" for name in POLICIES)
    return Claim(
        "the longest of the three plans is most likely that of LJF (section 3.1)",
        f"longest, alone or tied: {told} of {len(steps)}",
        counts["ljf"] == max(counts.values()),
        "SJF leaves the longest jobs to the end, where nothing is beside them",
    )


def _loss(step: GapStep, piece: dict[str, Any]) -> float:
    """Return what the best policy loses to the plan of the paper's model (equation 7)."""
    return 100 * (1 - float(piece["value"]) / step.policy_value)
