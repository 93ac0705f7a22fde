import subprocess
import sys

import pytest

from queuesmith.cli.help import PANELS, sentence_of
from queuesmith.cli.verbs import SENTENCES, Verbs


def test_commands_stand_in_panels_with_their_whole_sentences(run):
    help = run("--help").out
    assert [panel for panel in PANELS if f"\n{panel}:\n" in help] == list(PANELS)
    assert "..." not in help.replace("--method ...", "").replace("[ARGS]...", "").replace(
        "--knobs ...", ""
    )


def test_every_command_has_a_panel(run):
    assert "\nCommands:\n" not in run("--help").out
    assert {"simulate", "compare", "tune"} <= set(Verbs())


def test_the_list_of_verbs_says_of_each_what_its_own_help_says():
    assert {name: sentence_of(verb) for name, verb in Verbs().items()} == SENTENCES
    assert not any(verb.hidden for verb in Verbs().values())


def test_the_list_of_verbs_is_shown_without_reading_them():
    shown = "import sys; from queuesmith.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert "Replay a job log under one policy" in done.stdout
    assert "queuesmith.cli.verbs" in done.stdout.split()
    assert not {"queuesmith.cli.replays", "queuesmith.cli.live", "numpy"} & set(done.stdout.split())


@pytest.mark.parametrize("command", ["simulate", "compare", "tune"])
def test_options_stand_in_panels(run, command):
    help = run(command, "--help").out
    order = [help.index(f"\n{panel}:\n") for panel in ("Arguments", "The log", "The machine")]
    assert order == sorted(order)
    assert help.index("\nOutput:\n") > order[-1]
    assert help.count("--quiet") == 1


@pytest.mark.parametrize("group", ["map", "place", "knapsack"])
def test_a_group_shows_the_options_of_the_command_that_need_not_be_named(run, group):
    help = run(group, "--help").out
    assert "\nOutput:\n" in help and "--report" in help
    assert "\nCommands:\n" in help and "\n  run " not in help
