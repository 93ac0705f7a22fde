from typing import Any

import pytest
from hypothesis import assume, given, settings

from queuesmith.base.errors import UsageError
from queuesmith.federation import Federation, FederationJobs
from queuesmith.federation.exact import slot_model as slot_module
from queuesmith.federation.exact.oas import solve_oas
from queuesmith.federation.exact.slot_model import SlotModel
from queuesmith.federation.exact.slots import (
    best_in_slots,
    slot_seconds,
    slots_until,
    slotted_heuristic,
    solve_slots,
)
from queuesmith.federation.methods import place
from queuesmith.federation.model.generate import generate_queue, paper_federation, paper_queue
from queuesmith.federation.model.placed import last_end, task_nodes
from queuesmith.federation.model.placing import as_schedule
from queuesmith.federation.options import PlaceOptions
from queuesmith.schedule.verify import verify
from tests.federation.every_plan import shortest_makespan, tiny_queues


@settings(max_examples=8)
@given(tiny_queues())
def test_slots_of_a_second_lose_nothing(queue: tuple[Federation, FederationJobs]) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None and least <= 30)
    found = verify(solve_slots(federation, jobs, slot=1, seconds=60))
    assert found.facts["slot_status"] == "optimal"
    assert found.makespan == least


@settings(max_examples=8)
@given(tiny_queues())
def test_the_mip_and_the_search_need_the_same_number_of_slots(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    mip = verify(solve_slots(federation, jobs, slot=7, seconds=60))
    best = verify(best_in_slots(federation, jobs, slot=7, seconds=20, workers=1))
    assert mip.facts["slot_status"] == "optimal"
    assert round(mip.facts["slot_bound"]) == best.facts["slots"] == best.facts["slot_bound"]
    assert best.makespan >= least
    assert slots_until(best, 7).max() == best.facts["slots"]


@settings(max_examples=8)
@given(tiny_queues())
def test_a_schedule_in_slots_is_a_solution_to_begin_with(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    assume(shortest_makespan(federation, jobs) is not None)
    start = slotted_heuristic(federation, jobs, 7)
    whole = SlotModel(federation, jobs, 7, int(slots_until(start, 7).max()))
    values, model = whole.encode(start), whole.model
    assert (values <= model.upper).all()
    for row, low, high in zip(model.rows, model.low, model.high, strict=True):
        total = sum(factor * values[variable] for variable, factor in row.items())
        assert low - 1e-9 <= total <= high + 1e-9
    assert values[whole.span[0]] == whole.theta


def test_what_it_begins_with_is_made_shorter() -> None:
    federation, jobs = paper_federation(), generate_queue("general", 2, seed=1)
    size = slot_seconds(jobs, 200)
    short = slotted_heuristic(federation, jobs, size)
    late = slots_until(short, size).max() * size
    start = as_schedule(
        federation, jobs, short.start + late, short.end + late, task_nodes(short), "late"
    )
    model = SlotModel(federation, jobs, size, int(slots_until(start, size).max()))
    found = model.solve(start, seconds=60)
    assert found.status == "optimal"
    assert found.bound == pytest.approx(slots_until(short, size).max())
    assert last_end(found.schedule) < last_end(start)


def test_jobs_start_with_slots_and_oas_is_never_longer() -> None:
    federation, jobs = paper_federation(), paper_queue("WL-2")
    size = slot_seconds(jobs, 100)
    found = verify(solve_slots(federation, jobs, slot=size, seconds=2))
    best = verify(best_in_slots(federation, jobs, slot=size, seconds=20))
    assert (found.start % size == 0).all()
    assert (best.start % size == 0).all()
    assert best.facts["slots"] <= found.facts["slots"]
    assert solve_oas(federation, jobs, seconds=20).makespan <= min(found.makespan, best.makespan)


def test_the_method_of_that_name_takes_the_slot_size() -> None:
    jobs = generate_queue("general", 4, seed=1)
    found = place(paper_federation(), jobs, "slots", PlaceOptions(slot_percent=200, seconds=2))
    assert found.facts["slot_seconds"] == slot_seconds(jobs, 200)
    assert found.lower_bound is not None


def test_a_model_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_module, "MOST_VARIABLES", 100)
    with pytest.raises(UsageError, match=r"more than 100 variables.*Use larger slots"):
        solve_slots(paper_federation(), generate_queue(), slot=300_000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slot": 0}, "the slot size is 0"),
        ({"slot": -5}, "the slot size is -5"),
        ({"slot": 0.5}, "the slot size is 0.5"),
        ({"slot": 1000, "seconds": 0}, "the number of seconds is 0"),
    ],
)
def test_a_wrong_call_is_refused(options: dict[str, Any], message: str) -> None:
    for solve in (solve_slots, best_in_slots):
        with pytest.raises(UsageError, match=message):
            solve(paper_federation(), generate_queue(), **options)


def test_a_slot_of_no_size_is_refused() -> None:
    with pytest.raises(UsageError, match="the slot size is 0"):
        slot_seconds(generate_queue(), 0)


def test_a_count_of_nodes_stops_the_slot_model_the_same_each_time() -> None:
    federation, jobs = paper_federation(), generate_queue("general", 3, seed=1)
    found = [
        solve_slots(federation, jobs, slot=slot_seconds(jobs, 250), nodes=nodes)
        for nodes in (1, 1, 100_000)
    ]
    assert found[0].start.tolist() == found[1].start.tolist()
    assert found[2].facts["slot_status"] == "optimal"
    assert found[2].facts["slots"] <= found[0].facts["slots"]
