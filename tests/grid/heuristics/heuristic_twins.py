"""The heuristics again, slow and obvious, in plain Python."""

import math
from collections.abc import Callable, Iterable, Sequence

Times = Sequence[Sequence[float]]
Chosen = dict[int, int]
#: When machines would finish a job, and which, earliest first.
Ranked = list[tuple[float, int]]
Twin = Callable[[Times, Sequence[float], Sequence[int]], Chosen]


def olb(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    free, chosen = list(ready), {}
    for job in order:
        able = [m for m in range(len(free)) if times[job][m] < math.inf]
        chosen[job] = min(able, key=lambda m: (free[m], m))
        free[chosen[job]] += times[job][chosen[job]]
    return chosen


def met(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    return {job: min(range(len(ready)), key=lambda m: (times[job][m], m)) for job in order}


def mct(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    free, chosen = list(ready), {}
    for job in order:
        chosen[job] = completions(times, free, job)[0][1]
        free[chosen[job]] += times[job][chosen[job]]
    return chosen


def completions(times: Times, free: Sequence[float], job: int) -> Ranked:
    """When each machine would finish the job, earliest first."""
    return sorted((free[m] + times[job][m], m) for m in range(len(free)))


def one_by_one(
    times: Times, ready: Sequence[float], order: Sequence[int], key: Callable[[Ranked], float]
) -> Chosen:
    """Take again and again the job of the least key, to where it finishes first."""
    free, chosen, waiting = list(ready), {}, set(range(len(times)))
    while waiting:
        ranked = {job: completions(times, free, job) for job in waiting}
        job = min(waiting, key=lambda job: (key(ranked[job]), job))
        free_at, machine = ranked[job][0]
        chosen[job], free[machine] = machine, free_at
        waiting.remove(job)
    return chosen


def min_min(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    return one_by_one(times, ready, order, lambda ranked: ranked[0][0])


def max_min(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    return one_by_one(times, ready, order, lambda ranked: -ranked[0][0])


def loss(ranked: Ranked) -> float:
    """What a job loses on its second-best machine."""
    return ranked[1][0] - ranked[0][0] if len(ranked) > 1 else math.inf


def x_sufferage(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    return one_by_one(times, ready, order, lambda ranked: -loss(ranked))


def sufferage(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    free, chosen, waiting = list(ready), {}, list(range(len(times)))
    while waiting:
        taken: dict[int, tuple[int, float]] = {}
        for job in waiting:
            ranked = completions(times, free, job)
            rival = taken.get(ranked[0][1])
            if rival is None or rival[1] < loss(ranked):
                taken[ranked[0][1]] = (job, loss(ranked))
        for machine, (job, _) in taken.items():
            chosen[job] = machine
            free[machine] += times[job][machine]
            waiting.remove(job)
    return chosen


def makespan(times: Times, ready: Sequence[float], chosen: Chosen) -> float:
    free = list(ready)
    for job, machine in chosen.items():
        free[machine] += times[job][machine]
    return max(free)


def duplex(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    both = [min_min(times, ready, order), max_min(times, ready, order)]
    return min(both, key=lambda chosen: makespan(times, ready, chosen))


def mean(values: Iterable[float]) -> float:
    finite = [value for value in values if value < math.inf]
    return sum(finite) / len(finite) if finite else math.inf


def ljfr_sjfr(times: Times, ready: Sequence[float], order: Sequence[int]) -> Chosen:
    free, chosen = list(ready), {}
    longest = sorted(range(len(times)), key=lambda job: (-mean(times[job]), job))
    fastest = sorted(range(len(free)), key=lambda m: (mean([row[m] for row in times]), m))
    for step in range(len(times)):
        long_turn = step < len(free) or (step - len(free)) % 2 == 0
        job = longest.pop(0 if long_turn else -1)
        able = [m for m in range(len(free)) if times[job][m] < math.inf]
        machine = min(able, key=lambda m: (free[m], m))
        if step < len(free) and fastest[step] in able:
            machine = fastest[step]
        chosen[job] = machine
        free[machine] += times[job][machine]
    return chosen


TWINS: dict[str, Twin] = {
    "olb": olb,
    "met": met,
    "mct": mct,
    "min-min": min_min,
    "max-min": max_min,
    "duplex": duplex,
    "sufferage": sufferage,
    "x-sufferage": x_sufferage,
    "ljfr-sjfr": ljfr_sjfr,
}
