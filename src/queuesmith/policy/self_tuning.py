"""Self-tuning dynP: plan under several orders, follow the plan that is best by a metric.

S. Grothklags and A. Streit, "On the comparison of CPLEX-computed job schedules with the self-tuning
dynP job scheduler": a planning-based scheduler that switches its policy by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.order import Order
from queuesmith.policy.policy import Policy, find_order, parse_order
from queuesmith.policy.writing import check_once, split_outside
from queuesmith.schedule.objective import Objective

KIND = "dynp"

#: What a plan can be valued by, in the order of the engine's measures: metrics of the product, of
#: the waiting jobs as they are planned, with walltimes for runtimes.
PLAN_METRICS = {
    "artww": "of a plan: response weighted by cores",
    "sldwa": "of a plan: slowdown weighted by area, which is cores times walltime",
    "mean_response": "of a plan: average response, planned end - submit",
    "mean_wait": "of a plan: average wait, planned start - submit",
    "mean_slowdown": "of a plan: average of response / walltime",
    "makespan": "of a plan: last end of a running or waiting job - now",
    "utilization": "of a plan: work of running and waiting jobs / (cores times makespan)",
}

DECIDERS = {
    "simple": "the best plan; of equals the first candidate",
    "advanced": "the active policy where its plan is among the best; else the best",
    "preferred": "the preferred policy, unless another is better by more than the margin",
}

STEPS = ("submissions", "all")

#: What ``dynp`` alone means.
DEFAULT = "fcfs,sjf,ljf; metric=sldwa; decider=advanced"


@dataclass(frozen=True)
class SelfTuning(AnyPolicy):
    """A planner that chooses among orders by itself.

    Parameters
    ----------
    candidates
        The orders under which it plans at each step, in the order in which ties are broken.
    metric
        By which plans are compared: an expression over the metrics of ``PLAN_METRICS``.
    decider
        How the comparison is used: one of ``DECIDERS``.
    preferred
        The favoured candidate of the decider ``preferred``; by default the first.
    margin
        By which share of its value another must be better than the preferred one.
    steps
        When it tunes itself: at ``submissions``, or at ``all`` events, completions too.

    Examples
    --------
    >>> str(SelfTuning.parse("fcfs, sjf; decider=simple"))
    'dynp(fcfs,sjf; metric=sldwa; decider=simple)'
    """

    candidates: tuple[Order, ...]
    metric: str = "sldwa"
    decider: str = "advanced"
    preferred: Order | None = None
    margin: float = 0.0
    steps: str = "submissions"

    def __post_init__(self) -> None:
        names = [str(order) for order in self.candidates]
        if not names or len(set(names)) != len(names):
            raise PolicyError(
                f"dynp has the candidates {', '.join(names) or '(none)'}, but it needs at least "
                "one and each once. Write for example dynp(fcfs,sjf,ljf)."
            )
        _check_choice("decider", self.decider, DECIDERS)
        _check_choice("steps", self.steps, STEPS)
        object.__setattr__(self, "metric", str(self._objective()))
        if self.preferred is not None and str(self.preferred) not in names:
            raise PolicyError(
                f"dynp prefers '{self.preferred}', which is not among its candidates "
                f"{', '.join(names)}. Name one of them."
            )
        if self.preferred is not None:
            # An order from a file that is read twice is two functions: keep the candidate's.
            object.__setattr__(self, "preferred", self.candidates[names.index(str(self.preferred))])
        if not 0 <= self.margin < 1:
            raise PolicyError(
                f"the margin of dynp is {self.margin:g}, but it must be a share from 0 up to, not "
                "including, 1. Write for example margin=0.05."
            )

    def _objective(self) -> Objective:
        objective = Objective(self.metric)
        if not objective.terms:
            raise PolicyError(
                f"dynp cannot value a plan by '{self.metric}', for that is the same for every "
                f"plan. Choose from: {', '.join(PLAN_METRICS)}."
            )
        for term in objective.terms:
            if term.name not in PLAN_METRICS or term.index is not None:
                raise PolicyError(
                    f"dynp cannot value a plan by '{term}', for a plan knows walltimes and waiting "
                    f"jobs only. Choose from: {', '.join(PLAN_METRICS)}."
                )
        return objective

    @property
    def objective(self) -> Objective:
        """The metric as an objective."""
        return self._objective()

    def __str__(self) -> str:
        settings = [f"metric={self.metric}", f"decider={self.decider}"]
        if self.preferred is not None:
            settings.append(f"preferred={self.preferred}")
        if self.margin:
            settings.append(f"margin={self.margin!r}")
        if self.steps != "submissions":
            settings.append(f"steps={self.steps}")
        return f"{KIND}({'; '.join([','.join(map(str, self.candidates)), *settings])})"

    @classmethod
    def parse(cls, inside: str) -> SelfTuning:
        """Read what stands between the parentheses of ``dynp(...)``."""
        first, *settings = (part.strip() for part in split_outside(inside, ";"))
        candidates = [part.strip() for part in split_outside(first, ",") if part.strip()]
        values: dict[str, Any] = {}
        for setting in filter(None, settings):
            name, equals, value = (part.strip() for part in setting.partition("="))
            if name not in ("metric", "decider", "preferred", "margin", "steps") or not equals:
                raise PolicyError(
                    f"setting '{setting}' of dynp cannot be read: the settings are metric, "
                    "decider, preferred, margin, steps. Write for example "
                    "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)."
                )
            check_once(name, values, f"{KIND}({inside})")
            values[name] = value
        if "preferred" in values:
            values["preferred"] = parse_order(values["preferred"])
        if "margin" in values:
            values["margin"] = _number(values["margin"])
        orders = candidates or DEFAULT.partition(";")[0].split(",")
        return cls(tuple(parse_order(text) for text in orders), **values)

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "kind": KIND,
            "candidates": [
                {"order": order.name, "parameters": dict(order.parameters)}
                for order in self.candidates
            ],
            "metric": self.metric,
            "decider": self.decider,
            "preferred": None if self.preferred is None else str(self.preferred),
            "margin": self.margin,
            "steps": self.steps,
        }


def check_plans_all(policy: Policy) -> None:
    """Raise where a policy that is to take reservations plans some of the jobs only."""
    if policy.depth is not None:
        raise PolicyError(
            f"policy '{policy}' plans the first jobs only, so it cannot take reservations. "
            f"Leave the depth out: {policy.order}+plan."
        )


def self_tuning_from(content: Mapping[str, Any]) -> SelfTuning:
    """Read a self-tuning policy from what its JSON file holds."""
    known = {"kind", "candidates", "metric", "decider", "preferred", "margin", "steps"}
    candidates = content.get("candidates")
    if set(content) - known or not isinstance(candidates, list):
        raise PolicyError(
            f"a policy of the kind '{KIND}' has 'candidates', a list, and may have "
            f"{', '.join(sorted(known - {'kind', 'candidates'}))}. Correct the file."
        )
    values = {key: content[key] for key in known - {"kind", "candidates"} if key in content}
    if values.get("preferred") is not None:
        values["preferred"] = parse_order(str(values["preferred"]))
    values["margin"] = _number(values.get("margin", 0.0))
    return SelfTuning(tuple(map(_candidate_from, candidates)), **values)


def _candidate_from(content: Any) -> Order:
    parameters = content.get("parameters", {}) if isinstance(content, dict) else None
    if not isinstance(parameters, dict) or not isinstance(content.get("order"), str):
        raise PolicyError(
            f"a candidate of dynp is {content!r:.60}, but it must be an object with 'order' and, "
            "if wanted, 'parameters'. Correct the file."
        )
    return find_order(content["order"]).having(**parameters)


def _check_choice(what: str, chosen: Any, choices: Any) -> None:
    known(what, chosen, choices, error=PolicyError)


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError) as error:
        raise PolicyError(
            f"the margin of dynp is {text!r}, but it must be a number. Write margin=0.05."
        ) from error
