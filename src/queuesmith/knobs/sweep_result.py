"""What a sweep found: one row of costs for each setting, and the best of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.base.frames import Framed, rows_html
from queuesmith.base.words import so_many
from queuesmith.knobs.bags import Floats, Mask, TaskJobs, rigid
from queuesmith.knobs.setting import NAMES, Knobs
from queuesmith.schedule import Schedule
from queuesmith.schedule.measures import CLASSES
from queuesmith.schedule.metrics import Term
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    import pandas as pd

#: What the columns of costs mean, as objectives name them.
TERMS = (
    *(Term("expansion_factor", name) for name in CLASSES),
    Term("makespan"),
    Term("mean_wait"),
    Term("expansion_factor"),
)
#: What the JSON of a sweep calls them.
SHORT = (*CLASSES, "makespan", "mean_wait", "expansion_factor")
#: The paper's cost vector: E_f of the classes and the makespan, its workload response time.
COST_VECTOR = 5
MAKESPAN, MEAN_WAIT = 4, 5
#: Alpha, beta and gamma under which those who wait longest come first, whatever they ask for.
FIRST_COME = (0.0, 1.0, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Framed):
    """The costs of every setting that was looked at.

    Parameters
    ----------
    log, jobs, cores, scheduler
        What was replayed: the name of the log, how many jobs and cores, and what was swept.
    settings
        One row a setting: alpha, beta, gamma.
    costs
        One row a setting, in the order of ``TERMS``; nan for a class that has no jobs.
    replayed
        Which settings were replayed; the others are proven to give the schedule of one that was.
    seconds
        How long it took.
    """

    log: str
    jobs: int
    cores: int
    scheduler: str
    settings: Floats
    costs: Floats
    replayed: Mask
    seconds: float

    def __len__(self) -> int:
        return len(self.settings)

    def __repr__(self) -> str:
        return (
            f"<SweepResult of '{self.log}': {so_many(len(self), 'setting')}, "
            f"{so_many(self.replays, 'replay')}, {self.seconds:.2f} s>"
        )

    @property
    def replays(self) -> int:
        """How many settings were really replayed."""
        return int(np.count_nonzero(self.replayed))

    @property
    def backfill(self) -> str:
        """Who might overtake a job that did not fit: ``knapsack`` alone means ``list``."""
        return self.scheduler.removeprefix("knapsack").removeprefix("+") or "list"

    @property
    def values(self) -> Mapping[Term, Floats]:
        """The costs by metric."""
        return {term: self.costs[:, i] for i, term in enumerate(TERMS)}

    @property
    def known(self) -> list[int]:
        """Which columns of costs have values: a class without jobs has none."""
        return [i for i in range(len(TERMS)) if not np.isnan(self.costs[0, i])]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a setting: the knobs, the costs, whether it was replayed."""
        import pandas as pd

        columns = {name: self.settings[:, i] for i, name in enumerate(NAMES)}
        columns |= {str(term): values for term, values in self.values.items()}
        return pd.DataFrame({**columns, "replayed": self.replayed})

    def knobs(self, index: int) -> Knobs:
        """Return one setting."""
        return Knobs(*self.settings[index].tolist())

    # -- the best ---------------------------------------------------------------------------

    def least(self, values: Floats) -> int:
        """Return the setting of the least value; of equal ones, the quickest, then the mildest.

        That is the least makespan, then the least mean wait, then the smallest exponents.
        """
        if np.isnan(values).all():
            raise MetricError("no setting has a value. Change the objective.")
        rows = np.flatnonzero(values == np.nanmin(values))
        mild = np.abs(self.settings[rows]).sum(axis=1)
        costs = self.costs[rows]
        return int(rows[np.lexsort((mild, costs[:, MEAN_WAIT], costs[:, MAKESPAN]))[0]])

    def best(self) -> dict[str, dict[str, Any]]:
        """Return the best setting for each class, for the makespan and for the means."""
        return {name: self._best(self.costs[:, i]) for i, name in self._named()}

    def _named(self) -> list[tuple[int, str]]:
        """Return the columns of costs that have values, with their short names."""
        return [(i, SHORT[i]) for i in self.known]

    def _best(self, values: Floats) -> dict[str, Any]:
        index = self.least(values)
        equal = int(np.count_nonzero(values == values[index]))
        return {
            "value": float(values[index]),
            **dict(zip(NAMES, self.knobs(index).values, strict=True)),
            "settings": equal,
            "favours": self.favours(index, equal),
        }

    def schedules(self, jobs: TaskJobs | Workload) -> dict[str, Schedule]:
        """Replay the best setting for each cost, and first come, first served beside them.

        A sweep judges by means and keeps no starts; these tell who pays for a good mean.

        Parameters
        ----------
        jobs
            What was swept.
        """
        from queuesmith.knobs.greedy_knapsack import knapsack

        bags = rigid(jobs) if isinstance(jobs, Workload) else jobs
        found = {name: self.knobs(self.least(self.costs[:, i])) for i, name in self._named()}
        found["first come, first served"] = Knobs(*FIRST_COME)
        return {
            name: knapsack(bags, knobs=knobs, backfill=self.backfill, cores=self.cores)
            for name, knobs in found.items()
        }

    def conclusion(self) -> str:
        """Say in two sentences what came out, and how far to believe it."""
        waits = self.costs[:, MEAN_WAIT]
        index = self.least(waits)
        if np.count_nonzero(waits == waits[index]) == len(self):
            return "The knobs make no difference to the mean wait of these jobs."
        gain = ""
        first = np.flatnonzero((self.settings == FIRST_COME).all(axis=1))
        if len(first) and waits[first[0]] > 0:
            less = 100 * (1 - waits[index] / waits[first[0]])
            gain = f", {less:.1f} % below that of first come, first served"
        return (
            f"Of {len(self):,} settings {self.knobs(index)} has the least mean wait{gain}. All "
            "were judged on these very jobs: see how long the unluckiest of them wait, and what it "
            "does to others (queuesmith retune, or simulate on later jobs), before you use it."
        )

    def favours(self, index: int, equal: int) -> str:
        """Say what a setting favours, and which knobs do nothing; or that none of them matters.

        Parameters
        ----------
        index
            The setting.
        equal
            How many settings are as good.
        """
        if equal == len(self):
            return "nothing: all settings are equally good"
        said = self.knobs(index).favours(self.idle)
        idle = " and ".join(self.idle)
        verb = "make" if len(self.idle) > 1 else "makes"
        return f"{said}; {idle} {verb} no difference here" if idle else said

    @cached_property
    def idle(self) -> tuple[str, ...]:
        """The knobs that change no cost: settings that differ in one of them alone are equal."""
        return tuple(name for place, name in enumerate(NAMES) if self._is_idle(place))

    def _is_idle(self, place: int) -> bool:
        others = np.delete(self.settings, place, axis=1)
        _, first, group, count = np.unique(
            others, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        if count.max() == 1:  # nothing to compare with
            return False
        own = first[group.ravel()]
        return bool(np.array_equal(self.costs[:, self.known], self.costs[own][:, self.known]))

    def rows(self) -> list[dict[str, Any]]:
        """Return the best setting for each cost, as a notebook shows them."""
        return [{"least": name, **found} for name, found in self.best().items()]

    def _repr_html_(self) -> str:
        return rows_html(self, self.rows())

    # -- the front --------------------------------------------------------------------------

    @cached_property
    def distinct(self) -> tuple[Ints, Ints]:
        """The first setting of each different cost vector, and how many settings share it."""
        known = [i for i in self.known if i < COST_VECTOR]
        _, first, count = np.unique(
            self.costs[:, known], axis=0, return_index=True, return_counts=True
        )
        return first, count

    @cached_property
    def front(self) -> Ints:
        """One setting for each cost vector that no other one equals or beats in every part."""
        from queuesmith.compiled.pareto import undominated

        first, _ = self.distinct  # in the order of their cost vectors
        known = [i for i in self.known if i < COST_VECTOR]
        return first[undominated(self.costs[first][:, known])]

    def to_dict(self) -> dict[str, Any]:
        """Return what one looks at first, ready for JSON."""
        return {
            "log": self.log,
            "jobs": self.jobs,
            "cores": self.cores,
            "scheduler": self.scheduler,
            "points": len(self),
            "replays": self.replays,
            "schedules": len(self.distinct[0]),
            "seconds": self.seconds,
            "best": self.best(),
            "pareto": len(self.front),
        }
