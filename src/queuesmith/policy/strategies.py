"""What a rule can choose: complete strategies, each an order with a backfill.

The paper's thirteen (Franke, Lepping, Schwiegelshohn, section 4) are four orders with three
algorithms each, and Greedy. Its conservative backfilling plans every job afresh at each decision,
as it must where the order may be another one each time: that is our backfill ``plan``.
"""

from __future__ import annotations

from queuesmith.policy.policy import Policy

#: The four orders, first the one that a rule base without an opinion ends up with.
FOUR_ORDERS = ("fcfs", "narrow", "sjf", "group")

#: The three algorithms as backfills; ``greedy`` is a strategy of its own.
THREE_ALGORITHMS = ("easy", "none", "plan")
GREEDY = "greedy"

STRATEGIES: dict[str, Policy] = {
    str(policy): policy
    for policy in (
        *(Policy.parse(f"{order}+{how}") for order in FOUR_ORDERS for how in THREE_ALGORITHMS),
        Policy.parse(GREEDY),
    )
}

#: The thirteen strategies in order: FCFS with EASY is the first, so ties go to it.
THIRTEEN = tuple(STRATEGIES.values())
