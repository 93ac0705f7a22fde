"""Who may overtake whom.

The names are what one writes behind the ``+`` of a policy; the sentences are their definition.
"""

BACKFILLS = {
    "none": "only the first job of the queue may start",
    "list": "any job that fits may start, in queue order",
    "easy": "a job may overtake if it does not delay the first job's reservation",
    "conservative": (
        "every job has a reservation from its arrival on, which no other job may delay; "
        "when cores are released, reservations move forward in queue order"
    ),
    "plan": (
        "at each pass all jobs are planned afresh in queue order, each at its earliest room; "
        "those planned for now start"
    ),
}
