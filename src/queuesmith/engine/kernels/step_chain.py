"""A long plan that is kept from pass to pass: its steps in a chain, and reservations in it.

When cores are released in a deep queue, most reservations slide by one step: what ends before them
ends earlier now. In a chain that takes as long for the last job as for the first, since every
job knows the steps at which its reservation begins and ends.
"""

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.engine.kernels.chain_room import (
    BEFORE,
    BEGIN,
    CORES,
    COUNT,
    END,
    HEAD,
    HOLDERS,
    INSERTED,
    LAST,
    MOST,
    NEXT,
    NO_STEP,
    ROW,
    UNUSED,
    earliest_step,
    index_steps,
    note_all_through,
    note_longest,
    note_runs_begun,
    note_runs_through,
    span_of,
)

# -- steps -----------------------------------------------------------------------------------------


@kernel(forceinline=True)
def insert_step(chain, after, time):
    """Insert a step behind another, and return it."""
    facts = chain.facts
    step = np.uint32(facts[UNUSED])
    facts[UNUSED] = chain.step[step + NEXT]
    facts[COUNT] += 1
    facts[INSERTED] += 1
    facts[MOST] = max(facts[MOST], facts[COUNT])
    following = chain.step[after + NEXT]
    chain.time[step >> 1] = time
    chain.step[step + CORES] = chain.step[after + CORES]
    chain.step[step + NEXT] = following
    chain.step[step + BEFORE] = after
    chain.step[step + HOLDERS] = 0
    chain.step[after + NEXT] = step
    if following == NO_STEP:
        facts[LAST] = step
    else:
        chain.step[following + BEFORE] = step
    span = span_of(chain.facts, time)
    if span >= len(chain.first):
        index_steps(chain)
    elif span_of(chain.facts, chain.time[after >> 1]) != span:
        chain.first[span] = step
        note_all_through(chain, step)
    return step


@kernel
def link_rows(chain, steps, rows):
    """Let the first rows be the chain, each followed by the next; so are the unused ones after
    them, of which those behind so many rows are linked already.
    """
    facts = chain.facts
    for i in range(rows):
        chain.step[i * ROW + BEFORE] = max(i - 1, 0) * ROW
        chain.step[i * ROW + NEXT] = (i + 1) * ROW
    chain.step[BEFORE] = chain.step[(steps - 1) * ROW + NEXT] = NO_STEP
    facts[HEAD], facts[LAST], facts[UNUSED] = 0, (steps - 1) * ROW, steps * ROW
    facts[COUNT], facts[INSERTED], facts[MOST] = steps, 0, steps


@kernel
def choose_rows(chain):
    """Copy steps to rows in which neighbours are neighbours, and note in each where it will be."""
    words = ROW // 2
    step = np.uint32(chain.facts[HEAD])
    for i in range(chain.facts[COUNT]):
        row = step >> 1
        copy(chain.spare[i * words : (i + 1) * words], chain.time[row : row + words])
        chain.step[step + BEFORE] = i * ROW
        step = chain.step[step + NEXT]
    for span in range(len(chain.first)):
        if chain.first[span] != NO_STEP:
            chain.first[span] = chain.step[chain.first[span] + BEFORE]


@kernel
def hold_chosen(chain, job, side):
    """Let a job hold a step in the row where it will be."""
    chain.held[job, side] = chain.step[chain.held[job, side] + BEFORE]


@kernel
def fill_rows(chain):
    """Put the steps into their new rows."""
    steps, rows = chain.facts[COUNT], chain.facts[MOST]
    copy(chain.time[: steps * ROW // 2], chain.spare[: steps * ROW // 2])
    link_rows(chain, steps, rows)


@kernel(forceinline=True)
def leave_span(chain, step):
    """Let a step be no more the first of its span."""
    span = span_of(chain.facts, chain.time[step >> 1])
    if chain.first[span] == step:
        following = chain.step[step + NEXT]
        if following != NO_STEP and span_of(chain.facts, chain.time[following >> 1]) != span:
            following = NO_STEP
        chain.first[span] = following


@kernel(forceinline=True)
def free_row(chain, step):
    """Let the row of a step be used again."""
    chain.step[step + NEXT] = chain.facts[UNUSED]
    chain.facts[UNUSED] = step
    chain.facts[COUNT] -= 1


@kernel(forceinline=True)
def let_go(chain, step):
    """Hold a step no more; take it out if nobody else does."""
    chain.step[step + HOLDERS] -= 1
    if chain.step[step + HOLDERS] > 0 or step == chain.facts[HEAD]:
        return
    leave_span(chain, step)
    before, following = chain.step[step + BEFORE], chain.step[step + NEXT]
    chain.step[before + NEXT] = following
    if following == NO_STEP:
        chain.facts[LAST] = before
    else:
        chain.step[following + BEFORE] = before
    free_row(chain, step)


@kernel
def step_from(chain, step, time):
    """Return the step that begins at an instant, or a new one; looking onward from another."""
    following = chain.step[step + NEXT]
    while following != NO_STEP and chain.time[following >> 1] <= time:
        step = following
        following = chain.step[step + NEXT]
    return step if chain.time[step >> 1] == time else insert_step(chain, step, time)


@kernel
def step_back_from(chain, step, time):
    """Return the step that begins at an instant, or a new one; looking back from another."""
    while chain.time[step >> 1] > time:
        step = chain.step[step + BEFORE]
    return step if chain.time[step >> 1] == time else insert_step(chain, step, time)


@kernel(forceinline=True)
def move_step(chain, step, time):
    """Let a step begin sooner; no other lies between."""
    span = span_of(chain.facts, time)
    changed = span_of(chain.facts, chain.time[step >> 1]) != span
    if changed:
        leave_span(chain, step)
        if chain.first[span] == NO_STEP:
            chain.first[span] = step
    chain.time[step >> 1] = time
    if changed:
        note_all_through(chain, step)


@kernel(forceinline=True)
def take_steps(chain, step, last, cores):
    """Take cores from a step up to another."""
    while step != last:
        chain.step[step + CORES] -= cores
        step = chain.step[step + NEXT]


@kernel
def give_steps(chain, step, last, cores):
    """Give back cores from a step up to another."""
    low, high = len(chain.width), -1
    each = step
    while each != last:
        free = chain.step[each + CORES]
        chain.step[each + CORES] = free + cores
        low = min(low, chain.level[free])
        high = max(high, chain.level[free + cores])
        each = chain.step[each + NEXT]
    # Where steps are on the same side of a width as before, its runs are as they were.
    for k in range(low + 1, high + 1):
        note_runs_through(chain, k, step, chain.step[last + BEFORE])


@kernel
def advance_chain(chain, now):
    """Forget what lies before now."""
    facts = chain.facts
    head = np.uint32(facts[HEAD])
    span = span_of(chain.facts, chain.time[head >> 1])
    following = chain.step[head + NEXT]
    leave_span(chain, head)
    while following != NO_STEP and chain.time[following >> 1] <= now:
        free_row(chain, head)
        head = following
        leave_span(chain, head)
        following = chain.step[head + NEXT]
    today = span_of(chain.facts, now)
    same = span_of(chain.facts, chain.time[head >> 1]) == today
    chain.time[head >> 1] = now
    chain.step[head + BEFORE] = NO_STEP
    facts[HEAD] = head
    if today >= len(chain.first) >> 1:
        index_steps(chain)
        return
    chain.first[today] = head
    for past in range(span, today):
        for k in range(len(chain.width)):
            if chain.longest[past, k] > 0:
                note_longest(chain.longest, len(chain.first), k, past, 0)
    if not same:
        note_all_through(chain, head)


# -- reservations ----------------------------------------------------------------------------------


@kernel(forceinline=True)
def hold(chain, job, begin, end):
    """Let a job hold the steps at which its reservation begins and ends."""
    chain.held[job, BEGIN], chain.held[job, END] = begin, end
    chain.step[begin + HOLDERS] += 1
    chain.step[end + HOLDERS] += 1


@kernel
def reserve_in_chain(chain, job, walltime, cores):
    """Reserve the earliest room for a job, and return when that is."""
    begin = earliest_step(chain, walltime, cores, np.uint32(chain.facts[LAST]))
    time = chain.time[begin >> 1]
    end = step_from(chain, begin, time + walltime)
    hold(chain, job, begin, end)
    take_steps(chain, begin, end, cores)
    return time


@kernel(forceinline=True)
def move_in_chain(chain, job, walltime, cores):
    """Move a job's reservation to the earliest room, and return when that is."""
    old, old_end = chain.held[job, BEGIN], chain.held[job, END]
    begin = earliest_step(chain, walltime, cores, old)
    time = chain.time[begin >> 1]
    if begin == old:
        return time
    if time + walltime > chain.time[old >> 1]:
        slide(chain, job, begin, time + walltime, cores)
    else:
        hold(chain, job, begin, step_from(chain, begin, time + walltime))
        take_steps(chain, begin, chain.held[job, END], cores)
        give_steps(chain, old, old_end, cores)
        let_go(chain, old)
        let_go(chain, old_end)
    return time


@kernel(forceinline=True)
def slide(chain, job, begin, time, cores):
    """Move a reservation to a sooner step and an end that lies in it."""
    old, old_end = chain.held[job, BEGIN], chain.held[job, END]
    chain.step[begin + HOLDERS] += 1
    chain.held[job, BEGIN] = begin
    take_steps(chain, begin, old, cores)
    let_go(chain, old)
    before = chain.step[old_end + BEFORE]
    if chain.time[before >> 1] >= time:  # other steps lie between
        end = step_back_from(chain, old_end, time)
        give_steps(chain, end, old_end, cores)
    else:
        if chain.step[old_end + HOLDERS] == 1:  # the step itself can be moved
            end = old_end
            move_step(chain, end, time)
        else:
            end = insert_step(chain, before, time)
            chain.step[end + CORES] += cores
        note_runs_begun(chain, end)
        if end == old_end:
            return
    chain.held[job, END] = end
    chain.step[end + HOLDERS] += 1
    let_go(chain, old_end)


@kernel
def release_in_chain(chain, job, cores):
    """Give back, from now on, what a running job holds."""
    end = chain.held[job, END]
    give_steps(chain, np.uint32(chain.facts[HEAD]), end, cores)
    let_go(chain, end)
