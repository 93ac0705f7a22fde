"""The front: schedules none of which is better than another in all objectives."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import MetricError, UsageError
from queuesmith.base.files import AnyPath, format_suffix, write_bytes
from queuesmith.base.frames import Framed
from queuesmith.base.json import read_json
from queuesmith.base.words import so_many
from queuesmith.learning.domination import dominated_by, dominated_volume
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective

Floats = NDArray[np.float64]

UTILIZATION = "utilization"
#: A front of tens of thousands of schedules.
MOST_BYTES = 256_000_000


@dataclass(frozen=True)
class Point:
    """A schedule by what it is worth.

    Parameters
    ----------
    name
        What made it: a recipe, or a policy.
    values
        Each objective of the front.
    value
        The one objective in whose direction distances are measured.
    """

    name: str
    values: dict[str, float]
    value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the point, ready for JSON."""
        return {"name": self.name, "values": self.values, "value": self.value}


@dataclass(frozen=True)
class Distance:
    """How far a schedule is from the front.

    Parameters
    ----------
    point
        The schedule.
    gap_percent
        By how many per cent its value is worse than the best value on the front; below 0 where
        it is better.
    nearest, nearest_percent
        The point of the front that is nearest, and how far: the root of the mean squared relative
        difference over all objectives.
    dominated_by
        How many points of the front are at least as good in every objective and better in one.
    """

    point: Point
    gap_percent: float
    nearest: Point
    nearest_percent: float
    dominated_by: int

    def to_dict(self) -> dict[str, Any]:
        """Return the distance, ready for JSON."""
        return {
            **self.point.to_dict(),
            "gap_percent": self.gap_percent,
            "nearest": self.nearest.name,
            "nearest_percent": self.nearest_percent,
            "dominated_by": self.dominated_by,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Front(Framed):
    """Off-line schedules none of which dominates another, and policies measured against them.

    Parameters
    ----------
    log, jobs, cores
        The log's name, how many of its jobs ran, and the size of the machine.
    objective
        The one objective in whose direction distances are measured.
    objectives, left_out
        The objectives of the front, and those left out because no job belongs to them.
    points
        The schedules of the front, the best value first.
    policies
        On-line policies to compare, FCFS with EASY first.
    settings
        How the front was searched, ready for JSON.
    evaluations, seconds
        How many schedules were made, and how long that took.
    """

    log: str
    jobs: int
    cores: int
    objective: Objective
    objectives: tuple[str, ...]
    left_out: tuple[str, ...]
    points: tuple[Point, ...]
    policies: tuple[Point, ...]
    settings: dict[str, Any]
    evaluations: int
    seconds: float

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return (
            f"<Front of '{self.log}': {so_many(len(self), 'schedule')} of {self.evaluations:,}, "
            f"{so_many(len(self.objectives), 'objective')}, hypervolume {self.hypervolume:.4g}>"
        )

    @property
    def best(self) -> Point:
        """The point with the best value."""
        return self.points[0]

    @property
    def axes(self) -> tuple[str, str]:
        """The two objectives on which the front is projected: by default AWRT1 and AWRT2."""
        return self.objectives[0], self.objectives[1]

    @cached_property
    def losses(self) -> Floats:
        """A row for each point: its objectives such that lower is better."""
        return np.array([self.losses_of(point) for point in self.points])

    def losses_of(self, point: Point) -> Floats:
        """Return the objectives of a point such that lower is better."""
        return losses(point.values, self.objectives)

    # -- how good the front is --------------------------------------------------------------

    @property
    def reference(self) -> dict[str, float]:
        """The reference point of the hypervolume: twice EASY's response times, nothing utilised."""
        easy = self.policies[0].values
        return {name: 0.0 if name == UTILIZATION else 2 * easy[name] for name in self.objectives}

    @cached_property
    def hypervolume(self) -> float:
        """The share of the space between zero and the reference point that the front dominates."""
        return self._volume(self.objectives)

    @cached_property
    def projected_hypervolume(self) -> float:
        """The same on the two axes alone."""
        return self._volume(self.axes)

    def _volume(self, names: Sequence[str]) -> float:
        places = [self.objectives.index(name) for name in names]
        corner = losses(self.reference, names)
        return dominated_volume(self.losses[:, places] / corner)

    # -- how far others are from it ---------------------------------------------------------

    def projection(self) -> tuple[Floats, Floats]:
        """Return the values of all points on the two axes, as figure 7 of the paper shows them."""
        first, second = self.axes
        values = [(point.values[first], point.values[second]) for point in self.points]
        columns = np.array(values)
        return columns[:, 0], columns[:, 1]

    def distance(self, other: Schedule | Point) -> Distance:
        """Return how far a schedule of the same jobs is from the front."""
        if isinstance(other, Schedule):
            other = self._point_of(other)
        own = self.losses_of(other)
        relative = np.sqrt(np.mean((_ratio(own, self.losses) - 1.0) ** 2, axis=1))
        nearest = int(np.argmin(relative))
        sign = -1.0 if self.objective.better == "higher" else 1.0
        gap = sign * (other.value - self.best.value) / abs(self.best.value)
        return Distance(
            other,
            100 * gap,
            self.points[nearest],
            100 * float(relative[nearest]),
            int(np.count_nonzero(dominated_by(own, self.losses))),
        )

    @cached_property
    def distances(self) -> tuple[Distance, ...]:
        """How far each policy is from the front."""
        return tuple(self.distance(policy) for policy in self.policies)

    def _point_of(self, schedule: Schedule) -> Point:
        if len(schedule) != self.jobs or schedule.cluster.cores != self.cores:
            raise UsageError(
                f"schedule '{schedule.policy}' has {so_many(len(schedule), 'job')} on "
                f"{so_many(schedule.cluster.cores, 'core')}, but the front is of "
                f"{so_many(self.jobs, 'job')} on {self.cores:,}. Give a schedule of the same jobs."
            )
        return measure(schedule, self.objectives, self.objective)

    # -- as tables and files ----------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point of the front, then one for each policy."""
        kinds = {"front": self.points, "policy": self.policies}
        return [
            {"kind": kind, "name": point.name, **point.values, str(self.objective): point.value}
            for kind, points in kinds.items()
            for point in points
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "log": self.log,
            "jobs": self.jobs,
            "cores": self.cores,
            "objective": str(self.objective),
            "objectives": list(self.objectives),
            "left_out": list(self.left_out),
            "hypervolume": self.hypervolume,
            "projected_hypervolume": self.projected_hypervolume,
            "reference": self.reference,
            "policies": [distance.to_dict() for distance in self.distances],
            "points": [point.to_dict() for point in self.points],
            "settings": self.settings,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
        }

    def save(self, path: AnyPath) -> None:
        """Write the front: ``.csv`` for the table, ``.json`` or ``.json.gz`` for everything."""
        write_bytes(path, self._text(path).encode())

    def _text(self, path: AnyPath) -> str:
        if format_suffix(path) == ".csv":
            rows, text = self.rows(), io.StringIO()
            writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            return text.getvalue()
        return json.dumps(self.to_dict(), indent=2) + "\n"

    @classmethod
    def load(cls, path: AnyPath) -> Front:
        """Read a front from the JSON file that ``save`` wrote."""
        try:
            content = read_json(path, f"the front '{path}'", most_bytes=MOST_BYTES)
            return cls(
                content["log"],
                content["jobs"],
                content["cores"],
                Objective(content["objective"]),
                tuple(content["objectives"]),
                tuple(content["left_out"]),
                tuple(_point(each) for each in content["points"]),
                tuple(_point(each) for each in content["policies"]),
                content["settings"],
                content["evaluations"],
                content["seconds"],
            )
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise UsageError(
                f"'{path}' is no front that was saved as JSON ({error!r:.80}). "
                "Make it with: queuesmith pareto LOG --out front.json."
            ) from error


def measure(schedule: Schedule, objectives: Sequence[str], objective: Objective) -> Point:
    """Return what a schedule is worth."""
    values = {name: schedule.value(name) for name in objectives}
    return Point(schedule.policy, values, objective(schedule))


def losses(values: Mapping[str, float], names: Sequence[str]) -> Floats:
    """Return objectives such that lower is better: of the utilization, what it lacks of 1."""
    return np.array([1.0 - values[n] if n == UTILIZATION else values[n] for n in names])


def _ratio(one: Floats, other: Floats) -> Floats:
    """Return one over the other; equal where both are nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(one == other, 1.0, one / other)


def _point(content: Mapping[str, Any]) -> Point:
    value = float(content["value"])
    if not math.isfinite(value):
        raise MetricError(f"point '{content['name']}' has no value. Make the front anew.")
    return Point(content["name"], dict(content["values"]), value)
