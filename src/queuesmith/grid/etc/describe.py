"""What an instance is like: heterogeneity and consistency, measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from queuesmith.grid.etc.matrix import EtcMatrix, Floats


@dataclass(frozen=True)
class EtcDescription:
    """The measures of one instance.

    Parameters
    ----------
    job_heterogeneity
        The coefficient of variation of the jobs' times on a machine, mean of all machines.
    machine_heterogeneity
        The coefficient of variation of a job's times on the machines, mean of all jobs.
    consistency
        Of two machines, the share of jobs for which the one that is mostly faster is faster; mean
        of all pairs. It is 1 where the matrix is consistent, and near 0.5 where nothing orders it.
    consistent_pairs
        The share of pairs of machines of which one is at least as fast for every job.
    incompatible
        The share of pairs of job and machine that are impossible.
    """

    name: str
    jobs: int
    machines: int
    shortest: float
    mean: float
    longest: float
    job_heterogeneity: float
    machine_heterogeneity: float
    consistency: float
    consistent_pairs: float
    incompatible: float
    latest_ready: float

    def rows(self) -> list[tuple[str, str]]:
        """Return what to print, as pairs of a name and a text."""
        return [
            ("instance", self.name),
            ("jobs", f"{self.jobs:,}"),
            ("machines", f"{self.machines:,}"),
            ("times", f"{self.shortest:,.6g} to {self.longest:,.6g}, mean {self.mean:,.6g}"),
            ("job heterogeneity", f"{self.job_heterogeneity:.3f}"),
            ("machine heterogeneity", f"{self.machine_heterogeneity:.3f}"),
            ("consistency", f"{100 * self.consistency:.1f} % of jobs agree on two machines"),
            ("consistent pairs", f"{100 * self.consistent_pairs:.1f} % of machine pairs"),
            ("incompatible", f"{100 * self.incompatible:.1f} % of pairs"),
            ("latest ready time", f"{self.latest_ready:,.6g}"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures, ready for JSON."""
        return asdict(self)


def describe(matrix: EtcMatrix) -> EtcDescription:
    """Measure heterogeneity and consistency of an instance."""
    finite = matrix.times[matrix.compatible]
    agreement, whole = _agreement(matrix.times)
    return EtcDescription(
        name=matrix.name,
        jobs=matrix.jobs,
        machines=matrix.machines,
        shortest=float(finite.min()),
        mean=float(finite.mean()),
        longest=float(finite.max()),
        job_heterogeneity=_variation(matrix.times, axis=0),
        machine_heterogeneity=_variation(matrix.times, axis=1),
        consistency=agreement,
        consistent_pairs=whole,
        incompatible=1 - finite.size / matrix.times.size,
        latest_ready=float(matrix.ready.max()),
    )


def _variation(times: Floats, axis: int) -> float:
    """Return the mean coefficient of variation along an axis, finite times only."""
    known = np.isfinite(times)
    count = known.sum(axis=axis)
    some = count > 0
    mean = np.where(known, times, 0.0).sum(axis=axis)[some] / count[some]
    away = np.where(known, times - np.expand_dims(_spread_out(mean, some), axis), 0.0)
    deviation = np.sqrt((away**2).sum(axis=axis)[some] / count[some])
    return float((deviation / mean).mean())


def _spread_out(mean: Floats, some: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    everywhere = np.zeros(some.shape)
    everywhere[some] = mean
    return everywhere


def _agreement(times: Floats) -> tuple[float, float]:
    """Return the mean agreement on pairs of machines, and the share of pairs all jobs agree on."""
    columns = np.ascontiguousarray(times.T)
    total, whole, pairs = 0.0, 0, 0
    for place, one in enumerate(columns[:-1]):
        others = columns[place + 1 :]
        both = np.isfinite(one) & np.isfinite(others)
        compared = both.sum(axis=1)
        faster = ((one <= others) & both).sum(axis=1)
        slower = ((one >= others) & both).sum(axis=1)
        known = compared > 0
        most = np.maximum(faster, slower)[known]
        total += float((most / compared[known]).sum())
        whole += int((most == compared[known]).sum())
        pairs += int(known.sum())
    return (total / pairs, whole / pairs) if pairs else (1.0, 1.0)
