"""The learners of the genetic fuzzy study: the paper's, unchanged, and extensions of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from queuesmith.base.registry import known
from queuesmith.learning.method import Method
from queuesmith.learning.methods import make_method
from queuesmith.policy.strategies import STRATEGIES
from queuesmith.schedule.starvation import DEFAULT_FACTOR

THIRTEEN = tuple(STRATEGIES)
#: Strategies that leave room for jobs to come, which the thirteen do not.
KEEPING = (
    "fcfs+easy",
    "group+easy",
    "group",
    *(f"group+easy+keep(share={share})" for share in (0, 0.1, 0.2, 0.3, 0.4)),
)
#: The same for those who wait no longer than a limit, after which everybody is favoured.
PATIENT = (
    "fcfs+easy",
    "group+easy",
    "group",
    "greedy+plan",
    *(
        f"group+easy+keep(share={share},patience={hours})"
        for hours in (24, 48)
        for share in (0, 0.1, 0.2, 0.3)
    ),
)


@dataclass(frozen=True)
class Approach:
    """A learner of the study.

    Parameters
    ----------
    title
        What the page calls it.
    kind
        The method of the product, by its name there.
    settings
        How it differs from the method's defaults.
    longest_wait
        How many times as long as under EASY a group may wait; None for no limit, as in the paper.
    ours
        Whether it is an extension of ours, not the paper's.
    """

    title: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    longest_wait: float | None = None
    ours: bool = False

    def method(self, others: Mapping[str, Any] | None = None) -> Method:
        """Return the learner, with other settings where these are given."""
        return make_method(self.kind, **{**self.settings, **(others or {})})

    @property
    def parameters(self) -> list[str]:
        """What can be set."""
        return [each.name for each in fields(make_method(self.kind))]


APPROACHES = {
    "prob": Approach("PROB", "prob"),
    "pitts": Approach("PITTS", "pitts"),
    "cca": Approach("CCA", "cca"),
    "ours": Approach("tune, the thirteen", "pittsburgh", longest_wait=DEFAULT_FACTOR, ours=True),
    "keep": Approach(
        "tune, cores kept free",
        "pittsburgh",
        {"strategies": KEEPING},
        longest_wait=DEFAULT_FACTOR,
        ours=True,
    ),
    "patient": Approach(
        "tune, cores kept free with patience",
        "pittsburgh",
        {"strategies": PATIENT, "seeded": 1},
        longest_wait=DEFAULT_FACTOR,
        ours=True,
    ),
    "head_start": Approach(
        "tune, head starts", "head_start", longest_wait=DEFAULT_FACTOR, ours=True
    ),
    "race": Approach("tune, as it is", "race", longest_wait=DEFAULT_FACTOR, ours=True),
}
#: What was learned before there was a guard, and is kept as a warning; it cannot be made again.
BEFORE_THE_GUARD = {"unguarded": "cores kept free, no guard"}
#: What extensions of ours were chosen on.
CHOSEN_ON = {
    "ours": "`tune --method pittsburgh`, with the thirteen strategies; how it mutates was chosen "
    "on one generated log, which is not among these. That the best fixed strategy joins after a "
    "quarter of a run without any policy that keeps the guard was added after a look at the first "
    "70 % of KTH; of these runs it was needed in one, the third seed of SDSC 00, held out, which "
    "was learned again with it (over EASY -1.46 % after 0.00).",
    "keep": f"the same with other strategies ({', '.join(KEEPING)}): a plain grid of shares, "
    "chosen before any run; that keeping cores free helps at all had been seen on these logs.",
    "patient": f"the same with strategies that favour everybody after a day or two "
    f"({', '.join(PATIENT)}): a plain grid, taken after a look at what its strategies are worth on "
    "the first 70 % of CTC. It starts from the best fixed strategy that keeps the guard, since "
    "from chance it found none that does on the first 70 % of KTH; the first 70 % of SDSC 96, CTC "
    "and KTH decided, when its held-out figures from chance on these had been seen.",
    "head_start": "`tune --method head_start` as it is by default, no rules: hours by which "
    "groups, short or narrow jobs come earlier. That head starts keep the guard where ranks do "
    "not was seen on the first 70 % of all five logs, with hours from a plain grid; a first form, "
    "without a limit to the hours, was tried on the first 70 % of four of them. The limit of two "
    "days came when somebody starved on later jobs of HPC2N, which is not among these, and six "
    "generated logs were for it (`python -m papers.head_start_constants`). Nothing was changed "
    "after that. The order as it is by default, nothing learned, is among the fixed strategies "
    "that it is set beside, where it keeps the guard: on SDSC 96 and CTC. `head_start+plan` is on "
    "jobs not seen -0.0, 16.4, 7.7, 13.1 and 30.5 % better than EASY (SDSC 96, CTC, KTH, LANL, "
    "SDSC 00), so learning adds to it on four of five logs, and not on CTC.",
    "race": "`tune` as it is by default: rules over the thirteen strategies, weights and head "
    "starts take turns, then the best goes on alone, all with the replays of one. That it is the "
    "default was decided on six generated logs (`python -m papers.method_choice`), when the "
    "held-out figures of its rules and head starts on these logs had been seen; its weights had "
    "been tried on the first 70 % of CTC and KTH. These runs were made before weights had four "
    "decimals; head starts won all of them, and their search does not hang on the weights'.",
}


def find_approach(name: str) -> Approach:
    """Return a learner of the study by its name."""
    return APPROACHES[known("approach", name, list(APPROACHES))]


def parse_settings(texts: Sequence[str], approaches: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read ``name=value`` and ``approach:name=value``; return settings for each approach.

    A name without an approach is for all of those given, and one that an approach does not have
    is an error. Values are written as in JSON.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in approaches}
    for text in texts:
        key, _, value = text.partition("=")
        own, _, parameter = key.rpartition(":")
        meant = [known("approach", own, list(approaches))] if own else list(approaches)
        for name in meant:
            known(f"parameter of '{name}' called", parameter, find_approach(name).parameters)
            found[name][parameter] = _value(text, value)
    return found


def _value(text: str, value: str) -> Any:
    try:
        content = json.loads(value)
    except ValueError:
        raise SystemExit(f"--set {text} has no value that JSON knows: write NAME=0.2.") from None
    return tuple(content) if isinstance(content, list) else content
