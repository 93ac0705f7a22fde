"""The twin on nodes of each kind of policy."""

from __future__ import annotations

from queuesmith.base.errors import PolicyError
from queuesmith.cluster import NodeCluster
from queuesmith.policy import AnyPolicy, Policy, SelfTuning
from queuesmith.policy.order import Order
from queuesmith.policy.rulebase import RuleBased
from queuesmith.testing.twin import OrderedTwin, Task
from queuesmith.testing.twin_choosing import RuleBasedTwin, SelfTuningTwin
from queuesmith.testing.twin_node_room import Nodes, node_tasks
from queuesmith.testing.twin_nodes import NodeTwin
from queuesmith.workload import Workload


class NodeOrderedTwin(NodeTwin, OrderedTwin):
    """The twin of an order with a backfill, on nodes."""


class NodeRuleBasedTwin(NodeTwin, RuleBasedTwin):
    """The twin of a rule base, on nodes."""

    def note_ended(self, ended: list[Task]) -> None:
        """Count them for the slowdown of ended jobs."""
        self.ended += ended

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Let the rules choose a strategy where there is a choice, and play it."""
        if len(self.waiting) == 1 and not self.some_strategy_keeps():
            self.ended += ended
            self.try_start(self.waiting[0])  # whatever is chosen, it starts where it can
            return
        super().pass_over(ended, newcomers)


class NodeSelfTuningTwin(NodeTwin, SelfTuningTwin):
    """The twin of self-tuning dynP, on nodes."""

    def pass_over(self, ended: list[Task], newcomers: list[Task]) -> None:
        """Nodes that come back are a step where completions are."""
        super().pass_over(ended or self.waiting[:1] if self.released else ended, newcomers)

    def value_of_plan(self, order: Order) -> float:
        """Plan all waiting jobs under an order and value the plan; low is good.

        Where all of them are over a limit there is no plan, and any is as good as another.
        """
        self.sort(order)
        return super().value_of_plan(order) if self.planned() else 0.0


def twin_on_nodes(workload: Workload, machine: NodeCluster, policy: AnyPolicy) -> NodeTwin:
    """Return the twin of a replay on nodes; the workload must fit the machine."""
    tasks = node_tasks(workload, machine)
    twin: NodeTwin
    if isinstance(policy, Policy):
        twin = NodeOrderedTwin(machine, tasks, policy)  # type: ignore[arg-type]
    elif isinstance(policy, RuleBased):
        twin = NodeRuleBasedTwin(machine, tasks, policy)  # type: ignore[arg-type]
    elif isinstance(policy, SelfTuning):
        twin = NodeSelfTuningTwin(machine, tasks, policy)  # type: ignore[arg-type]
    else:
        raise PolicyError(
            f"there is no twin that replays '{policy}' on nodes. Give an order with a backfill, a "
            "rule base or dynp(...)."
        )
    twin.nodes = Nodes(workload, machine)
    return twin
