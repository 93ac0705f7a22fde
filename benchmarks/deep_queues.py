"""Processor seconds of a replay in which nearly all jobs wait, from 1,000 to 40,000 of them."""

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from papers.pictures import HEIGHT, keep_pictures

import queuesmith as qs
from queuesmith.cluster import Cluster
from queuesmith.engine.simulate import Replay

CORES = 256
SIZES = (1_000, 2_500, 5_000, 10_000, 20_000, 40_000)
POLICIES = (
    "fcfs+easy",
    "wfp3+easy",
    "fcfs+conservative",
    "fcfs+conservative(depth=1000)",
    "fcfs+plan",
    "fcfs+plan(depth=1000)",
    "dynp",
)
#: A policy is not taken further once a size has taken so many seconds.
PATIENCE = 20.0
#: So many seconds and more are drawn: less is mostly what a clock can tell.
SHOWN = 0.01


def after_an_outage(jobs: int) -> qs.Workload:
    """Jobs that all come within minutes, of one core up to half the machine, ending early."""
    rng = np.random.default_rng(0)
    walltime = rng.integers(600, 36_000, jobs)
    runtime = np.maximum(walltime * rng.uniform(0.05, 1.0, jobs), 1).astype(np.int64)
    submit = np.sort(rng.integers(0, 600, jobs))
    return qs.Workload(submit, runtime, walltime, 2 ** rng.integers(0, 8, jobs))


def growth_exponent(sizes: list[int], seconds: list[float]) -> float:
    """The power of the number of jobs with which the last two sizes have grown."""
    return math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])


def measure(policy: str, sizes: tuple[int, ...], patience: float) -> tuple[list[int], list[float]]:
    """Processor seconds at each size, as far as patience goes; the first replay compiles."""
    Replay(after_an_outage(SIZES[0]), Cluster(CORES), policy).run()
    done: list[int] = []
    seconds: list[float] = []
    for jobs in sizes:
        done.append(jobs)
        replay = Replay(after_an_outage(jobs), Cluster(CORES), policy)
        began = time.process_time()
        replay.run()
        seconds.append(time.process_time() - began)
        if seconds[-1] > patience:
            break
    return done, seconds


def growth_figure(measured: dict[str, tuple[list[int], list[float]]]) -> Any:
    """Return a figure of the growth, both axes logarithmic."""
    import plotly.graph_objects as go

    from queuesmith.figures.style import style

    figure = go.Figure(
        [
            go.Scatter(
                x=sizes,
                y=[value if value >= SHOWN else None for value in seconds],
                name=policy,
                mode="lines+markers",
            )
            for policy, (sizes, seconds) in measured.items()
        ]
    )
    style(figure, height=HEIGHT, x="jobs, nearly all of which wait", y="processor seconds")
    figure.update_layout(xaxis_type="log", yaxis_type="log", showlegend=True)
    return figure


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks deep-queues", description=__doc__)
    parser.add_argument("--picture", metavar="PAGE", help="draw the growth, beside this page")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the most jobs")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds; see the head")
    parser.add_argument("--policies", nargs="+", default=POLICIES, help="instead of all")
    options = parser.parse_args(arguments)
    sizes = tuple(jobs for jobs in SIZES if jobs <= options.most)
    columns = "".join(f"{jobs:>10,}" for jobs in sizes)
    print(f"{'processor seconds, 256 cores':<32}{columns}  growth")
    measured = {}
    for policy in options.policies:
        done, seconds = measured[policy] = measure(policy, sizes, options.patience)
        row = "".join(f"{value:>10.2f}" for value in seconds) + " " * 10 * (len(sizes) - len(done))
        growth = f"  N^{growth_exponent(done, seconds):.1f}" if len(done) > 1 else ""
        print(f"{policy:<32}{row}{growth}", flush=True)
    if options.picture:
        print(keep_pictures({"growth": growth_figure(measured)}, Path(options.picture)))
