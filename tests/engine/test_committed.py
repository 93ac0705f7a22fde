"""RLScheduler's rules: one job is chosen, and nothing else before it has started."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import PolicyError
from queuesmith.policy import Committed, as_policy, load_policy
from queuesmith.testing.policy import random_workload
from tests.engine.test_against_twin import replays
from tests.oracle import simulate_slowly

pytestmark = pytest.mark.uncompiled

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
POLICIES = [
    f"committed({order}{backfill})"
    for order in ("fcfs", "sjf", "saf", "wfp3", "multifactor", "blend")
    for backfill in ("", "; backfill=early")
]


@pytest.mark.parametrize("policy", POLICIES)
@settings(
    max_examples=3 if UNCOMPILED else 25, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(replay=replays())
def test_engine_and_twin_agree_on_small_workloads(policy, replay):
    workload, cluster = replay
    schedule = verify(simulate(workload, cluster, policy))
    assert schedule.start.tolist() == simulate_slowly(workload, cluster, policy).start.tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_engine_and_twin_agree_on_longer_queues(policy):
    rng = np.random.default_rng(sum(map(ord, policy)))
    for cores in (7, 64):
        workload = random_workload(rng, 40 if UNCOMPILED else 150, cores)
        schedule = verify(simulate(workload, Cluster(cores), policy))
        slow = simulate_slowly(workload, Cluster(cores), policy)
        assert schedule.start.tolist() == slow.start.tolist()


def starts(policy, *jobs, cores=4):
    submit, runtime, walltime, wanted = (list(column) for column in zip(*jobs, strict=True))
    return simulate(
        Workload(submit, runtime, walltime, wanted), cores=cores, policy=policy
    ).start.tolist()


def test_the_chosen_job_is_kept_when_a_better_one_comes():
    # At 1 the wide job is the only one that waits; the shorter one that comes at 2 waits for it.
    jobs = (0, 10, 10, 3), (1, 5, 5, 4), (2, 1, 1, 4)
    assert starts("committed(sjf)", *jobs) == [0, 10, 15]
    assert starts("sjf", *jobs) == [0, 11, 10]


def test_nobody_starts_before_the_chosen_job():
    assert starts("committed(fcfs)", (0, 10, 10, 3), (1, 5, 5, 4), (2, 1, 1, 1)) == [0, 10, 15]


def test_early_lets_in_only_who_ends_strictly_before_the_expected_start():
    wide = (0, 10, 10, 3), (1, 5, 5, 4)
    early = "committed(fcfs; backfill=early)"
    assert starts(early, *wide, (2, 7, 7, 1)) == [0, 10, 2]
    assert starts(early, *wide, (2, 8, 8, 1)) == [0, 10, 15]
    assert starts("fcfs+easy", *wide, (2, 8, 8, 1)) == [0, 10, 2]


def test_of_jobs_that_come_together_to_an_empty_queue_the_first_is_chosen_unseen():
    jobs = (0, 10, 10, 4), (0, 1, 1, 4)
    assert starts("committed(sjf)", *jobs) == [0, 10]
    assert starts("sjf", *jobs) == [1, 0]


def test_a_policy_is_written_saved_and_read_again(tmp_path):
    policy = as_policy("committed(power(alpha=2); backfill=early)")
    assert isinstance(policy, Committed)
    assert str(policy.having(beta=0.5)) == "committed(power(alpha=2,beta=0.5); backfill=early)"
    policy.save(tmp_path / "policy.json")
    assert str(load_policy(tmp_path / "policy.json")) == str(policy)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("committed()", "names no order"),
        ("committed(sjf; backfill=easy)", "there is no backfill of committed 'easy'"),
        ("committed(sjf; depth=3)", "its only setting is backfill"),
        ("committed(sjf+easy)", "is more than an order"),
        ("committed(fsfc)", "there is no order 'fsfc'"),
    ],
)
def test_what_cannot_be_read_is_said(text, complaint):
    with pytest.raises(PolicyError, match=complaint):
        as_policy(text)


@pytest.mark.parametrize(
    "content", ['{"kind": "committed"}', '{"kind": "committed", "order": "sjf", "depth": 1}']
)
def test_a_file_that_describes_no_such_policy_is_refused(content, tmp_path):
    (tmp_path / "policy.json").write_text(content)
    with pytest.raises(PolicyError, match="has 'order', a text"):
        load_policy(tmp_path / "policy.json")


def test_an_order_that_gives_no_number_names_the_job(tmp_path):
    text = "import numpy as np\n\n\ndef odd(job, now):\n    return np.nan * now\n"
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(PolicyError, match="gives no number"):
        starts(f"committed({tmp_path / 'mine.py'}:odd)", (5, 1, 1, 1))
