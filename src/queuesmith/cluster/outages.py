"""When nodes are not there: maintenance, failures, drained nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.nodes import names_of


@dataclass(frozen=True)
class Outage:
    """A time during which nodes run no job.

    Parameters
    ----------
    nodes
        Their names, or Slurm's short form of them; none: all nodes of the machine.
    begin, end
        From when up to when, as Unix seconds (of a log without a date: its own seconds); None:
        since ever, or for ever.
    reason
        Why, where that is known.
    planned
        Whether it is known beforehand, so that no job is started that would run into it. One that
        is not ends the jobs that run.
    reservation
        The name of the reservation that it is for: jobs that name it run there, and there only.
    """

    nodes: tuple[str, ...] = ()
    begin: int | None = None
    end: int | None = None
    reason: str = ""
    planned: bool = True
    reservation: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", names_of(self.nodes, "an outage"))
        if self.begin is not None and self.end is not None and self.end <= self.begin:
            raise ClusterError(
                f"an outage ends at {self.end}, but it begins at {self.begin}. Let it end later."
            )


def with_one_time_each(outages: Iterable[Outage]) -> tuple[Outage, ...]:
    """Return outages of which no two are for one reservation.

    Parts of a reservation at the same time are joined; a job that names it is sent to one time, so
    it must have one.
    """
    found: list[Outage] = []
    place: dict[str, int] = {}
    for outage in outages:
        name = outage.reservation
        if not name or name not in place:
            place[name] = len(found)
            found.append(outage)
            continue
        first = found[place[name]]
        if (first.begin, first.end) != (outage.begin, outage.end):
            raise ClusterError(
                f"reservation '{name}' stands there with two times, {_time(first)} and "
                f"{_time(outage)}, but jobs that name it are sent to one. Give each time a "
                "name of its own."
            )
        both = tuple(dict.fromkeys((*first.nodes, *outage.nodes)))
        found[place[name]] = replace(first, nodes=both if first.nodes and outage.nodes else ())
    return tuple(found)


def _time(outage: Outage) -> str:
    begin = "ever" if outage.begin is None else outage.begin
    return f"{begin} to {'ever' if outage.end is None else outage.end}"
