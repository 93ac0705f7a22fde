"""Jobs as Lublin and Feitelson found them on four supercomputers.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the
characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003.
Symbols are those of the paper; the values are those its authors publish with the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from queuesmith.base.checks import MOST_DRAWN, number, positive, seeded, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.workload.daily_cycle import DailyClock, Floats, slot_weights
from queuesmith.workload.estimates import estimate_walltimes
from queuesmith.workload.users import DEFAULT_USERS, assign_users
from queuesmith.workload.workload import Ints, Workload

#: Runtimes above e**12 s (45 h) and gaps above e**13 s (5 days) are drawn again.
LONGEST_LOG_RUNTIME = 12.0
LONGEST_LOG_GAP = 13.0


@dataclass(frozen=True)
class LublinParameters:
    """One kind of job in the model.

    Parameters
    ----------
    serial, pow2
        The share of all jobs that run on one core, and on a higher power of two of cores.
    u_low, u_med, u_hi, u_prob
        The two-stage uniform distribution of log2 of the size: between ``u_low`` and the middle
        with probability ``u_prob``, else between the middle and the top. ``u_med`` and ``u_hi``
        say how far middle and top lie below log2 of the machine size.
    a1, b1, a2, b2
        Shape and scale of the two gamma distributions of the log of the runtime.
    pa, pb
        The first of the two has probability ``pa * size + pb``.
    aarr, barr, arar
        The log of the gap between arrivals is gamma distributed with shape ``aarr * arar``
        and scale ``barr``; ``arar`` leads from the rush hours to the whole day.
    anum, bnum
        Shape and scale of the gamma distribution of arrivals over the half-hours of the day.
    """

    serial: float
    pow2: float
    u_low: float
    u_med: float
    u_hi: float
    u_prob: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float

    def __post_init__(self) -> None:
        way_out = "See the published values in WHOLE, BATCH and INTERACTIVE."
        for field in fields(self):
            name, value = f"Lublin parameter '{field.name}'", getattr(self, field.name)
            if field.name in ("serial", "pow2", "u_prob"):
                number(name, value, 0, 1, way_out)
            elif field.name in ("pa", "pb"):
                number(name, value, -1e6, 1e6, way_out)
            elif field.name in ("u_low", "u_med", "u_hi"):
                number(name, value, 0, 40, way_out)
            else:
                positive(name, value, way_out)
        self._check_together(way_out)

    def _check_together(self, way_out: str) -> None:
        if self.serial + self.pow2 > 1:
            raise UsageError(
                f"Lublin parameters 'serial' and 'pow2' sum to {self.serial + self.pow2:g}, but "
                f"shares of all jobs sum to at most 1. {way_out}"
            )
        if self.u_med < self.u_hi:
            raise UsageError(
                f"Lublin parameter 'u_med' is {self.u_med:g}, but the middle lies at least as "
                f"far below the machine size as the top, {self.u_hi:g}. {way_out}"
            )
        for shape, scale, top in (
            (self.a1, self.b1, LONGEST_LOG_RUNTIME),
            (self.a2, self.b2, LONGEST_LOG_RUNTIME),
            (self.aarr * self.arar, self.barr, LONGEST_LOG_GAP),
        ):
            if shape * scale > top:
                raise UsageError(
                    f"a gamma distribution of the Lublin model has mean {shape * scale:g}, but "
                    f"values above {top:g} are drawn again without end. {way_out}"
                )


#: All jobs together, for a workload that does not tell batch from interactive.
WHOLE = LublinParameters(
    serial=0.244, pow2=0.576, u_low=0.8, u_med=2.5, u_hi=0.0, u_prob=0.86,
    a1=4.2, b1=0.94, a2=312.0, b2=0.03, pa=-0.0054, pb=0.78,
    aarr=10.2303, barr=0.4871, anum=8.1737, bnum=3.9631, arar=1.0225,
)  # fmt: skip
BATCH = LublinParameters(
    serial=0.2927, pow2=0.6686, u_low=1.2, u_med=2.0, u_hi=0.0, u_prob=0.875,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    aarr=6.0415, barr=0.8531, anum=6.1271, bnum=5.2740, arar=1.0519,
)  # fmt: skip
INTERACTIVE = LublinParameters(
    serial=0.1541, pow2=0.625, u_low=1.0, u_med=4.0, u_hi=1.5, u_prob=0.705,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    aarr=6.5510, barr=0.6621, anum=8.9186, bnum=3.6680, arar=0.9797,
)  # fmt: skip


def lublin(
    jobs: int,
    cores: int,
    *,
    load: float | None = None,
    seed: int = 0,
    interactive: bool = False,
    estimates: bool = True,
    users: int = DEFAULT_USERS,
    parameters: LublinParameters | Sequence[LublinParameters] | None = None,
    name: str = "lublin",
) -> Workload:
    """Make a workload by the model of Lublin and Feitelson.

    Parameters
    ----------
    jobs, cores
        How many jobs to make, for a machine of how many cores.
    load
        The offered load wanted on that machine. The gaps between arrivals are stretched for it;
        the daily cycle keeps its 24 hours. By default the gaps stay as the model has them.
    seed
        Same seed, same workload.
    interactive
        Make batch and interactive jobs, each by its own parameters, instead of jobs of one kind.
        The extra column ``kind`` tells them apart: 0 is batch, 1 interactive.
    estimates
        Give jobs the round walltimes that users ask for; else the walltime is the runtime.
    users
        How many users submit the jobs.
    parameters
        Other parameters than the published ones, for one kind of job or, with an extra column
        ``kind`` that counts from 0, for several.
    name
        What the workload is called.
    """
    count = whole_number("the number of jobs", jobs, 1, "Give for example 10000.", most=MOST_DRAWN)
    width = whole_number("the number of cores", cores, 1, "Give for example 256.")
    rng = seeded(seed)
    kinds = _kinds(interactive, parameters)
    streams = _streams(count, kinds, rng)
    bodies = [
        _sizes_and_runtimes(len(s.even), width, k, rng) for s, k in zip(streams, kinds, strict=True)
    ]
    size, runtime = (np.concatenate(column) for column in zip(*bodies, strict=True))
    stretch = _stretch(streams, _wanted_span(load, size, runtime, width))
    submit = np.rint(np.concatenate([s.times(stretch) for s in streams])).astype(np.int64)
    order = np.argsort(submit, kind="stable")
    submit, size, runtime = submit[order], size[order], runtime[order]
    kind = np.repeat(np.arange(len(kinds)), [len(s.even) for s in streams])[order]
    return Workload(
        submit,
        runtime,
        estimate_walltimes(runtime, rng) if estimates else runtime,
        size,
        user=assign_users(submit, rng, users=users),
        extra={"kind": kind} if len(kinds) > 1 else None,
        labels={"kind": ("batch", "interactive")} if interactive else None,
        name=name,
        machine_cores=width,
    )


@dataclass(frozen=True)
class _Stream:
    """The arrivals of one kind of job: seconds of an even day, and the clock of its real day."""

    even: Floats
    clock: DailyClock

    def times(self, stretch: float) -> Floats:
        return self.clock(self.even * stretch)


def _kinds(
    interactive: bool, parameters: LublinParameters | Sequence[LublinParameters] | None
) -> tuple[LublinParameters, ...]:
    if parameters is None:
        return (BATCH, INTERACTIVE) if interactive else (WHOLE,)
    kinds = tuple(parameters) if isinstance(parameters, Iterable) else (parameters,)
    if interactive or not kinds or not all(isinstance(k, LublinParameters) for k in kinds):
        raise UsageError(
            f"parameters are {parameters!r} with interactive={interactive}, but they must be one "
            "or several LublinParameters and stand alone. Leave one of the two out."
        )
    return kinds


def _streams(
    count: int, kinds: tuple[LublinParameters, ...], rng: np.random.Generator
) -> list[_Stream]:
    """Draw arrivals of each kind, and keep the first ``count`` of all kinds together."""
    drawn = [
        _Stream(np.cumsum(_gaps(count, k, rng)), DailyClock(slot_weights(k.anum, k.bnum)))
        for k in kinds
    ]
    if len(drawn) == 1:
        return drawn
    earliest = np.argsort(np.concatenate([s.times(1.0) for s in drawn]), kind="stable")[:count]
    kept = np.bincount(earliest // count, minlength=len(kinds))
    return [_Stream(s.even[:n], s.clock) for s, n in zip(drawn, kept, strict=True)]


def _gaps(count: int, kind: LublinParameters, rng: np.random.Generator) -> Floats:
    """Draw the seconds between arrivals, averaged over the day."""
    shape = kind.aarr * kind.arar
    gap = rng.gamma(shape, kind.barr, count)
    while len(again := np.flatnonzero(gap > LONGEST_LOG_GAP)):
        gap[again] = rng.gamma(shape, kind.barr, len(again))
    return np.exp(gap, out=gap)


def _sizes_and_runtimes(
    count: int, cores: int, kind: LublinParameters, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    size = _sizes(count, cores, kind, rng)
    return size, _runtimes(size, kind, rng)


def _sizes(count: int, cores: int, kind: LublinParameters, rng: np.random.Generator) -> Ints:
    """Draw numbers of cores: serial, a power of two, or any, by the two-stage uniform."""
    machine = math.log2(cores)
    top = max(machine - kind.u_hi, 0.0)
    low = min(kind.u_low, top)
    middle = min(max(machine - kind.u_med, low), top)
    share = rng.random(count)
    log_size = rng.random(count)
    small = rng.random(count) <= kind.u_prob
    log_size *= np.where(small, middle - low, top - middle)
    log_size += np.where(small, low, middle)
    power = share <= kind.serial + kind.pow2
    # On a machine of, say, 430 cores the largest power of two is 256.
    log_size[power] = np.minimum(np.floor(log_size[power] + 0.5), math.floor(machine))
    log_size[share <= kind.serial] = 0.0
    size = np.floor(np.exp2(log_size) + 0.5).astype(np.int64)
    return np.clip(size, 1, cores)


def _runtimes(size: Ints, kind: LublinParameters, rng: np.random.Generator) -> Ints:
    """Draw runtimes from a hyper-gamma whose mix depends on the size: p = pa * size + pb."""
    first = np.clip(kind.pa * size + kind.pb, 0.0, 1.0)
    log_runtime = _hyper_gamma(first, kind, rng)
    while len(again := np.flatnonzero(log_runtime > LONGEST_LOG_RUNTIME)):
        log_runtime[again] = _hyper_gamma(first[again], kind, rng)
    return np.exp(log_runtime).astype(np.int64)


def _hyper_gamma(first: Floats, kind: LublinParameters, rng: np.random.Generator) -> Floats:
    is_first = rng.random(len(first)) <= first
    short = int(np.count_nonzero(is_first))
    values = np.empty(len(first))
    values[is_first] = rng.gamma(kind.a1, kind.b1, short)
    values[~is_first] = rng.gamma(kind.a2, kind.b2, len(first) - short)
    return values


def _wanted_span(load: float | None, size: Ints, runtime: Ints, cores: int) -> float | None:
    if load is None:
        return None
    wanted = positive("the load", load, "Give for example 0.85.")
    if len(size) < 2:
        raise UsageError(
            f"the load is {wanted:g} for one job, but a load needs the time between two arrivals. "
            "Make at least 2 jobs, or give no load."
        )
    return float(np.dot(size.astype(np.float64), runtime) / (cores * wanted))


def _stretch(streams: list[_Stream], wanted_span: float | None) -> float:
    """Return the factor on all gaps that makes first and last arrival lie so far apart."""
    if wanted_span is None:
        return 1.0
    ends = [_Stream(s.even[[0, -1]], s.clock) for s in streams if len(s.even)]

    def span(stretch: float) -> float:
        times = np.concatenate([s.times(stretch) for s in ends])
        return float(times.max() - times.min())

    low = high = 1.0
    while span(low) > wanted_span:
        low /= 2
    while span(high) < wanted_span:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if span(middle) < wanted_span else (low, middle)
    return high
