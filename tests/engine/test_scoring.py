"""Users' own orders: compiled into the loop, or an error that says what is wrong with them."""

import os
from pathlib import Path

import numpy as np
import pytest

from queuesmith import Cluster, Policy, Workload, simulate, verify
from queuesmith.base.errors import PolicyError
from queuesmith.compiled import cache
from queuesmith.engine import scoring, written_loops
from queuesmith.engine.kernels.queue import queue_of
from queuesmith.engine.kernels.usage import use_cores
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, parameter_values
from queuesmith.policy import BACKFILLS, ORDERS, Order
from queuesmith.testing.policy import random_workload
from tests.oracle import simulate_slowly

pytestmark = pytest.mark.uncompiled

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
needs_the_compiler = pytest.mark.skipif(
    PLAIN, reason="without the compiler the order fails as plain Python, with its own traceback"
)
JOB_FIELDS = (
    "id, submit, walltime, cores, log_walltime, log_cores, user, group, partition_factor, "
    "qos_factor, usage_share, user_share, fair_share, nodes, memory, gpus, partition, qos, account"
)
JOBS = Workload(
    submit=[0, 0, 0, 3, 3, 4],
    runtime=[5, 6, 2, 8, 4, 3],
    walltime=[5, 9, 7, 8, 4, 6],
    cores=[4, 2, 3, 1, 4, 2],
    user=[0, 1, 0, 1, 2, 2],
    group=[1, 2, 3, 1, 2, 3],
)


def error_of(policy):
    with pytest.raises(PolicyError) as error:
        simulate(JOBS, cores=4, policy=policy)
    return str(error.value)


# -- orders that work ------------------------------------------------------------------------------

GOOD = {
    "arithmetic": "def mine(job):\n    return 3 * job.walltime - job.cores\n",
    "if": (
        "def mine(job):\n    if job.cores > 2:\n        return job.walltime\n"
        "    return -job.walltime\n"
    ),
    "conditional expression": "def mine(job):\n    return 1 if job.group == 2 else 0\n",
    "min and max": "def mine(job):\n    return min(job.cores, 3) + max(job.walltime, 6)\n",
    "math": "import math\ndef mine(job):\n    return math.sqrt(job.walltime) * math.pi\n",
    "numpy": "import numpy as np\ndef mine(job):\n    return np.log(job.walltime)\n",
    "a constant": "def mine(job):\n    return 1\n",
    "a truth": "def mine(job, now):\n    return job.cores > 2\n",
    "a loop": (
        "def mine(job):\n    total = 0\n    for i in range(job.cores):\n        total += i\n"
        "    return total\n"
    ),
    "a global number": "LIMIT = 3\ndef mine(job):\n    return 1 if job.cores < LIMIT else 0\n",
    "a compiled helper": (
        "import numba\n@numba.njit\ndef double(x):\n    return 2 * x\n"
        "def mine(job):\n    return max(double(job.cores), 3)\n"
    ),
    "the wait": "def mine(job, now):\n    return (now - job.submit) / job.walltime\n",
    "the machine": (
        "def mine(job, now, machine):\n"
        "    return job.cores / machine.cores + machine.free * job.walltime - machine.waiting\n"
    ),
    "the user's share": "def mine(job):\n    return -job.usage_share / job.user_share\n",
    "the fair share": "def mine(job):\n    return job.fair_share\n",
    "the fair share, of usage that decays": (
        "def mine(job, PriorityDecayHalfLife=5):\n    return job.fair_share\n"
    ),
    "the fair share, dampened": (
        "def mine(job, weight=3, FairShareDampeningFactor=4):\n"
        "    return weight * job.fair_share - job.usage_share * job.walltime\n"
    ),
    "the fair share, by a helper": (
        "import numba\n@numba.njit\ndef fair(job):\n    return job.fair_share\n"
        "def mine(job, now):\n    return fair(job) + 0 * now\n"
    ),
    "the entitlement": "def mine(job):\n    return job.walltime / job.user_share\n",
    "the entitlement, with if": (
        "def mine(job):\n    return job.walltime if job.user_share < 0.5 else -job.walltime\n"
    ),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=list(GOOD))
def test_an_order_in_a_file_decides_as_it_does_in_plain_python(mine, text):
    order = Policy.parse(mine(text)).order
    for backfill in BACKFILLS:
        policy = Policy(order, backfill)
        schedule = verify(simulate(JOBS, cores=4, policy=policy))
        assert schedule.start.tolist() == simulate_slowly(JOBS, Cluster(4), policy).start.tolist()
        assert schedule.policy == str(policy)


def test_a_file_and_the_built_in_order_of_the_same_text_agree(mine):
    policy = mine("def mine(job):\n    return -job.walltime\n")
    theirs = simulate(JOBS, cores=4, policy=f"{policy}+easy")
    ours = simulate(JOBS, cores=4, policy="sjf+easy")
    assert theirs.start.tolist() == ours.start.tolist()


def test_parameters_reach_the_compiled_order(mine):
    text = (
        "def mine(job, now, short=0.0, narrow=0.0):\n"
        "    return -short * job.walltime - narrow * job.cores + 0 * now\n"
    )
    policy = Policy.parse(mine(text))
    for parameters, same in (({"short": 1}, "sjf"), ({"narrow": 2}, "narrow"), ({}, "fcfs")):
        schedule = simulate(JOBS, cores=4, policy=policy.having(**parameters))
        assert schedule.start.tolist() == simulate(JOBS, cores=4, policy=same).start.tolist()


def test_parameters_are_not_remembered_from_one_replay_to_the_next(mine):
    text = "def mine(job, now, sign=1.0):\n    return sign * job.walltime + 0 * now\n"
    policy = Policy.parse(f"{mine(text)}(sign=-1)")
    first, other, again = (
        simulate(JOBS, cores=4, policy=policy.having(sign=sign)).start.tolist()
        for sign in (-1, 1, -1)
    )
    assert first == again != other


def test_an_order_may_take_the_time_without_reading_it(mine):
    policy = mine("def mine(job, now, machine):\n    return -job.walltime\n")
    assert Policy.parse(policy).order.fixed
    expected = simulate(JOBS, cores=4, policy="sjf").start.tolist()
    assert simulate(JOBS, cores=4, policy=policy).start.tolist() == expected


def test_an_order_with_infinite_scores_is_taken_as_it_is(mine):
    policy = mine(
        "import math\ndef mine(job):\n    return math.inf if job.cores == 4 else -math.inf\n"
    )
    start = simulate(JOBS, cores=4, policy=policy).start
    assert start.tolist() == simulate_slowly(JOBS, Cluster(4), policy).start.tolist()


# -- fair shares -----------------------------------------------------------------------------------

MANY = random_workload(np.random.default_rng(3), 60, 16)
FAIR = """
import numpy as np

def fair(job, now, PriorityDecayHalfLife=0.0, FairShareDampeningFactor=1.0):
    return job.fair_share

def halved(job, now, PriorityDecayHalfLife=0.0, FairShareDampeningFactor=1.0):
    halvings = job.usage_share * (1.0 / (job.user_share * FairShareDampeningFactor))
    return np.exp(-0.6931471805599453 * halvings)
"""


@pytest.fixture
def fair_orders(tmp_path):
    """The fair share as the engine computes it, and as an order computes it for each job."""
    path = tmp_path / "fair.py"
    path.write_text(FAIR, encoding="utf-8")
    return [Policy.parse(f"{path}:{name}+easy").order for name in ("fair", "halved")]


def scores(order, packed, usage, waiting, now, scorer=None):
    queue = queue_of(packed.jobs, np.array(waiting))
    scorer, values = scorer or compile_scorer(order), parameter_values(order)
    assert scorer(queue, usage, len(waiting), now, 16, 16, values) == -1
    return queue.score.tolist()


@pytest.mark.parametrize("half_life", [0.0, 40.0])
def test_a_fair_share_is_the_same_to_the_last_bit_however_it_is_computed(fair_orders, half_life):
    packed = Packed(MANY, Cluster(16))
    ours, theirs = (order.having(PriorityDecayHalfLife=half_life) for order in fair_orders)
    usage = packed.usage([ours])
    everyone = range(len(MANY))
    seen = set()
    # Several passes at one instant, and usage that grows, rests and shrinks between them.
    for user, cores, now in ((0, 3, 0), (3, 2, 10), (0, 0, 10), (0, -3, 30), (3, -2, 60)):
        use_cores(usage, user, cores, MANY.submit[0] + now)
        for dampening in (1.0, 3.0):
            both = [
                scores(
                    order.having(FairShareDampeningFactor=dampening),
                    packed,
                    usage,
                    everyone,
                    MANY.submit[0] + now,
                )
                for order in (ours, theirs)
            ]
            assert both[0] == both[1]
            seen |= set(both[0])
    assert 1.0 in seen  # of users without usage
    assert len(seen) > 5


def test_a_fair_share_halves_for_each_share_used(fair_orders):
    workload = Workload([0] * 4, [9] * 4, [9] * 4, [1] * 4, user=[0, 1, 2, 3])
    packed = Packed(workload, Cluster(4))
    order = fair_orders[0]
    usage = packed.usage([order])
    assert scores(order, packed, usage, range(4), 0) == [1, 1, 1, 1]
    for user, cores in enumerate((0, 1, 1, 2)):
        use_cores(usage, user, cores, 0)
    dampened = order.having(FairShareDampeningFactor=2)
    assert scores(order, packed, usage, range(4), 7) == pytest.approx([1, 0.5, 0.5, 0.25])
    assert scores(dampened, packed, usage, [3, 1, 3], 7) == pytest.approx([0.5, 0.5**0.5, 0.5])


def test_the_engine_and_the_twin_agree_on_fair_shares(fair_orders):
    for half_life, dampening in ((0, 1), (30, 1), (1e9, 5), (0.5, 0.1)):
        for order in fair_orders:
            chosen = order.having(
                PriorityDecayHalfLife=half_life, FairShareDampeningFactor=dampening
            )
            policy = Policy(chosen, "easy")
            start = simulate(MANY, cores=16, policy=policy).start
            assert start.tolist() == simulate_slowly(MANY, Cluster(16), policy).start.tolist()


# -- loops that are kept on disk -------------------------------------------------------------------


@pytest.fixture
def new_process(tmp_path, monkeypatch):
    """Compiles an order's loop as a new process would that finds what earlier ones left."""
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path / "kept"))

    def compiled(order):
        scoring._compiled.cache_clear()
        scorer = compile_scorer(order)
        scoring._compiled.cache_clear()
        return scorer

    return compiled


def came_from_the_cache(scorer):
    return bool(scorer.stats.cache_hits)


@needs_the_compiler
def test_the_loop_of_a_built_in_order_is_compiled_once(new_process):
    for name in ("wfp3", "multifactor"):
        assert not came_from_the_cache(new_process(ORDERS[name]))
        assert came_from_the_cache(new_process(ORDERS[name]))


@needs_the_compiler
def test_the_loop_of_an_own_order_is_compiled_anew_when_anything_changes(new_process, mine):
    text = "LIMIT = {}\ndef mine(job, now):\n    return job.cores {} LIMIT * now\n"
    found = [
        came_from_the_cache(new_process(Policy.parse(mine(text.format(limit, sign))).order))
        for limit, sign in ((3, "-"), (3, "-"), (4, "-"), (4, "+"), (4.0, "+"), (3, "-"))
    ]
    assert found == [False, True, False, False, False, True]


@needs_the_compiler
def test_a_loop_from_the_cache_scores_as_before(new_process, mine):
    packed = Packed(MANY, Cluster(16))
    text = "def mine(job, now, power=2.0):\n    return (now - job.submit) ** power / {}\n"
    orders = [Policy.parse(mine(text.format(divisor))).order for divisor in (3, 7)]
    # The second time both come together from the cache.
    compiled, loaded = (
        [
            scores(order, packed, packed.usage([]), range(60), 5000, new_process(order))
            for order in orders
        ]
        for _ in range(2)
    )
    assert compiled == loaded
    for found, divisor in zip(loaded, (3, 7), strict=True):
        assert found == pytest.approx((5000 - MANY.submit) ** 2 / divisor)


@needs_the_compiler
def test_a_loop_that_depends_on_more_than_its_order_is_not_kept(new_process, mine):
    text = "import numba\n@numba.njit\ndef double(x):\n    return {} * x\n"
    text += "def mine(job, now):\n    return double(now) - job.cores\n"
    for factor in (2, 2, 3):
        scorer = new_process(Policy.parse(mine(text.format(factor))).order)
        assert scorer.stats.cache_path is None


@needs_the_compiler
def test_no_more_than_so_many_loops_are_kept(new_process, mine, monkeypatch):
    monkeypatch.setattr(written_loops, "MOST_FILES", 4)
    for factor in range(2, 6):
        order = Policy.parse(mine(f"def mine(job, now):\n    return {factor} * now\n")).order
        scorer = new_process(order)
    assert len(list(Path(scorer.stats.cache_path).iterdir())) == 4


# -- orders that do not ----------------------------------------------------------------------------


@needs_the_compiler
@pytest.mark.parametrize("arguments", ["job", "job, now"])
def test_a_misspelt_field_is_named_with_its_line_and_the_fields_there_are(mine, arguments):
    policy = mine(f"def mine({arguments}):\n    wide = job.cores > 2\n    return job.waltime\n")
    assert error_of(policy) == (
        f"order '{policy}', line 3: a job has no field 'waltime'. Its fields are: {JOB_FIELDS}. "
        "Columns that the log has of its own are fields, too."
    )


@needs_the_compiler
def test_the_true_runtime_is_hidden_from_an_order(mine):
    message = error_of(mine("def mine(job):\n    return -job.runtime\n"))
    assert "line 2: a job has no field 'runtime'." in message


@needs_the_compiler
def test_a_misspelt_field_of_the_machine_is_answered_with_its_fields(mine):
    policy = mine("def mine(job, now, machine):\n    return machine.nodes\n")
    assert error_of(policy) == (
        f"order '{policy}', line 2: a machine has no field 'nodes'. "
        "Its fields are: cores, free, waiting."
    )


@needs_the_compiler
def test_an_undefined_name_is_named_with_its_line(mine):
    policy = mine(
        "def mine(job):\n    if job.cores > 2:\n        return factor * job.cores\n    return 1\n"
    )
    assert error_of(policy) == (
        f"order '{policy}', line 3: 'factor' is not known to compiled code. Define it, or, if it "
        "is a function of yours, put @numba.njit above it."
    )


@needs_the_compiler
def test_a_helper_that_is_not_compiled_is_named_with_the_way_out(mine):
    policy = mine("def double(x):\n    return 2 * x\ndef mine(job, now):\n    return double(now)\n")
    message = error_of(policy)
    assert message.startswith(f"order '{policy}', line 4: 'double' is not known to compiled code.")
    assert message.endswith("put @numba.njit above it.")


@needs_the_compiler
@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("return 'high'", "a text"),
        ("return None", "nothing"),
        ("pass", "nothing"),
        ("return job.cores, 1", "several values"),
        ("return 1j * job.cores", "a complex number"),
        ("if job.cores > 2: return 1", "nothing in some cases"),
    ],
)
def test_an_order_that_returns_no_number_is_told_what_it_returns(mine, body, what):
    policy = mine(f"def mine(job, now):\n    {body}\n")
    assert error_of(policy) == (
        f"order '{policy}' returns {what}, but an order returns a number. "
        "Let every return give one."
    )


@needs_the_compiler
def test_an_order_that_makes_texts_or_lists_is_told_to_use_numbers(mine):
    policy = mine("def mine(job, now):\n    return [now, job.cores][now % 2]\n")
    assert error_of(policy) == (
        f"order '{policy}' makes a text, a list or an array, but a compiled order works with "
        "single numbers. Use plain arithmetic, if, and functions of math or numpy."
    )


@needs_the_compiler
@pytest.mark.parametrize(
    "text",
    [
        "def mine(job, now):\n    with open('x') as file:\n        return 1\n",
        "count = 0\ndef mine(job, now):\n    global count\n    count += 1\n    return count\n",
        "import math\ndef mine(job, now):\n    return math.sqrt(job.cores, now)\n",
    ],
)
def test_what_cannot_be_compiled_is_said_with_what_can(mine, text):
    policy = mine(text)
    message = error_of(policy)
    assert message.startswith(f"order '{policy}'")
    assert " cannot be compiled: " in message
    assert message.endswith("Use plain arithmetic, if, and functions of math or numpy.")


@pytest.mark.parametrize(
    "body",
    [
        "return math.nan if job.cores == 3 else 1",  # one job at a time
        "return job.walltime + (math.inf - math.inf) * job.cores",  # all jobs in one call
    ],
)
def test_a_fixed_order_that_gives_no_number_names_the_job(mine, body):
    policy = mine(f"import math\ndef mine(job):\n    {body}\n")
    job = (
        "3 (submit 0, walltime 7, cores 3)"
        if "== 3" in body
        else "1 (submit 0, walltime 5, cores 4)"
    )
    assert error_of(policy) == (
        f"order '{policy}' gives no number (NaN) for job {job}. "
        "Guard it against dividing zero by zero and the like."
    )


def test_a_changing_order_that_gives_no_number_names_the_job_and_the_second(mine):
    policy = mine(
        "import math\n"
        "def mine(job, now):\n    return math.nan if now >= 3 and job.cores == 1 else job.cores\n"
    )
    # Job 1 has ended at 5; before that nothing fits and no order is needed.
    assert error_of(policy) == (
        f"order '{policy}' gives no number (NaN) for job 4 at second 5 (submit 3, walltime 8, "
        "cores 1). Guard it against dividing zero by zero and the like."
    )


def test_a_number_that_is_never_asked_for_need_not_be_one(mine):
    policy = mine("import math\ndef mine(job, now):\n    return math.nan + now\n")
    alone = Workload([0, 10], [5, 5], [5, 5], [1, 1])
    assert simulate(alone, cores=1, policy=policy).start.tolist() == [0, 10]


@pytest.mark.parametrize("count", [1, 2])
def test_a_fixed_order_is_scored_for_few_jobs_as_for_many(mine, count):
    policy = mine("import math\ndef mine(job):\n    return -math.sqrt(max(job.walltime, 2))\n")
    workload = Workload([0] * count, [3] * count, np.arange(count, 0, -1) + 3, [1] * count)
    start = simulate(workload, cores=1, policy=policy).start
    assert start.tolist() == [0] if count == 1 else [3, 0]


WIDE_AND_LONG = Workload(
    [0, 0, 1], [5, 5, 5], [10, 200_000, 3_000], [1, 64, 16], user=[0, 1, 2], group=[1, 1, 1]
)


@pytest.mark.parametrize(
    ("body", "job"),
    [
        ("def mine(job):\n    return job.walltime**3 * job.cores**3\n", "2 (submit 0"),
        ("def mine(job):\n    return -(job.cores**3) * job.walltime**3 / 1e9\n", "2 (submit 0"),
        ("def mine(job):\n    return 2**job.walltime\n", "2 (submit 0"),
        ("def mine(job):\n    return 5 if job.cores < 64 else 1 << job.cores\n", "2 (submit 0"),
        (
            "def mine(job, now):\n    return (now - job.submit + job.walltime)**5\n",
            "2 at second 5 (submit 0",
        ),
    ],
)
def test_an_order_whose_whole_numbers_are_beyond_64_bits_is_refused(mine, body, job):
    policy = mine(body)
    with pytest.raises(PolicyError) as caught:
        simulate(WIDE_AND_LONG, Cluster(64), policy)
    assert f"computes a whole number beyond 64 bits (9.2e18) for job {job}" in str(caught.value)


def test_an_own_order_that_is_called_as_a_built_in_one_is_looked_at_too():
    def sjf(job):
        return -(job.walltime**3) * job.cores**3

    with pytest.raises(PolicyError, match="beyond 64 bits"):
        simulate(WIDE_AND_LONG, Cluster(64), Policy(Order(sjf), "easy"))


@pytest.mark.parametrize(
    "body",
    [
        "def mine(job):\n    return float(job.walltime) ** 3 * job.cores**3\n",
        "def mine(job):\n    return job.walltime**3.0 * job.cores**3\n",
        "def mine(job):\n    return job.walltime**2 * job.cores**2\n",
        "def mine(job):\n    return job.walltime % 7 - job.cores // 3 + abs(-job.id)\n",
        "def mine(job, power=3):\n    return job.walltime**power * job.cores**power\n",
        "def mine(job, now):\n    return (now - job.submit)**9\n",  # nobody waits so long
        "def mine(job, now, machine):\n    return job.cores**9 / machine.cores - now\n",
    ],
)
def test_an_order_whose_whole_numbers_have_64_bits_is_not_refused(mine, body):
    verify(simulate(WIDE_AND_LONG, Cluster(64), mine(body)))
