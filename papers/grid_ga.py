"""Carretero, Xhafa and Abraham: genetic schedulers for grids, tables 5 and 6, figures 3 to 7.

    python -m papers.grid_ga --runs 10 --seconds 90 --exact-seconds 60 --workers 2

prints the paper's numbers beside ours, the published solutions and the proven bounds, and keeps
them in docs/results/grid_ga.md. Every run is kept in one file as soon as it is done: the study can
be stopped and resumed, and made in pieces (--pieces, --columns). The page tells what is there, with
the curves as pictures; with --figures they are drawn as one HTML page, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from papers.grid_ga_figures import (
    FIGURE_SEEDS,
    JOBS,
    MACHINES,
    compared_figures,
    make_figures,
)
from papers.grid_ga_paper import TABLE_5
from papers.grid_ga_runs import (
    COLUMNS,
    PAPER_COLUMNS,
    Pieces,
    generated_names,
    larger_names,
)
from papers.grid_ga_tables import WORK, Summary
from papers.pictures import keep_pictures, write_page
from papers.study import RESULTS, ROOT, keep_page

#: How many generated instances a figure has.
GENERATED = len(FIGURE_SEEDS) * 12
#: What can be made, in the order in which it is.
PARTS = ("work", *COLUMNS, "figures", "exact", "flowtime", "front")


def main() -> None:
    """Make the pieces that were asked for and write the page of all that is kept."""
    asked = arguments()
    pieces = Pieces(asked.kept, asked.seconds, asked.exact_seconds, asked.workers)
    for part in PARTS:
        if part in asked.columns:
            make(part, pieces, asked)
    for name in (
        *(larger_names() if asked.larger else ()),
        *(generated_names() if asked.generated else ()),
    ):
        if asked.by_processor:
            pieces.exact_by_processor(name)
        pieces.exact(name, "makespan")
    if not asked.pieces:
        text = page(Summary(pieces, asked.instances, asked.early), asked)
        keep_page(text, asked.out)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="of each genetic scheduler")
    parser.add_argument("--seconds", type=float, default=90.0, help="of each genetic run")
    parser.add_argument(
        "--early",
        type=float,
        nargs="+",
        default=[10.0, 20.0],
        help="look at the runs after so many seconds, too",
    )
    parser.add_argument("--exact-seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2, help="runs, or threads, at once")
    parser.add_argument("--instances", nargs="+", choices=list(TABLE_5), default=list(TABLE_5))
    parser.add_argument(
        "--columns", nargs="*", choices=PARTS, default=PARTS, help="make these; none: only the page"
    )
    parser.add_argument("--larger", action="store_true", help="solve 1,024 x 32 exactly, too")
    parser.add_argument("--by-processor", action="store_true", help="these by its seconds")
    parser.add_argument("--generated", action="store_true", help="and large ones of our own")
    parser.add_argument("--kept", type=Path, default=ROOT / "papers" / "kept" / "grid_ga.json")
    parser.add_argument("--pieces", action="store_true", help="make pieces, write no page")
    parser.add_argument("--figures", type=Path, default=None, help="an HTML page for the figures")
    parser.add_argument("--out", type=Path, default=RESULTS / "grid_ga.md")
    return parser.parse_args()


def make(part: str, pieces: Pieces, asked: argparse.Namespace) -> None:
    """Make what is missing of a part of the study."""
    if part == "work":
        for column in PAPER_COLUMNS:
            pieces.make_runs(column, asked.instances, asked.runs, by_time=False)
    elif part in COLUMNS:
        pieces.make_runs(part, asked.instances, asked.runs)
    elif part == "figures":
        make_figures(pieces.curves)
    elif part == "front":
        pieces.front(asked.instances[0])
    else:
        for name in asked.instances:
            if part == "exact" and asked.by_processor:
                pieces.exact_by_processor(name)
            pieces.exact(name, "makespan" if part == "exact" else part)


def figures(summary: Summary, asked: argparse.Namespace) -> str:
    """Return figures 3 to 7 as tables and pictures, or nothing where no run is kept."""
    compared = compared_figures(summary.pieces.curves)
    if not compared:
        return ""
    drawn = {each.title: each.draw() for each in compared}
    if asked.figures is not None:
        write_page(drawn.values(), asked.figures, title="Genetic schedulers for grids")
    runs = len(compared[0].printed.consistency)
    seeds = f"{FIGURE_SEEDS[0]} to {FIGURE_SEEDS[-1]}"
    words = f"""Each curve is the mean of {runs} runs, one on each of {runs} generated instances of
{JOBS} jobs on {MACHINES} machines (`generate_etc`, all twelve classes, seeds {seeds}), 2,500
generations each (steady state 16,500), for makespan and flowtime together (`simultaneous`); all
curves have the same instances. Cycle crossover and rebalancing are as printed (`cx-literal`,
`rebalance-literal`); the last two columns have ours instead, in every curve, and `if-better` there
keeps only one of those alike. PMX and OX have the shortest jobs first in both, `cx-literal` has
them by number. Table 1's "Two-point CX" is taken as the two-point crossover. The first population
of figures 3 to 6 is one LJFR-SJFR mapping and copies with a quarter of the jobs on random machines.
The shares but 75 % are ours. Distances behind the best are taken run by run, with their 95 %
intervals. The pictures are of the printed ones."""
    tables = [each.table() for each in compared]
    return "\n\n".join([words, *tables, keep_pictures(drawn, asked.out)])


def page(summary: Summary, asked: argparse.Namespace) -> str:
    """Return the whole study as Markdown."""
    makespan = [
        ("braun", "braun"),
        ("strict-hierarchic", "hierarchic"),
        ("hierarchic", "hierarchic"),
        ("strict", "simultaneous"),
        ("carretero", "simultaneous"),
    ]
    flowtime = [
        ("strict", "if_better"),
        ("carretero", "if_better"),
        ("steady-state", "steady_state"),
    ]
    columns = [*makespan, *flowtime]
    parts = [
        f"""# Genetic schedulers for grids: the study

Carretero, Xhafa and Abraham, *Genetic algorithm based schedulers for grid computing systems*, map
independent jobs to the machines of a grid, given the time of each job on each machine. The
*makespan* is when the last job ends, the *flowtime* the sum of all jobs' ends; *simultaneous*
minimises 0.75 of the makespan and 0.25 of the flowtime over the machines, *hierarchic* the
makespan, then the flowtime. An instance such as `u_c_hihi.0` is consistent, inconsistent or
semi-consistent (c, i, s), with high or low heterogeneity of jobs, then of machines.
Heuristics and operators: [grids](../grid.md).

Made by `python -m papers.grid_ga`, which goes on from the pieces in `papers/kept/grid_ga.json`
(curves in `grid_ga_figures.json`), one core for each genetic run. CPR and MS are published
solutions (Gogos et al. 2016); MS is the best known elsewhere. The *LP bound* is what the linear
program proves in which a job may be divided among machines, but not onto one where that job alone
would take longer than the bound: a mapping that used it would be above the bound anyway. *Proven*
gaps are to a bound of our own, at least as high. A dash says that there was no run.

`carretero-strict` (`strict` and `strict-hierarchic` here) is the paper's algorithm as printed, so
far as it is: cycle crossover and rebalancing by their words, its rates, 68 individuals. Not printed
are the size of a tournament (3 here), which selection and replacement table 5 had (those that
figures 6 and 7 and table 6 name), how a population begins beyond MCT, LJFR-SJFR and random, the
order of jobs within a machine (by number), how a crossed permutation is read back (by the first
parent's counts), which machines are "most overloaded" (the latest quarter), and what 75 % is a
share of (of mutations, those that rebalance first).

`carretero` and `hierarchic` have the same rates with what we chose where the paper leaves a choice
([all of it](../grid.md#genetic-schedulers)), and five things that are not in the paper or against
its words: they begin anew where they stagnate, rebalancing looks for a good pair, the cycle begins
where the parents first differ, of individuals alike only one survives, and hierarchic runs count
makespans of one step of 0.5 % as equal. `steady-state` has our crossover and rebalancing, too.

## Claims, at the paper's own work

2,500 generations (steady state 16,500, Braun's at most 1,000, fewer where it stagnates): the
paper's W = (p_c + p_m) x pop_size x generations, in which its table 4 puts the number of children;
p_c and p_m are the probabilities of crossover and mutation. W counts no work within a mutation.
Counts are of the twelve instances; what {asked.seconds:g} s give is told beside them, of as many
runs as its own section says, and does not decide. The rows of figures are of {GENERATED} generated
instances; points are percentage points above the LP bound, with 95 % intervals.

{summary.claims()}

## Tables 5 and 6 at the paper's work

The paper's value, and how far the best and the mean of all runs are above it, in per cent; below 0
is better. Table 6 does not say whether it has the best or the mean.

{summary.work_table(makespan, WORK)}

Flowtimes:

{summary.work_table(flowtime, WORK)}

## The same at equal time: {asked.seconds:g} s

On one core of a computer of today, which in that time does some 30 to 80 times the paper's work
with `carretero` and `hierarchic`, 60 to 100 with `steady-state`, 90 to 180 with the others (Braun's
goes on where it stagnates).
`carretero` and `queuesmith` were stopped by the clock in an earlier session; the other columns by
seconds of the processor (`time.thread_time`), since the machine was shared. As many runs stand
behind each cell as the list says of its column.

{summary.equal_time(columns, f"{asked.seconds:g}")}

{summary.work_table(makespan, f"{asked.seconds:g}")}

{summary.work_table(flowtime, f"{asked.seconds:g}")}

## Beyond the paper

{summary.reached()}

Constants of `exact` and the step of `hierarchic` were chosen on generated instances of seeds that
no table uses (`python -m papers.grid_ga_constants`), or stood a trial there. Those of `carretero`
(tournaments, population, restarts) came from short runs, restarts with the consistent ones of these
twelve in view: its rows are partly in-sample. Those of `queuesmith`
came from short runs on some of these same instances, and only its annealing was tried elsewhere, so
its figures stay partly in-sample. On six generated ones (`annealing`, two each of `u_c_hihi`,
`u_i_lohi` and `u_s_hihi`) its 2,000 steps of annealing for each job end 0.425 % above the bound
after 90 s, its own time, and 0.444 % after 30 s, while 500 steps end 0.463 and 0.475 %. Only in
less time are 500 better: 0.506 instead of 0.519 % after 10 s, 0.521 instead of 0.593 % after 5 s.
The habits of walks, by which `exact` works on up to 48 machines, came from these twelve, too; on
twelve generated ones (`walks`, 12 s, three seeds each of four kinds) they stay as they are: they
end 0.394 % above the bound, with three times the `reach` 0.444 % (0.051 ± 0.057 points more), with
three times the `cycle` 0.402 %. A trial of 4 s on four instances had spoken for the larger `reach`;
it does not hold.

Those were single long walks. One settles in a second or two and stays there, and where that is
hangs on chance. On six generated instances (`mixed`, 10 s of one worker) one long walk ends 0.377 %
above the bound, short ones, each from two of the best mappings mixed, 0.334 %: 16 mappings are
kept, and a walk ends after 0.15 s without success. With 8 kept it is 0.348 %, after 0.5 s 0.346 %.
Before that, with scripts that are not kept: short walks from the LP's mapping, nothing mixed, ended
at 0.38 to 0.40 % on six instances, one long walk at 0.44 % and mixed ones at 0.37 %; other lengths
and numbers kept differed by no more than chance. On three of 1,024 x 32 two workers end in 25 s
0.66 % above the bound by short walks (0.5 s, 8 kept), 0.69 % as before (one long walk in pairs, and
one worker that begins anew along cheap columns), 0.65 % by both together: chance again, so the
simplest was kept.

On 8,192 x 256 (`ends`, 10 s, two of `u_i_hihi`) it matters that the prices of late machines rise:
1.42 and 1.32 % above the bound if they do not, 0.83 and 0.96 % if they rise by 0.0005 from one look
to the next, 0.95 and 0.87 % by 0.002, 0.86 and 0.85 % by 0.008, which differ by no more than
chance; with three swaps of ten instead of one it is 0.95 and 0.96 %.

From 49 machines on `exact` walks so, before from 65: on 2,048 x 64 (`many`, 30 s of one worker, two
each of `u_i_hihi`, `u_s_hihi`, `u_i_lolo` and `u_c_hihi`) it ends 0.538 % above the bound, by
short walks 0.686 %, and is better on 7 of 8. In the table below `u_i_hihi` of that size was 1.055 %
before, which led to this trial, `u_s_hihi` 0.584 % and `u_c_hihi` 0.130 %.

What was measured after that, once each, with next to nothing else to do, and stands in the tables:
the twelve, 0.227 % and 12 of 12 at or below MS, after 0.248 % and 9 by one long walk; and all of
1,024 x 32, at or below the published solution on 12 of 12, after 11. The generated ones were made
later, beside other work.

The preset `queuesmith`, for the makespan alone:

{summary.own_makespans()}

## The best possible makespan

{summary.exact()}

## The least flowtime

{summary.flowtimes()}
"""
    ]
    optional = {
        "1,024 jobs on 32 machines": summary.larger(),
        "Up to 8,192 jobs on 256 machines, generated": summary.generated(),
        f"Makespan against flowtime of {asked.instances[0]}": summary.front(asked.instances[0]),
        "Figures 3 to 7: operators": figures(summary, asked),
    }
    parts += [f"## {title}\n\n{text.rstrip()}\n" for title, text in optional.items() if text]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
