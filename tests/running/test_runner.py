import json
import time

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.knobs import Knobs
from queuesmith.running import Bag, KnobTuning, read_state, run_bags, runner, send
from queuesmith.running.figures import draw_bags, draw_running, running_over_time
from queuesmith.running.progress import State
from queuesmith.running.records import Lines
from tests.running.thread_engine import ThreadEngine


@pytest.fixture
def engine():
    with ThreadEngine() as engine:
        yield engine


def outcome(state):
    return {row["bag"]: (row["completed"], row["failed"]) for row in state.rows()}


def test_all_tasks_of_all_bags_are_run(engine, tmp_path):
    bags = [Bag("a", ("echo {}",) * 5, runtime=0.01), Bag("b", ("true",) * 3, arrival=0.1)]
    state = run_bags(bags, engine, tmp_path / "r")
    assert outcome(state) == {"a": (5, 0), "b": (3, 0)}
    row = state.rows()[1]
    assert row["first_start"] >= row["submit"] == pytest.approx(0.1)
    assert row["end"] - row["submit"] == pytest.approx(row["response"])


def test_cores_and_shares_are_kept(engine, tmp_path):
    bags = [Bag("a", ("sleep 0.05",) * 6, share=0.3), Bag("b", ("sleep 0.05",) * 3, cores=2)]
    state = run_bags(bags, engine, tmp_path / "r", cores=3)
    a, b = state.bags
    assert max(running_over_time(a, state.begun)[1]) <= 2
    assert max(running_over_time(b, state.begun)[1]) == 2
    assert draw_running(state).data and draw_bags(state).data


def test_tasks_begin_in_the_order_of_priority(engine, tmp_path):
    bags = [
        Bag("large", ("true",) * 6, runtime=1.0),
        Bag("small", ("true",) * 2, runtime=1.0),
        Bag("long", ("true",) * 4, runtime=9.0),
    ]
    for number, (knobs, order) in enumerate(
        [
            (Knobs(1, 0, 0), ["large", "long", "small"]),
            (Knobs(-1, 0, 0), ["small", "long", "large"]),
            (Knobs(0, 0, 1), ["long", "large", "small"]),
        ]
    ):
        engine.submitted.clear()
        run_bags(bags, engine, tmp_path / str(number), knobs, cores=1)
        assert list(dict.fromkeys(order.bag for order in engine.submitted)) == order


def test_a_failed_task_is_tried_again_as_often_as_it_may(engine, tmp_path):
    command = f"echo x >> {tmp_path}/n; test $(wc -l < {tmp_path}/n) -ge 3"
    state = run_bags([Bag("a", (command,), retries=5)], engine, tmp_path / "r")
    assert outcome(state) == {"a": (1, 0)} and state.bags[0].tasks[0].attempts == 3


def test_the_first_start_of_a_bag_is_that_of_the_first_attempt(engine, tmp_path):
    bags = [Bag("a", ("sleep 0.3; false",), retries=2)]
    state = run_bags(bags, engine, tmp_path / "r")
    (row,) = state.rows()
    assert row["end"] - row["first_start"] >= 0.9
    assert read_state(tmp_path / "r").rows() == [row]


def test_tuning_knows_since_when_tasks_run(engine, tmp_path):
    since = []

    def watch(state):
        since.extend(task.start for bag in state.bags for task in bag.tasks if bag.running)

    begun = time.time()
    run_bags([Bag("a", ("sleep 0.6",))], engine, tmp_path / "r", watch=watch)
    assert since and all(begun <= start < begun + 0.5 for start in since)


def test_a_command_that_cannot_be_started_is_told_as_such(engine, tmp_path):
    state = run_bags([Bag("a", ("x" * 3_000_000,))], engine, tmp_path / "r")
    assert "could not be started" in state.rows()[0]["first_failure"]


def test_going_on_looks_once_for_what_runs_not_once_a_task(engine, tmp_path, monkeypatch):
    bags = [Bag("a", ("true",) * 20)]
    run_bags(bags, engine, tmp_path / "r")
    looked, look = [], runner._Runner._running
    monkeypatch.setattr(runner._Runner, "_running", lambda self: looked.append(1) or look(self))
    run_bags(bags, engine, tmp_path / "r")
    assert len(looked) <= 2


def test_a_command_that_does_not_exist_fails_at_once_and_says_so(engine, tmp_path):
    state = run_bags([Bag("a", ("nosuchcommand", "true"), retries=5)], engine, tmp_path / "r")
    assert outcome(state) == {"a": (1, 1)} and state.bags[0].tasks[0].attempts == 1
    assert "'nosuchcommand' names a command that does not exist" in state.rows()[0]["first_failure"]


def test_what_ended_is_not_run_again(engine, tmp_path):
    bags = [Bag("a", (f"echo x >> {tmp_path}/n",) * 4)]
    run_bags(bags, engine, tmp_path / "r")
    state = run_bags(bags, engine, tmp_path / "r")
    assert outcome(state) == {"a": (4, 0)}
    assert (tmp_path / "n").read_text() == "x\n" * 4


@pytest.mark.parametrize("lost", [(0,), (1, 2, 3), (0, 5, 6, 7)])
def test_a_task_whose_worker_went_away_is_begun_again(tmp_path, lost):
    with ThreadEngine(2, lose=lost) as engine:
        commands = tuple(f"echo {i} >> {tmp_path}/n" for i in range(6))
        state = run_bags([Bag("a", commands)], engine, tmp_path / "r")
    assert outcome(state) == {"a": (6, 0)}
    assert sorted((tmp_path / "n").read_text().split()) == list("012345")


def test_a_worker_of_an_earlier_run_is_waited_for(engine, tmp_path):
    """Another process still runs task 0; this one must not begin it again."""
    bags = [Bag("a", (f"echo x >> {tmp_path}/n",) * 2)]
    folder = tmp_path / "r"
    (folder / "records").mkdir(parents=True)
    other = Lines(folder / "records" / "other.jsonl")
    names = {"bag": "a", "task": 0, "attempt": 0}
    journal = Lines(folder / "journal.jsonl")
    journal.append({"event": "begun", "at": time.time(), "cwd": str(tmp_path)})
    line = {"event": "bag", "bag": bags[0].to_json(), "submit": time.time(), "by": "test"}
    journal.append(line)
    journal.close()
    other.append({"event": "started", **names, "start": time.time()})

    def watch(state):
        if state.bags[0].completed == 1:
            end = {"ended": "done", "code": 0, "start": time.time(), "end": time.time()}
            other.append({"event": "ended", **names, **end})

    state = run_bags(bags, engine, folder, watch=watch)
    other.close()
    assert outcome(state) == {"a": (2, 0)}
    assert (tmp_path / "n").read_text() == "x\n"


def test_what_a_dead_worker_of_an_earlier_run_had_begun_is_begun_again(engine, tmp_path):
    bags = [Bag("a", ("true",) * 2)]
    folder = tmp_path / "r"
    run_bags(bags, engine, folder)
    (record, *_) = (folder / "records").glob("*.jsonl")
    kept = [json.loads(line) for line in record.read_text().splitlines()]
    dead = [line for line in kept if line["event"] == "started" or line["task"] == 0]
    record.rename(folder / "records" / "mine.jsonl")
    copy = folder / "records" / "dead.jsonl"
    copy.write_text("".join(json.dumps(line) + "\n" for line in dead))
    (folder / "records" / "mine.jsonl").unlink()
    state = run_bags(bags, engine, folder)
    assert outcome(state) == {"a": (2, 0)}
    assert [task.attempts for task in state.bags[0].tasks] == [1, 2]


def test_bags_are_added_and_knobs_turned_while_it_runs(engine, tmp_path):
    folder, sent = tmp_path / "r", []

    def watch(state):
        if not sent:
            sent.append(True)
            send(folder, {"bags": [Bag("late", ("true",)).to_json()]})
            send(folder, {"knobs": [0, 0, -1]})
            send(folder, {"bags": [Bag("a", ("other",)).to_json()]})

    state = run_bags([Bag("a", ("sleep 0.8",))], engine, folder, Knobs(1, 1, 0), watch=watch)
    assert outcome(state) == {"a": (1, 0), "late": (1, 0)}
    assert [turn.knobs.values for turn in state.turns] == [(1, 1, 0), (0, 0, -1)]
    (refused,) = (folder / "inbox").glob("*.refused")
    assert "another bag called 'a'" in refused.read_text()
    again = run_bags([], engine, folder, Knobs(1, 1, 0))
    assert again.knobs.values == (0, 0, -1)  # what was turned stays turned


def test_knobs_tune_themselves_from_the_forecast(engine, tmp_path):
    bags = [
        Bag("long", ("sleep 0.4",) * 4, runtime=40.0),
        Bag("short", ("true",) * 4, runtime=0.1),
    ]
    tuning = KnobTuning("mean_response", every=0.1)
    knobs = Knobs(0, 0, 1)
    state = run_bags(bags, engine, tmp_path / "r", knobs, cores=1, tuning=tuning)
    assert any(turn.by == "tuning" and turn.knobs.gamma < 0 for turn in state.turns)


def test_a_second_runner_and_a_changed_bag_are_refused(engine, tmp_path):
    folder = tmp_path / "r"
    run_bags([Bag("a", ("true",))], engine, folder)
    with pytest.raises(UsageError, match="another bag called 'a'"):
        run_bags([Bag("a", ("false",))], engine, folder)
    held = Lines(folder / "journal.jsonl")
    with pytest.raises(UsageError, match="another process runs the bags"):
        run_bags([], engine, folder)
    held.close()
    with pytest.raises(UsageError, match="is no folder of a run"):
        read_state(tmp_path / "none")
    with pytest.raises(UsageError, match="is no folder of a run"):
        send(tmp_path / "none", {})


def test_a_task_wider_than_the_machine_is_told_at_once(engine, tmp_path):
    with pytest.raises(UsageError, match="'wide' needs 5 cores, but there are 4"):
        run_bags([Bag("wide", ("true",), cores=5)], engine, tmp_path / "r")


def test_a_full_disk_delays_but_loses_nothing(engine, tmp_path, monkeypatch):
    from queuesmith.running import runner
    from queuesmith.running.task_work import Ended, TaskEnd, run_task

    full = [True, True]

    def sometimes(order):
        return TaskEnd(Ended.NO_ROOM) if full and full.pop() else run_task(order)

    monkeypatch.setattr(runner, "run_task", sometimes)
    monkeypatch.setattr(runner, "FULL_DISK_EVERY", 0.05)
    state = run_bags([Bag("a", ("true",) * 3)], engine, tmp_path / "r")
    assert outcome(state) == {"a": (3, 0)}
    assert all(task.state is State.COMPLETED for task in state.bags[0].tasks)


def test_dask_workers_run_the_same_bag(tmp_path, dask_scheduler):
    from queuesmith.study.dask_engines import DaskEngine

    with DaskEngine(dask_scheduler) as engine:
        state = run_bags([Bag("a", ("true",) * 5)], engine, tmp_path / "r")
    assert outcome(state) == {"a": (5, 0)}
