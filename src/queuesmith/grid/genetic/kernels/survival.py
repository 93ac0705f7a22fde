"""Who lives on (section 3.4.5)."""

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.grid.genetic.kernels.problem import (
    FLOWTIME,
    GENERATION,
    IMPROVED_AT,
    MAKESPAN,
    PRIMARY,
    individual_of,
)
from queuesmith.grid.genetic.kernels.value import ROUNDING, become, better, surpasses


@kernel
def sort_slots(pool, slots, count):
    """Sort the first slots by their individuals, the best first; equal ones keep their order."""
    for i in range(1, count):
        slot = slots[i]
        individual = individual_of(pool, slot)
        k = i
        while k > 0 and better(individual, individual_of(pool, slots[k - 1])):
            slots[k] = slots[k - 1]
            k -= 1
        slots[k] = slot


@kernel
def alike(one, other):
    """Say whether two individuals have the same makespan and flowtime to within rounding."""
    for i in (MAKESPAN, FLOWTIME):
        if abs(one.value[i] - other.value[i]) > ROUNDING * abs(one.value[i]):
            return False
    return True


@kernel
def has_like(pool, slot, slots, count):
    """Say whether an individual is like one of the first slots, which are sorted and not worse."""
    individual = individual_of(pool, slot)
    margin = ROUNDING * abs(individual.value[PRIMARY])
    for i in range(count - 1, -1, -1):
        other = individual_of(pool, slots[i])
        if individual.value[PRIMARY] - other.value[PRIMARY] > margin:
            return False
        if alike(individual, other):
            return True
    return False


@kernel
def keep_best_of_all(pool, parents, children, spare, distinct):
    """Let the best of parents and children together be the parents; parents win ties.

    If they must be distinct, of those alike one survives, and the others only where there are too
    few: what is equal is not better, and copies would soon fill the population.
    """
    count, brood = len(parents), len(children)
    p, c = 0, 0
    kept, last = 0, count + brood
    while p < count or c < brood:
        take_parent = c >= brood or (
            p < count
            and not better(individual_of(pool, children[c]), individual_of(pool, parents[p]))
        )
        if take_parent:
            slot = parents[p]
            p += 1
        else:
            slot = children[c]
            c += 1
        if distinct and has_like(pool, slot, spare, kept):
            last -= 1
            spare[last] = slot
        else:
            spare[kept] = slot
            kept += 1
    copy(parents, spare)
    copy(children, spare[count:])
    if kept < count:
        sort_slots(pool, parents, count)


@kernel
def keep_children(pool, parents, children):
    """Put the best children in the place of the worst parents, as many as there are."""
    count, brood = len(parents), len(children)
    for i in range(min(count, brood)):
        worst = count - 1 - i
        parents[worst], children[i] = children[i], parents[worst]
    sort_slots(pool, parents, count)


@kernel
def keep_best_ever(best, child, flags):
    """Remember a child of the generation under way if it is better than the best ever."""
    if surpasses(child, best):
        become(best, child)
        flags[IMPROVED_AT] = flags[GENERATION] + 1
