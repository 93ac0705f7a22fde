"""Random instances: the range-based and the coefficient-of-variation-based method.

Ali, Siegel, Maheswaran, Hensgen: Representing task and machine heterogeneities for heterogeneous
computing systems, Tamkang Journal of Science and Engineering 3 (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import number, positive, seeded, whole_number
from queuesmith.base.registry import entry, known
from queuesmith.grid.etc.matrix import EtcMatrix, Floats

#: A gamma variate may come out as 0, which is no time.
SHORTEST_SHARE = 1e-9


@dataclass(frozen=True)
class RangeModel:
    """Times are a job's factor times a machine's factor, both uniform from 1 to their range.

    Parameters
    ----------
    job_range, machine_range
        The heterogeneity: by default high for both, as in Braun's benchmark.
    consistency
        A name in ``CONSISTENCIES``.
    """

    job_range: float = 3000.0
    machine_range: float = 1000.0
    consistency: str = "inconsistent"
    method: ClassVar[str] = "range"

    def __post_init__(self) -> None:
        number("job_range", self.job_range, 1, 1e12, "Give for example 3000.")
        number("machine_range", self.machine_range, 1, 1e12, "Give for example 1000.")
        known("consistency", self.consistency, CONSISTENCIES)

    def draw(self, jobs: int, machines: int, rng: np.random.Generator) -> Floats:
        """Return the times of an inconsistent matrix."""
        factor = rng.uniform(1, self.job_range, (jobs, 1))
        return factor * rng.uniform(1, self.machine_range, (jobs, machines))


@dataclass(frozen=True)
class VariationModel:
    """Times follow gamma distributions with a given mean and coefficients of variation.

    The mean of each job is drawn first, then its times around that; where machines vary more
    than jobs, the mean of each machine is drawn first.

    Parameters
    ----------
    mean
        The mean time.
    job_variation, machine_variation
        Standard deviation over mean, among the jobs on a machine and the machines of a job.
    consistency
        A name in ``CONSISTENCIES``.
    """

    mean: float = 1000.0
    job_variation: float = 0.6
    machine_variation: float = 0.6
    consistency: str = "inconsistent"
    method: ClassVar[str] = "variation"

    def __post_init__(self) -> None:
        positive("mean", self.mean, "Give for example 1000.")
        number("job_variation", self.job_variation, 1e-6, 10, "Give for example 0.6.")
        number("machine_variation", self.machine_variation, 1e-6, 10, "Give for example 0.6.")
        known("consistency", self.consistency, CONSISTENCIES)

    def draw(self, jobs: int, machines: int, rng: np.random.Generator) -> Floats:
        """Return the times of an inconsistent matrix."""
        if self.machine_variation > self.job_variation:
            mean = _gamma(self.mean, self.machine_variation, (1, machines), rng)
            times = _gamma(mean, self.job_variation, (jobs, machines), rng)
        else:
            mean = _gamma(self.mean, self.job_variation, (jobs, 1), rng)
            times = _gamma(mean, self.machine_variation, (jobs, machines), rng)
        return np.maximum(times, SHORTEST_SHARE * self.mean)


Model = RangeModel | VariationModel


def generate_etc(
    model: str | Model = "u_i_hihi",
    jobs: int = 512,
    machines: int = 16,
    *,
    seed: int = 0,
    incompatible: float = 0.0,
    name: str | None = None,
) -> EtcMatrix:
    """Make a random instance.

    Parameters
    ----------
    model
        A name in ``PRESETS``, such as ``u_c_hihi``, or a model.
    jobs, machines
        How many of each.
    seed
        Same seed, same instance.
    incompatible
        The share of pairs that are impossible; every job keeps at least one machine.
    name
        What it is called; by default after the preset and the seed, ``u_c_hihi.0``.
    """
    chosen = entry("kind of instance", model, PRESETS) if isinstance(model, str) else model
    rows = whole_number("the number of jobs", jobs, 1, "Give for example 512.")
    columns = whole_number("the number of machines", machines, 1, "Give for example 16.")
    share = number("incompatible", incompatible, 0, 1, "Give for example 0.1.")
    rng = seeded(seed)
    times = CONSISTENCIES[chosen.consistency](chosen.draw(rows, columns, rng))
    if share > 0:
        times = _with_impossible_pairs(times, share, rng)
    label = model if isinstance(model, str) else chosen.method
    return EtcMatrix(times, name=f"{label}.{seed}" if name is None else name)


def consistent(times: Floats) -> Floats:
    """Return times by which each machine is faster than the next one for every job."""
    return np.sort(times, axis=1)


def semi_consistent(times: Floats) -> Floats:
    """Return times whose even columns are consistent among themselves, as in Braun's benchmark."""
    mended = times.copy()
    mended[:, ::2] = np.sort(times[:, ::2], axis=1)
    return mended


def inconsistent(times: Floats) -> Floats:
    """Return the times as they are: a machine may be fast for one job and slow for another."""
    return times


#: What is made of the drawn times, by name.
CONSISTENCIES: dict[str, Callable[[Floats], Floats]] = {
    "consistent": consistent,
    "semi-consistent": semi_consistent,
    "inconsistent": inconsistent,
}


def _gamma(
    mean: float | Floats, variation: float, shape: tuple[int, int], rng: np.random.Generator
) -> Floats:
    alpha = variation**-2
    return rng.gamma(alpha, np.asarray(mean) / alpha, shape)


def _with_impossible_pairs(times: Floats, share: float, rng: np.random.Generator) -> Floats:
    jobs, machines = times.shape
    impossible = rng.random((jobs, machines)) < share
    impossible[np.arange(jobs), rng.integers(machines, size=jobs)] = False
    return np.where(impossible, np.inf, times)


def _presets() -> dict[str, Model]:
    letters = {word[0]: word for word in CONSISTENCIES}
    models: dict[str, Model] = {}
    for letter, word in letters.items():
        for job in ("hi", "lo"):
            for machine in ("hi", "lo"):
                kind = f"{letter}_{job}{machine}"
                models[f"u_{kind}"] = RangeModel(
                    {"hi": 3000, "lo": 100}[job], {"hi": 1000, "lo": 10}[machine], word
                )
                models[f"g_{kind}"] = VariationModel(
                    1000, {"hi": 0.6, "lo": 0.1}[job], {"hi": 0.6, "lo": 0.1}[machine], word
                )
    return dict(sorted(models.items(), reverse=True))


#: Kinds of instances: ``u`` uniform by range or ``g`` gamma by variation; ``c``, ``s`` or ``i`` for
#: the consistency; high or low heterogeneity of the jobs, then of the machines.
PRESETS: dict[str, Model] = _presets()
