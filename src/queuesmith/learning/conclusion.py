"""What came out of learning a policy, in a sentence or two, and whether to believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.learning.verdict import Verdict
from queuesmith.schedule.paired import chance_words, interval_words

if TYPE_CHECKING:
    from queuesmith.learning.result import Tuned

NO_BETTER = "Do not use it: it does no better than what needs no learning."


def conclusion(tuned: Tuned) -> str:
    """Say what the learned policy is worth on jobs it did not see, and what to do about it."""
    if tuned.held_out is None:
        return (
            f"The learned policy is {gain(tuned.learning, 'baseline')} than fcfs+easy on the jobs "
            "it learned from. Nothing shows what it is worth on others: hold some out with --split "
            "0.7 before you use it."
            f"{starvation(tuned.learning)}"
        )
    judged = tuned.held_out
    also = (
        ", which is the best fixed strategy, too"
        if tuned.best_fixed == judged.baseline.policy
        else f" and {gain(judged, 'best_fixed')} than {tuned.best_fixed}, the best fixed strategy"
    )
    fact = (
        f"On jobs it did not see, the learned policy is {gain(judged, 'baseline')} than "
        f"{judged.baseline.policy}{also}."
    )
    return f"{fact} {_advice(tuned, judged)}{starvation(judged)}"


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


def gain(verdict: Verdict, part: str, *, with_interval: bool = True) -> str:
    """Say how much better the learned policy is than the baseline or the best fixed strategy."""
    percent = verdict.improvement[part]
    if _equals(verdict, part):
        return "no better"
    if percent is None:
        learned, other = (verdict.values[each].value for each in ("learned", part))
        better = (learned > other) == (verdict.objective.better == "higher")
        return f"{'better' if better else 'worse'} by a share that is not defined"
    side = "better" if percent.value >= 0 else "worse"
    between = interval_words(percent) if with_interval else ""
    return f"{abs(percent.value):.1f} % {side}{between}"


def _equals(verdict: Verdict, part: str) -> bool:
    return verdict.values["learned"].value == verdict.values[part].value


def _advice(tuned: Tuned, judged: Verdict) -> str:
    easy, fixed = judged.improvement["baseline"], judged.improvement["best_fixed"]
    if easy is None or fixed is None:
        same = _equals(judged, "baseline") and _equals(judged, "best_fixed")
        return NO_BETTER if same else "Compare them by other metrics before you decide."
    if fixed.value < 0 and fixed.value <= easy.value:
        return f"Do not use it: {tuned.best_fixed} needs no learning and does better."
    if easy.value <= 0:
        return NO_BETTER
    if _equals(judged, "best_fixed"):
        return f"{tuned.best_fixed} needs no learning and does as well. {chance_words(easy)}"
    return chance_words(easy, fixed)
