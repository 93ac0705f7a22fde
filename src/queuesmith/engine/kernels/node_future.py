"""When a job can start on nodes, as far as walltimes and reservations tell."""

from typing import Any, NamedTuple

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import DUE, FREE, NEVER, NOBODY
from queuesmith.engine.kernels.node_choosing import (
    BUSIEST,
    NOW,
    WINDOW,
    choose,
    find_room,
    room_on,
    suffices,
    write_pieces,
)
from queuesmith.engine.kernels.node_keeping import spare_cores
from queuesmith.engine.kernels.node_state import (
    BOOKED_CODE,
    BOOKED_ENDS,
    BOOKED_OTHER,
    BOOKED_TIME,
    CORES,
    EXTRA,
    FIRST_PIECE,
    FREE_CORES,
    FREE_GPUS,
    GIVE_BACK,
    HEAD,
    LATER,
    LATER_ROWS,
    LATER_STAMP,
    LEAST_LATER,
    LEAST_ROWS,
    LEAST_STAMP,
    MOST_NODES,
    MOST_ROOM,
    NO_LAYER,
    NOW_ROWS,
    PIECE_NODE,
    PROBE_ROWS,
    PROBE_STAMP,
    PROBED,
    RELEASES,
    SEEN,
    SET,
    SHAPE,
    SPARE,
    TAKE,
    apply_piece,
    begin_layer,
    keep_least,
    rows_of_layer,
    touch,
)

# -- what is known without a look at all nodes -----------------------------------------


@kernel
def may_fit(board, attempts, released, shape):
    """Tell whether a job of a shape can fit now, as far as one knows without a look at all nodes.

    Since the last look only nodes that were released can have more room.
    """
    seen, last = attempts[SEEN, shape], board.counters[RELEASES]
    if seen == NOBODY or last - seen > len(released):
        return True
    ask, kinds = board.shapes[shape], rows_of_layer(board.counters) - FREE_GPUS
    for i in range(seen, last):
        node = released[i % len(released)]
        if board.member[ask[SET], node]:
            cores = room_on(ask, board.node, board.known, NOW_ROWS, kinds, node)
            attempts[MOST_NODES, shape] += cores > 0
            attempts[MOST_ROOM, shape] += cores
    attempts[SEEN, shape] = last
    return suffices(ask, attempts[MOST_NODES, shape], attempts[MOST_ROOM, shape])


@kernel
def look_now(board, attempts, shape, now, begin, end):
    """Look at all nodes as they are now; return how many have room for a job, and how much."""
    count, total = find_room(board, board.shapes[shape], NOW, now, begin, end)
    attempts[SEEN, shape] = board.counters[RELEASES]
    attempts[MOST_NODES, shape], attempts[MOST_ROOM, shape] = count, total
    return count, total


@kernel
def most_room(board, attempts, shape, now):
    """Return how many nodes have room now for a job of a shape, were there no outages, and how
    much.
    """
    return look_now(board, attempts, shape, now, np.int64(NEVER), np.int64(-NEVER))


# -- walking through the future --------------------------------------------------------


class Instant(NamedTuple):
    """An instant of the future, and the first in both lists that end or begin after it: of jobs
    that run, and of reservations.
    """

    time: Any
    due: Any
    booked: Any


@kernel
def let_pass(board, ask, job, sign, count, total):
    """Let a job end (1) or begin (-1) in the future, and return how much room there is then.

    Nodes on which the job that asks cannot run are passed over.
    """
    counters, known, pieces = board.counters, board.known, board.pieces
    kinds, rows = rows_of_layer(counters) - FREE_GPUS, counters[LATER_ROWS]
    other, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + board.count[job]):
        node = pieces[at, PIECE_NODE]
        if board.member[ask[SET], node]:
            touch(board, LATER_STAMP, counters[LATER], rows, NOW_ROWS, node)
            before = room_on(ask, board.node, known, rows, kinds, node)
            apply_piece(other, board.node, known, rows, pieces[at], sign)
            cores = room_on(ask, board.node, known, rows, kinds, node)
            count += int(cores > 0) - int(before > 0)
            total += cores - before
    return count, total


@kernel
def next_return(returns, time):
    """Return when the next outage after an instant ends."""
    low, high = 0, len(returns)
    while low < high:
        middle = (low + high) >> 1
        if returns[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return returns[low] if low < len(returns) else NEVER


@kernel
def let_all_pass(board, running, ask, seen, at, count, total):
    """Let all that ends and begins after an instant that was seen pass, up to another.

    What both begins and ends in between leaves nothing, so it is passed over.
    """
    bookings = board.bookings
    for i in range(seen.due, at.due):
        count, total = let_pass(board, ask, running.due_cores[i], GIVE_BACK, count, total)
    for i in range(seen.booked, at.booked):
        code, other = bookings[BOOKED_CODE, i], bookings[BOOKED_OTHER, i]
        if code & 1 == 1 and other > at.time:
            count, total = let_pass(board, ask, code >> 1, TAKE, count, total)
        elif code & 1 == 0 and other <= seen.time:
            count, total = let_pass(board, ask, code >> 1, GIVE_BACK, count, total)
    return count, total


@kernel
def next_with_cores(board, running, at, free, wanted):
    """Return the next instant at which more is free than just before, and so many cores at least;
    and how many these are. Its time is NEVER where there is none.
    """
    bookings, counters, held = board.bookings, board.counters, board.held
    time, due, booked, more = at.time, at.due, at.booked, False
    while time != NEVER and not (more and free >= wanted):
        back = next_return(board.returns, time)
        time = back
        if due < counters[DUE]:
            time = min(time, running.due[due])
        if booked < counters[BOOKED_ENDS]:
            time = min(time, bookings[BOOKED_TIME, booked])
        more = time == back
        while due < counters[DUE] and running.due[due] == time:
            free += held[running.due_cores[due]]
            due += 1
            more = True
        while booked < counters[BOOKED_ENDS] and bookings[BOOKED_TIME, booked] == time:
            code = bookings[BOOKED_CODE, booked]
            free += -held[code >> 1] if code & 1 else held[code >> 1]
            booked += 1
            more |= code & 1 == 0
    return Instant(time, due, booked), free


@kernel
def probe(board, ask, job, sign, count, total):
    """Let a job end or begin within the window that is looked at, and keep the least of it.

    Takes and returns how much room there is all the time for a job that asks. A node that had none
    before is passed over, for it will have none.
    """
    counters, known, pieces = board.counters, board.known, board.pieces
    least, trial, full = counters[LEAST_ROWS], counters[PROBE_ROWS], -counters[PROBED]
    kinds = rows_of_layer(counters) - FREE_GPUS
    other, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + board.count[job]):
        node = pieces[at, PIECE_NODE]
        if known[PROBE_STAMP, node] == full:
            continue
        if known[PROBE_STAMP, node] != counters[PROBED]:
            changed = known[LATER_STAMP, node] == counters[LATER]
            below = counters[LATER_ROWS] if changed else NOW_ROWS
            wanted = board.member[ask[SET], node]
            if not wanted or room_on(ask, board.node, known, below, kinds, node) == 0:
                known[PROBE_STAMP, node] = full
                continue
            touch(board, LEAST_STAMP, counters[LEAST_LATER], least, below, node)
            touch(board, PROBE_STAMP, counters[PROBED], trial, below, node)
        apply_piece(other, board.node, known, trial, pieces[at], sign)
        if sign == TAKE:
            before = room_on(ask, board.node, known, least, kinds, node)
            keep_least(board, least, trial, node)
            cores = room_on(ask, board.node, known, least, kinds, node)
            count += int(cores > 0) - int(before > 0)
            total += cores - before
            if cores == 0:
                known[PROBE_STAMP, node] = full
    return count, total


@kernel
def find_room_in_window(board, running, ask, now, at, end, count, total):
    """Find the nodes that are free from an instant to the end; return how many, and the room.

    At one instant jobs end before others begin. ``count`` and ``total`` are the most that there can
    be at the first instant: where less and less of it suffices no more, that is returned, and the
    rest of the window is not looked at.
    """
    bookings, counters, due, booked = board.bookings, board.counters, at.due, at.booked
    begin_layer(counters, LEAST_LATER)
    begin_layer(counters, PROBED)
    while booked < counters[BOOKED_ENDS] and bookings[BOOKED_TIME, booked] < end:
        while due < counters[DUE] and running.due[due] <= bookings[BOOKED_TIME, booked]:
            probe(board, ask, running.due_cores[due], GIVE_BACK, count, total)
            due += 1
        code = bookings[BOOKED_CODE, booked]
        sign = TAKE if code & 1 else GIVE_BACK
        count, total = probe(board, ask, code >> 1, sign, count, total)
        if not suffices(ask, count, total):
            return count, total
        booked += 1
    return find_room(board, ask, WINDOW, now, at.time, end)


@kernel
def has_room_beside(board, running, attempts, job, walltime, now):
    """Tell whether there is room for a job from now on beside all that is reserved.

    Where there is none, there will be none beside more reservations, either.
    """
    shape, at = board.job[SHAPE, job], Instant(now, np.int64(0), np.int64(0))
    ask = board.shapes[shape]
    count, total = most_room(board, attempts, shape, now)
    begin_layer(board.counters, LATER)
    end = now + walltime
    count, total = find_room_in_window(board, running, ask, now, at, end, count, total)
    return suffices(ask, count, total)


@kernel
def earliest_on_nodes(board, running, attempts, job, walltime, now, first):
    """Return the earliest instant at which a job can start, and on how many nodes.

    The nodes are those that were chosen then; NEVER where it can start at no time that is known.
    """
    counters, shape, nothing = board.counters, board.job[SHAPE, job], np.int64(0)
    ask = board.shapes[shape]
    count, total = most_room(board, attempts, shape, now)
    begin_layer(counters, LATER)
    at, free = Instant(now, nothing, nothing), counters[FREE]
    # Up to where the nodes are as they will be: what ends or begins now is still to come.
    seen = Instant(now - 1, nothing, nothing)
    while at.time != NEVER:
        count, total = let_all_pass(board, running, ask, seen, at, count, total)
        seen = at if at.due + at.booked > 0 else seen
        # The nodes are looked at only where the most that there can be may be enough.
        if suffices(ask, count, total):
            end = at.time + walltime
            candidates, room = find_room_in_window(board, running, ask, now, at, end, count, total)
            if suffices(ask, candidates, room):
                chosen = choose(board, ask, candidates, WINDOW, first)
                spare = spare_cores(board, job, chosen, WINDOW, now, at.time) if chosen > 0 else -1
                if spare >= 0:
                    counters[SPARE] = spare
                    return at.time, chosen
            elif counters[BOOKED_ENDS] == 0 and len(board.returns) == 0:
                count, total = candidates, room
        at, free = next_with_cores(board, running, at, free, ask[CORES])
    return NEVER, 0


# -- the reservation of EASY -----------------------------------------------------------


@kernel
def reserve_nodes(board, running, attempts, job, walltime, now):
    """Reserve nodes for the first job that waits; return from when on.

    They are those that the fewest others could use until then: with the least free now.
    """
    counters, known, pieces = board.counters, board.known, board.pieces
    later, least = counters[LATER_ROWS], counters[LEAST_ROWS]
    shadow, count = earliest_on_nodes(board, running, attempts, job, walltime, now, BUSIEST)
    reserve_nothing(counters)
    if shadow == NEVER:
        return shadow
    counters[HEAD] = job
    write_pieces(board, job, count, WINDOW)
    begin_layer(counters, LEAST_LATER)
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    for at in range(first, first + count):
        node = pieces[at, PIECE_NODE]
        touch(board, LATER_STAMP, counters[LATER], later, NOW_ROWS, node)
        apply_piece(ask, board.node, known, later, pieces[at], TAKE)
        touch(board, LEAST_STAMP, counters[LEAST_LATER], least, NOW_ROWS, node)
        keep_least(board, least, later, node)
        counters[EXTRA] -= known[NOW_ROWS + FREE_CORES, node] - known[least + FREE_CORES, node]
    return shadow


@kernel
def reserve_nothing(counters):
    """Let no node be reserved."""
    counters[LEAST_LATER] = NO_LAYER
    counters[EXTRA] = counters[FREE]


# -- reservations of many jobs ---------------------------------------------------------


@kernel
def place_of_booking(board, time, code):
    """Return where a begin or an end belongs: by time, ends before begins, then as they come."""
    bookings, low, high = board.bookings, 0, board.counters[BOOKED_ENDS]
    while low < high:
        middle = (low + high) >> 1
        at = bookings[BOOKED_TIME, middle]
        if at < time or (at == time and (bookings[BOOKED_CODE, middle] & 1) < (code & 1)):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def insert_booking(board, time, code, other):
    """Write down a begin or an end of a reservation, and when the same ends or begins."""
    bookings, counters = board.bookings, board.counters
    place = place_of_booking(board, time, code)
    for i in range(counters[BOOKED_ENDS], place, -1):
        for row in range(len(bookings)):
            bookings[row, i] = bookings[row, i - 1]
    bookings[BOOKED_TIME, place] = time
    bookings[BOOKED_CODE, place] = code
    bookings[BOOKED_OTHER, place] = other
    counters[BOOKED_ENDS] += 1


@kernel
def remove_booking(board, time, code):
    """Strike out a begin or an end of a reservation."""
    bookings, counters = board.bookings, board.counters
    place = place_of_booking(board, time, code)
    while bookings[BOOKED_CODE, place] != code:
        place += 1
    counters[BOOKED_ENDS] -= 1
    for i in range(place, counters[BOOKED_ENDS]):
        for row in range(len(bookings)):
            bookings[row, i] = bookings[row, i + 1]


@kernel
def book(board, job, begin, walltime, count):
    """Keep the nodes that were chosen for a job from an instant on."""
    write_pieces(board, job, count, WINDOW)
    insert_booking(board, begin, 2 * job + 1, begin + walltime)
    insert_booking(board, begin + walltime, 2 * job, begin)


@kernel
def cancel_booking(board, job, begin, walltime):
    """Keep no nodes for a job any more."""
    remove_booking(board, begin, 2 * job + 1)
    remove_booking(board, begin + walltime, 2 * job)
