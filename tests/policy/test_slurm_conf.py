"""What a slurm.conf says about priorities."""

import pytest

from queuesmith.base.errors import PolicyError
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.slurm_conf import read_slurm_conf

WEIGHTS = [name for name in ORDERS["multifactor"].parameters if "Weight" in name]


@pytest.fixture
def conf(tmp_path):
    """Write a slurm.conf and read it."""

    def write_and_read(text):
        (tmp_path / "slurm.conf").write_text(text)
        return read_slurm_conf(tmp_path / "slurm.conf")

    return write_and_read


def test_weights_times_and_switches_are_read(conf):
    found = conf(
        "ClusterName=atlas\n"
        "PriorityType=priority/multifactor\n"
        "PriorityWeightAge=1000\n"
        "PriorityWeightFairshare = 10000\n"
        "PriorityMaxAge=14-0\n"
        "PriorityDecayHalfLife=7-00:00:00\n"
        "PriorityFavorSmall=YES\n"
        "FairShareDampeningFactor=5\n"
    )
    assert found.parameters == {
        **dict.fromkeys(WEIGHTS, 0.0),
        "PriorityWeightAge": 1000,
        "PriorityWeightFairshare": 10_000,
        "PriorityMaxAge": 14 * 86_400,
        "PriorityDecayHalfLife": 7 * 86_400,
        "PriorityFavorSmall": 1,
        "FairShareDampeningFactor": 5,
    }
    assert found.partition_priority == {}


def test_the_parameters_fit_the_multifactor_order(conf):
    found = conf("PriorityWeightQOS=7\nPriorityMaxAge=1-0\n")
    order = ORDERS["multifactor"].having(**found.parameters)
    assert order.parameters["PriorityWeightQOS"] == 7


def test_weights_that_are_left_out_are_zero_as_in_slurm(conf):
    found = conf("ClusterName=atlas\n")
    assert found.parameters == dict.fromkeys(WEIGHTS, 0.0)


def test_names_are_read_in_any_case(conf):
    found = conf("priorityweightage=5\nPARTITIONNAME=fast PRIORITYJOBFACTOR=3\n")
    assert found.parameters["PriorityWeightAge"] == 5
    assert found.partition_priority == {"fast": 3}


def test_comments_and_continued_lines_are_understood(conf):
    found = conf(
        "# PriorityWeightAge=1\n"
        "PriorityWeightAge=2 # not 3\n"
        "PartitionName=long Nodes=n[1-4] \\\n"
        "    PriorityJobFactor=4 State=UP\n"
    )
    assert found.parameters["PriorityWeightAge"] == 2
    assert found.partition_priority == {"long": 4}


def test_the_last_of_two_settings_counts(conf):
    assert conf("PriorityWeightAge=1\nPriorityWeightAge=2\n").parameters["PriorityWeightAge"] == 2


def test_partitions_without_a_factor_have_one(conf):
    found = conf("PartitionName=a Nodes=ALL Default=YES\nPartitionName=b PriorityJobFactor=9\n")
    assert found.partition_priority == {"a": 1, "b": 9}


def test_the_default_partition_speaks_for_those_after_it(conf):
    found = conf(
        "PartitionName=before\n"
        "PartitionName=DEFAULT State=UP PriorityJobFactor=20\n"
        "PartitionName=after\n"
        "PartitionName=own PriorityJobFactor=5\n"
        "PartitionName=DEFAULT MaxTime=60\n"
        "PartitionName=last\n"
    )
    assert found.partition_priority == {"before": 1, "after": 20, "own": 5, "last": 20}


def test_the_older_word_priority_is_the_factor(conf):
    found = conf("PartitionName=a Priority=7\nPartitionName=b Priority=7 PriorityJobFactor=2\n")
    assert found.partition_priority == {"a": 7, "b": 2}


def test_a_weight_in_a_partition_line_is_no_weight(conf):
    assert conf("PartitionName=a PriorityWeightAge=7\n").parameters["PriorityWeightAge"] == 0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("7-0", 604_800), ("1-12:30", 131_400), ("90", 5400), ("02:00:00", 7200)],
)
def test_times_are_those_of_slurm(conf, written, seconds):
    found = conf(f"PriorityMaxAge={written}\nPriorityDecayHalfLife={written}\n").parameters
    assert found["PriorityMaxAge"] == found["PriorityDecayHalfLife"] == seconds


def test_an_unlimited_age_never_counts_and_one_of_no_length_counts_at_once(conf):
    assert conf("PriorityMaxAge=UNLIMITED\n").parameters["PriorityMaxAge"] == 2**32 - 1
    assert conf("PriorityMaxAge=0\n").parameters["PriorityMaxAge"] == 1


def test_a_half_life_of_zero_means_no_decay(conf):
    assert conf("PriorityDecayHalfLife=0\n").parameters["PriorityDecayHalfLife"] == 0


@pytest.mark.parametrize(("written", "value"), [("YES", 1), ("yes", 1), ("NO", 0), ("1", 1)])
def test_a_switch_is_on_or_off(conf, written, value):
    found = conf(f"PriorityFavorSmall={written}\n").parameters
    assert found["PriorityFavorSmall"] == value


def test_included_files_are_read_in_their_place(conf, tmp_path):
    (tmp_path / "partitions.conf").write_text("PartitionName=a PriorityJobFactor=3\n")
    found = conf("PriorityWeightAge=1\n  Include partitions.conf\nPartitionName=b\n")
    assert found.partition_priority == {"a": 3, "b": 1}
    absolute = conf(f"include {tmp_path / 'partitions.conf'}\n")
    assert absolute.partition_priority == {"a": 3}


def test_an_included_file_that_is_absent_is_named(conf):
    with pytest.raises(PolicyError, match=r"elsewhere\.conf.* cannot be read"):
        conf("Include elsewhere.conf\n")


def test_a_file_that_includes_itself_is_told(conf):
    with pytest.raises(PolicyError, match="Let no file include itself"):
        conf("Include slurm.conf\n")


@pytest.mark.parametrize(
    "line",
    [
        "PriorityWeightAge=much",
        "PriorityMaxAge=week",
        "FairShareDampeningFactor=0",
        "PartitionName=a PriorityJobFactor=high",
    ],
)
def test_a_value_that_makes_no_sense_is_named(conf, line):
    with pytest.raises(PolicyError, match=line.split()[-1].split("=")[0]) as caught:
        conf(line + "\n")
    assert "slurm.conf" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(PolicyError, match=r"absent\.conf.*No such file"):
        read_slurm_conf(tmp_path / "absent.conf")
    with pytest.raises(PolicyError, match="Is a directory"):
        read_slurm_conf(tmp_path)


def test_text_that_is_not_utf_8_does_no_harm(tmp_path):
    (tmp_path / "slurm.conf").write_bytes(b"# caf\xe9\nPriorityWeightAge=3\n")
    assert read_slurm_conf(tmp_path / "slurm.conf").parameters["PriorityWeightAge"] == 3
