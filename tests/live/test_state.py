"""Looking at a running cluster: what a real Slurm printed, and made-up commands."""

import pytest

from queuesmith.base.errors import WorkloadError
from queuesmith.live.commands import NoAnswerError, SlurmError, run
from queuesmith.live.picture import picture, span
from queuesmith.live.state import look, state_of


def test_what_a_real_slurm_printed_is_read(recorded):
    state = state_of(recorded)
    assert (state.cluster, state.version, state.machine.cores) == ("lab", "22.05.8", 64)
    assert [job.id for job in state.waiting] == [67, 61, 62, 58, 60, 63, 65, 66, 64]
    assert {job.id for job in state.running} == {56, 57, 59, 68, 69}
    by_id = {job.id: job for job in state.jobs}
    assert by_id[67].made_of.by_hand
    assert by_id[62].tasks == 3 and by_id[62].array == by_id[68].array == 62
    assert by_id[64].held and not by_id[65].ready and not by_id[63].ready
    assert by_id[66].nice == 50 and not by_id[66].made_of.by_hand
    assert by_id[59].node_list == "n[1-2]" and by_id[59].resources.startswith("cpu=24,")
    assert by_id[60].made_of.natural == by_id[60].priority
    assert state.machine.partition("main").max_time == 86_400


def test_the_picture_shows_load_queue_and_reasons(recorded):
    text = picture(state_of(recorded))
    for part in ("64 cores in use by 5 jobs", "11 jobs wait, 1 of them held", "4 cores x 3"):
        assert part in text
    assert "JobArrayTaskLimit" in text and "odd" not in text


def test_the_state_of_now_can_be_kept_and_read_again(slurm, tmp_path):
    seen = look(keep=tmp_path)
    assert state_of(tmp_path) == seen
    assert [job.id for job in seen.waiting] == [2, 3, 4]
    assert seen.notes == ()


def test_a_site_without_accounting_still_works(slurm):
    slurm.set(admin=None)
    seen = look()
    assert len(seen.waiting) == 3 and seen.shares == ()
    assert any("sshare" in note for note in seen.notes)
    assert "Not read" in picture(seen)


def test_a_controller_that_does_not_answer_is_one_sentence(slurm):
    slurm.set(down=True)
    with pytest.raises(NoAnswerError, match="slurmctld does not answer"):
        look()


def test_a_command_that_takes_too_long_is_given_up(slurm_commands):
    slurm_commands.set(delay=5)
    with pytest.raises(NoAnswerError, match=r"within 0\.5 s"):
        run(("scontrol",), seconds=0.5, lines=["update JobId=2 SiteFactor=1"])


def test_a_command_that_is_not_there_is_one_sentence(slurm_commands):
    with pytest.raises(SlurmError, match="no command 'sbatch' here"):
        run(("sbatch",))


def test_a_folder_without_a_state_is_refused(tmp_path):
    with pytest.raises(WorkloadError, match="slurm look --out"):
        state_of(tmp_path)


def test_nodes_that_cannot_be_read_are_one_sentence(recorded):
    (recorded / "scontrol-nodes.txt").write_text("No nodes in the system\n")
    with pytest.raises(SlurmError, match="shows no node"):
        state_of(recorded)


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (600, "10 min"), (8000, "2.2 h"), (200_000, "2.3 d")]
)
def test_spans_are_said_as_people_do(seconds, text):
    assert span(seconds) == text
