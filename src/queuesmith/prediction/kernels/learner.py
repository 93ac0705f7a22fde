"""What is learned of users' runtimes, job by job, and what it foretells."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, REAL_TABLE, REALS

#: How a runtime is foretold: as the user asks, as it will be, by the user's last two, by learning,
#: or by the mean of these two and the last two jobs alike.
REQUEST, KNOWN, LAST2, LINEAR, BLEND = range(5)
#: What the learner looks at: a constant; the logarithms of the request, of the user's last and last
#: but one runtime, of the mean of all so far, of the cores; whether the user is new; the logarithm
#: of the last runtime of a job of the user with the same request and cores.
FEATURES = 8
#: Weights with which it begins: the last two runtimes count as much as the last of the kind.
BEGINNING = (0.0, 0.0, 0.25, 0.25, 0.0, 0.0, 0.0, 0.5)


class Learner(NamedTuple):
    """All that is known so far."""

    last: Any  # by user: the last runtime, the one before, the sum of logarithms
    known: Any  # by user: how many jobs have ended
    alike: Any  # by kind of a user's jobs: logarithms of the last two runtimes, below 0 for none
    kind_of: Any  # by job: which kind
    weight: Any
    gradient: Any  # the sum of squared gradients of each weight
    seen: Any  # by job: what the learner saw when it was submitted
    setting: Any  # the quantile, the step


LEARNER_TYPE = types.NamedTuple(
    [REAL_TABLE, INTS, REAL_TABLE, INTS, REALS, REALS, REAL_TABLE, REALS], Learner
)


def new_learner(users: int, kind_of: Any, quantile: float, step: float) -> Learner:
    """Return a learner that knows nothing yet."""
    return Learner(
        np.zeros((users, 3)),
        np.zeros(users, np.int64),
        np.full((int(kind_of.max()) + 1, 2), -1.0),
        kind_of,
        np.array(BEGINNING),
        np.zeros(FEATURES),
        np.zeros((len(kind_of), FEATURES)),
        np.array([quantile, step]),
    )


@kernel
def see(learner, job, user, request, cores):
    """Note what is known of a job when it is submitted."""
    seen = learner.seen[job]
    known = learner.known[user]
    asked = math.log(float(max(request, 1)))
    seen[0] = 1.0
    seen[1] = asked
    seen[2] = math.log(max(learner.last[user, 0], 1.0)) if known > 0 else asked
    seen[3] = math.log(max(learner.last[user, 1], 1.0)) if known > 1 else seen[2]
    seen[4] = learner.last[user, 2] / known if known > 0 else asked
    seen[5] = math.log(float(cores))
    seen[6] = 1.0 if known == 0 else 0.0
    alike = learner.alike[learner.kind_of[job], 0]
    seen[7] = alike if alike >= 0.0 else (seen[2] + seen[3]) / 2.0


@kernel
def foretold_log(learner, job):
    """Return the logarithm of the runtime that the weights foretell."""
    value = 0.0
    for i in range(FEATURES):
        value += learner.weight[i] * learner.seen[job, i]
    return value


@kernel
def predict(learner, kind, job, user, request, cores, runtime):
    """Return the runtime foretold for a job that is submitted now: 1 second up to the request."""
    if kind == REQUEST:
        return request
    if kind == KNOWN:
        return min(max(runtime, 1), request)
    see(learner, job, user, request, cores)
    if kind == LAST2:
        return min(max(int(last_two(learner, user, request)), 1), request)
    value = foretold_log(learner, job)
    if kind == BLEND:
        value = blended(learner, job, user, request, value)
    return min(max(int(math.exp(min(max(value, 0.0), 40.0))), 1), request)


@kernel
def last_two(learner, user, request):
    """Return the mean of a user's last two runtimes; the request where none has ended."""
    known = learner.known[user]
    if known == 0:
        return float(request)
    if known == 1:
        return learner.last[user, 0]
    return (learner.last[user, 0] + learner.last[user, 1]) / 2.0


@kernel
def blended(learner, job, user, request, learned):
    """Return the mean of three logarithms: learned, by the last two, by the last two jobs alike."""
    most = math.log(float(max(request, 1)))
    recent = min(math.log(max(last_two(learner, user, request), 1.0)), most)
    alike = learner.alike[learner.kind_of[job]]
    if alike[0] < 0.0:
        same = recent
    elif alike[1] < 0.0:
        same = alike[0]
    else:
        same = math.log((math.exp(alike[0]) + math.exp(alike[1])) / 2.0)
    return (min(max(learned, 0.0), most) + recent + min(same, most)) / 3.0


@kernel
def learn(learner, kind, job, user, runtime):
    """Learn from a job that has ended."""
    if kind in (LINEAR, BLEND):
        adjust(learner, job, runtime)
    known = learner.known[user]
    learner.last[user, 1] = learner.last[user, 0]
    learner.last[user, 0] = float(runtime)
    learner.last[user, 2] += math.log(float(max(runtime, 1)))
    learner.known[user] = known + 1
    alike = learner.alike[learner.kind_of[job]]
    alike[1] = alike[0]
    alike[0] = math.log(float(max(runtime, 1)))


@kernel
def adjust(learner, job, runtime):
    """Move the weights against the gradient of the quantile's loss, each by its own step (AdaGrad,
    Duchi, Hazan and Singer 2011).
    """
    error = math.log(float(max(runtime, 1))) - foretold_log(learner, job)
    quantile, step = learner.setting[0], learner.setting[1]
    slope = -quantile if error > 0.0 else 1.0 - quantile
    for i in range(FEATURES):
        gradient = slope * learner.seen[job, i]
        if gradient != 0.0:
            learner.gradient[i] += gradient * gradient
            learner.weight[i] -= step * gradient / math.sqrt(learner.gradient[i])
