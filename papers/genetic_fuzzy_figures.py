"""Figures 5 to 7 of the genetic fuzzy study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from papers.genetic_fuzzy_approaches import APPROACHES
from papers.genetic_fuzzy_paper import LEARNERS, TABLE_4
from papers.genetic_fuzzy_results import GROUPS, Results
from queuesmith.learning.offline_front import Point


def draw_figures(results: Sequence[Results]) -> dict[str, Any]:
    """Draw figures 5 to 7, by their titles."""
    from queuesmith.report.front_figure import draw_front

    learned = [each for each in results if any(each.of(name) for name in APPROACHES)]
    figures: dict[str, Any] = {}
    if learned:
        figures["Figure 5: improvement of f over EASY"] = draw_improvements(learned)
        shown = next((each for each in learned if each.name == "CTC"), learned[0])
        figures[f"Figure 6: improvement by group, {shown.name}"] = draw_groups(shown)
    for each in results:
        if each.front is not None:
            title = f"Figure 7, {each.name}: AWRT 1 and AWRT 2"
            figures[title] = draw_front(replace(each.front, policies=_points(each)))
    for title, figure in figures.items():
        figure.update_layout(title={"text": title, "y": 0.97}, margin_t=130)
    return figures


def _points(results: Results) -> tuple[Point, ...]:
    """Return EASY, the best fixed strategy and the paper's learners as points beside a front."""
    best = results.fixed["all"][results.best_fixed()]
    known = {"EASY": results.easy, "best fixed": best}
    for name in LEARNERS:
        run = results.typical(name)
        known |= {} if run is None else {APPROACHES[name].title: run["learning"]["learned"]}
    return tuple(_point(name, values) for name, values in known.items())


def _point(name: str, values: dict[str, Any]) -> Point:
    numbers = {key: value for key, value in values.items() if key not in ("f", "waits")}
    return Point(name, numbers, values["f"])


def draw_improvements(results: Sequence[Results]) -> Any:
    """Figure 5: a bar for each of the paper's learners on each log, and what to hold them to."""
    bars: dict[str, list[Any]] = {}
    for name in LEARNERS:
        spreads = [each.gains(name) for each in results]
        if any(spreads):
            bars[APPROACHES[name].title] = [spread and spread.median for spread in spreads]
    bars["best fixed"] = [each.gain(each.fixed["all"][each.best_fixed()]) for each in results]
    bars["PITTS, paper"] = [TABLE_4[e.name][-1] if e.name in TABLE_4 else None for e in results]
    bars["alone"] = [each.alone for each in results]
    return _bars([each.name for each in results], bars)


def draw_groups(results: Results) -> Any:
    """Figure 6: the improvement of each group; the axis ends at -100 %, as the paper's does."""
    runs = {name: results.typical(name) for name in LEARNERS}
    groups = [group for group in GROUPS if f"awrt[{group}]" in results.easy]
    bars: dict[str, list[Any]] = {
        name.upper(): [
            results.gain(run["learning"]["learned"], f"awrt[{group}]") for group in groups
        ]
        for name, run in runs.items()
        if run is not None
    }
    figure = _bars([f"AWRT {group}" for group in groups], bars)
    highest = max((max(values) for values in bars.values()), default=0)
    figure.update_yaxes(range=[-100, max(10, 1.2 * highest)])
    return figure


def _bars(labels: Sequence[str], bars: dict[str, list[Any]]) -> Any:
    import plotly.graph_objects as go

    from queuesmith.figures.palette import policy_colours
    from queuesmith.figures.style import style

    figure, colours = go.Figure(), policy_colours(list(bars))
    for name, values in bars.items():
        figure.add_bar(x=list(labels), y=values, name=name, marker_color=colours[name])
    style(figure, height=420, y="improvement over EASY, %")
    figure.update_layout(barmode="group", bargap=0.25)
    return figure
