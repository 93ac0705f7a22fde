"""A long plan that is kept from pass to pass: where in its chain of steps is room for a job.

What every job goes through at every completion is taken into its caller (``forceinline``): to hand
on so many arrays costs more than what is done with them.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types, uint32

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS
from queuesmith.engine.kernels.constants import NEVER

#: At most so many widths have notes; jobs of other widths go by the next narrower one.
WIDTHS = 16
#: A block has so many spans, as a power of 2.
BLOCK = 5
NO_STEP = np.uint32((1 << 32) - 1)
FOR_EVER = NEVER >> 1


class StepChain(NamedTuple):
    """Free cores over time, as steps that last until the next begins; the last lasts for ever.

    A *run* is steps in a row with at least so many free cores. Time is divided into spans of equal
    length, and for each of some widths it is noted how long the longest run that has a step in a
    span may be, and the longest of all spans before; so a job that has no room before its
    reservation learns it in one look, and where cores are taken, which only cuts runs, there is
    nothing to note.
    """

    time: Any  # the rows of all steps: every third number is when a step begins
    step: Any  # the same as numbers of half the size: the others of a row, see below
    held: Any  # a row a job: the steps at which its reservation begins and ends
    first: Any  # by span: the first step in it, or NO_STEP
    longest: Any  # a column a width: for each span, so far in its block, before each block
    width: Any  # the widths that have notes, ascending
    level: Any  # by cores: the place of the widest such width that they suffice for, or -1
    facts: Any  # see below
    spare: Any  # room for the steps while they are put into rows anew


# A step is known by the place of its row. What a row has behind the time: the free cores, the
# neighbours, and how many reservations begin or end there. A step without any is taken out: it is
# as the one before.
CORES, NEXT, BEFORE, HOLDERS = range(2, 6)
ROW = 6
BEGIN, END = range(2)
# What there is to know besides: the first and the last step, the first unused row, how many steps
# there are, the begin of the first span, their length as a power of 2, the shortest job, and since
# neighbours stood in neighbouring rows how many steps were inserted, and the most there were.
HEAD, LAST, UNUSED, COUNT, ORIGIN, SHIFT, SHORTEST, INSERTED, MOST = range(9)

#: Places have no sign, so that compiled code need not ask whether they are counted from the end.
PLACES, PLACE_TABLE = uint32[::1], uint32[:, ::1]
STEP_CHAIN_TYPE = types.NamedTuple(
    [INTS, PLACES, PLACE_TABLE, PLACES, INT_TABLE, INTS, INTS, INTS, INTS], StepChain
)


def new_chain(job_cores: Any, job_walltime: Any, running: int, cores: int) -> StepChain:
    """Return room for the reservations of all jobs, of which so many run at most."""
    jobs = len(job_cores)
    rows = 2 * jobs + running + 4
    spans = 1 << max(jobs.bit_length() - 4, BLOCK + 1)
    width = noted_widths(job_cores)
    facts = np.zeros(9, np.int64)
    facts[SHORTEST] = job_walltime.min()
    time = np.empty(rows * ROW // 2, np.int64)
    return StepChain(
        time=time,
        step=time.view(np.uint32),
        held=np.empty((jobs, 2), np.uint32),
        first=np.empty(spans, np.uint32),
        longest=np.empty((2 * spans + (spans >> BLOCK), len(width)), np.int64),
        width=width,
        level=np.searchsorted(width, np.arange(cores + 1), side="right") - 1,
        facts=facts,
        spare=np.empty(rows * ROW // 2, np.int64),
    )


def noted_widths(job_cores: Any) -> Any:
    """Return the widths that have notes: all that jobs have, or some of them and the narrowest."""
    widths = np.unique(job_cores)
    if len(widths) > WIDTHS:
        widths = widths[np.linspace(0, len(widths), WIDTHS, endpoint=False).astype(np.int64)]
    return widths.astype(np.int64)


# -- notes of long runs ----------------------------------------------------------------------------


@kernel(forceinline=True)
def span_of(facts, time):
    """Return the span in which an instant lies."""
    return (time - facts[ORIGIN]) >> facts[SHIFT]


@kernel
def note_run(chain, k, begin, end):
    """Note a run from one step up to another, in all spans in which it may have a step."""
    last = np.uint32(chain.facts[LAST]) if end == NO_STEP else end
    first_span = span_of(chain.facts, chain.time[begin >> 1])
    last_span = span_of(chain.facts, chain.time[last >> 1])
    length = duration(chain.time, begin, end)
    note_in_spans(chain.longest, len(chain.first), k, first_span, last_span, length)


@kernel(forceinline=True)
def note_in_spans(longest, spans, k, span, last, length):
    """Note a run of some length in all spans from one to another."""
    for each in range(span, last + 1):
        if longest[each, k] < length:
            note_longer(longest, spans, k, each, length)


@kernel
def note_longer(longest, spans, k, span, length):
    """Note that a span has a run that is longer than all it had."""
    longest[span, k] = length
    block = span >> BLOCK
    place = spans + span
    while place < spans + ((block + 1) << BLOCK) and longest[place, k] < length:
        longest[place, k] = length
        place += 1
    place = 2 * spans + block + 1
    while place < len(longest) and longest[place, k] < length:
        longest[place, k] = length
        place += 1


@kernel
def note_longest(longest, spans, k, span, length):
    """Note how long the longest run is that has a step in a span."""
    longest[span, k] = length
    block = span >> BLOCK
    top = longest[spans + span - 1, k] if span > block << BLOCK else 0
    for each in range(span, (block + 1) << BLOCK):
        top = max(top, longest[each, k])
        longest[spans + each, k] = top
    for place in range(2 * spans + block + 1, len(longest)):
        top = max(top, longest[place - 1, k])
        if longest[place, k] == top:
            return
        longest[place, k] = top
        block += 1
        top = longest[spans + ((block + 1) << BLOCK) - 1, k]


@kernel(forceinline=True)
def some_noted(longest, spans, k, last, length):
    """Tell whether a run of some length may be in any span up to one."""
    before = longest[2 * spans + (last >> BLOCK), k]
    return max(before, longest[spans + last, k]) >= length


@kernel
def next_noted(longest, spans, k, span, length):
    """Return the first span from one on in which a run of some length may be, or how many there
    are.
    """
    while span < spans and longest[span, k] < length:
        span += 1
        if span & ((1 << BLOCK) - 1) == 0:
            while span < spans and longest[spans + span + (1 << BLOCK) - 1, k] < length:
                span += 1 << BLOCK
    return span


@kernel(forceinline=True)
def run_since(chain, step, cores):
    """Return the first step of the run that a step with so many free cores is in."""
    before = chain.step[step + BEFORE]
    while before != NO_STEP and chain.step[before + CORES] >= cores:
        step = before
        before = chain.step[step + BEFORE]
    return step


@kernel
def run_until(chain, step, cores):
    """Return the step that ends the run in which a step is, or NO_STEP where none does."""
    while step != NO_STEP and chain.step[step + CORES] >= cores:
        step = chain.step[step + NEXT]
    return step


@kernel
def duration(time, begin, end):
    """Return how long it is from one step to another, or for ever."""
    return FOR_EVER if end == NO_STEP else time[end >> 1] - time[begin >> 1]


@kernel
def note_runs_from(chain, begin, low, high):
    """Note the runs that begin at a step, of the widths above one and up to another."""
    end = begin
    for k in range(high, low, -1):
        end = run_until(chain, end, chain.width[k])
        if duration(chain.time, begin, end) >= chain.facts[SHORTEST]:
            note_run(chain, k, begin, end)


@kernel(forceinline=True)
def note_runs_begun(chain, step):
    """Note the runs that begin at a step, those of the step before left out."""
    low = chain.level[chain.step[chain.step[step + BEFORE] + CORES]]
    high = chain.level[chain.step[step + CORES]]
    following = chain.step[step + NEXT]
    if following == NO_STEP or chain.level[chain.step[following + CORES]] > low:
        note_runs_from(chain, step, low, high)
        return
    begin, end = chain.time[step >> 1], chain.time[following >> 1]
    if end - begin >= chain.facts[SHORTEST]:
        span, last = span_of(chain.facts, begin), span_of(chain.facts, end)
        for k in range(low + 1, high + 1):
            note_in_spans(chain.longest, len(chain.first), k, span, last, end - begin)


@kernel
def note_runs_through(chain, k, step, last):
    """Note the runs of one width that have to do with any step from one up to another."""
    width = chain.width[k]
    while True:
        if chain.step[step + CORES] >= width:
            begin = run_since(chain, step, width)
            end = run_until(chain, step, width)
            note_run(chain, k, begin, end)
            while step != end and step != last:
                step = chain.step[step + NEXT]
        if step in (last, NO_STEP):
            return
        step = chain.step[step + NEXT]


@kernel
def note_all_through(chain, step):
    """Note all runs that a step is in, for it has come into another span."""
    for k in range(chain.level[chain.step[step + CORES]] + 1):
        note_runs_through(chain, k, step, step)


@kernel
def index_steps(chain):
    """Divide time into spans anew, from the first step on, and note all runs."""
    facts = chain.facts
    facts[ORIGIN] = chain.time[facts[HEAD] >> 1]
    reach = chain.time[facts[LAST] >> 1] - facts[ORIGIN]
    facts[SHIFT] = 0
    while reach >> facts[SHIFT] >= len(chain.first) >> 1:
        facts[SHIFT] += 1
    chain.first[:] = NO_STEP
    chain.longest[:] = 0
    head, last = np.uint32(facts[HEAD]), np.uint32(facts[LAST])
    step = last
    while step != NO_STEP:
        chain.first[span_of(chain.facts, chain.time[step >> 1])] = step
        step = chain.step[step + BEFORE]
    for k in range(len(chain.width)):
        note_runs_through(chain, k, head, last)


# -- room for a job --------------------------------------------------------------------------------


@kernel
def room_in_run(chain, step, limit, width, walltime, cores):
    """Return the first step of a run at which there is room before a limit, or NO_STEP."""
    since = NO_STEP
    while True:
        free = chain.step[step + CORES]
        if step == limit or free < cores:
            if since != NO_STEP and duration(chain.time, since, step) >= walltime:
                return since
            if step == limit or free < width:
                return NO_STEP
            since = NO_STEP
        elif since == NO_STEP:
            since = step
        step = chain.step[step + NEXT]


@kernel
def room_in_span(chain, span, limit, k, walltime, cores):
    """Return the first step before a limit at which there is room, in a run that begins in a span,
    or NO_STEP; then the note is mended.

    A run that begins in a span before was looked at there.
    """
    width, longest = chain.width[k], 0
    latest = chain.time[limit >> 1]
    step = chain.first[span]
    while step != NO_STEP and span_of(chain.facts, chain.time[step >> 1]) == span:
        before = chain.step[step + BEFORE]
        begins = before == NO_STEP or chain.step[before + CORES] < width
        if chain.step[step + CORES] >= width and (begins or step == chain.first[span]):
            begin = run_since(chain, step, width)
            length = duration(chain.time, begin, run_until(chain, step, width))
            longest = max(longest, length)
            if begins and length >= walltime and chain.time[step >> 1] < latest:
                found = room_in_run(chain, step, limit, width, walltime, cores)
                if found != NO_STEP:
                    return found
        step = chain.step[step + NEXT]
    note_longest(chain.longest, len(chain.first), k, span, longest)
    return NO_STEP


@kernel(forceinline=True)
def earliest_step(chain, walltime, cores, step):
    """Return the earliest step at which a job may begin that may begin at a certain one."""
    limit = run_since(chain, step, cores)
    last = span_of(chain.facts, chain.time[limit >> 1])
    k = chain.level[cores]
    if some_noted(chain.longest, len(chain.first), k, last, walltime):
        return room_up_to(chain, limit, last, k, walltime, cores)
    return limit


@kernel
def room_up_to(chain, limit, last, k, walltime, cores):
    """Return the first step at which there is room, of those up to a limit and its span; or it."""
    longest, spans = chain.longest, len(chain.first)
    span = next_noted(longest, spans, k, 0, walltime)
    while span <= last:
        found = room_in_span(chain, span, limit, k, walltime, cores)
        if found != NO_STEP:
            return found
        span = next_noted(longest, spans, k, span + 1, walltime)
    return limit
