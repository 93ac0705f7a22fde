"""Generations (figure 1): parents are selected, children bred, and the best live on."""

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_REALS, INTS, REAL_TABLE, copy
from queuesmith.compiled.chance import uniform
from queuesmith.grid.genetic.kernels.operators import CROSSOVER_TYPE, MUTATION_TYPE, SELECTION_TYPE
from queuesmith.grid.genetic.kernels.problem import (
    BAD_JOB,
    EVALUATIONS,
    GENERATION,
    IMPROVED_AT,
    NEXT_CHILD,
    NOBODY,
    POPULATION_TYPE,
    PROBLEM_TYPE,
    WORKSPACE_TYPE,
    individual_of,
)
from queuesmith.grid.genetic.kernels.survival import (
    keep_best_ever,
    keep_best_of_all,
    keep_children,
    sort_slots,
)
from queuesmith.grid.genetic.kernels.value import become, evaluate, inherit

# Places in the numbers of a plan.
CROSS, CROSS_WITH, MUTATE, MUTATE_WITH, SELECT_WITH, IMPROVE, IMPROVE_WITH = range(7)
CHANCES = 7
# Figures that are kept up to date are computed anew after so many generations.
REFRESH = 1024


@kernel
def breed_pair(
    problem, pool, parents, first, second, plan, cross, mutate, select, improve, work, turn
):
    """Write two children (or one: the second slot may be none) of two selected parents."""
    random = work.random
    mother = individual_of(pool, parents[select(len(parents), turn, plan[SELECT_WITH], work)])
    father = individual_of(pool, parents[select(len(parents), turn + 1, plan[SELECT_WITH], work)])
    crossing = uniform(random) < plan[CROSS]
    before = random[0]
    for k in range(2):
        slot = first if k == 0 else second
        if slot == NOBODY:
            break
        child = individual_of(pool, slot)
        if crossing:
            random[0] = before
            cross(problem, mother, father, child.genes, plan[CROSS_WITH], work)
            inherit(problem, child, mother, work)
        else:
            become(child, mother)
        mother, father = father, mother
    for k in range(2):
        slot = first if k == 0 else second
        if slot == NOBODY:
            break
        child = individual_of(pool, slot)
        if uniform(random) < plan[MUTATE]:
            mutate(problem, child, plan[MUTATE_WITH], work)
        if uniform(random) < plan[IMPROVE]:
            improve(problem, child, plan[IMPROVE_WITH], work)
        work.flags[EVALUATIONS] += 1


@entry(
    int64(
        PROBLEM_TYPE,
        POPULATION_TYPE,
        INTS,
        INTS,
        INTS,
        FROZEN_REALS,
        types.FunctionType(CROSSOVER_TYPE),
        types.FunctionType(MUTATION_TYPE),
        types.FunctionType(SELECTION_TYPE),
        types.FunctionType(MUTATION_TYPE),
        types.boolean,
        types.boolean,
        int64,
        int64,
        int64,
        REAL_TABLE,
        WORKSPACE_TYPE,
    )
)
def run_generations(
    problem,
    pool,
    parents,
    children,
    spare,
    plan,
    cross,
    mutate,
    select,
    improve,
    merge,
    distinct,
    generations,
    most_children,
    patience,
    history,
    work,
):
    """Run some generations, and return how many were completed.

    It stops early after ``patience`` generations without a better best, and, be it in the middle
    of a generation, after about ``most_children``; the next call goes on from there. The last slot
    of the pool holds the best ever. Row i of the history gets its values after generation i of
    this call.
    """
    flags = work.flags
    best = individual_of(pool, len(pool.genes) - 1)
    bred = 0
    for generation in range(generations):
        for i in range(flags[NEXT_CHILD], len(children), 2):
            if bred >= most_children:
                flags[NEXT_CHILD] = i
                return generation
            second = children[i + 1] if i + 1 < len(children) else NOBODY
            breed_pair(
                problem,
                pool,
                parents,
                children[i],
                second,
                plan,
                cross,
                mutate,
                select,
                improve,
                work,
                i,
            )
            if flags[BAD_JOB] != NOBODY:
                return generation
            keep_best_ever(best, individual_of(pool, children[i]), flags)
            if second != NOBODY:
                keep_best_ever(best, individual_of(pool, second), flags)
            bred += 2
        flags[NEXT_CHILD] = 0
        sort_slots(pool, children, len(children))
        if merge:
            keep_best_of_all(pool, parents, children, spare, distinct)
        else:
            keep_children(pool, parents, children)
        flags[GENERATION] += 1
        if flags[GENERATION] % REFRESH == 0:
            for i in range(len(parents)):
                evaluate(problem, individual_of(pool, parents[i]), work, True)
            sort_slots(pool, parents, len(parents))
        copy(history[generation], best.value)
        if flags[GENERATION] - flags[IMPROVED_AT] >= patience:
            return generation + 1
    return generations


@entry(void(PROBLEM_TYPE, POPULATION_TYPE, INTS, WORKSPACE_TYPE))
def value_all(problem, pool, slots, work):
    """Value the individuals in these slots from their genes and sort the slots, the best first."""
    for i in range(len(slots)):
        evaluate(problem, individual_of(pool, slots[i]), work, True)
        work.flags[EVALUATIONS] += 1
    sort_slots(pool, slots, len(slots))
