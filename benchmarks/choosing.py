"""Policies that choose: replays a second under rule bases, the time of a self-tuning step."""

import time

import numpy as np

import queuesmith as qs
from benchmarks.data import SYNTHETIC_CORES, synthetic, trace
from benchmarks.timing import seconds_of
from queuesmith.cluster import Cluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay
from queuesmith.policy import RuleBase
from queuesmith.policy.features import FEATURES, SEVEN
from queuesmith.policy.rules import WEIGHTS, FuzzyRules
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.study.evaluate import Evaluator

CTC = "CTC-SP2-1996-3.1-cln.swf.gz"
CTC_CORES = 430
RULE_BASES, RULES = 8, 10
LEARNING = 843  # replays of one run of the paper's evolution strategy
LEARNING_SECONDS = 300  # what they are to take on two cores


def scaled_ctc() -> qs.Workload:
    """The CTC log scaled to 1,024 processors, or a synthetic log of about its size."""
    path = trace(CTC)
    if path is None:
        return synthetic(133_000)
    return qs.scale(qs.read(path), CTC_CORES, SYNTHETIC_CORES, seed=0)


def random_rule_base(rng: np.random.Generator) -> RuleBase:
    """Ten fuzzy rules over the seven features that choose among the thirteen strategies."""
    low = np.array([FEATURES[name].low for name in SEVEN], float)
    high = np.array([FEATURES[name].high for name in SEVEN], float)
    shape = (RULES, len(SEVEN))
    centre = rng.uniform(low, high, shape)
    width = (high - low) * rng.uniform(0.05, 0.5, shape)
    return RuleBase(FuzzyRules(centre, width, rng.choice(WEIGHTS, (RULES, len(THIRTEEN)))))


def rules() -> None:
    log, cluster = scaled_ctc(), Cluster(SYNTHETIC_CORES)
    packed = Packed(log, cluster)
    rng = np.random.default_rng(0)
    bases = [random_rule_base(rng) for _ in range(RULE_BASES)]
    Replay(packed, cluster, bases[0]).run()  # compiles the features
    easy = min(seconds_of(Replay(packed, cluster, "fcfs+easy").run()) for _ in range(3))
    seconds, decisions = 0.0, 0
    for base in bases:
        schedule = Replay(packed, cluster, base).run()
        seconds += seconds_of(schedule)
        decisions += schedule.decisions.count
    print(
        f"{len(log):,} jobs, {RULE_BASES} random rule bases of {RULES} rules, one core: "
        f"{RULE_BASES / seconds:.2f} replays/s, {decisions / seconds:,.0f} decisions/s, "
        f"{seconds / RULE_BASES / easy:.1f} times as long as fcfs+easy ({1 / easy:.2f} replays/s)"
    )
    with Evaluator(log, cluster, "10*awrt[1] + 4*awrt[2]", workers=2) as evaluator:
        began = time.perf_counter()
        evaluator.judged(bases)
        took = (time.perf_counter() - began) / len(bases) * LEARNING
    verdict = "met" if took <= LEARNING_SECONDS else "MISSED"
    print(
        f"two workers: {LEARNING} such replays in {took:,.0f} s; "
        f"target {LEARNING_SECONDS}: {verdict}"
    )


def queue_of(waiting: int, steps: int) -> qs.Workload:
    """A full machine with a queue of one length: each newcomer is served at once, on a free core.

    So every submission is a step with that many waiting jobs, the newcomer included.
    """
    rng = np.random.default_rng(0)
    running, long = 20, 10 * steps
    cores = [*[CTC_CORES // running] * running, *rng.integers(20, CTC_CORES, waiting - 1)]
    cores[0] -= CTC_CORES % running == 0  # one core stays free
    walltime = [*rng.integers(long, 2 * long, running), *rng.integers(600, 64_800, waiting - 1)]
    submit = [0] * running + [1] * (waiting - 1) + [2 + 2 * step for step in range(steps)]
    times = [*map(int, walltime), *[1] * steps]
    return qs.Workload(submit, times, times, [*map(int, cores), *[1] * steps])


def dynp() -> None:
    cluster = Cluster(CTC_CORES)
    Replay(queue_of(3, 3), cluster, "dynp").run()  # compiles the metric
    steps = 20_000
    for waiting in (5, 25, 100):
        schedule = Replay(queue_of(waiting, steps), cluster, "dynp").run()
        usual = int(np.median(schedule.decisions.waiting))
        a_step = seconds_of(schedule) / steps
        print(
            f"{usual:>4} waiting jobs, three policies: {a_step * 1e6:,.1f} us a "
            "step (paper: 10,000 us for 25 jobs)"
        )
    path = trace(CTC)
    log = synthetic(79_302) if path is None else qs.read(path)
    cores = SYNTHETIC_CORES if path is None else CTC_CORES
    schedule = Replay(log, Cluster(cores), "dynp").run()
    seconds = seconds_of(schedule)
    verdict = "met" if seconds <= 30 else "MISSED"
    decisions = schedule.decisions
    print(
        f"{log.name}, {len(schedule):,} jobs on {cores} processors: {seconds:.2f} s, "
        f"{decisions.count:,} steps, {len(decisions.switches()):,} switches; target 30 s: {verdict}"
    )
