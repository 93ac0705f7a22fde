"""Rule bases in words: when which strategy is chosen, and how often that was so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.words import so_many
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.features import Feature, find_features
from queuesmith.policy.keep import Keep
from queuesmith.policy.policy import Policy
from queuesmith.policy.reading import as_policy
from queuesmith.policy.rulebase import RuleBased, RuleBasePair
from queuesmith.policy.rules import FuzzyRules, RigidRules
from queuesmith.policy.self_tuning import DECIDERS, SelfTuning
from queuesmith.policy.slurm import Slurm

Ints = NDArray[np.int64]

#: A feature whose membership is wider than this share of its range hardly matters to a rule.
BLURRED = 0.5
#: Shares below and above which a group holds little or most of the queue.
LITTLE, MOST = 0.15, 0.7
#: From which weight on a rule is strongly for something; against it, the same below 0.
STRONG = 3.0
#: How many choices a sentence names before it counts the rest.
NAMED = 3

ORDER_WORDS = {
    "fcfs": "first come, first served",
    "narrow": "narrow jobs first",
    "wide": "wide jobs first",
    "sjf": "short jobs first",
    "ljf": "long jobs first",
    "group": "group order",
    "greedy": "Greedy",
}
ALGORITHM_WORDS = {
    "none": "without backfilling",
    "list": "with list scheduling",
    "easy": "with EASY",
    "conservative": "with conservative backfilling",
    "plan": "with conservative planning",
    "greedy": "Greedy, whatever the order",
}


@dataclass(frozen=True)
class Sentence:
    """One rule in words.

    Parameters
    ----------
    part
        Which rules it belongs to: ``strategy``, or ``order`` and ``algorithm`` of a pair.
    rules
        The numbers of the rules that it sums up, from 1.
    condition, choice
        When it applies, and what it is for and against.
    count
        How often it decided over a replay; None where that is not known.
    share
        The same as a share of all decisions of its part.
    """

    part: str
    rules: tuple[int, ...]
    condition: str
    choice: str
    count: int | None = None
    share: float | None = None

    def __str__(self) -> str:
        often = "" if self.share is None else f"{100 * self.share:5.1f} %  "
        return f"{often}{self.condition}: {self.choice}."

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence and what it sums up, ready for JSON."""
        return {
            "part": self.part,
            "rules": list(self.rules),
            "condition": self.condition,
            "choice": self.choice,
            "count": self.count,
            "share": self.share,
        }


def sentences(policy: AnyPolicy, rule_counts: Sequence[ArrayLike] | None = None) -> list[Sentence]:
    """Return the rules of a policy as sentences; those that decided most come first.

    Parameters
    ----------
    policy
        A rule base; any other policy is one sentence.
    rule_counts
        How often each rule decided over a replay, for each part of the rule base: what
        ``schedule.decisions.rule_counts`` holds. Classes of rigid rules that never occurred are
        then left out, and classes that choose alike are merged across them.
    """
    if not isinstance(policy, RuleBased):
        return [Sentence("strategy", (1,), "always", strategy_words(policy))]
    features = find_features(policy.features)
    found: list[Sentence] = []
    for place, (part, names) in enumerate(choices_in_words(policy)):
        counts = None if rule_counts is None else np.asarray(rule_counts[place], np.int64)
        rules = policy.parts[place]
        if isinstance(rules, FuzzyRules):
            found += _fuzzy(part, rules, features, names, counts)
        else:
            found += _rigid(part, rules, features, names, counts)
    return found


def explain(policy: AnyPolicy | str, rule_counts: Sequence[ArrayLike] | None = None) -> str:
    """Return a policy in words, as lines of text."""
    policy = as_policy(policy)
    lines = [_heading(policy)]
    if policy.groups is not None:
        lines.append(f"  groups by {policy.groups.column}: {policy.groups}.")
    if isinstance(policy, Policy):
        return "\n".join([*lines, *_made_of(policy)])
    known = sentences(policy, rule_counts)
    for part in dict.fromkeys(sentence.part for sentence in known):
        if isinstance(policy, RuleBasePair):
            lines.append(f"For the {part}:")
        mine = [sentence for sentence in known if sentence.part == part]
        lines += [f"  {sentence}" for sentence in mine if sentence.count != 0]
        idle = sum(sentence.count == 0 for sentence in mine)
        if idle:
            lines.append(f"  {so_many(idle, 'rule')} never decided.")
    return "\n".join(lines)


def _made_of(policy: Policy) -> list[str]:
    """Say what an order and a backfill do, line by line."""
    order, backfill = policy.order, BACKFILLS[policy.backfill]
    doc = (order.function.__doc__ or "").strip().splitlines()
    meaning = doc[0].rstrip(".") if doc else "the job with the highest value of its function first"
    lines = [
        f"  always: {strategy_words(policy)}.",
        f"  the order {order.name}: {meaning[:1].lower()}{meaning[1:]}.",
        f"  the backfill {policy.backfill}: {backfill}.",
    ]
    if order.parameters:
        values = ", ".join(f"{name} = {value:g}" for name, value in order.parameters.items())
        lines.append(f"  parameters of the order: {values}.")
    if not order.fixed:
        lines.append("  jobs may change places while they wait: the order looks at more than them.")
    return lines


def strategy_words(policy: AnyPolicy) -> str:
    """Return a strategy as people call it: ``group+easy`` is "group order with EASY"."""
    if isinstance(policy, SelfTuning):
        return _tuning_words(policy)
    if isinstance(policy, Slurm):
        return _slurm_words(policy)
    if not isinstance(policy, Policy):
        return str(policy)
    order = ORDER_WORDS.get(str(policy.order), f"order {policy.order}")
    if str(policy) == "greedy":
        return order
    depth = "" if policy.depth is None else f" of the first {_jobs_of(policy.depth)}"
    return f"{order} {ALGORITHM_WORDS[policy.backfill]}{depth}{_keep_words(policy.keep)}"


def _jobs_of(depth: int) -> str:
    return "job" if depth == 1 else f"{depth} jobs"


def _tuning_words(policy: SelfTuning) -> str:
    orders = ", ".join(map(str, policy.candidates))
    when = "each submission" if policy.steps == "submissions" else "each event"
    return (
        f"at {when} all waiting jobs are planned under {orders}, and the plans compared by "
        f"{policy.metric}; followed is {DECIDERS[policy.decider]}"
    )


def _slurm_words(policy: Slurm) -> str:
    source = "the machine's slurm.conf" if policy.conf is None else f"'{policy.conf}'"
    changed = ", ".join(f"{name} = {value}" for name, value in policy.parameters.items())
    otherwise = f", but with {changed}" if changed else ""
    return f"what Slurm's schedulers do on nodes, with the settings of {source}{otherwise}"


def _keep_words(keep: Keep | None) -> str:
    if keep is None:
        return ""
    groups = "group 1" if keep.groups == 1 else f"groups 1 to {keep.groups}"
    patience = "" if keep.patience is None else f" and for all who waited {keep.patience:g} h"
    return f", {keep.share:.0%} kept free for {groups}{patience}"


def choices_in_words(policy: RuleBased) -> list[tuple[str, list[str]]]:
    """Return what each part of a rule base decides, and its choices in words."""
    if isinstance(policy, RuleBasePair):
        orders = [ORDER_WORDS.get(order, f"order {order}") for order in policy.orders]
        algorithms = [ALGORITHM_WORDS.get(name, name) for name in policy.algorithms]
        return [("order", orders), ("algorithm", algorithms)]
    return [("strategy", [strategy_words(strategy) for strategy in policy.strategies])]


def _heading(policy: AnyPolicy) -> str:
    if not isinstance(policy, RuleBased):
        return f"Policy '{policy}':"
    kinds = " and ".join(
        so_many(len(rules), f"{'fuzzy' if isinstance(rules, FuzzyRules) else 'rigid'} rule")
        for rules in policy.parts
    )
    return f"Policy '{policy}': {kinds} over {', '.join(policy.features)}."


# -- fuzzy rules -------------------------------------------------------------------------------


def _fuzzy(
    part: str,
    rules: FuzzyRules,
    features: Sequence[Feature],
    names: Sequence[str],
    counts: Ints | None,
) -> list[Sentence]:
    found = []
    for rule in range(len(rules)):
        clauses = [
            _about(feature, centre)
            for feature, centre, width in zip(
                features, rules.centre[rule], rules.width[rule], strict=True
            )
            if width <= BLURRED * (feature.high - feature.low)
        ]
        sentence = Sentence(part, (rule + 1,), _when(clauses), _opinion(rules.weight[rule], names))
        found.append(_counted(sentence, counts, [rule]))
    return _most_frequent_first(found)


def _about(feature: Feature, value: float) -> str:
    holder = _holder(feature)
    if holder is None:
        return f"{feature.words} is about {value:.2g}"
    if value < LITTLE:
        return f"{holder} little of the queue"
    if value > MOST:
        return f"{holder} most of the queue"
    return f"{holder} about {100 * value:.0f} % of the queue"


def _holder(feature: Feature) -> str | None:
    """Return "group 1 holds" for the feature of that group's share."""
    before, _, after = feature.name.partition("_")
    number, _, share = after.partition("_")
    return f"group {number} holds" if (before, share) == ("group", "share") else None


def _opinion(weights: NDArray[np.float64], names: Sequence[str]) -> str:
    """Return what a rule is for, and what it is strongly against."""
    highest = float(weights.max())
    if highest == weights.min():
        return "no preference"
    wanted = _list([name for name, weight in zip(names, weights, strict=True) if weight == highest])
    unwanted = [name for name, weight in zip(names, weights, strict=True) if weight <= -STRONG]
    wish = wanted if highest >= STRONG else f"rather {wanted}"
    return f"{wish}; never {_list(unwanted)}" if unwanted else wish


def _list(words: Sequence[str]) -> str:
    words = list(dict.fromkeys(words))
    shown = words[:NAMED]
    if len(words) > NAMED:
        shown = [*words[: NAMED - 1], so_many(len(words) - NAMED + 1, "other")]
    return " or ".join(shown)


# -- rigid rules -------------------------------------------------------------------------------


def _rigid(
    part: str,
    rules: RigidRules,
    features: Sequence[Feature],
    names: Sequence[str],
    counts: Ints | None,
) -> list[Sentence]:
    """Return a sentence for each box of classes that choose alike."""
    choice = rules.choice.reshape(rules.intervals)
    seen = np.ones(len(rules), bool) if counts is None else counts > 0
    matters = seen.reshape(rules.intervals)
    told = ~matters
    order = np.arange(len(rules)) if counts is None else np.argsort(-counts, kind="stable")
    found = []
    for number in order:
        cell = np.unravel_index(number, rules.intervals)
        if told[cell]:
            continue
        box = _grown([slice(int(i), int(i) + 1) for i in cell], choice, matters)
        new = np.zeros(rules.intervals, bool)
        new[tuple(box)] = True
        new &= ~told
        told |= new
        members = np.flatnonzero(new)
        clauses = [
            clause
            for feature, bounds, side in zip(features, rules.bounds, box, strict=True)
            if (clause := _between(feature, bounds, side))
        ]
        chosen = names[int(choice[cell])]
        sentence = Sentence(part, tuple(int(m) + 1 for m in members), _when(clauses), chosen)
        found.append(_counted(sentence, counts, members))
    return _most_frequent_first(found)


def _grown(box: list[slice], choice: Ints, matters: NDArray[np.bool_]) -> list[slice]:
    """Extend a box, feature by feature, as long as all that matters in it chooses alike."""
    wanted = choice[tuple(side.start for side in box)]
    for axis, size in enumerate(choice.shape):
        for below, above in ((1, 0),) * size + ((0, 1),) * size:
            low, high = max(box[axis].start - below, 0), min(box[axis].stop + above, size)
            wider = [*box[:axis], slice(low, high), *box[axis + 1 :]]
            same = choice[tuple(wider)] == wanted
            if (same | ~matters[tuple(wider)]).all():
                box = wider
    return box


def _between(feature: Feature, bounds: Sequence[float], side: slice) -> str:
    """Return which values a box allows, or nothing where it allows all."""
    above = bounds[side.start - 1] if side.start > 0 else None
    most = bounds[side.stop - 1] if side.stop <= len(bounds) else None
    holder = _holder(feature)
    unit = "{:g}" if holder is None else "{:.4g} %"
    scale = 1 if holder is None else 100
    limits = []
    if above is not None:
        limits.append(("above " if holder is None else "more than ") + unit.format(scale * above))
    if most is not None:
        limits.append("at most " + unit.format(scale * most))
    if not limits:
        return ""
    words = f"{feature.words} is" if holder is None else holder
    end = "" if holder is None else " of the queue"
    return f"{words} {' and '.join(limits)}{end}"


# -- both --------------------------------------------------------------------------------------


def _when(clauses: Sequence[str]) -> str:
    if not clauses:
        return "in all states"
    *first, last = clauses
    return f"when {', '.join(first)} and {last}" if first else f"when {last}"


def _counted(sentence: Sentence, counts: Ints | None, members: ArrayLike) -> Sentence:
    if counts is None:
        return sentence
    count, total = int(counts[np.asarray(members)].sum()), int(counts.sum())
    share = count / total if total else math.nan
    return Sentence(
        sentence.part, sentence.rules, sentence.condition, sentence.choice, count, share
    )


def _most_frequent_first(found: list[Sentence]) -> list[Sentence]:
    return sorted(found, key=lambda sentence: -(sentence.count or 0))
