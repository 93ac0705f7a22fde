"""Which nodes a job gets: by weight, then so that the most useful room is left to others."""

import numpy as np

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.node_state import (
    ALL_MEMORY,
    BEGIN,
    CANDIDATE,
    CHOSEN,
    CORES,
    END,
    EXCLUSIVE,
    FIRST_OUTAGE,
    FIRST_PIECE,
    FREE_CORES,
    FREE_GPUS,
    FREE_MEMORY,
    GPU_TYPE,
    GPUS,
    JOBS,
    LAST_OUTAGE,
    LATER,
    LATER_ROWS,
    LATER_STAMP,
    LEAST,
    LEAST_LATER,
    LEAST_ROWS,
    LEAST_STAMP,
    MEMORY,
    MEMORY_PER_CORE,
    MOST,
    NODE_MEMORY,
    NOW_ROWS,
    OWNER,
    PER_NODE,
    PER_TASK,
    PIECE_CORES,
    PIECE_GPUS,
    PIECE_NODE,
    PLAIN,
    PLANNED,
    RESERVATION,
    ROOM,
    SET,
    SHAPE,
    SHARED,
    THREADS,
    USER,
    WEIGHT,
    WHOM,
    held_cores,
    rows_of_layer,
)

# In which state of the nodes a job is to run: as they are now; as they are now and when the
# reservation begins; as they are all the time in a window of the future.
NOW, LONG, WINDOW = map(np.int64, range(3))
# Which nodes are taken first: the fullest, the emptiest, those with the least free now.
FULLEST, EMPTIEST, BUSIEST = map(np.int64, range(3))
BY_WEIGHT, WHATEVER_THEY_WEIGH = np.bool_(True), np.bool_(False)


# -- one node --------------------------------------------------------------------------


@kernel
def concerns(whom, reservation):
    """Tell whether an outage is one for jobs of a reservation, or for those of none."""
    return whom == NOBODY or (reservation == whom >> 1) == (whom & 1 == 1)


@kernel
def is_there(board, ask, node, now, begin, end):
    """Tell whether a node is there for a job from an instant to another, as far as one knows.

    Outages that are not planned are known once they have begun.
    """
    outage = board.outage
    for i in range(board.node[FIRST_OUTAGE, node], board.node[LAST_OUTAGE, node]):
        known = outage[PLANNED, i] != 0 or outage[BEGIN, i] <= now
        during = outage[BEGIN, i] < end and outage[END, i] > begin
        if known and during and concerns(outage[WHOM, i], ask[RESERVATION]):
            return False
    return True


@kernel
def may_have(ask, kind):
    """Tell whether GPUs of a kind are what a job asks for."""
    return ask[GPU_TYPE] == NOBODY or ask[GPU_TYPE] == kind


@kernel
def may_share(ask, known, rows, node):
    """Tell whether a job may be where others are."""
    if ask[EXCLUSIVE] == 1 and known[rows + JOBS, node] < 0:
        return False
    owner = known[rows + OWNER, node]
    if owner != NOBODY and owner != ask[USER]:
        return False
    return ask[EXCLUSIVE] != 2 or known[rows + SHARED, node] == 0


@kernel
def has_gpus(ask, known, rows, kinds, node):
    """Tell whether a node has the GPUs that a job asks for on each of its nodes."""
    gpus = 0
    for kind in range(kinds):
        if may_have(ask, kind):
            gpus += known[rows + FREE_GPUS + kind, node]
    return gpus >= ask[GPUS]


@kernel
def whole_parts(cores, size):
    """Return how many of the cores are in whole parts of a size; of most jobs and nodes it is 1."""
    return cores if size == 1 else cores - cores % size  # a division takes longer than all else


@kernel
def room_on(ask, nodes, known, rows, kinds, node):
    """Return how many cores of a node a job could have in a layer; 0 where it cannot run there."""
    cores = known[rows + FREE_CORES, node]
    if cores < max(ask[PER_NODE], 1):
        return 0
    if ask[PLAIN] == 0:
        memory = known[rows + FREE_MEMORY, node]
        if memory < ask[MEMORY] or not may_share(ask, known, rows, node):
            return 0
        if ask[ALL_MEMORY] != 0 and memory < nodes[NODE_MEMORY, node]:
            return 0
        if ask[GPUS] > 0 and not has_gpus(ask, known, rows, kinds, node):
            return 0
        cores = whole_parts(cores, nodes[THREADS, node])
        if ask[MEMORY_PER_CORE] > 0 and memory < ask[MEMORY_PER_CORE] * cores:
            cores = memory // ask[MEMORY_PER_CORE]
        cores = whole_parts(cores, ask[PER_TASK])
    if ask[PER_NODE] > 0:
        return ask[PER_NODE] if cores >= ask[PER_NODE] else 0
    return max(cores, 0)


@kernel
def rows_of(known, counters, node, mode):
    """Return the layer that has the state of a node in which a job is to run."""
    if mode != NOW and known[LEAST_STAMP, node] == counters[LEAST_LATER]:
        return counters[LEAST_ROWS]
    if mode == WINDOW and known[LATER_STAMP, node] == counters[LATER]:
        return counters[LATER_ROWS]
    return NOW_ROWS


@kernel
def find_room(board, ask, mode, now, begin, end):
    """Look how many cores of each node of its set a job could have from an instant to another.

    Returns how many nodes have room, and how many cores that is; these nodes are candidates.
    """
    known, counters = board.known, board.counters
    kinds = rows_of_layer(counters) - FREE_GPUS
    count, total = 0, 0
    for i in range(board.first_in_set[ask[SET]], board.first_in_set[ask[SET] + 1]):
        node = board.in_set[i]
        rows = rows_of(known, counters, node, mode)
        cores = room_on(ask, board.node, known, rows, kinds, node)
        if cores > 0 and is_there(board, ask, node, now, begin, end):
            known[ROOM, node] = cores
            known[CANDIDATE, count] = node
            count += 1
            total += cores
    return count, total


@kernel
def suffices(ask, count, total):
    """Tell whether so many nodes with so many cores are enough for a job."""
    return count >= ask[LEAST] and total >= ask[CORES]


# -- several nodes ---------------------------------------------------------------------


@kernel
def key_of(board, node, mode, first):
    """Return a number that is the lower, the sooner a node is taken.

    Of equals one on which something is reserved: longer jobs can do least with it.
    """
    known, counters = board.known, board.counters
    free = known[NOW_ROWS + FREE_CORES, node]
    if first == BUSIEST:
        return 2 * free
    if first == EMPTIEST:
        key = board.histogram.shape[1] // 2 - 1 - known[ROOM, node]
    else:
        key = known[rows_of(known, counters, node, mode) + FREE_CORES, node]
    reserved = (
        mode == NOW
        and known[LEAST_STAMP, node] == counters[LEAST_LATER]
        and known[counters[LEAST_ROWS] + FREE_CORES, node] < free
    )
    return 2 * key if reserved else 2 * key + 1


@kernel
def choose_one(board, ask, candidates, mode, first):
    """Return the lightest node that has room for a whole job, of these the fullest; or NOBODY."""
    known, weight = board.known, board.node[WEIGHT]
    best, best_key = np.int64(NOBODY), NEVER
    for i in range(candidates):
        node = known[CANDIDATE, i]
        if known[ROOM, node] < ask[CORES]:
            continue
        if best != NOBODY and weight[node] > weight[best]:
            break
        key = key_of(board, node, mode, first)
        if key < best_key:
            best, best_key = node, key
    return best


@kernel
def count_keys(board, begin, end, mode, first):
    """Count nodes and their room by their keys; return the lowest and the highest key."""
    lowest, highest = NEVER, -1
    for i in range(begin, end):
        node = board.known[CANDIDATE, i]
        key = key_of(board, node, mode, first)
        board.histogram[0, key] += 1
        board.histogram[1, key] += board.known[ROOM, node]
        lowest, highest = min(lowest, key), max(highest, key)
    return lowest, highest


@kernel
def choose_among(board, ask, mode, first, begin, end, count, total):
    """Choose among some of the candidates, the lowest keys first, until they suffice.

    Takes and returns how many nodes there are so far and how many cores.
    """
    histogram, room = board.histogram, board.known[ROOM]
    key, highest = count_keys(board, begin, end, mode, first)
    part_count, part_total = count, total
    while key <= highest:
        if suffices(ask, part_count + histogram[0, key], part_total + histogram[1, key]):
            break
        part_count += histogram[0, key]
        part_total += histogram[1, key]
        key += 1
    for i in range(begin, end):
        node = board.known[CANDIDATE, i]
        own = key_of(board, node, mode, first)
        histogram[0, own] = histogram[1, own] = 0
        wanted = own < key
        if own == key and not suffices(ask, part_count, part_total):
            wanted = True  # of those with this key not all are needed
            part_count += 1
            part_total += room[node]
        if wanted:
            board.known[CHOSEN, count] = node
            count += 1
            total += room[node]
    return count, total


@kernel
def choose_several(board, ask, candidates, mode, first, by_weight):
    """Choose candidates; return how many, 0 where they do not suffice or are too many."""
    node, weight = board.known[CANDIDATE], board.node[WEIGHT]
    begin = count = total = np.int64(0)
    while begin < candidates and not suffices(ask, count, total):
        end = begin + 1
        while end < candidates and (not by_weight or weight[node[end]] == weight[node[begin]]):
            end += 1
        count, total = choose_among(board, ask, mode, first, begin, end, count, total)
        begin = end
    enough = suffices(ask, count, total)
    return count if enough and (ask[MOST] == 0 or count <= ask[MOST]) else 0


@kernel
def choose(board, ask, candidates, mode, first):
    """Choose nodes for a job among so many candidates; return how many, 0 where it cannot run.

    On one node where it fits there. Otherwise on the fullest where each has the same part, on the
    emptiest, which are the fewest, where parts may differ.
    """
    if ask[LEAST] <= 1:
        node = choose_one(board, ask, candidates, mode, first)
        if node != NOBODY:
            board.known[CHOSEN, 0] = node
            return 1
    if first == FULLEST and ask[PER_NODE] == 0:
        first = EMPTIEST
    count = choose_several(board, ask, candidates, mode, first, BY_WEIGHT)
    if count == 0 and ask[MOST] > 0:
        count = choose_several(board, ask, candidates, mode, EMPTIEST, WHATEVER_THEY_WEIGH)
    return count


@kernel
def write_pieces(board, job, count, mode):
    """Deal the cores and GPUs of a job to the nodes that were chosen."""
    known, pieces, counters = board.known, board.pieces, board.counters
    ask, first = board.shapes[board.job[SHAPE, job]], board.job[FIRST_PIECE, job]
    left, kinds = ask[CORES], pieces.shape[1] - PIECE_GPUS
    board.count[job], board.held[job] = count, 0
    for i in range(count):
        node, at = known[CHOSEN, i], first + i
        # Each node that is still to come needs a core at least.
        given = max(min(known[ROOM, node], left - (count - 1 - i)), 1)
        left -= given
        pieces[at, PIECE_NODE], pieces[at, PIECE_CORES] = node, given
        board.held[job] += held_cores(ask, board.node, node, given)
        missing, rows = ask[GPUS], rows_of(known, counters, node, mode) + FREE_GPUS
        for kind in range(kinds):
            taken = min(missing, known[rows + kind, node]) if may_have(ask, kind) else 0
            pieces[at, PIECE_GPUS + kind] = taken
            missing -= taken
