"""The short round of the probe, with fixed seeds: it counts what it tries, and finds no fault."""

import random
import subprocess
import sys

import pytest

from queuesmith.base.errors import UsageError
from tests.probe.mutate import CHANGES, mutated
from tests.probe.pages import elements
from tests.probe.readers import READERS, fuzz
from tests.probe.tally import Tally

INPUTS = 60


@pytest.mark.parametrize("name", READERS)
def test_a_mutated_file_is_read_or_refused_with_one_sentence(name):
    tally = fuzz(name, range(INPUTS))
    print(tally)
    assert tally.tried == INPUTS
    assert not tally.faults, tally


def test_kills_full_disks_flipped_bits_and_hostile_names_change_no_answer():
    """As a process of its own, for it forks."""
    words = ["--kills", "4", "--disks", "4", "--flips", "100", "--names", "3", "--inputs", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.probe", *words], capture_output=True, text=True, check=False
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 kinds of faults" in done.stdout.splitlines()[-1]


# -- the probe itself --------------------------------------------------------------------------


def test_the_same_number_gives_the_same_input():
    data = b"id,submit\n1,2\n3,4\n"
    once = [mutated(data, random.Random(n)) for n in range(200)]
    assert once == [mutated(data, random.Random(n)) for n in range(200)]
    assert len(set(once)) > 100
    for change in CHANGES:
        assert isinstance(change(b"", random.Random(1)), bytes)


def test_a_traceback_is_a_fault_and_a_sentence_is_none():
    tally = Tally()
    with tally.watching("reader", "how"):
        raise UsageError("this is wrong. Do that.")
    with tally.watching("reader", "how to repeat it"):
        raise KeyError("no sentence")
    with tally.watching("reader", "how"):
        pass
    assert dict(tally.outcomes) == {
        ("reader", "refused"): 1,
        ("reader", "FAULT"): 1,
        ("reader", "done"): 1,
    }
    assert "how to repeat it" in str(tally)
    assert "KeyError at test_probe.py" in str(tally)


def test_a_name_that_breaks_out_would_be_seen(tmp_path):
    plain, broken = tmp_path / "plain.html", tmp_path / "broken.html"
    plain.write_text("<p title='name'>name</p><script>var x = 'name'</script>")
    broken.write_text(
        "<p title='' onclick='x'>name</p><script>var x = '</script><script>'</script>"
    )
    assert elements(plain) != elements(broken)
