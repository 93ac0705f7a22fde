"""What a report says of schedules whose jobs have places, and of what is proven about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queuesmith.figures.palette import policy_colours
from queuesmith.figures.style import style
from queuesmith.report.comparison import Comparison
from queuesmith.report.html_rows import html_rows
from queuesmith.report.wording import plain
from queuesmith.schedule.metrics import METRICS
from queuesmith.schedule.schedule import Schedule
from queuesmith.solving.status import Proof

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Beyond so many places single bars cannot be told apart, so that places are put together.
MOST_BARS = 120


@dataclass(frozen=True, eq=False)
class PlaceUse:
    """How much of the time until the last end each place is in use, and when it has finished.

    Parameters
    ----------
    names
        The places; those that stand side by side are put together where there are many.
    share
        The share of its cores' time in use, 0 to 1.
    finish
        The seconds from the first submission until its last piece ended.
    """

    names: tuple[str, ...]
    share: NDArray[np.float64]
    finish: NDArray[np.float64]


def place_use(schedule: Schedule, most: int = MOST_BARS) -> PlaceUse | None:
    """Return how much each place is in use; None where a schedule does not tell places."""
    places, parts = schedule.cluster.places, schedule.parts
    if places is None or parts.place is None:
        return None
    count, begin = len(places.names), schedule.submit.min()
    group = np.arange(count) // -(-count // most)
    busy = np.bincount(parts.place, weights=parts.cores * parts.length, minlength=count)
    finish = np.zeros(count)
    np.maximum.at(finish, parts.place, (parts.end - begin).astype(np.float64))
    last = np.zeros(group[-1] + 1)
    np.maximum.at(last, group, finish)
    room = np.bincount(group, weights=places.cores) * max(schedule.makespan, 1e-9)
    return PlaceUse(_names(places.names, group), np.bincount(group, weights=busy) / room, last)


def _names(names: Sequence[str], group: NDArray[np.int64]) -> tuple[str, ...]:
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:] - 1, len(names) - 1)
    return tuple(
        names[a] if a == b else f"{names[a]} … {names[b]}"
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    )


def draw_place_use(comparison: Comparison) -> go.Figure:
    """Draw how much each place is in use under each method."""
    import plotly.graph_objects as go

    figure = go.Figure()
    colours = policy_colours(comparison.policies)
    for schedule in comparison.schedules:
        use = place_use(schedule)
        if use is None:
            continue
        figure.add_bar(
            x=[escape(name, quote=False) for name in use.names],
            y=use.share,
            name=escape(schedule.policy, quote=False),
            marker_color=colours[schedule.policy],
            customdata=[f"{seconds:,.6g} s" for seconds in use.finish],
            hovertemplate="%{x}: %{y:.1%} in use, finished after %{customdata}",
        )
    style(figure, height=380, y="in use until the last end")
    figure.update_layout(barmode="group", bargap=0.2)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def shared_proofs(schedules: Sequence[Schedule]) -> list[tuple[Schedule, Proof]]:
    """Return the schedules of which something is proven, each with the best bound of all.

    What one method proves holds for the others, too, where they minimise the same.
    """
    proven = [(each, each.proof) for each in schedules if each.proof is not None]
    bounds: dict[str, float] = {}
    for _, proof in proven:
        if proof.lower_bound is not None:
            bounds[proof.objective] = max(bounds.get(proof.objective, 0.0), proof.lower_bound)
    return [
        (schedule, replace(proof, lower_bound=bounds.get(proof.objective)))
        for schedule, proof in proven
    ]


def proof_table(schedules: Sequence[Schedule]) -> str:
    """Return as HTML what each method minimised, what came out, and what is proven about it."""
    return html_rows([_proof_row(*each) for each in shared_proofs(schedules)])


def _proof_row(schedule: Schedule, proof: Proof) -> dict[str, str]:
    gap = proof.gap_percent
    return {
        "method": schedule.policy,
        "objective": proof.objective,
        "value": _number(proof.value),
        "nothing is below": (
            "not known" if proof.lower_bound is None else _number(proof.lower_bound)
        ),
        "gap": "not known" if gap is None else f"{gap:.2f} %",
        "status": str(proof.status),
        "took": "" if schedule.seconds is None else f"{schedule.seconds:,.2f} s",
    }


def _number(value: float) -> str:
    return plain(int(value)) if float(value).is_integer() else f"{value:,.2f}"


def best_proven(schedules: Sequence[Schedule]) -> str | None:
    """Say in a sentence how good the best schedule is, where something was proven."""
    proven = shared_proofs(schedules)
    if not proven:
        return None
    best, proof = min(proven, key=lambda each: each[1].value)
    unit = " s" if proof.objective in METRICS and METRICS[proof.objective].unit == "s" else ""
    value = f"{best.policy}: {proof.objective} {_number(proof.value)}{unit}"
    if proof.gap_percent is None:
        return f"{value}. Nothing is proven about what could be had at best."
    if proof.gap_percent == 0:
        return f"{value}, proven to be the least possible."
    return f"{value}, at most {proof.gap_percent:.2f} % above the least possible."
