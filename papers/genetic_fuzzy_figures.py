"""Figures 5 to 7 of the genetic fuzzy study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.genetic_fuzzy_paper import LEARNERS, TABLE_4
from papers.genetic_fuzzy_results import GROUPS, Results
from papers.genetic_fuzzy_runs import METHODS


def draw_figures(results: Sequence[Results]) -> dict[str, Any]:
    """Draw figures 5 to 7, by their titles."""
    from queuesmith.report.front_figure import draw_front

    learned = [each for each in results if each.on_all]
    figures: dict[str, Any] = {}
    if learned:
        figures["Figure 5: improvement of f over EASY"] = draw_improvements(learned)
        shown = next((each for each in learned if each.name == "CTC"), learned[0])
        figures[f"Figure 6: improvement by group, {shown.name}"] = draw_groups(shown)
    for each in results:
        if each.front is not None:
            title = f"Figure 7, {each.name}: AWRT 1 and AWRT 2"
            figures[title] = draw_front(each.front_with_policies())
    for title, figure in figures.items():
        figure.update_layout(title={"text": title, "y": 0.97}, margin_t=130)
    return figures


def draw_improvements(results: Sequence[Results]) -> Any:
    """Figure 5: a bar for each approach on each log, the paper's PITTS among them."""
    bars = {
        METHODS[method]: [
            each.gain(each.learned(method)) if method in each.on_all else None for each in results
        ]
        for method in METHODS
        if any(method in each.on_all for each in results)
    }
    bars["best fixed"] = [each.gain(each.best_fixed[1]) for each in results]
    bars["PITTS, paper"] = [TABLE_4[each.name][-1] for each in results]
    bars["alone"] = [each.alone for each in results]
    return _bars([each.name for each in results], bars)


def draw_groups(results: Results) -> Any:
    """Figure 6: the improvement of each group; the axis ends at -100 %, as the paper's does."""
    shown = [method for method in LEARNERS if method in results.on_all]
    groups = [group for group in GROUPS if f"awrt[{group}]" in results.easy]
    bars = {
        METHODS[method]: [
            results.gain(results.learned(method), f"awrt[{group}]") for group in groups
        ]
        for method in shown or results.on_all
    }
    figure = _bars([f"AWRT {group}" for group in groups], bars)
    highest = max(max(values) for values in bars.values())
    figure.update_yaxes(range=[-100, max(10, 1.2 * highest)])
    return figure


def _bars(labels: Sequence[str], bars: dict[str, list[Any]]) -> Any:
    import plotly.graph_objects as go

    from queuesmith.figures.palette import POLICY_COLOURS
    from queuesmith.report.drawing import style

    figure = go.Figure()
    for place, (name, values) in enumerate(bars.items()):
        figure.add_bar(x=list(labels), y=values, name=name, marker_color=POLICY_COLOURS[place])
    style(figure, height=420, y="improvement over EASY, %")
    figure.update_layout(barmode="group", bargap=0.25)
    return figure
