"""Grothklags and Streit (2003): how far self-tuning dynP is from optimal schedules, step by step.

    python -m papers.dynp_optimal

replays the CTC log on 430 processors under dynP, takes steps with 9 to 40 waiting jobs over the
whole log, and solves each in a second at one-second precision with a proven bound; some of them
also in ten seconds, and some by the paper's own model. docs/results/dynp_optimal.md tells it. Each
step is kept in one file as soon as it is solved, and not solved again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import queuesmith as qs
from papers.dynp_claims import claims
from papers.dynp_model import solve_paper_model, time_scale
from papers.kept_pieces import KeptPieces
from papers.study import RESULTS, ROOT, data_folder, markdown
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.planning import Snapshot
from queuesmith.planning.gap import GapStep, GapStudy, gap
from queuesmith.planning.plans import plan_value
from queuesmith.planning.steps import snapshots

#: The whole SP2 of Cornell's; the log's header names 338 nodes for batch jobs.
CORES = 430
KEPT = ROOT / "papers" / "kept" / "dynp_optimal.json"
POLICY = "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)"
FEWEST, MOST = 9, 40

#: Table 1: submission, jobs, makespan, accumulated run time, time scale in minutes, quality, loss
#: in per cent, computing time in seconds. The last line has the averages of all.
TABLE_1 = (
    (38_589, 40, 189_559, 1_798_837, 7, 0.9920, 0.80, 29_657),
    (38_590, 40, 189_596, 1_862_437, 8, 0.9869, 1.31, 6_455),
    (40_284, 31, 190_899, 1_395_637, 7, 0.9934, 0.66, 46_731),
    (40_493, 32, 191_509, 1_395_937, 8, 0.9968, 0.32, 84_168),
    (50_356, 18, 194_121, 1_030_782, 6, 0.9865, 1.35, 8_792),
    (50_360, 19, 194_161, 1_095_582, 6, 0.9974, 0.26, 147_171),
    (70_628, 17, 259_141, 715_905, 6, 0.9821, 1.79, 274_508),
    (71_271, 17, 256_741, 723_405, 6, 0.9804, 1.96, 465_385),
    (71_285, 17, 256_741, 728_505, 6, 0.9804, 1.96, 853_679),
    (36_037, 39, 178_232, 1_617_937, 7, 0.8913, 10.87, 12_364),
    (52_698, 19, 201_983, 906_331, 6, 1.0014, -0.14, 53_020),
    (69_073, 9, 239_417, 519_300, 5, 1.0022, -0.22, 1_420),
)
PAPER_AVERAGES = (21.7, 166_766, 931_168, 5, 0.9930, 0.70, 20_069)

#: Classes of the number of waiting jobs, for the table by size.
CLASSES = ((9, 14), (15, 19), (20, 24), (25, 29), (30, 34), (35, 40))


def main() -> None:
    """Run the study and write its page."""
    asked = arguments()
    log = qs.read(data_folder("traces") / "CTC-SP2-1996-3.1-cln.swf.gz")
    schedule = qs.simulate(log, cores=CORES, policy=POLICY)
    steps = list(snapshots(schedule, steps=asked.steps, seed=asked.seed, fewest=FEWEST, most=MOST))
    kept = KeptPieces(asked.kept)
    solved = [(step, by_paper(step, kept, asked)) for step in by_size(steps, asked.paper_steps)]
    if asked.pieces:
        return
    short = study(steps, asked.seconds, kept)
    long = study(evenly(steps, asked.long_steps), asked.long_seconds, kept)
    paper = [paper_row(step, short, found) for step, found in solved]
    judged = [claim.row() for claim in claims(short, steps, solved)]
    scales = {step.now: time_scale(step) // 60 for step in steps}
    asked.out.write_text(report(short, long, scales, paper, judged, asked), encoding="utf-8")
    asked.out.with_suffix(".svg").write_text(scatter(short), encoding="utf-8")
    print(f"wrote {asked.out}")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--long-steps", type=int, default=40)
    parser.add_argument("--long-seconds", type=float, default=10.0)
    parser.add_argument("--paper-steps", type=int, default=64)
    parser.add_argument("--paper-seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--pieces", action="store_true", help="make pieces, write no page")
    parser.add_argument("--out", type=Path, default=RESULTS / "dynp_optimal.md")
    return parser.parse_args()


def study(steps: Sequence[Snapshot], seconds: float, kept: KeptPieces) -> GapStudy:
    """Solve steps, so many seconds each, on one core, or take what is kept of them."""

    def solved(step: Snapshot) -> GapStep:
        def solve() -> dict[str, Any]:
            return asdict(gap([step], objective="sldwa", seconds=seconds).steps[0])

        piece = kept.piece(f"step {step.now}, {seconds:g} s", solve)
        assert piece is not None
        return GapStep(**piece)

    return GapStudy([solved(step) for step in steps], "sldwa")


def evenly(steps: Sequence[Snapshot], count: int) -> list[Snapshot]:
    """Return so many of the steps, evenly spread over the log."""
    return [steps[i] for i in np.linspace(0, len(steps) - 1, count).round().astype(int)]


def by_size(steps: Sequence[Snapshot], count: int) -> list[Snapshot]:
    """Return so many of the steps: half has least jobs times run time, half is spread over all."""
    size = sorted(steps, key=lambda step: len(step) * int(step.jobs.walltime.sum()))
    small = count // 2
    return size[:small] + evenly(size[small:], count - small)


def by_paper(step: Snapshot, kept: KeptPieces, asked: argparse.Namespace) -> dict[str, Any]:
    """Solve one step by the paper's model, or take what is kept of it."""

    def solve() -> dict[str, Any]:
        found = solve_paper_model(step, asked.paper_seconds)
        value = None if found.plan is None else plan_value(found.plan, "sldwa")
        return {
            "scale": found.scale,
            "variables": found.variables,
            "status": found.status,
            "seconds": round(found.seconds, 1),
            "value": value,
        }

    piece = kept.piece(f"step {step.now}, the paper's model, {asked.paper_seconds:g} s", solve)
    assert piece is not None
    return piece


def paper_row(step: Snapshot, ours: GapStudy, found: dict[str, Any]) -> dict[str, object]:
    """Return what the paper's model gives for one step, beside ours."""
    own = next(each for each in ours.steps if each.submission == step.now)
    value = found["value"]
    return {
        "submission": step.now,
        "jobs": len(step),
        "time scale (min)": found["scale"] // 60,
        "variables": f"{found['variables']:,}",
        "paper's model": found["status"],
        "seconds": f"{found['seconds']:.1f}",
        "SLDwA": "-" if value is None else f"{value:.6f}",
        "SLDwA of ours": f"{own.value:.6f}",
        "proven gap of ours %": f"{own.gap_percent:.3f}",
        "ours is": "-" if value is None else verdict(own.value, value),
    }


def verdict(ours: float, theirs: float) -> str:
    """Say which value is lower."""
    if abs(ours - theirs) <= 1e-9 * theirs:
        return "equal"
    return "better" if ours < theirs else "WORSE"


def table_1_paper() -> str:
    """Return the paper's Table 1."""
    times = ("makespan (s)", "run time (s)", "time scale (min)")
    heads = ("submission", "jobs", *times, "quality", "loss %", "seconds")
    rows = (*TABLE_1, ("**averages**", *PAPER_AVERAGES))
    return markdown([dict(zip(heads, row, strict=True)) for row in rows])


def table_1_ours(study: GapStudy, scales: dict[int, int]) -> str:
    """Return our Table 1: the most telling steps, and the averages of all."""
    rows = [our_row(step, scales[step.submission]) for step in study.telling(4)]
    numbers = study.to_dict()
    rows.append(
        {
            "submission": "**averages**",
            "jobs": f"{numbers['mean_jobs']:.1f}",
            "makespan (s)": f"{study.column('makespan').mean():.0f}",
            "run time (s)": f"{study.column('run_time').mean():.0f}",
            "paper's time scale (min)": f"{np.mean(list(scales.values())):.1f}",
            "best policy": "",
            "quality": f"{study.column('quality').mean():.4f}",
            "loss %": f"{numbers['mean_loss_percent']:.2f}",
            "proven gap %": f"{numbers['mean_proven_gap_percent']:.2f}",
            "status": "",
            "seconds": f"{numbers['mean_seconds']:.2f}",
        }
    )
    return markdown(rows)


def our_row(step: GapStep, scale: int) -> dict[str, object]:
    """Return one line of our Table 1."""
    return {
        "submission": step.submission,
        "jobs": step.jobs,
        "makespan (s)": step.makespan,
        "run time (s)": step.run_time,
        "paper's time scale (min)": scale,
        "best policy": step.policy,
        "quality": f"{step.quality:.4f}",
        "loss %": f"{step.loss_percent:.2f}",
        "proven gap %": f"{step.gap_percent:.2f}",
        "status": step.status,
        "seconds": f"{step.seconds:.2f}",
    }


def table_by_size(study: GapStudy) -> str:
    """Return loss and gap by the number of waiting jobs."""
    jobs = study.column("jobs")
    rows = []
    for low, high in CLASSES:
        inside = (jobs >= low) & (jobs <= high)
        if not inside.any():
            continue
        loss, proven = (study.column(name)[inside] for name in ("loss_percent", "gap_percent"))
        rows.append(
            {
                "waiting jobs": f"{low} to {high}",
                "steps": int(inside.sum()),
                "mean loss %": f"{loss.mean():.2f}",
                "largest loss %": f"{loss.max():.2f}",
                "mean proven gap %": f"{proven.mean():.2f}",
                "largest proven gap %": f"{proven.max():.2f}",
                "proven optimal %": f"{100 * (proven == 0).mean():.0f}",
            }
        )
    return markdown(rows)


def summary(short: GapStudy, long: GapStudy, asked: argparse.Namespace) -> str:
    """Return what the steps say in all, at both budgets, with the targets."""
    same = {step.submission for step in long.steps}
    part = GapStudy([step for step in short.steps if step.submission in same], short.objective)
    rows = []
    for name, each in (
        (f"{asked.seconds:g} s, all steps", short),
        (f"{asked.seconds:g} s, those of the next line", part),
        (f"{asked.long_seconds:g} s", long),
    ):
        numbers = each.to_dict()
        rows.append(
            {
                "a step": name,
                "steps": numbers["steps"],
                "mean loss %": f"{numbers['mean_loss_percent']:.3f}",
                "largest loss %": f"{numbers['max_loss_percent']:.2f}",
                "least loss %": f"{each.column('loss_percent').min():.3f}",
                "mean proven gap %": f"{numbers['mean_proven_gap_percent']:.3f}",
                "largest proven gap %": f"{numbers['max_proven_gap_percent']:.2f}",
                "proven optimal %": f"{numbers['proven_optimal_percent']:.0f}",
                "mean seconds": f"{numbers['mean_seconds']:.2f}",
            }
        )
    return markdown(rows)


def report(
    short: GapStudy,
    long: GapStudy,
    scales: dict[int, int],
    paper: Sequence[dict[str, object]],
    judged: Sequence[dict[str, object]],
    asked: argparse.Namespace,
) -> str:
    """Return the whole study as Markdown."""
    best = ", ".join(f"{name.upper()} {count}" for name, count in short.best_policies().items())
    power = {
        name: float(short.column(name).mean())
        for name in ("policy_power", "power", "policy_seconds")
    }
    finished = [row for row in paper if row["paper's model"] == "optimal"]
    matched = sum(row["ours is"] != "WORSE" for row in finished)
    return f"""# dynP against optimal schedules: the study

Grothklags and Streit compare the best of dynP's three policies with schedules that CPLEX computes.

Made by `python -m papers.dynp_optimal --steps {asked.steps} --seconds {asked.seconds:g}
--long-steps {asked.long_steps} --long-seconds {asked.long_seconds:g}
--paper-steps {asked.paper_steps} --paper-seconds {asked.paper_seconds:g} --seed {asked.seed}`,
which goes on from the pieces in `papers/kept/dynp_optimal.json`; on one core.

## Claims

{markdown(judged)}

## The steps

The CTC log, as the archive has cleaned it, is replayed on {CORES} processors under
`{POLICY}`; the paper does not say by which metric
and decider its dynP switched, and its 369 s between submissions are those of the log before it was
cleaned. Its submissions cannot be found in this log: if the numbers of its table are seconds, one
job arrives here until the last of them. So of all steps with {FEWEST} to {MOST} waiting jobs
{len(short.steps)} were taken at random. Each has the best of FCFS, SJF and LJF ({best}
times the best), the best plan found, and a bound that holds for every plan, all at one-second
precision. Values are SLDwA, the mean slowdown of jobs weighted by their area; ARTwW, the response
weighted by width, has the same best plans and the same ratios. *Quality* is the value of the best
plan found over that of the best policy (equation 7), the *loss* what it lacks of 1; the *proven
gap* says how far the best plan found may be above the optimum, and a plan whose gap is not 0 is
*feasible*.

{summary(short, long, asked)}

## Table 1

The paper's, solved by CPLEX on a time scale of minutes:

{table_1_paper()}

Ours, at one second: the steps that lose most, the largest, the least proven; then the average of
all. The paper's time scale is what equation 6 chooses with 196 MB, which gives 11 of the 12 time
scales above; with a quarter of 8 GB, as the paper's text has it, they would be 2 to 3 minutes.

{table_1_ours(short, scales)}

The paper would measure a scheduler by its power, quality for each second of computing. The best
policy has {power["policy_power"]:,.0f} a second, the plan with its proof {power["power"]:,.1f},
both as means over steps; planning under all three policies takes
{1000 * power["policy_seconds"]:.2f} ms a step.

## By the number of jobs

![Loss of the best policy and proven gap of the best plan, by waiting jobs](dynp_optimal.svg)

{table_by_size(short)}

## The paper's model on the same steps

Variables x_it, constraints 3 to 5, time scale as above, jobs moved forward after solving; on SCIP,
at most {asked.paper_seconds:g} s a step, started from the best plan of the three policies. Half of
the {len(paper)} steps are those with the least jobs times run time, half are spread over all.
It finished on {len(finished)}; there our plan of {asked.seconds:g} s is equal or better on
{matched}.

{markdown(paper)}
"""


def scatter(study: GapStudy) -> str:
    """Draw loss and gap of each step against its number of jobs, as SVG."""
    width, height, left, bottom = 640, 320, 46, 40
    jobs = study.column("jobs")
    series = (("loss_percent", POLICY_COLOURS[0]), ("gap_percent", POLICY_COLOURS[1]))
    top = max(float(np.ceil(study.column(name).max())) for name, _ in series)

    def x(value: float) -> float:
        return left + (value - FEWEST + 1) / (MOST - FEWEST + 2) * (width - left - 8)

    def y(value: float) -> float:
        return height - bottom - value / top * (height - bottom - 28)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" fill="#808890">'
    ]
    parts += [
        f'<path d="M{left} {y(tick):.1f}H{width - 8}" stroke="#808890" stroke-opacity=".3"/>'
        f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.1f}</text>'
        for tick in np.linspace(0, top, 6)
    ]
    parts += [
        f'<text x="{x(tick):.1f}" y="{height - bottom + 16}" text-anchor="middle">{tick}</text>'
        for tick in range(10, MOST + 1, 5)
    ]
    for name, colour in series:
        parts += [
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2.5" fill="{colour}" fill-opacity=".6"/>'
            for a, b in zip(jobs, study.column(name), strict=True)
        ]
    parts.append(
        f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">waiting jobs</text>'
        f'<text x="{left}" y="16" fill="{POLICY_COLOURS[0]}">loss of the best policy, %</text>'
        f'<text x="{left + 190}" y="16" fill="{POLICY_COLOURS[1]}">'
        "proven gap of the best plan, %</text></svg>"
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
