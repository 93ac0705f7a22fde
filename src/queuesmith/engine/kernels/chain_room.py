"""A long plan that is kept from pass to pass: where in its chain of steps is room for a job.

What every job goes through at every completion is taken into its caller (``forceinline``): to hand
on so many arrays costs more than what is done with them.
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
    length, and for each of some widths it is noted how long the longest run that has a step in a
    span may be; so a job that has no room before its reservation learns it in a few looks, and
    where cores are taken, which only cuts runs, there is nothing to note.
    """

    step: Any  # so many numbers a step, which is known by the place of the first: see below
    held: Any  # a row a job: the steps at which its reservation begins and ends
    first: Any  # by span: the first step in it, or NO_STEP
    longest: Any  # a row a width: a tree of maxima whose leaves are the spans
    width: Any  # the widths that have notes, ascending
    level: Any  # by cores: the place of the widest such width that they suffice for, or -1
    facts: Any  # see below
    spare: Any  # room for the steps while they are put into rows anew


# What a row has: when the step begins, its free cores, its neighbours, and how many reservations
# begin or end there. A step without any is taken out: it is as the one before.
TIME, CORES, NEXT, BEFORE, HOLDERS = range(5)
ROW = 5
BEGIN, END = range(2)
# What there is to know besides: the first and the last step, the first unused row, how many steps
# there are, the begin of the first span, their length as a power of 2, the shortest job, and since
# neighbours stood in neighbouring rows how many steps were inserted, and the most there were.
HEAD, LAST, UNUSED, COUNT, ORIGIN, SHIFT, SHORTEST, INSERTED, MOST = range(9)

STEP_CHAIN_TYPE = types.NamedTuple(
    [INTS, INT_TABLE, INTS, INT_TABLE, INTS, INTS, INTS, INTS], StepChain
)


def new_chain(job_cores: Any, job_walltime: Any, running: int, cores: int) -> StepChain:
    """Return room for the reservations of all jobs, of which so many run at most."""
    jobs = len(job_cores)
    rows = 2 * jobs + running + 4
    spans = 1 << max(jobs.bit_length() - 5, 6)
    width = noted_widths(job_cores)
    facts = np.zeros(9, np.int64)
    facts[SHORTEST] = job_walltime.min()
    return StepChain(
        step=np.empty(rows * ROW, np.int64),
        held=np.empty((jobs, 2), np.int64),
        first=np.empty(spans, np.int64),
        longest=np.empty((len(width), 2 * spans), np.int64),
        width=width,
        level=np.searchsorted(width, np.arange(cores + 1), side="right") - 1,
        facts=facts,
        spare=np.empty(rows * ROW, np.int64),
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
def note_run(chain, k, begin, end):
    """Note a run from one step up to another, in all spans in which it may have a step."""
    longest, length = chain.longest[k], duration(chain, begin, end)
    last = chain.facts[LAST] if end == NO_STEP else end
    spans = len(chain.first)
    for span in range(
        span_of(chain, chain.step[begin + TIME]), span_of(chain, chain.step[last + TIME]) + 1
    ):
        place = spans + span
        while place > 0 and longest[place] < length:
            longest[place] = length
            place >>= 1


@kernel
def note_longest(chain, k, span, length):
    """Note how long the longest run is that has a step in a span."""
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


@kernel(forceinline=True)
def some_noted(longest, last, length):
    """Tell whether a run of some length may be in any span up to one."""
    place = (len(longest) >> 1) + last
    top = longest[place]
    while place > 1:
        before = longest[place - 1]
        top = max(top, before if place & 1 else 0)
        place >>= 1
    return top >= length


@kernel
def next_noted(longest, span, length):
    """Return the first span from one on in which a run of some length may be, or NO_STEP."""
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
def duration(chain, begin, end):
    """Return how long it is from one step to another, or for ever."""
    return FOR_EVER if end == NO_STEP else chain.step[end + TIME] - chain.step[begin + TIME]


@kernel(forceinline=True)
def note_runs_from(chain, begin, low, high):
    """Note the runs that begin at a step, of the widths above one and up to another."""
    end = begin
    for k in range(high, low, -1):
        end = run_until(chain, end, chain.width[k])
        if duration(chain, begin, end) >= chain.facts[SHORTEST]:
            note_run(chain, k, begin, end)


@kernel
def note_runs_begun(chain, step):
    """Note the runs that begin at a step, those of the step before left out."""
    low = chain.level[chain.step[chain.step[step + BEFORE] + CORES]]
    note_runs_from(chain, step, low, chain.level[chain.step[step + CORES]])


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
    facts[ORIGIN] = chain.step[facts[HEAD] + TIME]
    reach = chain.step[facts[LAST] + TIME] - facts[ORIGIN]
    facts[SHIFT] = 0
    while reach >> facts[SHIFT] >= len(chain.first) >> 1:
        facts[SHIFT] += 1
    chain.first[:] = NO_STEP
    chain.longest[:] = 0
    step = facts[LAST]
    while step != NO_STEP:
        chain.first[span_of(chain, chain.step[step + TIME])] = step
        step = chain.step[step + BEFORE]
    for k in range(len(chain.width)):
        note_runs_through(chain, k, facts[HEAD], facts[LAST])


# -- room for a job --------------------------------------------------------------------------------


@kernel
def room_in_run(chain, step, limit, width, walltime, cores):
    """Return the first step of a run at which there is room before a limit, or NO_STEP."""
    since = NO_STEP
    while True:
        free = chain.step[step + CORES]
        if step == limit or free < cores:
            if since != NO_STEP and duration(chain, since, step) >= walltime:
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
    latest = chain.step[limit + TIME]
    step = chain.first[span]
    while step != NO_STEP and span_of(chain, chain.step[step + TIME]) == span:
        before = chain.step[step + BEFORE]
        begins = before == NO_STEP or chain.step[before + CORES] < width
        if chain.step[step + CORES] >= width and (begins or step == chain.first[span]):
            begin = run_since(chain, step, width)
            length = duration(chain, begin, run_until(chain, step, width))
            longest = max(longest, length)
            if begins and length >= walltime and chain.step[step + TIME] < latest:
                found = room_in_run(chain, step, limit, width, walltime, cores)
                if found != NO_STEP:
                    return found
        step = chain.step[step + NEXT]
    note_longest(chain, k, span, longest)
    return NO_STEP


@kernel(forceinline=True)
def earliest_step(chain, walltime, cores, step):
    """Return the earliest step at which a job may begin that may begin at a certain one."""
    limit = run_since(chain, step, cores)
    last = span_of(chain, chain.step[limit + TIME])
    k = chain.level[cores]
    if not some_noted(chain.longest[k], last, walltime):
        return limit
    span = next_noted(chain.longest[k], 0, walltime)
    while span != NO_STEP and span <= last:
        found = room_in_span(chain, span, limit, k, walltime, cores)
        if found != NO_STEP:
            return found
        span = next_noted(chain.longest[k], span + 1, walltime) if span < last else NO_STEP
    return limit
