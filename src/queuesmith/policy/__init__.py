"""Policies: how a waiting queue becomes starts."""

from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy, parse_policies
from queuesmith.policy.view import Job, Machine

__all__ = ["BACKFILLS", "ORDERS", "Job", "Machine", "Order", "Policy", "parse_policies"]
