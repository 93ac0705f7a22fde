"""A long plan: its steps in blocks, with notes of where there is room."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS
from queuesmith.engine.kernels.constants import BLOCKS, NEVER

#: How many steps a block holds. Full ones are divided, neighbours that are nearly empty are joined.
BLOCK = 32
HALF = BLOCK // 2
#: How many steps of a block are filled when a plan begins, so that there is room for more.
FILLED = 24
#: How often a block that has changed is read before notes are made of it.
LOOKS_BEFORE = 4
#: Instead of that number: the notes are as the block is.
NOTES_HOLD = -1


class StepBlocks(NamedTuple):
    """Free cores over time, as steps that last until the next begins; the last lasts for ever.

    Steps stand in blocks, and each block has notes: how long, at most, so many cores stay free in
    it. So a job need not look into blocks that have no room for it. A *level* k means at least 2^k
    free cores, a *run* steps in a row that have them. Few arrays are handed on faster than many.
    """

    block: Any  # a row a block: its steps, its notes; see below. The last row is for taking notes
    line: Any  # two rows, by place in the order of time: a block's row, and when it begins
    room: Any  # a row a level, by row of the block: no run that ends in the block is longer
    level: Any  # by cores: the highest level that they reach, or -1


# Where in its row a block has what: when its steps begin, their free cores, how many they are; how
# often the block was read since it changed, how many levels last through all of it; then for each
# level the longest run within the block, that with which it begins, and that with which it ends.
TIME, CORES = 0, BLOCK
SIZE, LOOKS, WHOLE, NOTES = range(2 * BLOCK, 2 * BLOCK + 4)
ROW, BEGIN = range(2)

BLOCKS_TYPE = types.NamedTuple([INT_TABLE, INT_TABLE, INT_TABLE, INTS], StepBlocks)


def new_blocks(steps: int, cores: int) -> StepBlocks:
    """Return room for so many steps at most, or none where there are none."""
    rows = 4 * steps // BLOCK + 4 if steps else 0
    levels = cores.bit_length()
    level = np.zeros(cores + 1 if steps else 0, np.int64)
    for k in range(levels):
        level[1 << k :] = k
    level[:1] = -1
    return StepBlocks(
        block=np.empty((rows + 1, NOTES + 3 * levels), np.int64),
        line=np.tile(np.arange(rows), (2, 1)),
        room=np.empty((levels, rows), np.int64),
        level=level,
    )


# -- steps -----------------------------------------------------------------------------------------


@kernel
def append_step(plan, counters, time, free):
    """Add a step behind all others."""
    place = counters[BLOCKS] - 1
    if place < 0 or plan.block[plan.line[ROW, place], SIZE] >= FILLED:
        place += 1
        counters[BLOCKS] += 1
        plan.block[plan.line[ROW, place], SIZE] = 0
        plan.line[BEGIN, place] = time
    row = plan.line[ROW, place]
    plan.block[row, TIME + plan.block[row, SIZE]] = time
    plan.block[row, CORES + plan.block[row, SIZE]] = free
    plan.block[row, SIZE] += 1


@kernel
def find_block(begins, blocks, time):
    """Return the place of the block in which an instant lies."""
    place = 0
    while blocks > 1:
        half = blocks >> 1
        place += half if begins[place + half] <= time else 0
        blocks -= half
    return place


@kernel
def find_slot(block, time):
    """Return the slot of the step of a block in which an instant lies."""
    slot = -1
    for i in range(block[SIZE]):
        slot += block[TIME + i] <= time
    return max(slot, 0)


@kernel
def insert_step(plan, counters, place, slot, time, free):
    """Insert a step behind another; return where it stands."""
    row = plan.line[ROW, place]
    if plan.block[row, SIZE] == BLOCK:
        divide_block(plan, counters, place)
        if slot >= HALF:
            place, slot = place + 1, slot - HALF
            row = plan.line[ROW, place]
    slot += 1
    for i in range(plan.block[row, SIZE], slot, -1):
        plan.block[row, TIME + i] = plan.block[row, TIME + i - 1]
        plan.block[row, CORES + i] = plan.block[row, CORES + i - 1]
    plan.block[row, TIME + slot] = time
    plan.block[row, CORES + slot] = free
    plan.block[row, SIZE] += 1
    return place, slot


@kernel
def divide_block(plan, counters, place):
    """Move the later half of a full block into a new one behind it."""
    blocks = counters[BLOCKS]
    row, fresh = plan.line[ROW, place], plan.line[ROW, blocks]
    for i in range(blocks, place + 1, -1):
        plan.line[ROW, i] = plan.line[ROW, i - 1]
        plan.line[BEGIN, i] = plan.line[BEGIN, i - 1]
    for i in range(HALF, BLOCK):
        plan.block[fresh, TIME + i - HALF] = plan.block[row, TIME + i]
        plan.block[fresh, CORES + i - HALF] = plan.block[row, CORES + i]
    plan.block[row, SIZE], plan.block[fresh, SIZE] = HALF, BLOCK - HALF
    plan.line[ROW, place + 1] = fresh
    plan.line[BEGIN, place + 1] = plan.block[fresh, TIME]
    plan.block[fresh, LOOKS] = NOTES_HOLD
    counters[BLOCKS] = blocks + 1
    note_change(plan, counters, place)
    note_change(plan, counters, place + 1)


@kernel
def take_out_block(plan, counters, place):
    """Take a block out of the line; its row may be used again."""
    row = plan.line[ROW, place]
    counters[BLOCKS] -= 1
    for i in range(place, counters[BLOCKS]):
        plan.line[ROW, i] = plan.line[ROW, i + 1]
        plan.line[BEGIN, i] = plan.line[BEGIN, i + 1]
    plan.line[ROW, counters[BLOCKS]] = row


@kernel
def take_out_step(plan, counters, place, slot):
    """Let a step be one with the step before, which is alike."""
    row = plan.line[ROW, place]
    plan.block[row, SIZE] -= 1
    for i in range(slot, plan.block[row, SIZE]):
        plan.block[row, TIME + i] = plan.block[row, TIME + i + 1]
        plan.block[row, CORES + i] = plan.block[row, CORES + i + 1]
    if slot == 0:
        note_change(plan, counters, place - 1)  # it ends later now
        if plan.block[row, SIZE] > 0:
            plan.line[BEGIN, place] = plan.block[row, TIME]


@kernel
def join_blocks(plan, counters, place):
    """Join a block with the next if one is empty or both are nearly so."""
    if place < 0 or place + 1 >= counters[BLOCKS]:
        return
    row, other = plan.line[ROW, place], plan.line[ROW, place + 1]
    size, more = plan.block[row, SIZE], plan.block[other, SIZE]
    if size > 0 and more > 0 and size + more > HALF:
        return
    for i in range(more):
        plan.block[row, TIME + size + i] = plan.block[other, TIME + i]
        plan.block[row, CORES + size + i] = plan.block[other, CORES + i]
    plan.block[row, SIZE] = size + more
    take_out_block(plan, counters, place + 1)
    plan.line[BEGIN, place] = plan.block[row, TIME]
    note_change(plan, counters, place)


@kernel
def free_before(plan, place, slot):
    """Return the free cores of the step before, or -1 where there is none."""
    if slot > 0:
        return plan.block[plan.line[ROW, place], CORES + slot - 1]
    if place == 0:
        return -1
    row = plan.line[ROW, place - 1]
    return plan.block[row, CORES + plan.block[row, SIZE] - 1]


@kernel
def change_blocks(plan, counters, begin, end, cores):
    """Give back cores between two instants, or take them where the number is negative."""
    first = find_block(plan.line[BEGIN], counters[BLOCKS], begin)
    row = plan.line[ROW, first]
    first_slot = find_slot(plan.block[row], begin)
    free = plan.block[row, CORES + first_slot]
    before = free  # in the step before the first
    if plan.block[row, TIME + first_slot] == begin:
        before = free_before(plan, first, first_slot)
    else:
        first, first_slot = insert_step(plan, counters, first, first_slot, begin, free)
    place, slot = first, first_slot
    row = plan.line[ROW, place]
    note_change(plan, counters, place)
    while True:
        free = plan.block[row, CORES + slot]
        plan.block[row, CORES + slot] = free + cores
        if slot + 1 < plan.block[row, SIZE]:
            slot += 1
        elif place + 1 < counters[BLOCKS] and plan.line[BEGIN, place + 1] < end:
            place, slot = place + 1, 0
            row = plan.line[ROW, place]
            note_change(plan, counters, place)
            continue
        else:
            slot += 1
            break
        if plan.block[row, TIME + slot] >= end:
            break
    # Steps that are alike are one.
    if slot < plan.block[row, SIZE] and plan.block[row, TIME + slot] == end:
        if plan.block[row, CORES + slot] == free + cores:
            take_out_step(plan, counters, place, slot)
    elif slot == plan.block[row, SIZE] and end_of_block(plan, counters, place) == end:
        place += 1
        if plan.block[plan.line[ROW, place], CORES] == free + cores:
            note_change(plan, counters, place)
            take_out_step(plan, counters, place, 0)
    else:
        blocks = counters[BLOCKS]
        insert_step(plan, counters, place, slot - 1, end, free)
        if counters[BLOCKS] > blocks and place == first and first_slot >= HALF:
            first, first_slot = first + 1, first_slot - HALF
    if plan.block[plan.line[ROW, first], CORES + first_slot] == before:
        take_out_step(plan, counters, first, first_slot)
    for near in (place, first):
        if plan.block[plan.line[ROW, near], SIZE] <= HALF:
            join_blocks(plan, counters, near)
            join_blocks(plan, counters, near - 1)


# -- notes -----------------------------------------------------------------------------------------


@kernel
def end_of_block(plan, counters, place):
    """Return when a block ends."""
    return plan.line[BEGIN, place + 1] if place + 1 < counters[BLOCKS] else NEVER


@kernel
def note_change(plan, counters, place):
    """Trust the notes of a block no more: it has changed."""
    if place < 0:
        return
    row = plan.line[ROW, place]
    if plan.block[row, LOOKS] == NOTES_HOLD:
        for k in range(len(plan.room)):
            plan.room[k, row] = NEVER
        if place + 1 < counters[BLOCKS]:
            row = plan.line[ROW, place + 1]
            for k in range(len(plan.room)):
                plan.room[k, row] = NEVER
    plan.block[plan.line[ROW, place], LOOKS] = 0


@kernel
def note_all(plan, counters):
    """Make notes of all blocks."""
    for place in range(counters[BLOCKS]):
        note_block(plan, plan.line[ROW, place], end_of_block(plan, counters, place))
        note_room(plan, place)


@kernel
def note_again(plan, counters, place):
    """Make notes of a block that has changed and has been read often since."""
    note_block(plan, plan.line[ROW, place], end_of_block(plan, counters, place))
    note_room(plan, place)
    if place + 1 < counters[BLOCKS]:
        note_room(plan, place + 1)


@kernel
def note_block(plan, row, end):
    """Note how long cores of each level stay free within a block: in all, at its ends."""
    levels = len(plan.room)
    longest = plan.block[row, NOTES : NOTES + levels]
    opening = plan.block[row, NOTES + levels : NOTES + 2 * levels]
    closing = plan.block[row, NOTES + 2 * levels : NOTES + 3 * levels]
    for k in range(levels):
        longest[k] = opening[k] = closing[k] = 0
    begin = plan.block[row, TIME]
    whole = levels
    # The stack has the runs that have not ended, each with more free cores than the one before.
    spare = len(plan.block) - 1
    stack_since, stack_free = plan.block[spare, TIME:CORES], plan.block[spare, CORES:SIZE]
    depth = 0
    for i in range(plan.block[row, SIZE]):
        time, free = plan.block[row, TIME + i], plan.block[row, CORES + i]
        since = time
        while depth > 0 and stack_free[depth - 1] > free:
            depth -= 1
            since = stack_since[depth]
            k = plan.level[stack_free[depth]]
            longest[k] = max(longest[k], time - since)
        if free > 0 and (depth == 0 or stack_free[depth - 1] < free):
            stack_since[depth], stack_free[depth] = since, free
            depth += 1
        level = plan.level[free]
        while whole > level + 1:
            whole -= 1
            opening[whole] = time - begin
    for k in range(whole):
        opening[k] = end - begin
    for i in range(depth):
        k = plan.level[stack_free[i]]
        closing[k] = max(closing[k], end - stack_since[i])
        longest[k] = max(longest[k], closing[k])
    for k in range(levels - 2, -1, -1):
        longest[k] = max(longest[k], longest[k + 1])
        closing[k] = max(closing[k], closing[k + 1])
    plan.block[row, WHOLE] = whole
    plan.block[row, LOOKS] = NOTES_HOLD


@kernel
def note_room(plan, place):
    """Note how long a run that ends in a block can be, the end of the block before included."""
    row = plan.line[ROW, place]
    before = plan.line[ROW, max(place - 1, 0)]
    if plan.block[row, LOOKS] != NOTES_HOLD or plan.block[before, LOOKS] != NOTES_HOLD:
        return
    levels = len(plan.room)
    for k in range(levels):
        room = plan.block[row, NOTES + k]
        if place > 0 and k < plan.block[before, WHOLE]:
            room = NEVER  # it may come from far before
        elif place > 0:
            opening = min(plan.block[row, NOTES + levels + k], NEVER >> 1)
            room = max(room, plan.block[before, NOTES + 2 * levels + k] + opening)
        plan.room[k, row] = room


# -- room for a job --------------------------------------------------------------------------------


@kernel
def look_through(block, end, first, walltime, cores):
    """Return since when cores have been free without a break at the end of a block, or NEVER; and
    whether that, or a run that ended before, is long enough.
    """
    for i in range(block[SIZE]):
        if block[CORES + i] < cores:
            if first != NEVER and block[TIME + i] - first >= walltime:
                return first, True
            first = NEVER
        elif first == NEVER:
            first = block[TIME + i]
    return first, first != NEVER and end - first >= walltime


@kernel
def open_since(plan, place, slot, cores):
    """Return since when cores have been free without a break up to a step, it included."""
    since = NEVER
    while True:
        row = plan.line[ROW, place]
        while slot >= 0:
            if plan.block[row, CORES + slot] < cores:
                return since
            since = plan.block[row, TIME + slot]
            slot -= 1
        if place == 0:
            return since
        place -= 1
        slot = plan.block[plan.line[ROW, place], SIZE] - 1


@kernel
def earliest_in_blocks(plan, counters, walltime, cores):
    """Return the first instant at which so many cores are free for so long, reading only where the
    notes say that there may be room.
    """
    room, rows = plan.room[plan.level[cores]], plan.line[ROW]
    for place in range(counters[BLOCKS]):
        row = rows[place]
        if room[row] < walltime:
            continue
        first = NEVER
        if place > 0:
            before = rows[place - 1]
            last = plan.block[before, SIZE] - 1
            if plan.block[before, CORES + last] >= cores:
                first = open_since(plan, place - 1, last, cores)
        end = end_of_block(plan, counters, place)
        first, found = look_through(plan.block[row], end, first, walltime, cores)
        if found:
            return first
        if plan.block[row, LOOKS] != NOTES_HOLD:
            plan.block[row, LOOKS] += 1
            if plan.block[row, LOOKS] > LOOKS_BEFORE:
                note_again(plan, counters, place)
    return NEVER


@kernel
def blocks_have_room_now(plan, counters, walltime, cores):
    """Tell whether a plan has room for a job from its first instant on."""
    end = plan.line[BEGIN, 0] + walltime
    for place in range(counters[BLOCKS]):
        row = plan.line[ROW, place]
        for i in range(plan.block[row, SIZE]):
            if plan.block[row, TIME + i] >= end:
                return True
            if plan.block[row, CORES + i] < cores:
                return False
    return True


@kernel
def earliest_in_blocks_from(plan, counters, begin, duration, cores):
    """Return the earliest instant from ``begin`` on at which so many cores are free for so long."""
    first, short = begin, False
    for place in range(counters[BLOCKS]):
        row = plan.line[ROW, place]
        for i in range(plan.block[row, SIZE]):
            if short:
                first = max(first, plan.block[row, TIME + i])
            short = plan.block[row, CORES + i] < cores
            if short and plan.block[row, TIME + i] - first >= duration:
                return first
    return first
