"""Policies that choose, and reservations, drawn at random: for comparing engine and twin."""

import math

from queuesmith.policy import ORDERS, Policy, RuleBase, RuleBasePair, SelfTuning
from queuesmith.policy.features import FEATURES, SEVEN
from queuesmith.policy.rules import WEIGHTS, FuzzyRules, RigidRules
from queuesmith.policy.self_tuning import DECIDERS, PLAN_METRICS
from queuesmith.policy.strategies import FOUR_ORDERS, GREEDY, THREE_ALGORITHMS
from queuesmith.schedule.reservations import Request

BACKFILLS = ("none", "list", "easy", "plan", "plan(depth=2)")
KEEPING = ("none+keep(share=0.2)", "easy+keep(share=0.4,groups=3)", "list+keep(share=0)")
KEEPING += ("easy+keep(share=0.5,patience=0.003)",)
# Few sets of features, and of orders that change with time: each is compiled once.
FEATURE_SETS = (
    SEVEN,
    ("slowdown",),
    ("queue_length", "head_wait", "free_share"),
    ("queue_work", "time_of_day", "day_of_week", "utilization"),
    ("group_2_share", "slowdown", "free_share"),
)
ORDER_SETS = (("fcfs", "sjf", "group"), ("ljf", "wide", "wfp3"), ("fcfs", "greedy", "multifactor"))
CANDIDATES = (
    ("fcfs", "sjf", "ljf"),
    ("ljf", "fcfs"),
    ("narrow", "wfp3", "sjf"),
    ("multifactor", "fcfs", "wfp3"),
    ("sjf",),
)
EXPRESSIONS = ("artww + 2*makespan", "max(mean_wait, mean_slowdown)", "-utilization")


def some(rng, choices):
    """A few different ones, in any order."""
    count = int(rng.integers(1, len(choices) + 1))
    return tuple(str(name) for name in rng.permutation(list(choices))[:count])


def random_rules(rng, features, choices):
    return (random_fuzzy if rng.random() < 0.6 else random_rigid)(rng, features, choices)


def random_fuzzy(rng, features, choices):
    count = int(rng.integers(1, 6))
    low, high = ([getattr(FEATURES[name], end) for name in features] for end in ("low", "high"))
    width = 10.0 ** rng.uniform(-3, 3, (count, len(features)))
    return FuzzyRules(
        rng.uniform(low, high, (count, len(features))),
        width,
        rng.choice(WEIGHTS, (count, choices)),
    )


def random_rigid(rng, features, choices):
    bounds = []
    for name in features:
        low, high = FEATURES[name].low, FEATURES[name].high
        # Values that states really take, so that bounds are met exactly.
        values = [low, (low + high) / 2, high, 1.0, 0.25][: int(rng.integers(0, 3))]
        bounds.append(tuple(sorted(set(values))))
    classes = math.prod(len(values) + 1 for values in bounds)
    return RigidRules(tuple(bounds), rng.integers(0, choices, classes), choices)


def random_rule_base(rng):
    features = FEATURE_SETS[rng.integers(len(FEATURE_SETS))]
    window = int(rng.choice([0, 0, 3, 20]))
    if rng.random() < 0.3:
        orders = some(rng, FOUR_ORDERS)
        algorithms = some(rng, (*THREE_ALGORITHMS, GREEDY))
        return RuleBasePair(
            random_rules(rng, features, len(orders)),
            random_rules(rng, features, len(algorithms)),
            features,
            orders,
            algorithms,
            window,
        )
    orders = ORDER_SETS[rng.integers(len(ORDER_SETS))]
    count = int(rng.integers(1, 7))
    written = {f"{rng.choice(orders)}+{rng.choice(BACKFILLS)}" for _ in range(count)}
    written |= {f"sjf+{rng.choice(KEEPING)}" for _ in range(int(rng.integers(0, 3)))}
    offered = tuple(Policy.parse(text) for text in sorted(written))
    return RuleBase(random_rules(rng, features, len(offered)), features, offered, window)


def random_self_tuning(rng):
    names = CANDIDATES[rng.integers(len(CANDIDATES))]
    candidates = tuple(ORDERS[name] for name in names)
    decider = str(rng.choice(list(DECIDERS)))
    return SelfTuning(
        candidates,
        str(rng.choice([*PLAN_METRICS, *EXPRESSIONS])),
        decider,
        candidates[-1] if decider == "preferred" and rng.random() < 0.7 else None,
        float(rng.choice([0.0, 0.0, 0.1, 0.5])),
        str(rng.choice(["submissions", "all"])),
    )


def random_requests(rng, workload, cores):
    """Requests at and around the instants at which jobs come and go."""
    last = int((workload.submit + workload.runtime).max())
    requests = []
    for number in range(int(rng.integers(0, 6))):
        submit = int(rng.integers(0, last + 2))
        begin = submit + int(rng.choice([0, 0, 1, 5, 20]))
        end = begin + int(rng.integers(1, 15))
        requests.append(Request(number, submit, begin, end, int(rng.integers(1, cores + 1))))
    return tuple(requests)
