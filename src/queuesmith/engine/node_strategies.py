"""Replays on nodes under policies that choose: a rule base, the self-tuning planner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.engine.kernels.node_rule_based_replay import run_rule_based_on_nodes
from queuesmith.engine.kernels.node_self_tuning_replay import run_self_tuning_on_nodes
from queuesmith.engine.kernels.node_strategy_queue import NodeStrategyQueue
from queuesmith.engine.node_order_replay import check_all_started, pieces_on_nodes
from queuesmith.engine.node_packing import node_replay
from queuesmith.engine.packing import Packed
from queuesmith.engine.rule_based_replay import RuleBasedRun
from queuesmith.engine.self_tuning_replay import SelfTuningRun
from queuesmith.engine.strategy_queue import StrategyLines, fixed_lines
from queuesmith.policy.policy import Policy
from queuesmith.schedule.pieces import Pieces


class _NodeStrategyLines(StrategyLines):
    """Waiting jobs of a policy that chooses, on a machine of nodes."""

    def __init__(self, packed: Packed, strategies: Sequence[Policy], *, bookings: int = 0) -> None:
        super().__init__(packed, strategies, bookings=bookings)
        assert isinstance(packed.cluster, NodeCluster)
        keeps = [line.keep for line in fixed_lines(strategies)]
        state = node_replay(self.pool.replay, packed, planned=True, keeps=keeps)
        pool = self.pool
        self.pool = NodeStrategyQueue(  # type: ignore[assignment]
            state, pool.lines, pool.following, pool.preceding, pool.strategies, pool.parameters
        )


class _OnNodes:
    """What a replay under a policy that chooses does besides, on a machine of nodes."""

    lines = _NodeStrategyLines
    _pool: StrategyLines
    _packed: Packed

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts; raise where one can never start."""
        start: NDArray[np.int64] = super().run()  # type: ignore[misc]
        state: Any = self._pool.replay
        check_all_started(state, self._packed.workload, self._packed.cluster.name)
        return start

    @property
    def pieces(self) -> Pieces:
        """The parts of jobs on nodes."""
        state: Any = self._pool.replay
        return pieces_on_nodes(state)


class NodeRuleBasedRun(_OnNodes, RuleBasedRun):
    """The state of a replay under a rule base, and how it is run."""

    def _kernel(self) -> Any:
        return run_rule_based_on_nodes


class NodeSelfTuningRun(_OnNodes, SelfTuningRun):
    """The state of a replay under the self-tuning planner, and how it is run."""

    entry = staticmethod(run_self_tuning_on_nodes)
