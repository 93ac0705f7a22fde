"""The twins of the policies that choose: rule bases, and the planner that tunes itself.

Like ``twin.py`` they are slow and follow the definitions word for word: everything is computed
afresh from the jobs at every instant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from queuesmith.cluster import Cluster
from queuesmith.policy.features import GROUPS, State, find_features
from queuesmith.policy.order import Order
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.rules import FuzzyRules, RigidRules, Rules
from queuesmith.policy.self_tuning import SelfTuning
from queuesmith.schedule.metrics import Term
from queuesmith.schedule.reservations import Request
from queuesmith.testing.twin import Task, Twin

#: Values of plans that differ by less than this share are the same but for rounding.
ROUNDING = 1e-12


# -- rule bases ------------------------------------------------------------------------------------


class RuleBasedTwin(Twin):
    """The twin of a rule base."""

    def __init__(self, cluster: Cluster, tasks: Sequence[Task], policy: RuleBased) -> None:
        super().__init__(cluster, tasks)
        self.policy = policy
        self.ended: list[Task] = []
        self.chosen: list[int] = []  # a strategy's number for each decision
        self.deciding: list[tuple[int, ...]] = []  # and the rule of each part that decided

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Let the rules choose a strategy where there is a choice, and play it."""
        self.ended += ended
        if not any(task.cores <= self.free for task in self.waiting):
            return  # whatever is chosen, nobody can start
        if len(self.waiting) == 1 and not self.some_strategy_keeps():
            self.start(self.waiting[0])  # whatever is chosen, this job starts
            return
        features = find_features(self.policy.features)
        values = [float(feature.function(self.state())) for feature in features]
        choices = [choice_of(rules, values) for rules in self.policy.parts]
        strategy = 0
        for rules, (choice, _) in zip(self.policy.parts, choices, strict=True):
            strategy = strategy * rules.choices + choice
        self.chosen.append(strategy)
        self.deciding.append(tuple(rule for _, rule in choices))
        self.play(self.policy.strategies[strategy], ended, newcomers)

    def some_strategy_keeps(self) -> bool:
        """Tell whether a strategy keeps cores free, so that one job may wait alone."""
        machine = self.cluster.cores
        return any(s.keep and s.keep.cores(machine) for s in self.policy.strategies)

    def state(self) -> State:
        """Return what features are computed from."""
        work = np.zeros(GROUPS + 1)
        for task in self.waiting:
            place = task.group if 1 <= task.group <= GROUPS else 0
            work[place] += task.walltime * task.cores
        return State(
            now=self.now,
            cores=self.cluster.cores,
            free=self.free,
            waiting=len(self.waiting),
            oldest_submit=min(task.submit for task in self.waiting),
            narrowest=min(task.cores for task in self.waiting),
            waiting_work=sum(task.walltime * task.cores for task in self.waiting),
            group_work=work,
            slowdown=self._slowdown(),
        )

    def _slowdown(self) -> float:
        """Equation 5 over the jobs that have ended, within the window where there is one."""
        window = self.policy.window
        counted = [task for task in self.ended if not window or task.end >= self.now - window]
        above = sum(t.runtime * t.cores * (t.end - t.submit) for t in counted)
        below = sum(t.runtime**2 * t.cores for t in counted)
        return above / below if below else 1.0


def choice_of(rules: Rules, state: Sequence[float]) -> tuple[int, int]:
    """Return what rules choose for a state, and which rule decided."""
    if isinstance(rules, RigidRules):
        return _rigid_choice(rules, state)
    return _fuzzy_choice(rules, state)


def _rigid_choice(rules: RigidRules, state: Sequence[float]) -> tuple[int, int]:
    """Look for the box that holds the state, all boxes being tried one after the other."""
    edges = [(-math.inf, *bounds, math.inf) for bounds in rules.bounds]
    boxes = itertools.product(*(itertools.pairwise(edge) for edge in edges))
    for number, box in enumerate(boxes):
        if all(low < x <= high for x, (low, high) in zip(state, box, strict=True)):
            return int(rules.choice[number]), number
    raise AssertionError("every state is in a box")


def _fuzzy_choice(rules: FuzzyRules, state: Sequence[float]) -> tuple[int, int]:
    """Superpose what all rules say, each as far as it applies (section 4.2)."""
    density = []  # logarithms, for products of narrow Gaussians leave the range of numbers
    for centre, width in zip(rules.centre, rules.width, strict=True):
        density.append(
            sum(
                -((x - mu) ** 2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi))
                for x, mu, sigma in zip(state, centre, width, strict=True)
            )
        )
    membership = [math.exp(value - max(density)) for value in density]
    said = [
        [phi * float(weight) for weight in row]
        for phi, row in zip(membership, rules.weight, strict=True)
    ]
    total = [sum(column) for column in zip(*said, strict=True)]
    choice = total.index(max(total))
    contributions = [row[choice] for row in said]
    return choice, contributions.index(max(contributions))


# -- the planner that tunes itself -----------------------------------------------------------------


class SelfTuningTwin(Twin):
    """The twin of self-tuning dynP, with advance reservations."""

    def __init__(
        self,
        cluster: Cluster,
        tasks: Sequence[Task],
        policy: SelfTuning,
        requests: Sequence[Request] = (),
    ) -> None:
        super().__init__(cluster, tasks, requests)
        self.policy = policy
        self.active = 0
        self.steps: list[tuple[int, int, int]] = []  # instant, candidate chosen, jobs planned

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Tune where it is time to, then follow the active candidate's plan."""
        is_step = bool(newcomers) or (self.policy.steps == "all" and bool(ended))
        if is_step and self.waiting:
            values = [self.value_of_plan(order) for order in self.policy.candidates]
            self.active = decide(self.policy, values, self.active)
            self.steps.append((self.now, self.active, len(self.waiting)))
        self.play(Policy(self.policy.candidates[self.active], "plan"), ended, newcomers)

    def value_of_plan(self, order: Order) -> float:
        """Plan all waiting jobs under an order and value the plan; low is good."""
        self.sort(order)
        measures = {Term(name): v for name, v in self._measures(self.planned()).items()}
        objective = self.policy.objective
        value = float(objective.combined_each({k: np.array([v]) for k, v in measures.items()})[0])
        if objective.better == "higher":
            value = -value
        return math.inf if math.isnan(value) else value

    def _measures(self, plan: Mapping[Task, int]) -> dict[str, float]:
        response = {t: begin + t.walltime - t.submit for t, begin in plan.items()}
        last = max(
            [t.due for t in self.running] + [begin + t.walltime for t, begin in plan.items()]
        )
        left = sum((t.due - self.now) * t.cores for t in self.running)
        area = sum(t.walltime * t.cores for t in plan)
        return {
            "artww": sum(response[t] * t.cores for t in plan) / sum(t.cores for t in plan),
            "sldwa": sum(response[t] * t.cores for t in plan) / area,
            "mean_response": sum(response.values()) / len(plan),
            "mean_wait": sum(response[t] - t.walltime for t in plan) / len(plan),
            "mean_slowdown": sum(response[t] / t.walltime for t in plan) / len(plan),
            "makespan": float(last - self.now),
            "utilization": (left + area) / (self.cluster.cores * (last - self.now)),
        }


def decide(policy: SelfTuning, values: Sequence[float], active: int) -> int:
    """Return the candidate that the decider takes, given the value of each one's plan."""
    lowest = min(values)
    best = [k for k, value in enumerate(values) if not _clearly_less(lowest, value)]
    if policy.decider == "advanced" and active in best:
        return active
    if policy.decider == "preferred":
        names = [str(order) for order in policy.candidates]
        preferred = 0 if policy.preferred is None else names.index(str(policy.preferred))
        own = values[preferred]
        near = math.isfinite(own) and own - lowest <= policy.margin * abs(own)
        if near or preferred in best:
            return preferred
    return best[0]


def _clearly_less(value: float, other: float) -> bool:
    return value < other and not math.isclose(value, other, rel_tol=ROUNDING)
