"""A replay under a rule base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PatienceError
from queuesmith.base.remembering import done_once
from queuesmith.compiled import fingerprint, load
from queuesmith.engine.compiler_errors import explain
from queuesmith.engine.decisions import RuleDecisions
from queuesmith.engine.kernels import rule_based_replay as kernels
from queuesmith.engine.kernels.constants import MOST_WORK, WORK
from queuesmith.engine.kernels.rule_based_lines import Upkeep, new_upkeep
from queuesmith.engine.kernels.rules import FUZZY, RIGID
from queuesmith.engine.kernels.rules import Rules as PackedRules
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.strategy_queue import StrategyLines
from queuesmith.engine.written_loops import compiled_loop
from queuesmith.policy.features import GROUPS, State, find_features
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.rules import FuzzyRules, RigidRules, Rules
from queuesmith.schedule.reservations import RequestAnswer

#: What the function that describes a state calls: each choice of features has its own.
fill: Any = None


class RuleBasedRun:
    """The state of such a replay, and how it is run."""

    answers: tuple[RequestAnswer, ...] = ()
    lines = StrategyLines

    def __init__(self, packed: Packed, policy: RuleBased, patience: float | None = None) -> None:
        self._packed, self._policy, self._patience = packed, policy, patience
        self._cores = packed.cluster.cores
        self._pool = self.lines(packed, policy.strategies)
        self._describe = _compiled(tuple(f.function for f in find_features(policy.features)))
        self._entry = self._kernel()
        load(self._entry)
        ended = len(packed.jobs.submit) if policy.window else 0
        parts = [_packed_rules(rules) for rules in policy.parts]
        self._ruled = kernels.RuleBasedReplay(
            self._pool.pool,
            self._upkeep(),
            kernels.Tally(
                group_work=np.zeros(GROUPS + 1),
                ended=np.zeros(3),
                ended_job=np.empty(ended, np.int32),
                window=frozen(np.array([policy.window], np.int64)),
            ),
            parts[0],
            parts[1] if len(parts) > 1 else _no_rules(),
            np.empty(len(policy.features)),
            np.zeros(len(policy.strategies), np.int64),
        )
        if patience is not None:
            self.counters[MOST_WORK] = patience * len(packed.jobs.submit)

    def _kernel(self) -> Any:
        """Return what replays; little more is compiled than the strategies need."""
        scored = [each for each in self._policy.strategies if not each.order.fixed]
        if any(strategy.backfill == "plan" for strategy in scored):
            return kernels.run_rule_based_planning_scored
        return kernels.run_rule_based

    def _upkeep(self) -> Upkeep:
        """Return what is known of the lines at the beginning."""
        pool = self._pool.pool
        return new_upkeep(
            len(pool.lines.rank),
            len(self._packed.jobs.submit),
            scored=len(pool.parameters) > 0,
            planned=any(strategy.backfill == "plan" for strategy in self._policy.strategies),
        )

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._pool.replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        self._entry(self._ruled, self._describe, self._pool.scorer, self._cores)
        self._pool.check()
        if self.counters[WORK] > self.counters[MOST_WORK]:
            raise PatienceError(
                f"rule base '{self._policy}' lets the queue grow so long that its replay was given "
                f"up: {self._patience:g} jobs would have been looked at for each job of the log."
            )
        return self._pool.replay.start  # type: ignore[no-any-return]

    @property
    def decisions(self) -> RuleDecisions:
        """How often each rule decided."""
        parts = (self._ruled.rules, self._ruled.more_rules)[: len(self._policy.parts)]
        return RuleDecisions(
            self._policy,
            tuple(frozen(part.count.copy()) for part in parts),
            tuple(frozen(part.seen.copy()) for part in parts),
            frozen(self._ruled.count.copy()),
        )


def _packed_rules(rules: Rules) -> PackedRules:
    return _packed_fuzzy(rules) if isinstance(rules, FuzzyRules) else _packed_rigid(rules)


def _packed_fuzzy(rules: FuzzyRules) -> PackedRules:
    return PackedRules(
        kind=frozen(np.array([FUZZY, rules.choices], np.int64)),
        centre=_frozen_table(rules.centre.T),
        precision=_frozen_table(0.5 / rules.width.T**2),
        height=frozen(-np.log(rules.width).sum(axis=1)),
        weight=_frozen_table(rules.weight),
        bounds=frozen(np.empty((0, 0))),
        intervals=frozen(np.empty(0, np.int64)),
        choice=frozen(np.empty(0, np.int64)),
        membership=np.empty(len(rules)),
        total=np.empty(rules.choices),
        count=np.zeros((len(rules), rules.choices), np.int64),
        seen=np.zeros((len(rules), rules.features)),
    )


def _packed_rigid(rules: RigidRules) -> PackedRules:
    bounds = np.full((rules.features, max(rules.intervals)), np.inf)
    for feature, values in enumerate(rules.bounds):
        bounds[feature, : len(values)] = values
    return _no_rules()._replace(
        kind=frozen(np.array([RIGID, rules.choices], np.int64)),
        bounds=frozen(bounds),
        intervals=frozen(np.array(rules.intervals, np.int64)),
        choice=frozen(rules.choice.copy()),
        count=np.zeros((len(rules), rules.choices), np.int64),
        seen=np.zeros((len(rules), rules.features)),
    )


def _no_rules() -> PackedRules:
    table, column, reals = np.empty((0, 0)), np.empty(0, np.int64), np.empty(0)
    return PackedRules(
        kind=frozen(np.zeros(2, np.int64)),
        centre=_frozen_table(table),
        precision=_frozen_table(table),
        height=frozen(reals.copy()),
        weight=_frozen_table(table),
        bounds=_frozen_table(table),
        intervals=frozen(column.copy()),
        choice=frozen(column.copy()),
        membership=reals,
        total=reals,
        count=np.empty((0, 0), np.int64),
        seen=table,
    )


def _frozen_table(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return frozen(np.array(table, np.float64, order="C"))


def _compiled(functions: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    """Compile the function that computes all features of a state."""
    try:
        return _describing(functions)
    except Exception:  # the compiler raises errors of many kinds, not all of them its own
        for function in functions:
            _compiled_alone(function)
        raise


def _compiled_alone(function: Callable[..., Any]) -> None:
    try:
        _describing((function,))
    except Exception as error:
        raise explain("feature", function.__name__, function, error) from error


@done_once
def _describing(functions: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    own = {f"feature_{i}": function for i, function in enumerate(functions)}
    lines = [f"    values[{i}] = float({name}(state))" for i, name in enumerate(own)]
    source = "\n".join(["def fill(state, values):", *lines])
    words = [fingerprint(function, source, State._fields) for function in functions]
    word = None if None in words else fingerprint(functions[0], *words)
    return compiled_loop(
        describe, kernels.DESCRIBE_TYPE, own, {}, source, word, error_model="python"
    )


def describe(  # type: ignore[no-untyped-def]
    now, cores, free, waiting, oldest_submit, narrowest, waiting_work, group_work, slowdown, values
):
    """Compute all features of a state.

    It is compiled for each choice of features, with what computes them for the global name here.
    """
    state = State(
        now,
        cores,
        free,
        waiting,
        oldest_submit,
        narrowest,
        waiting_work,
        group_work,
        slowdown,
    )
    fill(state, values)
