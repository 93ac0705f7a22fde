from queuesmith.cli.options import DEFAULT_THRESHOLDS, LogOptions, numbers
from queuesmith.workload import groups


def test_the_default_thresholds_are_those_of_the_workload():
    assert tuple(numbers(DEFAULT_THRESHOLDS, "thresholds")) == groups.DEFAULT_THRESHOLDS


def test_the_part_between_is_taken_before_the_head(logs):
    log = LogOptions(logs / "small.swf", quiet=True)
    submit = log.read().submit
    part = LogOptions(logs / "small.swf", between=f"{submit[50]}:{submit[-1]}", head=3, quiet=True)
    assert part.read().submit.tolist() == submit[submit >= submit[50]][:3].tolist()
