"""How long the making of a schedule took."""

from queuesmith.schedule import Schedule


def seconds_of(schedule: Schedule) -> float:
    """The seconds that a schedule took; one that nobody computed has none."""
    if schedule.seconds is None:
        raise ValueError(
            f"the schedule under '{schedule.policy}' does not say how long it took. "
            "Time one that a replay or a solver made."
        )
    return schedule.seconds
