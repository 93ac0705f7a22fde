"""Learn a policy for an objective from a log, and judge it on jobs it did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from queuesmith.base.checks import progress_function, seeded
from queuesmith.base.errors import UsageError
from queuesmith.base.files import AnyPath
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.engine.simulate import as_machine, simulate
from queuesmith.learning.course import Evaluate, LearningProgress, run
from queuesmith.learning.method import Method
from queuesmith.learning.methods import DEFAULT_METHOD, make_method
from queuesmith.learning.result import Tuned
from queuesmith.learning.split import DEFAULT_SPLIT, check_objective, split_in_time
from queuesmith.learning.verdict import Verdict
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.policy import Policy
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.schedule.guard import Guard, Limits, as_guards
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.starvation import DEFAULT_FACTOR, NobodyStarves
from queuesmith.study.engines import Engine
from queuesmith.study.evaluate import Evaluator
from queuesmith.study.judgement import GIVEN_UP
from queuesmith.study.naming import run_facts
from queuesmith.study.runner import simulate_many
from queuesmith.study.store import Store
from queuesmith.workload import Workload
from queuesmith.workload.group_names import GroupNames

#: What most people mean by a better policy.
DEFAULT_OBJECTIVE = "mean_wait"
BASELINE = Policy.parse("fcfs+easy")


def tune(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    objective: str | Objective | None = None,
    method: str | Method = DEFAULT_METHOD,
    *,
    no_worse: str | Guard | Sequence[str | Guard] = (),
    longest_wait: float | None = DEFAULT_FACTOR,
    cores: int | None = None,
    strict: bool = False,
    seed: int = 0,
    split: float | None = DEFAULT_SPLIT,
    workers: int | None = None,
    engine: Engine | None = None,
    store: AnyPath | None = None,
    progress: Callable[[LearningProgress], None] | None = None,
) -> Tuned:
    """Learn a policy that is good at an objective.

    Parameters
    ----------
    workload, cluster, cores, strict
        As for ``simulate``.
    objective
        What the policy should be good at, as an expression over metrics; by default the mean wait.
    method
        How to learn: a name of ``METHODS``, or a method with other parameters, such as
        ``Pittsburgh(rules=20)``.
    no_worse
        Metrics that may not get worse than under FCFS with EASY on the jobs learned from, such as
        ``"utilization"``, or ``"utilization:0.1%"`` where it may by that share. A policy under
        which one does is not admitted: it ranks behind all that are.
    longest_wait
        Nobody starves: no group's longest wait, nor its 99 % wait, may be more than so many times
        what it is under FCFS with EASY, on the jobs learned from; waits of up to a day are always
        admitted. None for no such limit.
    seed
        Same seed, same result, on any number of workers.
    split
        Learn on the jobs submitted in this share of the log's time span and judge on the rest;
        None to learn on all.
    workers
        How many replays run at the same time; by default one for each core of this computer.
    engine
        Other machines that replay instead; the answer is the same.
    store
        A file that records the run; called again with the same file, it goes on where it stopped.
        One that was begun with other jobs, orders, machine or options is refused.
    progress
        Is called after each round.

    >>> from queuesmith import demo_workload, tune
    >>> tuned = tune(demo_workload(), seed=1)  # doctest: +SKIP
    >>> tuned.improvement_percent  # doctest: +SKIP
    """
    generator = seeded(seed)
    chosen = make_method(method) if isinstance(method, str) else method
    if not isinstance(chosen, Method):
        raise UsageError(
            f"the method is {method!r}, but it must be a name or a method. Give for example "
            f"'{DEFAULT_METHOD}'."
        )
    starving = None if longest_wait is None else NobodyStarves(longest_wait)
    wanted = as_objective(objective)
    guards = as_guards(no_worse, bound=wanted.bound)
    progress_function(progress)
    machine = as_machine(workload, cluster, cores)
    parts = split_in_time(jobs_that_fit(workload, machine, strict=strict), split)
    check_objective(parts, machine, wanted)
    for guard in guards:
        check_objective(parts, machine, guard.objective, "no-worse")

    # On nodes they are left as they are: there it is not shown that all starts are the same.
    played = (lambda each: each) if isinstance(machine, NodeCluster) else chosen.played
    with ExitStack() as stack:
        record = None
        if store is not None:
            options = _options(wanted, guards, starving, chosen, seed)
            facts = run_facts("tune", parts.learning, machine, options)
            record = stack.enter_context(Store(store, facts))
        limits = _limits(parts.learning, machine, guards, starving)
        judge = stack.enter_context(
            Evaluator(
                parts.learning, machine, wanted, workers=workers, limits=limits, engine=engine
            )
        )
        ranked = rank_fixed(judge.judged, (*THIRTEEN, *chosen.offered), played)
        course = run(
            chosen,
            chosen.learn(generator, [each for each in ranked if isinstance(each, Policy)]),
            judge.judged,
            higher_is_better=wanted.better == "higher",
            store=record,
            progress=progress,
        )
        # FCFS with EASY is always admitted, so the first of the fixed strategies is, too.
        found = course.policy if judge.admits(course.policy) else ranked[0]
        learned = found.for_groups(found.groups or GroupNames.of(workload))

    def judged(part: Workload) -> Verdict:
        policies: tuple[AnyPolicy, ...] = (learned, BASELINE, played(ranked[0]))
        ours, easy, fixed = simulate_many(part, machine, policies, workers=workers)
        fixed = replace(fixed, policy=str(ranked[0]), decisions=None)
        return Verdict(wanted, ours, easy, fixed, guards, starving)

    learning = judged(parts.learning)
    held_out = None if parts.held_out is None else judged(parts.held_out)
    return Tuned(
        policy=learned,
        settings=chosen.settings(),
        objective=wanted,
        seed=seed,
        split=split if held_out is not None else None,
        learning=learning,
        held_out=held_out,
        history=course.steps,
        evaluations=course.evaluations,
        seconds=course.seconds,
    )


def rank_fixed(
    evaluate: Evaluate,
    strategies: Sequence[AnyPolicy],
    played: Callable[[AnyPolicy], AnyPolicy] = lambda strategy: strategy,
) -> list[AnyPolicy]:
    """Return fixed strategies, each once, the best first; of equals the first given.

    ``played`` returns what is judged for a strategy: it may be another policy with its starts.
    Where its replay is given up, as those of rule bases can be, the strategy itself is judged.
    """
    fixed = list(dict.fromkeys(strategies))
    judged = list(evaluate([played(strategy) for strategy in fixed]))
    given_up = [place for place, each in enumerate(judged) if each == GIVEN_UP]
    if given_up:
        again = evaluate([fixed[place] for place in given_up])
        for place, each in zip(given_up, again, strict=True):
            judged[place] = each
    return [fixed[place] for place in sorted(range(len(fixed)), key=judged.__getitem__)]


def as_objective(objective: str | Objective | None) -> Objective:
    """Return what is to be learned for; what most people mean where nothing is said."""
    if isinstance(objective, Objective):
        return objective
    return Objective(DEFAULT_OBJECTIVE if objective is None else objective)


def _limits(
    workload: Workload,
    cluster: Cluster | NodeCluster,
    guards: Sequence[Guard],
    starving: NobodyStarves | None,
) -> Limits | None:
    if not guards and starving is None:
        return None
    return Limits(guards, simulate(workload, cluster, BASELINE), starving)


def _options(
    objective: Objective,
    guards: Sequence[Guard],
    starving: NobodyStarves | None,
    method: Method,
    seed: int,
) -> dict[str, Any]:
    """Return what was chosen beside jobs and machine, by what messages call it."""
    return {
        **{name.replace("_", " "): value for name, value in method.settings().items()},
        "objective": str(objective),
        "bound of the slowdown": objective.bound,
        "metrics that may get no worse": _written(guards),
        "factor of the longest wait": None if starving is None else starving.factor,
        "seed": seed,
    }


def _written(guards: Sequence[Guard]) -> list[list[Any]] | None:
    """Return guards ready for JSON, whatever the order they were named in; None for none."""
    return sorted([str(guard), guard.bound] for guard in guards) or None
