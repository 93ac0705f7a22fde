"""How constants of the grid's methods were chosen: on instances that no table uses.

    python -m papers.grid_ga_constants steps
    python -m papers.grid_ga_constants columns --seconds 20
    python -m papers.grid_ga_constants ends --seconds 15
    python -m papers.grid_ga_constants walks --seconds 12
    python -m papers.grid_ga_constants mixed --seconds 10
    python -m papers.grid_ga_constants annealing --seconds 90

`steps` runs `carretero`, hierarchic, for 2,500 generations with several `makespan_step`. `columns`
shows from how many machines on `exact` should anneal along cheap columns (`MANY` in
`queuesmith.grid.exact.walker`), and for which part of the time (`SECOND`); `ends` changes how
annealing along columns ends on 8,192 x 256 (`ENDINGS` in `column_search`); `walks` changes its
habits (`WALKS`) one by one: on 512 x 16 none of the changes that were tried was better by more than
chance, so they stayed; `mixed` sets short walks, each from two good mappings mixed, beside one long
walk (`SETTLED`, and `SIZE` in `elite`). All search as one worker of `exact` does. `annealing`
changes how long the preset `queuesmith` anneals each child. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from papers.study import markdown, mean_and_half
from queuesmith.grid.etc import generate_etc
from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.exact import column_search, lower_bound, makespan, walker
from queuesmith.grid.exact.bounds import Bound
from queuesmith.grid.exact.column_search import ColumnSearch, Ending
from queuesmith.grid.exact.elite import Elite
from queuesmith.grid.exact.pair_search import Habits, PairSearch
from queuesmith.grid.exact.run import ExactRequest, greedy, new_run
from queuesmith.grid.exact.walker import FIRST, ROUND, WALKS
from queuesmith.grid.genetic import evolve, evolve_many, preset

#: Seeds of instances that are looked at here and nowhere else.
SEEDS = (1001, 1002)
KINDS = ("u_i_hihi", "u_i_lohi", "u_i_lolo", "u_s_hihi", "u_s_lolo")
#: The same for constants of smaller instances.
SMALL_KINDS = ("u_c_hihi", "u_i_lohi", "u_s_hihi")
WALK_KINDS, WALK_SEEDS = ("u_c_hihi", "u_i_hihi", "u_i_lohi", "u_s_hihi"), (1001, 1002, 1003)
STEP_KINDS = ("u_c_hihi", "u_c_lolo", "u_i_hihi", "u_s_hilo")
STEPS = (0.0, 0.001, 0.003, 0.005, 0.01, 0.03)
#: Parts of the time spent along columns.
PARTS = (0.0, 0.4, 0.7)
SIZES = ((512, 16), (1024, 32))
#: How annealing along columns ends: how steeply lateness is paid, how much colder it becomes, the
#: share of swaps, and how fast the prices of late machines rise; on so many jobs and machines.
ENDS = (
    Ending(1e3, 1.0, 0.1, 0.0),
    Ending(2e4, 0.2, 0.1, 0.0),
    Ending(2e4, 0.2, 0.1, 0.0005),
    Ending(2e4, 0.2, 0.1, 0.002),
    Ending(2e4, 0.2, 0.1, 0.008),
    Ending(2e4, 0.2, 0.3, 0.002),
)
LARGE, LARGE_KIND = (8192, 256), "u_i_hihi"
#: The habits of walks that are changed, and by which factor.
CHANGES = (
    ("hot", 2.0),
    ("hot", 0.5),
    ("cycle", 3.0),
    ("cycle", 0.3),
    ("reach", 3.0),
    ("reach", 0.3),
)
#: Short walks: the seconds without success after which one ends, and how many mappings are kept;
#: and the instances they are tried on.
MIXED = ((0.15, 8), (0.15, 16), (0.5, 8))
MIXED_ON = (
    ("u_i_lohi", 1102),
    ("u_i_hihi", 1101),
    ("u_s_hihi", 1101),
    ("u_s_lohi", 1102),
    ("u_c_hihi", 1101),
    ("u_i_lolo", 1101),
)
WHAT = ("steps", "columns", "ends", "walks", "mixed", "annealing", "many")
#: From how many machines on walks are long, and the size that this decides about.
MANY_KINDS, MANY_SIZE = ("u_i_hihi", "u_s_hihi", "u_i_lolo", "u_c_hihi"), (2048, 64)
#: Steps of annealing for each job of a child, where none has more than a million in all; and when
#: to look, beside the end.
ANNEALINGS, ANNEALED = (500, 2000), (5.0, 10.0, 30.0)


def main() -> None:
    """Print how good each value is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kinds", nargs="+", default=None)
    parser.add_argument("--sizes", type=int, nargs="+", default=range(len(SIZES)))
    asked = parser.parse_args()
    if asked.what == "steps":
        rows = [makespan_steps(kind) for kind in asked.kinds or STEP_KINDS]
    elif asked.what == "ends":
        rows = [ends(seed, asked.seconds) for seed in SEEDS]
    elif asked.what == "walks":
        rows = walks(asked.kinds or WALK_KINDS, asked.seconds)
    elif asked.what == "mixed":
        rows = mixed(asked.seconds)
    elif asked.what == "many":
        rows = [many(kind, asked.seconds) for kind in asked.kinds or MANY_KINDS]
    elif asked.what == "annealing":
        rows = [annealing(kind, asked.seconds) for kind in asked.kinds or SMALL_KINDS]
    else:
        sizes = [SIZES[place] for place in asked.sizes]
        kinds = itertools.product(sizes, asked.kinds or KINDS)
        rows = [columns(kind, size, asked.seconds) for size, kind in kinds]
    print(markdown(rows))


def makespan_steps(kind: str) -> dict[str, object]:
    """Return the mean makespan of hierarchic runs for each step."""
    row: dict[str, object] = {"kind": kind}
    for step in STEPS:
        config = replace(preset("carretero"), makespan_step=step)
        found = [
            evolve_many(
                generate_etc(kind, 512, 16, seed=seed),
                config,
                objective="hierarchic",
                runs=3,
                generations=2500,
            ).makespan.mean
            for seed in SEEDS
        ]
        row[f"step {step:g}"] = f"{sum(found) / len(found):.1f}"
    print(row, flush=True)
    return row


def beginning(kind: str, size: tuple[int, int]) -> tuple[dict[str, object], list[Bound]]:
    """Return the beginning of a row, and the bounds of the instances that it tells of."""
    row: dict[str, object] = {"kind": kind, "size": f"{size[0]} x {size[1]}"}
    return row, [lower_bound(generate_etc(kind, *size, seed=seed)) for seed in SEEDS]


def first_mapping(bound: Bound) -> Machines:
    """Return where a search begins: the bound, rounded, or else the greedy mapping."""
    return greedy(bound.matrix) if bound.rounded is None else bound.rounded


def columns(kind: str, size: tuple[int, int], seconds: float) -> dict[str, object]:
    """Return the mean gap to the bound for each part of the time spent along columns."""
    row, bounds = beginning(kind, size)
    for part in PARTS:
        gaps = [100 * (searched(bound, part, seconds) / bound.value - 1) for bound in bounds]
        row[f"columns {part:.0%}"] = f"{sum(gaps) / len(gaps):.3f}"
        print(row, flush=True)
    return row


def ends(seed: int, seconds: float) -> dict[str, object]:
    """Return the gap of a large instance for each way in which annealing along columns ends."""
    row: dict[str, object] = {"kind": LARGE_KIND, "seed": seed}
    bound = lower_bound(generate_etc(LARGE_KIND, *LARGE, seed=seed))
    start = first_mapping(bound)
    for end in ENDS:
        column_search.ENDINGS = (end, end)
        search = ColumnSearch(bound, start, seed=1)
        found = search.run_for(seconds, clock=time.thread_time)
        name = f"steep {end.steep:g}, x {end.frozen:g}, swaps {end.swaps:g}, urgent {end.urgent:g}"
        row[name] = f"{gap(bound, found):.3f}"
        print(row, flush=True)
    return row


def gap(bound: Bound, makespan: float) -> float:
    """Return by how many per cent a makespan is above the bound."""
    return 100 * (makespan / bound.value - 1)


def walks(kinds: Sequence[str], seconds: float) -> list[dict[str, object]]:
    """Return the gaps with the habits as they are, and what changing each of them changes."""
    bounds = {
        (kind, seed): lower_bound(generate_etc(kind, *SIZES[0], seed=seed))
        for kind in kinds
        for seed in WALK_SEEDS
    }
    rows: list[dict[str, object]] = []
    usual: list[float] = []
    for name, factor in (("hot", 1.0), *CHANGES):
        habits = [each._replace(**{name: factor * getattr(each, name)}) for each in WALKS]
        gaps = {each: walked(bound, seconds, habits) for each, bound in bounds.items()}
        row: dict[str, object] = {"habits": f"{name} x {factor:g}" if usual else "as they are"}
        row |= {kind: f"{fmean(gaps[kind, seed] for seed in WALK_SEEDS):.3f}" for kind in kinds}
        row["mean"] = f"{fmean(gaps.values()):.3f}"
        usual = usual or list(gaps.values())
        change, half = mean_and_half([a - b for a, b in zip(gaps.values(), usual, strict=True)])
        row["change"] = f"{change:+.3f} ± {half or 0.0:.3f}"
        rows.append(row)
        print(row, flush=True)
    return rows


def walked(bound: Bound, seconds: float, habits: Sequence[Habits]) -> float:
    """Return the gap that a worker is left with that divides pairs from the LP's mapping on."""
    start = first_mapping(bound)
    return gap(bound, divided(bound, start, seconds, habits)[0])


def mixed(seconds: float) -> list[dict[str, object]]:
    """Return the gaps of one long walk, and of short ones from two good mappings mixed."""
    bounds = {
        each: lower_bound(generate_etc(each[0], *SIZES[0], seed=each[1])) for each in MIXED_ON
    }
    rows: list[dict[str, object]] = []
    for how in (None, *MIXED):
        gaps = {
            kind: walked(bound, seconds, WALKS)
            if how is None
            else walked_often(bound, seconds, *how)
            for (kind, _), bound in bounds.items()
        }
        row: dict[str, object] = {"walks": "one" if how is None else f"{how[0]:g} s, {how[1]} kept"}
        row |= {kind: f"{each:.3f}" for kind, each in gaps.items()}
        row["mean"] = f"{fmean(gaps.values()):.3f}"
        rows.append(row)
        print(row, flush=True)
    return rows


def walked_often(bound: Bound, seconds: float, settled: float, size: int) -> float:
    """Return the gap that one worker is left with after many short walks, without solvers."""
    walker.SETTLED = settled
    run = new_run(ExactRequest(bound.matrix, seconds, seed=1, workers=1, clock=time.thread_time))
    run.bound, run.elite = bound, Elite(size)
    makespan._search(run, seconds)
    return gap(bound, run.incumbent.value)


def many(kind: str, seconds: float) -> dict[str, object]:
    """Search instances of 64 machines by short walks, and as those of more machines are."""
    row: dict[str, object] = {"kind": kind}
    usual = walker.MANY
    for name, limit in (("often", MANY_SIZE[1]), ("far", MANY_SIZE[1] - 1)):
        walker.MANY = limit
        for seed in SEEDS:
            matrix = generate_etc(kind, *MANY_SIZE, seed=seed)
            request = ExactRequest(matrix, seconds, workers=1, clock=time.process_time)
            run = makespan.minimise_makespan(request)
            row[f"{name}, {seed}"] = f"{gap(run.bound, run.incumbent.value):.3f}"
    walker.MANY = usual
    return row


def annealing(kind: str, seconds: float) -> dict[str, object]:
    """Return the gaps of the preset `queuesmith` by its steps of annealing, over the seconds."""
    row: dict[str, object] = {"kind": kind}
    bounds = [lower_bound(generate_etc(kind, *SIZES[0], seed=seed)) for seed in SEEDS]
    for steps in ANNEALINGS:
        config = replace(preset("queuesmith"), improvement_parameter=steps, seconds=seconds)
        courses = [
            evolve(b.matrix, config, objective="makespan", clock=time.thread_time).course
            for b in bounds
        ]
        for moment in [*(each for each in ANNEALED if each < seconds), seconds]:
            then = [course.at(moment) for course in courses]
            gaps = [gap(b, at.makespan) for b, at in zip(bounds, then, strict=True) if at]
            row[f"{steps} steps, {moment:g} s"] = " ".join(f"{each:.3f}" for each in gaps)
        print(row, flush=True)
    return row


def searched(bound: Bound, part: float, seconds: float) -> float:
    """Return the makespan that a worker finds that spends some part of its time along columns."""
    start = first_mapping(bound)
    if not part:
        return divided(bound, start, seconds)[0]
    first, best = divided(bound, start, FIRST * seconds)
    search = ColumnSearch(bound, best if bound.rounded is None else bound.rounded, seed=1)
    second = search.run_for(part * seconds, clock=time.thread_time)
    last = divided(bound, search.last, (1 - FIRST - part) * seconds)[0]
    return min(first, second, last)


def divided(
    bound: Bound, start: Machines, seconds: float, habits: Sequence[Habits] = WALKS
) -> tuple[float, Machines]:
    """Divide the jobs of pairs of machines for some time, with the habits in turn."""
    search = PairSearch(bound, start, seed=1)
    ends = time.thread_time() + seconds
    for turn in itertools.count():
        left = ends - time.thread_time()
        if left <= 0:
            break
        search.behave(habits[turn % len(habits)])
        search.run_for(min(left, ROUND), clock=time.thread_time)
    return search.makespan, search.machine


if __name__ == "__main__":
    main()
