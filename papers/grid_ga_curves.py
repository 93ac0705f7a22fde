"""The curves of one figure of the grids' study: where they end, and what that says of a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from papers.grid_ga_operators import Ranking
from papers.study import mean_and_half
from queuesmith.grid.etc.matrix import Floats

#: The classes of instances by their consistency, and its letter in their names.
CONSISTENCIES = {"consistent": "c", "inconsistent": "i", "semi-consistent": "s"}


class Apart(NamedTuple):
    """How far one curve ends above another, run by run: the mean, and half its interval."""

    mean: float
    half: float | None

    @property
    def chance(self) -> bool:
        """Whether it may be chance."""
        return self.half is None or abs(self.mean) <= self.half

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.half is None else f"{self.mean:.2f} ± {self.half:.2f}"


class Verdict(NamedTuple):
    """What was found, whether it is as the paper says, and whether that may be chance."""

    found: str
    holds: bool
    chance: bool


@dataclass(frozen=True)
class Curves:
    """The runs of one figure, with operators as printed or with ours.

    Parameters
    ----------
    rows
        By the names of the curves: one row a run, per cent above the bound over time; the rows of
        all curves are of the same instances.
    consistency
        Of the instance of each row.
    """

    rows: dict[str, Floats]
    consistency: tuple[str, ...]

    @property
    def ranked(self) -> list[str]:
        """The curves by their mean at the end, the best first."""
        return sorted(self.rows, key=lambda label: float(self.rows[label][:, -1].mean()))

    def apart(self, label: str, other: str, consistency: str = "") -> Apart:
        """Return how far a curve ends above another, run by run, on all instances or on some."""
        above = self._ends(label, consistency) - self._ends(other, consistency)
        return Apart(*mean_and_half(above.tolist()))

    def end(self, label: str, consistency: str = "") -> str:
        """Return where a curve ends on average, on all instances or on some, or a dash."""
        ends = self._ends(label, consistency)
        return f"{ends.mean():.1f}" if len(ends) else "-"

    def _ends(self, label: str, consistency: str) -> Floats:
        wanted = [not consistency or kind == consistency for kind in self.consistency]
        return np.asarray(self.rows[label][wanted, -1])

    def judge(self, ranking: Ranking) -> Verdict:
        """Tell whether the curves end as the paper says."""
        if ranking.order is not None:
            return self._judge_order(*ranking.order)
        if ranking.together:
            return self._judge_all(ranking.first)
        return self._judge_best(ranking.first, by_far=ranking.by_far)

    def _judge_best(self, wanted: tuple[str, ...], *, by_far: bool) -> Verdict:
        """One of those wanted is the best of all."""
        best = min(wanted, key=self.ranked.index)
        other = self._best_but(wanted)
        place = self.ranked.index(best)
        apart, side = self._sides(best, other)
        found = f"`{best}` ranks {place + 1} of {len(self.ranked)}, {apart} points {side} `{other}`"
        return Verdict(found, place == 0 and not (by_far and apart.chance), apart.chance)

    def _judge_all(self, wanted: tuple[str, ...]) -> Verdict:
        """All of those wanted come before the others."""
        last, other = max(wanted, key=self.ranked.index), self._best_but(wanted)
        apart, side = self._sides(last, other)
        found = f"the worse of them, `{last}`, is {apart} points {side} `{other}`"
        return Verdict(found, side == "before", apart.chance)

    def _judge_order(self, better: str, worse: str) -> Verdict:
        """One is better than another, told by the classes of instances, too."""
        apart = self.apart(worse, better)
        by_class = ", ".join(
            f"{self.apart(worse, better, kind).mean:.1f} {kind}"
            for kind in CONSISTENCIES
            if kind in self.consistency
        )
        found = f"`{worse}` ends {apart} points above `{better}` ({by_class})"
        return Verdict(found, apart.mean > 0, apart.chance)

    def _best_but(self, wanted: tuple[str, ...]) -> str:
        return next(label for label in self.ranked if label not in wanted)

    def _sides(self, label: str, other: str) -> tuple[Apart, str]:
        """Return how far two curves end from each other, and whether the first is before."""
        if self.ranked.index(label) < self.ranked.index(other):
            return self.apart(other, label), "before"
        return self.apart(label, other), "behind"
