"""How far the best policy of each planning step is from the optimum."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.planning.options import SolveOptions
from queuesmith.planning.plans import POLICIES, orders_of, plan, plan_value
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solve import load_kernels, solve
from queuesmith.policy.order import Order

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: How many steps the table of the most telling ones has, of each kind.
TELLING = 3
#: What the best plan of a step tells about the best policy.
_TOLD = ("policy", "policy_value", "quality", "loss_percent")


@dataclass(frozen=True)
class GapStep:
    """One step of Table 1: the size of the problem, the best policy, the best plan, the bound."""

    submission: int
    jobs: int
    makespan: int  # of the longest of the policies' plans
    run_time: int  # walltimes of all jobs, added up
    policy: str
    policy_value: float
    value: float
    lower_bound: float
    quality: float  # eq. 7
    loss_percent: float
    gap_percent: float
    status: str
    seconds: float
    policy_seconds: float  # of planning under all policies

    @property
    def power(self) -> float:
        """Quality for each second of computing the best plan; its own quality is 1."""
        return 1.0 / self.seconds

    @property
    def policy_power(self) -> float:
        """Quality for each second of planning under the policies."""
        return self.quality / self.policy_seconds


@dataclass(frozen=True)
class GapStudy:
    """The steps of a replay, each compared with its optimum."""

    steps: Sequence[GapStep]
    objective: str
    policies: Sequence[str] = tuple(POLICIES)

    def column(self, name: str) -> Any:
        """Return one number of all steps."""
        return np.array([getattr(step, name) for step in self.steps])

    def to_dict(self) -> dict[str, Any]:
        """Return the averages, ready for JSON."""
        return {
            "steps": len(self.steps),
            "mean_jobs": float(self.column("jobs").mean()),
            "mean_loss_percent": float(self.column("loss_percent").mean()),
            "max_loss_percent": float(self.column("loss_percent").max()),
            "mean_proven_gap_percent": float(self.column("gap_percent").mean()),
            "max_proven_gap_percent": float(self.column("gap_percent").max()),
            "proven_optimal_percent": 100.0 * float((self.column("status") == "optimal").mean()),
            "mean_seconds": float(self.column("seconds").mean()),
        }

    def rows(self) -> list[tuple[str, Any]]:
        """Return the averages and further facts, in the order in which they are shown."""
        further = {
            "objective": self.objective,
            "mean_makespan": float(self.column("makespan").mean()),
            "mean_run_time": float(self.column("run_time").mean()),
            "mean_quality": float(self.column("quality").mean()),
            "mean_policy_seconds": float(self.column("policy_seconds").mean()),
            "quality_per_second": float(self.column("power").mean()),
            "policy_quality_per_second": float(self.column("policy_power").mean()),
        }
        best = {f"best_is_{name}": count for name, count in self.best_policies().items()}
        return list({**self.to_dict(), **further, **best}.items())

    def best_policies(self) -> dict[str, int]:
        """Return in how many steps each policy was the best."""
        names = [step.policy for step in self.steps]
        return {name: names.count(name) for name in self.policies}

    def telling(self, count: int = TELLING) -> list[GapStep]:
        """Return the steps that lose most, those with the most jobs, and the least proven ones."""
        chosen: dict[int, GapStep] = {}
        for name in ("loss_percent", "jobs", "gap_percent"):
            for step in sorted(self.steps, key=lambda s: -getattr(s, name))[:count]:
                chosen.setdefault(step.submission, step)
        return list(chosen.values())

    def save(self, path: AnyPath) -> None:
        """Write all steps as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [each.name for each in fields(GapStep)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(step) for step in self.steps)
        write_bytes(path, text.getvalue().encode())


def gap(
    steps: Iterable[Snapshot],
    *,
    objective: str = SolveOptions.objective,
    policies: Sequence[Order] | None = None,
    seconds: float = SolveOptions.seconds,
    workers: int = SolveOptions.workers,
    seed: int = SolveOptions.seed,
    progress: Callable[[int], None] | None = None,
) -> GapStudy:
    """Compare the best policy of each step with the best plan that can be found.

    Parameters
    ----------
    steps
        The planning steps, as ``snapshots`` yields them.
    objective
        What plans are judged by.
    policies
        The orders of which the best is compared with the optimum; by default FCFS, SJF and LJF.
    seconds
        How long each step may take.
    progress
        Called with the number of steps done.
    """
    load_kernels()
    done: list[GapStep] = []
    for snapshot in steps:
        done.append(_compare(snapshot, objective, policies, seconds, workers, seed))
        if progress is not None:
            progress(len(done))
    if not done:
        raise WorkloadError("there are no steps to compare. Give at least one.")
    names = tuple(POLICIES) if policies is None else tuple(map(str, policies))
    return GapStudy(done, objective, names)


def _compare(
    snapshot: Snapshot,
    objective: str,
    policies: Sequence[Order] | None,
    seconds: float,
    workers: int,
    seed: int,
) -> GapStep:
    began = time.perf_counter()
    plans = [plan(snapshot, order) for order in orders_of(snapshot, policies).values()]
    policy_seconds = time.perf_counter() - began
    found = solve(snapshot, objective, seconds, workers=workers, seed=seed, policies=policies)
    assert found.proof is not None and found.seconds is not None
    told = {name: found.facts[name] for name in _TOLD}
    return GapStep(
        submission=snapshot.now,
        jobs=len(snapshot),
        makespan=int(max(plan_value(each, "makespan") for each in plans)),
        run_time=int(snapshot.jobs.walltime.sum()),
        value=found.proof.value,
        lower_bound=found.proof.lower_bound or 0.0,
        gap_percent=_known(found.gap_percent),
        status=str(found.status),
        seconds=found.seconds,
        policy_seconds=policy_seconds,
        **told,
    )


def _known(gap_percent: float | None) -> float:
    """Return a gap; infinite where the bound is 0, so that no ratio exists."""
    return float("inf") if gap_percent is None else gap_percent


def draw_gap(study: GapStudy) -> go.Figure:
    """Draw loss and proven gap of each step against its number of jobs."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, title, colour, symbol in (
        ("loss_percent", "loss of the best policy", POLICY_COLOURS[0], "circle"),
        ("gap_percent", "proven gap of the best plan", POLICY_COLOURS[1], "x"),
    ):
        figure.add_scatter(
            x=study.column("jobs"),
            y=study.column(name),
            name=title,
            mode="markers",
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.7},
            hovertemplate="%{x} jobs: %{y:.2f} %",
        )
    style(figure, height=450, x="waiting jobs", y="per cent")
    figure.update_yaxes(rangemode="tozero")
    return figure
