"""Numbers in units that people read, and what a comparison says in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from queuesmith.schedule.objective import Objective

if TYPE_CHECKING:
    from queuesmith.report.comparison import Comparison

#: Seconds of a unit of time, its sign, and up to which value (in seconds) it is used.
_TIMES = ((1, "s", 120), (60, "min", 7200), (3600, "h", 172_800), (86_400, "d", math.inf))
#: Beyond this a number is written in a larger unit, if there is one.
MOST_READABLE = 10_000
_UPPER = {"awrt": "AWRT", "artww": "ARTwW", "sldwa": "SLDwA"}


@dataclass(frozen=True)
class Scale:
    """How a quantity is written: divided by a factor and followed by a unit."""

    factor: float
    unit: str

    def text(self, value: float, *, unit: bool = True) -> str:
        """Return a value with three digits that count, and its unit."""
        number = plain(value / self.factor)
        return f"{number} {self.unit}" if unit and self.unit else number


def plain(number: float) -> str:
    """Return a number with three digits that count, never in powers of ten above 0.001."""
    size = abs(number)
    if not math.isfinite(number):
        return "–"
    if size >= 99.95 or size == int(size):
        return f"{number:,.0f}"
    if size >= 9.995:
        return f"{number:.1f}"
    return f"{number:.2f}" if size >= 0.9995 else f"{number:.3g}"


def scales_of(
    objectives: Mapping[str, Objective], values: Mapping[str, Sequence[float]]
) -> dict[str, Scale]:
    """Return the scale of each metric of a table; all times in it have one unit.

    Parameters
    ----------
    objectives, values
        The metrics and their values, by the text of the metric.
    """
    times = [
        value for metric in objectives if is_time(objectives[metric]) for value in values[metric]
    ]
    common = table_time_scale(times)
    return {
        metric: common if is_time(objective) else scale_of(objective, values[metric])
        for metric, objective in objectives.items()
    }


def is_time(objective: Objective) -> bool:
    """Tell whether an objective is a time, in seconds."""
    return metric_unit(objective) == "s"


def scale_of(objective: Objective, values: Iterable[float]) -> Scale:
    """Return the scale that suits all values of a metric."""
    unit = metric_unit(objective)
    if str(objective) == "utilization":
        return Scale(0.01, "%")
    if unit == "core-s":
        return Scale(3600, "core-h")
    if unit == "s":
        return common_time_scale(values)
    return Scale(1, unit if unit != "1" else "")


def time_scale(seconds: float) -> Scale:
    """Return the unit of time in which so many seconds read best."""
    factor, sign = next((factor, sign) for factor, sign, limit in _TIMES if seconds < limit)
    return Scale(factor, sign)


def table_time_scale(seconds: Iterable[float]) -> Scale:
    """Return the one unit for all times of a table.

    It is the largest of which the shortest time is at least one, or a smaller one would make the
    longest a number that nobody reads.
    """
    sizes = [abs(each) for each in seconds if each]
    if not sizes:
        return time_scale(0)
    units = [(factor, sign) for factor, sign, _ in reversed(_TIMES)]
    for (factor, sign), (smaller, _) in pairwise(units):
        if min(sizes) >= factor or max(sizes) > MOST_READABLE * smaller:
            return Scale(factor, sign)
    return Scale(*units[-1])


def common_time_scale(seconds: Iterable[float]) -> Scale:
    """Return the unit in which both the shortest and the longest of some times can be read."""
    sizes = [abs(each) for each in seconds if each]
    return time_scale(math.sqrt(min(sizes) * max(sizes)) if sizes else 0)


def duration(seconds: float) -> str:
    """Return a time in the unit in which it reads best."""
    return time_scale(seconds).text(seconds)


def round_duration(seconds: int) -> str:
    """Return a time in the largest unit of which it is a whole number: ``1 d``, ``90 min``."""
    factor, sign = next((f, sign) for f, sign, _ in reversed(_TIMES) if seconds % f == 0)
    return f"{seconds // factor:,} {sign}"


def metric_unit(objective: Objective) -> str:
    """Return the unit of a metric on its own; of an expression, a plain number."""
    alone = str(objective) in objective.names
    return objective.metrics[0].unit if alone else "1"


def metric_title(expression: str) -> str:
    """Return how a table calls a metric: ``mean_wait`` is ``mean wait``."""
    objective = Objective(expression)
    if str(objective) not in objective.names:
        return str(objective)
    name, bracket, index = str(objective).partition("[")
    return _UPPER.get(name, name.replace("_", " ")) + bracket + index


def verdict(comparison: Comparison) -> str:
    """Return in words what the table says: who is best, by how much, and how sure that is."""
    metric = comparison.metrics[0]
    best = comparison.best(metric)
    if best is None or len(comparison.simulated) < 2:
        return "There is nothing to compare: a single replay is shown."
    winners = comparison.winners(metric)
    against = _opponent(comparison, metric, best)
    sentences = [_difference(comparison, metric, winners, against)]
    if against not in winners and _overlap(comparison, metric, best, against):
        sentences.append("Their confidence intervals overlap, so the difference may be chance.")
    own = "It is also" if len(winners) == 1 else f"{best} is"
    sentences.append(_further(comparison, best, own))
    return " ".join(sentence for sentence in sentences if sentence)


def _opponent(comparison: Comparison, metric: str, best: str) -> str:
    """Return the first replay, or the second best where the first is the best."""
    first, *others = comparison.simulated
    if best != first:
        return first
    choose = max if comparison.objectives[metric].better == "higher" else min
    return choose(others, key=lambda policy: comparison.values[policy][metric])


def _difference(comparison: Comparison, metric: str, winners: Sequence[str], against: str) -> str:
    """Say who is best, all of them where several are, and how far from a policy that is not."""
    ours, theirs = comparison.values[winners[0]][metric], comparison.values[against][metric]
    title, one, best = metric_title(metric), len(winners) == 1, _listed(list(winners))
    if against in winners:
        which = "same" if len(winners) == len(comparison.simulated) else "same, best"
        return f"{best} have the {which} {title}."
    has = "has" if one else "have"
    if not theirs:
        return f"{best} {has} the best {title} among the simulated policies."
    change = 100 * (ours - theirs) / abs(theirs)
    amount = f"{_percent(abs(change))} % {'more' if change > 0 else 'less'}"
    if metric == "mean_wait":
        return f"{best} {'waits' if one else 'wait'} {amount} than {against} on average."
    return f"{best} {has} the best {title}: {amount} than {against}."


def _percent(change: float) -> str:
    return f"{change:.0f}" if 1 <= change < 99 else f"{change:,.3g}"


def _overlap(comparison: Comparison, metric: str, one: str, other: str) -> bool:
    a, b = comparison.interval(one, metric), comparison.interval(other, metric)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def _further(comparison: Comparison, best: str, own: str) -> str:
    """Say who is best in the other metrics, each policy once; nobody where all are equal."""
    won: dict[str, list[str]] = {best: []}
    for metric in comparison.metrics[1:]:
        winners = comparison.winners(metric)
        if len(winners) == len(comparison.simulated):
            continue
        won.setdefault(best if best in winners else winners[0], []).append(metric_title(metric))
    sentences = [
        f"{own if policy == best else f'{policy} is'} best in {_listed(titles)}."
        for policy, titles in won.items()
        if titles
    ]
    return " ".join(sentences)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
