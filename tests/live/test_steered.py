"""By what a queue is steered, as the steerer says it."""

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.live.changes import AllowList
from queuesmith.live.journal import Journal, said_files
from queuesmith.live.steered import Steered, say, steered_now
from queuesmith.live.steering import Steering, SteerOptions
from queuesmith.policy import as_policy


def test_who_steers_says_so_while_the_journal_is_held(tmp_path):
    how = Steered(as_policy("sjf+easy"), 5, AllowList(users=frozenset({"ann"})))
    assert steered_now(tmp_path, "atlas") is None
    with Journal(tmp_path, "atlas") as journal:
        assert steered_now(tmp_path, "atlas") is None  # not said yet
        say(tmp_path, "atlas", how)
        assert steered_now(tmp_path, "atlas") == how
        assert steered_now(tmp_path, "other") is None
        say(tmp_path, "atlas", how)
    assert steered_now(tmp_path, "atlas") is None  # killed, perhaps
    with Journal(tmp_path, "atlas") as journal:
        journal.forget()
    assert not any(path.exists() for path in said_files(tmp_path, "atlas"))


def test_a_steerer_says_by_what_it_steers(slurm, tmp_path):
    found = []
    options = SteerOptions(every=7, cycles=1)
    steering = Steering(
        as_policy("sjf+easy"),
        tmp_path / "journal",
        options,
        say=lambda line: found.append(steered_now(tmp_path / "journal", "atlas")),
    )
    steering.run()
    assert Steered(as_policy("sjf+easy"), 7) in found
    assert steered_now(tmp_path / "journal", "atlas") is None


def test_what_a_killed_steerer_said_before_it_set_anything_does_not_outlive_it(slurm, tmp_path):
    with Journal(tmp_path, "atlas"):
        say(tmp_path, "atlas", Steered(as_policy("ljf+easy")))
    found = []
    steering = Steering(
        as_policy("sjf+easy"),
        tmp_path,
        SteerOptions(cycles=1, any_grade=True),
        say=lambda line: found.append(steered_now(tmp_path, "atlas")),
    )
    steering.run()
    assert {each.policy for each in found if each is not None} == {as_policy("sjf+easy")}


def test_a_cycle_of_no_length_is_refused():
    with pytest.raises(UsageError, match="time between cycles"):
        Steered(as_policy("fcfs"), 0)
