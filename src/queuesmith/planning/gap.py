"""How far the best policy of each planning step is from the optimum."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.checks import of_kind, one_by_one, progress_function
from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.figures.palette import POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.planning.options import SolveOptions
from queuesmith.planning.plans import POLICIES, orders_of, plan, plan_value
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solve import load_kernels, solve
from queuesmith.policy.order import Order
from queuesmith.study.engines import Engine
from queuesmith.study.spreading import spread

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: How many steps the table of the most telling ones has, of each kind.
TELLING = 3
#: How many steps a worker of another machine gets at once.
STEPS_AT_ONCE = 4
#: What the best plan of a step tells about the best policy.
_TOLD = ("policy", "policy_value", "quality", "loss_percent")
_WAY_TO_STEPS = "Take them from a replay with planning.snapshots(schedule)."


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


@dataclass(frozen=True, repr=False)
class GapStudy(Framed):
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

    def __repr__(self) -> str:
        return (
            f"<GapStudy of {so_many(len(self.steps), 'step')} by {self.objective}: a loss of "
            f"{float(self.column('loss_percent').mean()):.2g} % on average>"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each step."""
        return [asdict(step) for step in self.steps]

    def facts(self) -> list[tuple[str, Any]]:
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

    @property
    def conclusion(self) -> str:
        """What came out, and whether to believe it, in a sentence or two."""
        told = self.to_dict()
        loss, proven = told["mean_loss_percent"], told["mean_proven_gap_percent"]
        best = f"the best of {', '.join(self.policies)}"
        fact = (
            f"In {so_many(len(self.steps), 'step')} with "
            f"{so_many(round(told['mean_jobs']), 'waiting job')} on average, "
            f"{best if len(self.policies) > 1 else self.policies[0]} loses {loss:.2g} % of "
            f"{self.objective} to the best plan found, which is itself within {proven:.2g} % of "
            "the optimum."
        )
        if not proven < float("inf"):
            return f"{fact} For some steps nothing is proven: give them more time."
        at_most = f"So a policy could win {loss + proven:.2g} % at most"
        sure = told["proven_optimal_percent"]
        return f"{fact} {at_most}; {sure:.0f} % of the plans are proven optimal."

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
        writer.writerows(self.rows())
        write_bytes(path, text.getvalue().encode())


def gap(
    steps: Iterable[Snapshot],
    *,
    objective: str = SolveOptions.objective,
    policies: Sequence[Order] | None = None,
    seconds: float = SolveOptions.seconds,
    workers: int = SolveOptions.workers,
    seed: int = SolveOptions.seed,
    engine: Engine | None = None,
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
    workers, seed
        Threads for each plan, and what chance follows from, as in `SolveOptions`.
    engine
        Other machines, or other processes, that compare steps at the same time, each in its own
        ``seconds``; without one, this process compares them one after another.
    progress
        Called with the number of steps done.
    """
    SolveOptions(objective, seconds, workers, seed)
    one_by_one("steps", steps, _WAY_TO_STEPS)
    compare = partial(
        _compare,
        objective=objective,
        policies=policies,
        seconds=seconds,
        workers=workers,
        seed=seed,
    )
    report = progress_function(progress) or (lambda done: None)
    done = (
        _compare_here(compare, steps, report)
        if engine is None
        else _compare_elsewhere(engine, compare, steps, report)
    )
    if not done:
        raise WorkloadError("there are no steps to compare. Give at least one.")
    names = tuple(POLICIES) if policies is None else tuple(map(str, policies))
    return GapStudy(done, objective, names)


def _compare_here(
    compare: Callable[[Snapshot], GapStep], steps: Iterable[Snapshot], report: Callable[[int], None]
) -> list[GapStep]:
    load_kernels()
    done: list[GapStep] = []
    for snapshot in steps:
        done.append(compare(snapshot))
        report(len(done))
    return done


def _compare_elsewhere(
    engine: Engine,
    compare: Callable[[Snapshot], GapStep],
    steps: Iterable[Snapshot],
    report: Callable[[int], None],
) -> list[GapStep]:
    waiting, done = list(steps), 0

    def watch(_: int, found: list[GapStep]) -> None:
        nonlocal done
        done += len(found)
        report(done)

    parts = [waiting[i : i + STEPS_AT_ONCE] for i in range(0, len(waiting), STEPS_AT_ONCE)]
    found = spread(engine, partial(_compare_part, compare), parts, watch=watch)
    return [step for part in found for step in part]


def _compare_part(
    compare: Callable[[Snapshot], GapStep], steps: Sequence[Snapshot]
) -> list[GapStep]:
    load_kernels()
    return [compare(snapshot) for snapshot in steps]


def _compare(
    snapshot: Snapshot,
    *,
    objective: str,
    policies: Sequence[Order] | None,
    seconds: float,
    workers: int,
    seed: int,
) -> GapStep:
    of_kind("one of the steps", snapshot, Snapshot, _WAY_TO_STEPS)
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
