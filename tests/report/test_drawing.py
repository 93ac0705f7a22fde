import json
from dataclasses import replace

import pytest

from queuesmith.figures.palette import POLICY_COLOURS, policy_colours, policy_dashes
from queuesmith.report import Comparison
from queuesmith.report.drawing import (
    draw_groups,
    draw_over_time,
    draw_relative,
    draw_slowdowns,
    draw_waits,
)
from queuesmith.schedule import Schedule

DRAWERS = [draw_relative, draw_waits, draw_groups, draw_over_time, draw_slowdowns]


@pytest.fixture
def comparison(schedules, workload) -> Comparison:
    real = Schedule(workload, schedules[0].cluster, workload.submit, "history")
    return Comparison((*schedules, real))


def colour(trace) -> str:
    return trace.line.color if trace.type == "scatter" else trace.marker.color


@pytest.mark.parametrize("draw", DRAWERS)
def test_every_figure_shows_every_policy_in_its_own_colour(comparison, draw):
    expected = policy_colours(comparison.policies)
    traces = draw(comparison).data
    assert {trace.name: colour(trace) for trace in traces} == expected


@pytest.mark.parametrize("draw", DRAWERS)
def test_every_figure_names_each_policy_once_in_its_legend(comparison, draw):
    shown = [trace.name for trace in draw(comparison).data if trace.showlegend is not False]
    assert shown == list(comparison.policies)


@pytest.mark.parametrize("draw", DRAWERS)
def test_every_figure_is_small(comparison, draw):
    assert len(draw(comparison).to_json()) < 200_000


@pytest.mark.parametrize("draw", DRAWERS)
def test_policies_of_any_name_are_shown_as_text(schedules, draw):
    strange = replace(schedules[1], policy="<b>bold</b>&")
    figure = draw(Comparison((schedules[0], strange)))
    assert "&lt;b&gt;bold&lt;/b&gt;&amp;" in {trace.name for trace in figure.data}


def test_curves_are_thinned(comparison):
    for draw in (draw_waits, draw_slowdowns):
        assert all(len(trace.x) <= 500 for trace in draw(comparison).data)


def test_time_is_a_date_where_the_log_has_one_and_a_day_where_not(comparison, long_schedules):
    dated = draw_over_time(comparison).data[0].x
    assert str(dated[0]).startswith("2023-11-14")
    days = draw_over_time(Comparison(long_schedules)).data[0].x
    assert days[0] == 0
    assert days[-1] >= 35


def test_very_different_bars_stand_on_a_log_axis(schedules):
    slow = replace(schedules[0], start=schedules[0].start + 10_000_000, policy="slow")
    assert draw_relative(Comparison((schedules[0], slow))).layout.yaxis.type == "log"
    assert draw_relative(Comparison(schedules)).layout.yaxis.type != "log"


def test_confidence_intervals_are_drawn_where_there_are_some(long_schedules, schedules):
    assert draw_relative(Comparison(long_schedules)).data[0].error_y.array is not None
    assert draw_relative(Comparison(schedules)).data[0].error_y.array is None


def test_figures_are_ready_for_json(comparison):
    for draw in DRAWERS:
        assert json.loads(draw(comparison).to_json())["data"]


def test_history_is_grey_and_takes_no_policy_s_colour():
    colours = policy_colours(["history", "fcfs"])
    assert colours["fcfs"] == POLICY_COLOURS[0]
    assert colours["history"] not in POLICY_COLOURS


def test_more_policies_than_colours_differ_by_their_dash():
    many = [f"policy {i}" for i in range(25)]
    colours, dashes = policy_colours(many), policy_dashes(many)
    assert len({(colours[policy], dashes[policy]) for policy in many}) == 25
