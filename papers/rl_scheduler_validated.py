"""The fourth way: what was learned is taken only where earlier jobs unknown to it are for it.

The earlier half of a log is divided in time. What is learned on the one quarter of the log is
validated on the other, beside the fixed orders; then the rule takes either what is learned on the
whole earlier half, or the fixed order that was the best there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import numpy as np

from papers.kept_pieces import KeptPieces
from papers.rl_scheduler_foretold import ORDER as FORETOLD
from papers.rl_scheduler_foretold import Past
from papers.rl_scheduler_learning import (
    BLEND,
    FOR_LATER,
    LEARNED,
    SEQUENCES,
    Learned,
    learn,
    split_starts,
)
from papers.rl_scheduler_paper import LENGTH
from papers.rl_scheduler_runs import FIXED, RULES, Columns, JobSequence, Values, judged
from queuesmith.policy import Order

#: The parts of the earlier half, and the part that is judged.
QUARTERS = ("first quarter", "second quarter")
WHOLE, JUDGED = "earlier half", "later half"
#: In so many sequences of each quarter an order is learned, and in so many it is validated.
LEARNING, VALIDATING = SEQUENCES["learned"] // 2, 32
#: Seeds of what is learned on a quarter, and of what is learned on the whole earlier half.
QUARTER_SEED, WHOLE_SEEDS = 0, (0, 1)
#: The fixed orders with runtimes halfway between the request and what is foretold.
WITH_FORETOLD = {
    "SAF, foretold": FORETOLD,
    "SJF, foretold": FORETOLD.having(cores=0),
    "between both, foretold": FORETOLD.having(cores=-0.5),
}
#: What is learned is taken as it is, or moved halfway to smallest area first, where it began.
Shape = Literal["learned", "halfway"]
#: The slowdowns of the sequences of each part, under each order.
Slowdowns = Mapping[str, Mapping[str, Values]]


#: How the names of pieces begin that tell what the rules are worth on other logs.
VALIDATED = "validated, "
#: A rule that is higher by this share counts as worse.
WORSE = 0.02


# -- which order is taken --------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """How the earlier half of a log decides.

    Parameters
    ----------
    fixed
        The fixed orders at hand.
    shape
        What is taken of the learned order; None takes a fixed order always.
    validated_on
        The quarters on which the learned order is compared; none takes it always.
    statistic
        What must be lower than that of the best fixed order: the mean slowdown, or the ratio to it
        (the mean of its logarithm), where all sequences count alike; or both of them.
    margin
        By which share it must be lower.
    """

    fixed: tuple[str, ...] = tuple(FIXED)
    shape: Shape | None = "learned"
    validated_on: tuple[str, ...] = QUARTERS
    statistic: Literal["mean", "ratio", "both"] = "mean"
    margin: float = 0.0

    def chosen(self, slowdowns: Slowdowns) -> str:
        """Return the name of the order that is taken."""
        if self.shape is not None and self._serves(self.shape, slowdowns):
            return f"{self.shape} on {WHOLE}"
        return best_of(self.fixed, slowdowns, QUARTERS)

    def _serves(self, shape: Shape, slowdowns: Slowdowns) -> bool:
        if not self.validated_on:
            return True
        best = best_of(self.fixed, slowdowns, self.validated_on)
        fixed = over(slowdowns[best], self.validated_on)
        ours = validated(shape, slowdowns, self.validated_on)
        lower = {
            "mean": ours.mean() < (1 - self.margin) * fixed.mean(),
            "ratio": np.log(ours / fixed).mean() < np.log(1 - self.margin),
        }
        asked = lower if self.statistic == "both" else {self.statistic}
        return all(lower[one] for one in asked)


#: The rules that were tried on other logs.
SECOND = QUARTERS[1:]
ALL_FIXED = (*FIXED, *WITH_FORETOLD)
TRIED = {
    "always the learned order": Rule(validated_on=()),
    "always halfway": Rule(shape="halfway", validated_on=()),
    "always the best of the six": Rule(shape=None),
    "always the best of the six and the foretold": Rule(ALL_FIXED, shape=None),
    "second quarter, mean, 3 %": Rule(validated_on=SECOND, margin=0.03),
    "second quarter, ratio, 3 %": Rule(validated_on=SECOND, statistic="ratio", margin=0.03),
    "both quarters, mean, 3 %": Rule(margin=0.03),
    "both quarters, ratio, 0 %": Rule(statistic="ratio"),
    "both quarters, ratio, 3 %": Rule(statistic="ratio", margin=0.03),
    "both quarters, ratio, 10 %": Rule(statistic="ratio", margin=0.1),
    "both quarters, mean and ratio, 3 %": Rule(statistic="both", margin=0.03),
    "both quarters, ratio, 3 %, foretold too": Rule(ALL_FIXED, statistic="ratio", margin=0.03),
    "both quarters, ratio, 3 %, halfway": Rule(shape="halfway", statistic="ratio", margin=0.03),
}
#: The rule that was chosen on 14 other logs, before the four logs were judged. Those validated on
#: both quarters are lower than the five on 12 logs and nowhere higher by 2 %, by any statistic, if
#: the margin is small and no foretold order is at hand; halfway is worth less. Of these the mean
#: slowdown is the simplest: it also decides between fixed orders, and it is what is judged.
CHOSEN = "both quarters, mean, 3 %"


def best_of(names: Sequence[str], slowdowns: Slowdowns, parts: Sequence[str]) -> str:
    """Return the order with the lowest mean slowdown on some parts."""
    return min(names, key=lambda name: float(over(slowdowns[name], parts).mean()))


def over(slowdowns: Mapping[str, Values], parts: Sequence[str]) -> Values:
    """Return the slowdowns of the sequences of some parts, one after the other."""
    return np.concatenate([slowdowns[part] for part in parts])


def validated(shape: Shape, slowdowns: Slowdowns, parts: Sequence[str]) -> Values:
    """Return the slowdowns on some quarters of what was learned on the other quarter."""
    other = dict(zip(QUARTERS, reversed(QUARTERS), strict=True))
    return np.concatenate([slowdowns[f"{shape} on {other[part]}"][part] for part in parts])


# -- what is learned -------------------------------------------------------------------------------


def quarter_starts(jobs: int, count: int) -> dict[str, list[int]]:
    """Return where sequences begin in each quarter of the earlier half; none reaches beyond."""
    border = int(LEARNED * jobs)
    borders = (0, border // 2, border)
    return {
        quarter: np.linspace(first, last - LENGTH, count).astype(int).tolist()
        for quarter, first, last in zip(QUARTERS, borders, borders[1:], strict=False)
    }


def on_quarters(
    kept: KeptPieces, log: str, jobs: Columns, cores: int, *, only_kept: bool
) -> dict[str, Learned] | None:
    """Return what is learned on each quarter of the earlier half; None if one is missing."""
    found = {}
    for quarter, starts in quarter_starts(len(jobs), LEARNING).items():
        make = partial(_learn, jobs, cores, starts, QUARTER_SEED)
        name = f"{log}, {quarter}, {RULES['easy']}, seed {QUARTER_SEED}"
        piece = kept.piece(name, None if only_kept else make)
        if piece is None:
            return None
        found[quarter] = Learned(**piece)
    return found


def on_whole(
    kept: KeptPieces, log: str, jobs: Columns, cores: int, *, only_kept: bool
) -> list[Learned] | None:
    """Return what is learned on the earlier half, from each seed; None if one is missing.

    On the logs that the study reports it is what the second way has learned.
    """
    starts = split_starts(len(jobs))["learned"]
    found = []
    for seed in WHOLE_SEEDS:
        make = partial(_learn, jobs, cores, starts, seed)
        name = f"{log}, held out, {RULES['easy']}, seed {seed}"
        piece = kept.piece(name, None if only_kept else make)
        if piece is None:
            return None
        found.append(Learned(**piece))
    return found


def _learn(jobs: Columns, cores: int, starts: Sequence[int], seed: int) -> dict[str, object]:
    on = [JobSequence(jobs[start : start + LENGTH], cores) for start in starts]
    return asdict(learn("easy", on, seed, FOR_LATER))


def mean_weights(learned: Sequence[Learned]) -> dict[str, float]:
    """Return the mean of the weights that were learned from several seeds."""
    return {
        name: round(float(np.mean([one.parameters[name] for one in learned])), 4)
        for name in BLEND.parameters
    }


def orders_of(
    quarters: Mapping[str, Learned], whole: Sequence[Learned], *, foretold: bool
) -> dict[str, Order]:
    """Return all orders at hand, by name."""
    orders = FIXED | (WITH_FORETOLD if foretold else {})
    weights = {part: one.parameters for part, one in quarters.items()}
    for part, found in (weights | {WHOLE: mean_weights(whole)}).items():
        halfway = {name: (found[name] + start) / 2 for name, start in BLEND.parameters.items()}
        orders[f"learned on {part}"] = BLEND.having(**found)
        orders[f"halfway on {part}"] = BLEND.having(**halfway)
    return orders


def parts_of(jobs: Columns, cores: int, *, foretold: bool) -> dict[str, list[JobSequence]]:
    """Return the sequences on which orders are validated, and those that are judged."""
    past = Past(jobs) if foretold else None
    starts = quarter_starts(len(jobs), VALIDATING) | {JUDGED: split_starts(len(jobs))["judged"]}
    return {
        part: [
            JobSequence(jobs[one : one + LENGTH], cores, past.foretold(one) if past else None)
            for one in found
        ]
        for part, found in starts.items()
    }


def slowdowns_of(
    orders: Mapping[str, Order], parts: Mapping[str, Sequence[JobSequence]]
) -> dict[str, dict[str, Values]]:
    """Return the slowdowns of the sequences of each part, under each order."""
    return {
        name: {part: judged(order, "easy", on) for part, on in parts.items()}
        for name, order in orders.items()
    }


# -- what the rules are worth on other logs --------------------------------------------------------


def rule_rows(kept: KeptPieces) -> list[dict[str, object]]:
    """Return a row for each rule that was tried: on how many other logs it is lower, the worst."""
    pieces = [kept[name] for name in kept.names(VALIDATED)]
    rows = []
    for rule in TRIED:
        row: dict[str, object] = {"rule": rule}
        for rivals in ("five", "six"):
            ratios = np.array([one["rules"][rule]["ours"] / one[rivals] for one in pieces])
            row[f"lower than the {rivals}"] = f"{(ratios < 1).sum()} of {len(ratios)}"
            row[f"higher by {WORSE:.0%}, {rivals}"] = int((ratios >= 1 + WORSE).sum())
            row[f"worst to the {rivals}, %"] = f"{100 * (ratios.max() - 1):+.1f}"
            row[f"mean to the {rivals}, %"] = f"{100 * (np.exp(np.log(ratios).mean()) - 1):+.1f}"
        rows.append(row)
    return rows


def other_log_rows(kept: KeptPieces) -> list[dict[str, object]]:
    """Return a row for each other log: what the rule takes there, and what it is worth."""
    rows = []
    for name in kept.names(VALIDATED):
        taken = kept[name]["rules"][CHOSEN]
        changes = {
            f"change to the {rivals}, %": f"{100 * (taken['ours'] / kept[name][rivals] - 1):+.1f}"
            for rivals in ("five", "six")
        }
        rows.append({"other log": name.removeprefix(VALIDATED), "taken": taken["chosen"]} | changes)
    return rows
