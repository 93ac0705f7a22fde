"""What a study says across logs: mean ranks, wins and losses, and which differences count.

Every log has one vote, however many loads, machines and seeds it was replayed with: these are not
independent of each other. A generated log of another seed is another log. Ranks are compared as
Demsar (2006) does: the Friedman test says whether policies differ at all, and two of them differ
where their mean ranks lie further apart than Nemenyi's critical difference.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.base.frames import Framed
from queuesmith.base.registry import known
from queuesmith.base.words import so_many
from queuesmith.campaign.results import Results
from queuesmith.schedule.objective import Objective

Floats = NDArray[np.float64]

#: Draws of the paired bootstrap, and its level.
RESAMPLES, LEVEL = 10_000, 0.95


@dataclass(frozen=True)
class Duel:
    """One policy against another, log by log.

    Parameters
    ----------
    policy, against
        Who is compared.
    wins, losses, ties
        Logs on which the policy is better, worse, equal.
    percent
        By how many per cent it is better on the average: 100 (1 - geometric mean of the ratios), or
        the other way round where higher is better. None where no log has a ratio.
    low, high
        The 95 % interval of that, from a bootstrap that draws whole logs; None below two logs.
    counted
        Logs that have a ratio: both values are above 0.
    """

    policy: str
    against: str
    wins: int
    losses: int
    ties: int
    percent: float | None
    low: float | None
    high: float | None
    counted: int


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Framed):
    """The policies of a study by one metric, the best mean rank first.

    Parameters
    ----------
    metric
        What they are ranked by.
    policies, ranks
        Their names and mean ranks over logs, 1 for the best.
    logs
        How many logs count: those that have a value for every policy.
    left_out
        Logs that do not.
    friedman
        The probability that ranks differ so much by chance alone; None below two logs or policies.
    critical_difference
        Mean ranks further apart than this differ (level 0.05); None likewise.
    duels
        Each policy against the first of the study's file.
    """

    metric: str
    policies: tuple[str, ...]
    ranks: tuple[float, ...]
    logs: int
    left_out: int
    friedman: float | None
    critical_difference: float | None
    duels: tuple[Duel, ...]

    def __repr__(self) -> str:
        return (
            f"<Ranking by {self.metric}: {so_many(len(self.policies), 'policy', 'policies')} over "
            f"{so_many(self.logs, 'log')}>"
        )

    def alike(self) -> list[tuple[int, int]]:
        """Return groups of policies that do not differ as first and last place, the widest."""
        if self.critical_difference is None:
            return []
        groups: list[tuple[int, int]] = []
        for first in range(len(self.ranks)):
            within = [
                last
                for last in range(first, len(self.ranks))
                if self.ranks[last] - self.ranks[first] <= self.critical_difference
            ]
            if within[-1] > first and not (groups and groups[-1][1] >= within[-1]):
                groups.append((first, within[-1]))
        return groups

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each policy: its mean rank, and how it does against the first."""
        duels = {duel.policy: duel for duel in self.duels}
        return [
            {"policy": policy, "mean rank": rank, **_duel_row(duels.get(policy))}
            for policy, rank in zip(self.policies, self.ranks, strict=True)
        ]


def rank_policies(results: Results, metric: str | None = None) -> Ranking:
    """Compare the policies of a study across its logs.

    Parameters
    ----------
    results
        What is known of the study; logs that are not done for every policy are left out.
    metric
        One of the study's metrics; by default its first.
    """
    chosen = known("metric of the study", metric or results.study.metrics[0], results.study.metrics)
    sign = -1.0 if Objective(chosen).better == "higher" else 1.0
    policies = _names(results)
    cases = _cases(results, chosen)
    complete = {
        log: [case for case in found if all(policy in case for policy in policies)]
        for log, found in cases.items()
    }
    tables = [
        np.array([[case[policy] for policy in policies] for case in found])
        for found in complete.values()
        if found
    ]
    if not tables:
        raise UsageError(
            f"no log of study '{results.study.name}' has a value of '{chosen}' for every policy "
            "yet. Run the study, or look at its state with: queuesmith study status FILE."
        )
    ranks = np.array([_ranks(sign * table).mean(axis=0) for table in tables])
    mean = ranks.mean(axis=0)
    order = np.argsort(mean, kind="stable")
    logs = np.array([table.mean(axis=0) for table in tables])
    return Ranking(
        chosen,
        tuple(policies[i] for i in order),
        tuple(float(mean[i]) for i in order),
        len(tables),
        len(complete) - len(tables),
        friedman(ranks),
        critical_difference(len(policies), len(tables)),
        tuple(
            _duel(policies[i], policies[0], logs[:, i], logs[:, 0], sign)
            for i in range(1, len(policies))
        ),
    )


def _names(results: Results) -> list[str]:
    return [*results.study.policies, *(method.name for method in results.study.methods)]


def _cases(results: Results, metric: str) -> Mapping[Any, list[dict[str, float]]]:
    """Return, for each log, the values of the policies in each case: a machine and a load.

    The seeds of a learned policy on one log are averaged.
    """
    sums: dict[Any, dict[Any, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    place = results.study.metrics.index(metric)
    for unit, found in zip(results.units, results.found, strict=True):
        log = (unit.log.name, unit.seed if unit.log.generate else None)
        case = sums[log][(unit.cores, unit.load_factor)]
        if found is not None and found["values"] is not None:
            case[unit.policy_name].append(found["values"][place])
    return {
        log: [{policy: float(np.mean(v)) for policy, v in case.items()} for case in found.values()]
        for log, found in sums.items()
    }


def _ranks(table: Floats) -> Floats:
    """Return the ranks within each row, the least first; equals share the mean of their ranks."""
    below = (table[:, None, :] < table[:, :, None]).sum(axis=2)
    equal = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)


def _duel(policy: str, against: str, ours: Floats, theirs: Floats, sign: float) -> Duel:
    better = sign * (theirs - ours)
    counted = (ours > 0) & (theirs > 0)
    gains = sign * np.log(ours[counted] / theirs[counted])
    low, high = _interval(gains)
    return Duel(
        policy,
        against,
        int((better > 0).sum()),
        int((better < 0).sum()),
        int((better == 0).sum()),
        _percent(float(gains.mean())) if len(gains) else None,
        None if high is None else _percent(high),
        None if low is None else _percent(low),
        int(counted.sum()),
    )


def _interval(gains: Floats) -> tuple[float | None, float | None]:
    if len(gains) < 2:
        return None, None
    draws = np.random.default_rng(0).integers(0, len(gains), (RESAMPLES, len(gains)))
    ends = np.quantile(gains[draws].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(ends[0]), float(ends[1])


def _percent(log_ratio: float) -> float:
    return 100.0 * (1.0 - math.exp(log_ratio))


def _duel_row(duel: Duel | None) -> dict[str, Any]:
    if duel is None:
        return dict.fromkeys(("wins", "losses", "ties", "better by %", "low", "high"))
    return {
        "wins": duel.wins,
        "losses": duel.losses,
        "ties": duel.ties,
        "better by %": duel.percent,
        "low": duel.low,
        "high": duel.high,
    }


def friedman(ranks: Sequence[Sequence[float]] | Floats) -> float | None:
    """Return the probability of ranks that differ so much by chance; None where none can be told.

    The chi-squared distribution's upper tail; Friedman (1937).
    """
    table = np.asarray(ranks, dtype=np.float64)
    logs, count = table.shape
    if logs < 2 or count < 2:
        return None
    mean = table.mean(axis=0)
    statistic = 12 * logs / (count * (count + 1)) * float(((mean - (count + 1) / 2) ** 2).sum())
    return chi_squared_tail(statistic, count - 1)


def chi_squared_tail(value: float, freedom: int) -> float:
    """Return the probability of a larger value, by the recurrence over degrees of freedom."""
    half = value / 2
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    order = 0.5 if freedom % 2 else 1.0
    while 2 * order < freedom:
        if half > 0:
            tail += math.exp(order * math.log(half) - half - math.lgamma(order + 1))
        order += 1
    return min(tail, 1.0)


def critical_difference(policies: int, logs: int, level: float = 0.05) -> float | None:
    """Return Nemenyi's critical difference of mean ranks; None where there is none."""
    if policies < 2 or logs < 2:
        return None
    quantile = range_quantile(policies, 1 - level) / math.sqrt(2)
    return quantile * math.sqrt(policies * (policies + 1) / (6 * logs))


def range_quantile(count: int, probability: float) -> float:
    """Return the quantile of the range of so many standard normal numbers."""
    at = np.linspace(-8, 8, 1601)
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)

    def below(width: float) -> float:
        inside = _normal(at) - _normal(at - width)
        return count * float(np.trapezoid(density * inside ** (count - 1), at))

    low, high = 0.0, 16.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < probability else (low, middle)
    return low


def _normal(at: Floats) -> Floats:
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in at.tolist()])
