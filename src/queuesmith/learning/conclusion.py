"""What came out of learning a policy, in a sentence or two, and whether to believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.learning.verdict import Verdict
from queuesmith.schedule.confidence import Interval

if TYPE_CHECKING:
    from queuesmith.learning.result import Tuned


def conclusion(tuned: Tuned) -> str:
    """Say what the learned policy is worth on jobs it did not see, and what to do about it."""
    if tuned.held_out is None:
        gain = _gain(tuned.learning.improvement["baseline"])
        return (
            f"The learned policy is {gain} than fcfs+easy on the jobs it learned from. Nothing "
            "shows what it is worth on others: hold some out with --split 0.7 before you use it."
            f"{starvation(tuned.learning)}"
        )
    judged = tuned.held_out
    easy, fixed = judged.improvement["baseline"], judged.improvement["best_fixed"]
    also = (
        ", which is the best fixed strategy, too"
        if tuned.best_fixed == judged.baseline.policy
        else f" and {_gain(fixed)} than {tuned.best_fixed}, the best fixed strategy"
    )
    fact = (
        f"On jobs it did not see, the learned policy is {_gain(easy)} than "
        f"{judged.baseline.policy}{also}."
    )
    return f"{fact} {_advice(tuned, easy, fixed)}{starvation(judged)}"


def starvation(verdict: Verdict) -> str:
    """Name the groups that wait longer than was admitted; nothing where none does."""
    if not verdict.starved or verdict.starving is None:
        return ""
    named = ", ".join(
        f"group {group} (up to {verdict.longest_waits['learned'][group] / 86_400:,.1f} days)"
        for group in verdict.starved
    )
    times = f"{verdict.starving.factor:g}"
    return (
        f" But somebody starves: the longest or the 99 % wait is more than {times} times what it "
        f"was for {named}."
    )


def _advice(tuned: Tuned, easy: Interval | None, fixed: Interval | None) -> str:
    if easy is None or fixed is None:
        return "Compare them by other metrics before you decide."
    if fixed.value < 0 and fixed.value <= easy.value:
        return f"Do not use it: {tuned.best_fixed} needs no learning and does better."
    if easy.value <= 0:
        return "Do not use it: it does no better than what needs no learning."
    low = min(easy.low, fixed.low) if easy.low is not None and fixed.low is not None else None
    if low is None:
        return "The log is too short to tell whether that is chance."
    if low > 0:
        return "It stays better when the weeks of the log are redrawn, so that is hardly chance."
    return "That may be chance: with other weeks of the same log there would be no gain."


def _gain(gain: Interval | None) -> str:
    if gain is None:
        return "better or worse by a share that is not defined"
    side = "better" if gain.value >= 0 else "worse"
    known = gain.low is not None and gain.high is not None
    between = f" ({gain.low:.1f} to {gain.high:.1f})" if known else ""
    return f"{abs(gain.value):.1f} % {side}{between}"
