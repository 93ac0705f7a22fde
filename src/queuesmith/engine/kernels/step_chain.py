"""A long plan that is kept from pass to pass: its steps in a chain, with notes of long runs.

When cores are released in a deep queue, most reservations slide by one step: what ends before them
ends earlier now. In a chain that takes as long for the last job as for the first, since every
job knows the steps at which its reservation begins and ends.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS
from queuesmith.engine.kernels.constants import NEVER

#: At most so many widths have notes; jobs of other widths go by the next narrower one.
WIDTHS = 16
NO_STEP = -1
FOR_EVER = NEVER >> 1


class StepChain(NamedTuple):
    """Free cores over time, as steps that last until the next begins; the last lasts for ever.

    A *run* is steps in a row with at least so many free cores. Time is divided into spans of equal
    length, and for each of some widths it is noted how long the longest run that begins in a span
    may be; so a job that has no room before its reservation learns it in a few looks.
    """

    step: Any  # a row a step: see below
    held: Any  # a row a job: the steps at which its reservation begins and ends
    first: Any  # by span: the first step in it, or NO_STEP
    longest: Any  # a row a width: a tree of maxima whose leaves are the spans
    width: Any  # the widths that have notes, ascending
    level: Any  # by cores: the place of the widest such width that they suffice for, or -1
    facts: Any  # see below


# What a row has: when the step begins, its free cores, its neighbours, and how many reservations
# begin or end there. A step without any is taken out: it is as the one before.
TIME, CORES, NEXT, BEFORE, HOLDERS = range(5)
BEGIN, END = range(2)
# What there is to know besides: the first and the last step, the first unused row, how many steps
# there are, the begin of the first span, their length as a power of 2, the shortest job.
HEAD, LAST, UNUSED, COUNT, ORIGIN, SHIFT, SHORTEST = range(7)

STEP_CHAIN_TYPE = types.NamedTuple(
    [INT_TABLE, INT_TABLE, INTS, INT_TABLE, INTS, INTS, INTS], StepChain
)


def new_chain(job_cores: Any, job_walltime: Any, running: int, cores: int) -> StepChain:
    """Return room for the reservations of all jobs, of which so many run at most."""
    jobs = len(job_cores)
    rows = 2 * jobs + running + 4
    spans = 1 << max(jobs.bit_length() - 5, 6)
    width = noted_widths(job_cores)
    facts = np.zeros(7, np.int64)
    facts[SHORTEST] = job_walltime.min()
    return StepChain(
        step=np.empty((rows, 5), np.int64),
        held=np.empty((jobs, 2), np.int64),
        first=np.empty(spans, np.int64),
        longest=np.empty((len(width), 2 * spans), np.int64),
        width=width,
        level=np.searchsorted(width, np.arange(cores + 1), side="right") - 1,
        facts=facts,
    )


def noted_widths(job_cores: Any) -> Any:
    """Return the widths that have notes: all that jobs have, or some of them and the narrowest."""
    widths = np.unique(job_cores)
    if len(widths) > WIDTHS:
        widths = widths[np.linspace(0, len(widths), WIDTHS, endpoint=False).astype(np.int64)]
    return widths.astype(np.int64)


# -- notes of long runs ----------------------------------------------------------------------------


@kernel
def span_of(chain, time):
    """Return the span in which an instant lies."""
    return (time - chain.facts[ORIGIN]) >> chain.facts[SHIFT]


@kernel
def note_run(chain, k, begin, length):
    """Note that a run may begin at an instant."""
    longest = chain.longest[k]
    place = len(chain.first) + span_of(chain, begin)
    while place > 0 and longest[place] < length:
        longest[place] = length
        place >>= 1


@kernel
def note_longest(chain, k, span, length):
    """Note how long the longest run is that begins in a span."""
    longest = chain.longest[k]
    place = len(chain.first) + span
    longest[place] = length
    place >>= 1
    while place > 0:
        length = max(longest[2 * place], longest[2 * place + 1])
        if longest[place] == length:
            return
        longest[place] = length
        place >>= 1


@kernel
def next_noted(longest, span, length):
    """Return the first span from one on in which a run of some length may begin, or NO_STEP."""
    spans = len(longest) >> 1
    place = 1 if span == 0 else spans + span
    while longest[place] < length:
        while place & 1:
            place >>= 1
        if place == 0:
            return NO_STEP
        place += 1
    while place < spans:
        place *= 2
        if longest[place] < length:
            place += 1
    return place - spans


@kernel
def run_since(chain, step, cores):
    """Return the first step of the run that a step with so many free cores is in."""
    before = chain.step[step, BEFORE]
    while before != NO_STEP and chain.step[before, CORES] >= cores:
        step = before
        before = chain.step[step, BEFORE]
    return step


@kernel
def run_until(chain, step, cores):
    """Return the step that ends the run in which a step is, or NO_STEP where none does."""
    while step != NO_STEP and chain.step[step, CORES] >= cores:
        step = chain.step[step, NEXT]
    return step


@kernel
def duration(chain, begin, end):
    """Return how long it is from one step to another, or for ever."""
    return FOR_EVER if end == NO_STEP else chain.step[end, TIME] - chain.step[begin, TIME]


@kernel
def note_runs_from(chain, begin, low, high):
    """Note the runs that begin at a step, of the widths above one and up to another."""
    end = begin
    for k in range(high, low, -1):
        end = run_until(chain, end, chain.width[k])
        length = duration(chain, begin, end)
        if length >= chain.facts[SHORTEST]:
            note_run(chain, k, chain.step[begin, TIME], length)


@kernel
def note_runs_begun(chain, step):
    """Note the runs that begin at a step, those of the step before left out."""
    low = chain.level[chain.step[chain.step[step, BEFORE], CORES]]
    note_runs_from(chain, step, low, chain.level[chain.step[step, CORES]])


@kernel
def note_runs_through(chain, k, step, last):
    """Note the runs of one width that have to do with any step from one up to another."""
    width = chain.width[k]
    while True:
        if chain.step[step, CORES] >= width:
            begin = run_since(chain, step, width)
            end = run_until(chain, step, width)
            note_run(chain, k, chain.step[begin, TIME], duration(chain, begin, end))
            while step != end and step != last:
                step = chain.step[step, NEXT]
        if step in (last, NO_STEP):
            return
        step = chain.step[step, NEXT]


@kernel
def index_steps(chain):
    """Divide time into spans anew, from the first step on, and note all runs."""
    facts = chain.facts
    facts[ORIGIN] = chain.step[facts[HEAD], TIME]
    reach = chain.step[facts[LAST], TIME] - facts[ORIGIN]
    facts[SHIFT] = 0
    while reach >> facts[SHIFT] >= len(chain.first) >> 1:
        facts[SHIFT] += 1
    chain.first[:] = NO_STEP
    chain.longest[:] = 0
    step = facts[LAST]
    while step != NO_STEP:
        chain.first[span_of(chain, chain.step[step, TIME])] = step
        step = chain.step[step, BEFORE]
    for k in range(len(chain.width)):
        note_runs_through(chain, k, facts[HEAD], facts[LAST])


# -- steps -----------------------------------------------------------------------------------------


@kernel
def insert_step(chain, after, time):
    """Insert a step behind another, and return it."""
    facts = chain.facts
    step = facts[UNUSED]
    facts[UNUSED] = chain.step[step, NEXT]
    facts[COUNT] += 1
    following = chain.step[after, NEXT]
    chain.step[step, TIME] = time
    chain.step[step, CORES] = chain.step[after, CORES]
    chain.step[step, NEXT] = following
    chain.step[step, BEFORE] = after
    chain.step[step, HOLDERS] = 0
    chain.step[after, NEXT] = step
    if following == NO_STEP:
        facts[LAST] = step
    else:
        chain.step[following, BEFORE] = step
    span = span_of(chain, time)
    if span >= len(chain.first):
        index_steps(chain)
    elif chain.first[span] == NO_STEP or chain.step[chain.first[span], TIME] > time:
        chain.first[span] = step
    return step


@kernel
def leave_span(chain, step):
    """Let a step be no more the first of its span."""
    span = span_of(chain, chain.step[step, TIME])
    if chain.first[span] == step:
        following = chain.step[step, NEXT]
        if following != NO_STEP and span_of(chain, chain.step[following, TIME]) != span:
            following = NO_STEP
        chain.first[span] = following


@kernel
def free_row(chain, step):
    """Let the row of a step be used again."""
    chain.step[step, NEXT] = chain.facts[UNUSED]
    chain.facts[UNUSED] = step
    chain.facts[COUNT] -= 1


@kernel
def let_go(chain, step):
    """Hold a step no more; take it out if nobody else does."""
    chain.step[step, HOLDERS] -= 1
    if chain.step[step, HOLDERS] > 0 or step == chain.facts[HEAD]:
        return
    leave_span(chain, step)
    before, following = chain.step[step, BEFORE], chain.step[step, NEXT]
    chain.step[before, NEXT] = following
    if following == NO_STEP:
        chain.facts[LAST] = before
    else:
        chain.step[following, BEFORE] = before
    free_row(chain, step)


@kernel
def step_from(chain, step, time):
    """Return the step that begins at an instant, or a new one; looking onward from another."""
    following = chain.step[step, NEXT]
    while following != NO_STEP and chain.step[following, TIME] <= time:
        step = following
        following = chain.step[step, NEXT]
    return step if chain.step[step, TIME] == time else insert_step(chain, step, time)


@kernel
def step_back_from(chain, step, time):
    """Return the step that begins at an instant, or a new one; looking back from another."""
    while chain.step[step, TIME] > time:
        step = chain.step[step, BEFORE]
    return step if chain.step[step, TIME] == time else insert_step(chain, step, time)


@kernel
def move_step(chain, step, time):
    """Let a step, before which fewer cores are free, begin sooner; no other lies between."""
    span = span_of(chain, time)
    if span_of(chain, chain.step[step, TIME]) != span:
        leave_span(chain, step)
        if chain.first[span] == NO_STEP:
            chain.first[span] = step
    chain.step[step, TIME] = time
    note_runs_begun(chain, step)


@kernel
def take_steps(chain, step, last, cores):
    """Take cores from a step up to another."""
    while step != last:
        free = chain.step[step, CORES]
        chain.step[step, CORES] = free - cores
        following = chain.step[step, NEXT]
        # What was one run may be two now, of which the second begins at the next step.
        left = chain.step[following, CORES] - (cores if following != last else 0)
        high = min(chain.level[free], chain.level[left])
        note_runs_from(chain, following, chain.level[free - cores], high)
        step = following


@kernel
def give_steps(chain, step, last, cores):
    """Give back cores from a step up to another."""
    low, high = len(chain.width), -1
    each = step
    while each != last:
        free = chain.step[each, CORES]
        chain.step[each, CORES] = free + cores
        low = min(low, chain.level[free])
        high = max(high, chain.level[free + cores])
        each = chain.step[each, NEXT]
    # Where steps are on the same side of a width as before, its runs are as they were.
    for k in range(low + 1, high + 1):
        note_runs_through(chain, k, step, chain.step[last, BEFORE])


@kernel
def advance_chain(chain, now):
    """Forget what lies before now."""
    facts = chain.facts
    head = facts[HEAD]
    span = span_of(chain, chain.step[head, TIME])
    following = chain.step[head, NEXT]
    leave_span(chain, head)
    while following != NO_STEP and chain.step[following, TIME] <= now:
        free_row(chain, head)
        head = following
        leave_span(chain, head)
        following = chain.step[head, NEXT]
    chain.step[head, TIME] = now
    chain.step[head, BEFORE] = NO_STEP
    facts[HEAD] = head
    today = span_of(chain, now)
    if today >= len(chain.first) >> 1:
        index_steps(chain)
        return
    chain.first[today] = head
    for past in range(span, today):
        for k in range(len(chain.width)):
            if chain.longest[k, len(chain.first) + past] > 0:
                note_longest(chain, k, past, 0)
    note_runs_from(chain, head, -1, chain.level[chain.step[head, CORES]])


# -- room for a job --------------------------------------------------------------------------------


@kernel
def room_in_run(chain, step, limit, width, walltime, cores):
    """Return the first step of a run at which there is room before a limit, or NO_STEP."""
    since = NO_STEP
    while True:
        free = chain.step[step, CORES]
        if step == limit or free < cores:
            if since != NO_STEP and duration(chain, since, step) >= walltime:
                return since
            if step == limit or free < width:
                return NO_STEP
            since = NO_STEP
        elif since == NO_STEP:
            since = step
        step = chain.step[step, NEXT]


@kernel
def room_in_span(chain, span, limit, k, walltime, cores):
    """Return the first step before a limit at which there is room, in a run that begins in a span,
    or NO_STEP; then the note is mended.
    """
    width, longest = chain.width[k], 0
    latest = chain.step[limit, TIME]
    step = chain.first[span]
    while step != NO_STEP and span_of(chain, chain.step[step, TIME]) == span:
        before = chain.step[step, BEFORE]
        begins = before == NO_STEP or chain.step[before, CORES] < width
        if begins and chain.step[step, CORES] >= width:
            length = duration(chain, step, run_until(chain, step, width))
            longest = max(longest, length)
            if length >= walltime and chain.step[step, TIME] < latest:
                found = room_in_run(chain, step, limit, width, walltime, cores)
                if found != NO_STEP:
                    return found
        step = chain.step[step, NEXT]
    note_longest(chain, k, span, longest)
    return NO_STEP


@kernel
def earliest_step(chain, walltime, cores, step):
    """Return the earliest step at which a job may begin that may begin at a certain one."""
    limit = run_since(chain, step, cores)
    last = span_of(chain, chain.step[limit, TIME])
    k = chain.level[cores]
    span = next_noted(chain.longest[k], 0, walltime)
    while span != NO_STEP and span <= last:
        found = room_in_span(chain, span, limit, k, walltime, cores)
        if found != NO_STEP:
            return found
        span = next_noted(chain.longest[k], span + 1, walltime) if span < last else NO_STEP
    return limit


# -- reservations ----------------------------------------------------------------------------------


@kernel
def hold(chain, job, begin, end):
    """Let a job hold the steps at which its reservation begins and ends."""
    chain.held[job, BEGIN], chain.held[job, END] = begin, end
    chain.step[begin, HOLDERS] += 1
    chain.step[end, HOLDERS] += 1


@kernel
def reserve_in_chain(chain, job, walltime, cores):
    """Reserve the earliest room for a job, and return when that is."""
    begin = earliest_step(chain, walltime, cores, chain.facts[LAST])
    time = chain.step[begin, TIME]
    end = step_from(chain, begin, time + walltime)
    hold(chain, job, begin, end)
    take_steps(chain, begin, end, cores)
    return time


@kernel
def move_in_chain(chain, job, walltime, cores):
    """Move a job's reservation to the earliest room, and return when that is."""
    old, old_end = chain.held[job, BEGIN], chain.held[job, END]
    begin = earliest_step(chain, walltime, cores, old)
    time = chain.step[begin, TIME]
    if begin == old:
        return time
    if time + walltime > chain.step[old, TIME]:
        slide(chain, job, begin, time + walltime, cores)
    else:
        hold(chain, job, begin, step_from(chain, begin, time + walltime))
        take_steps(chain, begin, chain.held[job, END], cores)
        give_steps(chain, old, old_end, cores)
        let_go(chain, old)
        let_go(chain, old_end)
    return time


@kernel
def slide(chain, job, begin, time, cores):
    """Move a reservation to a sooner step and an end that lies in it."""
    old, old_end = chain.held[job, BEGIN], chain.held[job, END]
    chain.step[begin, HOLDERS] += 1
    chain.held[job, BEGIN] = begin
    take_steps(chain, begin, old, cores)
    let_go(chain, old)
    before = chain.step[old_end, BEFORE]
    if chain.step[before, TIME] >= time:  # other steps lie between
        end = step_back_from(chain, old_end, time)
        give_steps(chain, end, old_end, cores)
    elif chain.step[old_end, HOLDERS] == 1:  # the step itself can be moved
        move_step(chain, old_end, time)
        return
    else:
        end = insert_step(chain, before, time)
        chain.step[end, CORES] += cores
        note_runs_begun(chain, end)
    chain.held[job, END] = end
    chain.step[end, HOLDERS] += 1
    let_go(chain, old_end)


@kernel
def release_in_chain(chain, job, cores):
    """Give back, from now on, what a running job holds."""
    end = chain.held[job, END]
    give_steps(chain, chain.facts[HEAD], end, cores)
    let_go(chain, end)
