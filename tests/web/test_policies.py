import pytest

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.policy import Policy, as_policy
from queuesmith.web.policies import PolicyShelf, names_of

SOURCE = "def mine(job, alpha=1.0):\n    return alpha * job.cores\n"


@pytest.fixture
def own(tmp_path):
    """A file of Python that leaves a trace each time it is run."""
    path = tmp_path / "my.py"
    trace = tmp_path / "trace"
    begin = f"with open({str(trace)!r}, 'a') as file:\n    file.write('run ')\n"
    path.write_text(begin + SOURCE)
    return path, trace


def test_what_is_written_without_a_file_can_be_tried():
    shelf = PolicyShelf()
    assert str(shelf.policy("power(alpha=2)+easy")) == "power(alpha=2)+easy"
    assert str(shelf.policy("dynp(fcfs,sjf)")).startswith("dynp(")
    assert str(shelf.policy("slurm(bf_interval=60)")) == "slurm(bf_interval=60)"


def test_a_file_that_nobody_named_is_not_opened(own, tmp_path):
    path, trace = own
    saved = tmp_path / "policy.json"
    saved.write_text('{"order": "fcfs"}')
    (tmp_path / "slurm.conf").write_text("PriorityWeightAge=1\n")
    for text in (
        f"{path}:mine+easy",
        f"dynp(fcfs,{path}:mine)",
        str(saved),
        f"slurm({tmp_path}/slurm.conf)",
        f"slurm({tmp_path}/slurm.conf; bf_interval=60)",
        f" slurm ( {tmp_path}/slurm.conf ; bf_interval=60)",
    ):
        with pytest.raises(PolicyError, match="names a file"):
            PolicyShelf().policy(text)
    assert not trace.exists()


def test_an_own_order_that_was_named_has_knobs_and_is_run_once(own):
    path, trace = own
    text = f"{path}:mine+easy"
    shelf = PolicyShelf(names_of([as_policy(text)], [text]))
    turned = shelf.policy(f"{path}:mine(alpha=3)+conservative")
    assert isinstance(turned, Policy)
    assert (turned.order.parameters["alpha"], turned.backfill) == (3.0, "conservative")
    assert trace.read_text() == "run "
    with pytest.raises(PolicyError, match="names a file"):
        shelf.policy(f"{path}:other+easy")


def test_a_learned_policy_is_found_by_its_run_alone(tmp_path):
    from queuesmith.web.runs import RunShelf

    shelf = PolicyShelf(runs=RunShelf(tmp_path))
    for text in ("learned-../../etc/passwd", "learned-20260101-000000-abcdef"):
        with pytest.raises(UsageError, match="no run"):
            shelf.policy(text)
