"""Policies: how a waiting queue becomes starts."""

from queuesmith.policy.any_policy import AnyPolicy, SelfReplaying
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.committed import Committed
from queuesmith.policy.keep import Keep
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.own_backfill import Backfill, OwnBackfill
from queuesmith.policy.policy import Policy
from queuesmith.policy.predicted import Predicted
from queuesmith.policy.reading import as_policies, as_policy, load_policy, parse_policies
from queuesmith.policy.rulebase import RuleBase, RuleBasePair
from queuesmith.policy.self_tuning import SelfTuning
from queuesmith.policy.slurm import Slurm
from queuesmith.policy.view import Head, Job, Machine

__all__ = [
    "BACKFILLS",
    "ORDERS",
    "AnyPolicy",
    "Backfill",
    "Committed",
    "Head",
    "Job",
    "Keep",
    "Machine",
    "Order",
    "OwnBackfill",
    "Policy",
    "Predicted",
    "RuleBase",
    "RuleBasePair",
    "SelfReplaying",
    "SelfTuning",
    "Slurm",
    "as_policies",
    "as_policy",
    "load_policy",
    "parse_policies",
]
