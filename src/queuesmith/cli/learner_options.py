"""Options of the commands that learn."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from queuesmith.base.errors import UsageError
from queuesmith.cli.options import described, names

if TYPE_CHECKING:
    from queuesmith.learning.method import Method

#: Options that hold a list.
LISTS = ("features", "strategies", "orders", "algorithms", "backfills")


@dataclass(frozen=True)
class LearnerOptions:
    """Parameters of the methods; those not given stay what the method's default is."""

    generations: Annotated[int | None, described("How many generations.")] = None
    parents: Annotated[int | None, described("How many survive a generation.")] = None
    offspring: Annotated[int | None, described("How many children a generation has.")] = None
    rules: Annotated[int | None, described("How many rules a rule base has.")] = None
    participations: Annotated[
        int | None, described("prob: how often a rule gets each strategy.")
    ] = None
    features: Annotated[str | None, described("What rules look at, comma-separated.")] = None
    strategies: Annotated[str | None, described("What rules choose, comma-separated.")] = None
    orders: Annotated[str | None, described("coevolution, dynp: orders to choose from.")] = None
    algorithms: Annotated[str | None, described("coevolution: backfills, or greedy.")] = None
    backfills: Annotated[str | None, described("priority, head_start: backfills to try.")] = None
    most: Annotated[float | None, described("head_start: the hours that none exceeds.")] = None
    window: Annotated[
        int | None, described("Seconds over which the slowdown is averaged; 0 for all.")
    ] = None
    step: Annotated[float | None, described("Strength of mutation at the beginning.")] = None
    weight_step: Annotated[float | None, described("The same for weights of rules.")] = None
    changed: Annotated[
        float | None, described("Share of its numbers in which a child may differ from its parent.")
    ] = None
    changed_last: Annotated[float | None, described("The same in the last generation.")] = None
    seeded: Annotated[
        int | None, described("How many first parents play the best fixed strategies.")
    ] = None
    restart_after: Annotated[
        int | None, described("Begin anew after this many generations without a better policy.")
    ] = None
    pairing: Annotated[str | None, described("coevolution: random or best partners.")] = None

    def method(self, name: str | None, policy: str | None = None) -> Method:
        """Return the method with the parameters that were given.

        Parameters
        ----------
        name
            The method; None for what it is by default.
        policy
            A policy whose parameters are to be tuned; it has a method of its own.
        """
        from queuesmith.learning.methods import DEFAULT_METHOD, make_method, method_of_policy

        given: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                given[field.name] = tuple(names(value)) if field.name in LISTS else value
        if policy is None:
            return make_method(DEFAULT_METHOD if name is None else name, **given)
        chosen = method_of_policy(policy, **given)
        if name is not None and name != chosen.name:
            raise UsageError(
                f"--method is '{name}', but --policy '{policy}' has a method of its own. Leave one "
                "of them out."
            )
        return chosen


def wait_factor(text: str) -> float | None:
    """Read how many times as long as before groups may wait; None for no limit."""
    from queuesmith.schedule.starvation import NobodyStarves

    if text.strip().lower() == "none":
        return None
    try:
        return NobodyStarves(float(text)).factor
    except ValueError:
        raise UsageError(
            f"--longest-wait is '{text}', but it must be a number of 1 or more, or none for no "
            "limit. Give for example 2."
        ) from None


def learning_share(split: str) -> float | None:
    """Read the share of the log to learn on."""
    if split.strip().lower() in ("none", "all"):
        return None
    try:
        return float(split)
    except ValueError:
        raise UsageError(
            f"--split is '{split}', but it must be a share between 0 and 1, or none. "
            "Give for example 0.7."
        ) from None
