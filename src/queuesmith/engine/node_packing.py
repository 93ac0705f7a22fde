"""Jobs and nodes laid out as the kernels of the replay on nodes take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.node_arrays import NodeArrays, node_arrays
from queuesmith.cluster.requests import JobRequests, most_pieces
from queuesmith.cluster.reserved import from_reservations, reservation_numbers
from queuesmith.engine.cancelled import cancel_times, in_order_of_cancels
from queuesmith.engine.kernels.constants import NEVER, NOBODY
from queuesmith.engine.kernels.node_state import (
    ATTEMPT_ROWS,
    END,
    FREE_CORES,
    FREE_GPUS,
    FREE_MEMORY,
    KEEPING,
    LATER_ROWS,
    LEAST_LATER,
    LEAST_ROWS,
    NO_LAYER,
    NODE_COUNTERS,
    NOW_ROWS,
    OWNER,
    PIECE_GPUS,
    PROBE_ROWS,
    SHAPE_COLUMNS,
    Board,
    NodeReplay,
)
from queuesmith.engine.kernels.replay import Replay
from queuesmith.engine.packing import Packed, frozen
from queuesmith.policy.keep import Keep
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors
from queuesmith.workload.workload import Ints

#: So many releases of nodes are remembered: shapes that were not tried for longer are looked at
#: anew.
RELEASES_KEPT = 4096


def node_replay(
    replay: Replay, packed: Packed, *, planned: bool, keeps: Sequence[Keep | None] = ()
) -> NodeReplay:
    """Return a replay on nodes in which nothing has happened yet, with all the room it will need.

    Parameters
    ----------
    replay
        What it has in common with a replay on a pool of cores.
    packed
        The jobs and their machine, which has nodes.
    planned
        Whether many jobs have reservations at once.
    keeps
        What each line keeps free.
    """
    workload, machine = packed.workload, packed.cluster
    assert isinstance(machine, NodeCluster)
    requests, limits = packed.requests()
    requests = requests._replace(eligible=from_reservations(workload, machine, requests))
    arrays = node_arrays(machine)
    count, counters = len(workload), _counters(replay, arrays)
    after, think = predecessors(workload)
    alone = np.flatnonzero(after < 0)
    board = _board(workload, machine, requests, arrays, counters, planned)
    return NodeReplay(
        jobs=replay.jobs,
        line=replay.line,
        queue=replay.queue,
        running=replay.running,
        usage=replay.usage,
        counters=counters,
        start=replay.start,
        started=replay.started,
        board=board._replace(
            job=_job_table(workload, board, requests, limits, (after, think), len(arrays.cores)),
            shares=_shares(keeps, machine.cores),
        ),
        cancels=_frozen(in_order_of_cancels(cancel_times(workload))),
        arrival=_frozen(alone[np.argsort(requests.eligible[alone], kind="stable")]),
        newcomers=np.zeros(count, np.int64),
        dependents=np.zeros((2, count), np.int64),
        attempts=np.full((ATTEMPT_ROWS, len(board.shapes)), NOBODY, np.int64),
        released=np.zeros(RELEASES_KEPT, np.int64),
        limits=_frozen(limits.of_jobs),
        amounts=_frozen(limits.amounts),
        limit=_frozen(limits.most),
        used=np.zeros_like(limits.most),
    )


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    return frozen(np.ascontiguousarray(array))


def _shares(keeps: Sequence[Keep | None], cores: int) -> NDArray[np.float64]:
    """Return what is kept free in each line; nothing at all where none keeps a core."""
    if not any(keep is not None and keep.cores(cores) for keep in keeps):
        return frozen(np.empty(0))
    return frozen(np.array([0.0 if keep is None else keep.share for keep in keeps]))


def _counters(replay: Replay, arrays: NodeArrays) -> Ints:
    counters = np.zeros(NODE_COUNTERS, np.int64)
    counters[: len(replay.counters)] = replay.counters
    counters[LEAST_LATER] = NO_LAYER
    counters[KEEPING] = NOBODY
    rows = FREE_GPUS + arrays.gpus.shape[1]
    for layer, place in enumerate((LATER_ROWS, LEAST_ROWS, PROBE_ROWS), 1):
        counters[place] = NOW_ROWS + layer * rows
    return counters


def _board(
    workload: Workload,
    machine: NodeCluster,
    requests: JobRequests,
    arrays: NodeArrays,
    counters: Ints,
    planned: bool,
) -> Board:
    """Return the nodes before anything runs; what jobs ask of them is not in it yet."""
    count, highest = len(workload), int(arrays.cores.max())
    pieces = int(most_pieces(requests, len(arrays.cores)).sum())
    by_weight = np.argsort(arrays.weight, kind="stable")
    lists = [by_weight[member[by_weight]] for member in requests.node_sets]
    first, outages = _outages(workload, machine, requests)
    ends = outages[END]
    columns = (arrays.cores, arrays.memory, arrays.threads_per_core, arrays.weight)
    shape, shapes = _shapes(workload, machine, requests, arrays)
    return Board(
        job=shape,
        shapes=_frozen(shapes),
        node=_frozen(np.stack([*columns, first[:-1], first[1:]])),
        first_in_set=_frozen(np.cumsum([0, *map(len, lists)])),
        in_set=_frozen(np.concatenate(lists)),
        member=requests.node_sets.copy(),
        outage=_frozen(outages),
        returns=_frozen(np.unique(ends[ends < NEVER])),
        known=_known(arrays),
        # Most of it is never written to: pages that are not touched take no memory.
        pieces=np.empty((pieces, PIECE_GPUS + arrays.gpus.shape[1]), np.int64),
        count=np.zeros(count, np.int32),
        held=np.zeros(count, np.int32),
        histogram=np.zeros((2, 2 * (highest + 1)), np.int64),
        bookings=np.zeros((3, 2 * count + 2 if planned else 0), np.int64),
        shares=frozen(np.empty(0)),
        counters=counters,
    )


# -- nodes -----------------------------------------------------------------------------


def _known(arrays: NodeArrays) -> Ints:
    """Return what is known of each node before anything runs: all of it is free."""
    rows = FREE_GPUS + arrays.gpus.shape[1]
    known = np.zeros((NOW_ROWS + 4 * rows, len(arrays.cores)), np.int64)
    free = known[NOW_ROWS : NOW_ROWS + rows]
    free[FREE_CORES], free[FREE_MEMORY] = arrays.cores, arrays.memory
    free[OWNER], free[FREE_GPUS:] = NOBODY, arrays.gpus.T
    return known


def _outages(workload: Workload, machine: NodeCluster, requests: JobRequests) -> tuple[Ints, Ints]:
    """Return where the outages of each node stand, and their table.

    A reservation is an outage for all but its own jobs. For these, up to its end, all other nodes
    are out, and on its nodes nothing runs across the end: as if they were out for no time then.
    """
    epoch = workload.epoch or 0
    rows: list[list[tuple[int, int, int, int]]] = [[] for _ in machine.node_names]
    asked_for = set(requests.reservation.tolist())
    for number, outage in zip(reservation_numbers(machine).tolist(), machine.outages, strict=True):
        begin = -NEVER if outage.begin is None else outage.begin - epoch
        end = NEVER if outage.end is None else outage.end - epoch
        inside = {machine.node_index[node] for node in outage.nodes or machine.node_names}
        for node in inside:
            rows[node].append((begin, end, outage.planned, NOBODY if number < 0 else 2 * number))
        if number >= 0 and number in asked_for:
            for node, row in enumerate(rows):
                row.append((end if node in inside else -NEVER, end, 1, 2 * number + 1))
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = [each for row in rows for each in row]
    return first, np.array(flat, np.int64).reshape(-1, 4).T


# -- jobs ------------------------------------------------------------------------------


def _job_table(
    workload: Workload,
    board: Board,
    requests: JobRequests,
    limits: LimitTable,
    waiting_for: tuple[Ints, Ints],
    nodes: int,
) -> Ints:
    """Return the table of jobs, its rows in the order of the kernel."""
    room = most_pieces(requests, nodes)
    after, think = waiting_for
    first_follower, next_follower = followers(after)
    where = (board.job, np.cumsum(room) - room, limits.first[:-1], limits.first[1:])
    follow = (first_follower, next_follower, think)
    rows = (*where, requests.eligible, *follow, cancel_times(workload))
    return _frozen(np.stack([row.astype(np.int64) for row in rows]))


def followers(after: Ints) -> tuple[Ints, Ints]:
    """Return who waits for each job, as lists: the first of them, and the next after each."""
    first, following = np.full_like(after, NOBODY), np.full_like(after, NOBODY)
    for job in np.flatnonzero(after >= 0)[::-1]:
        following[job], first[after[job]] = first[after[job]], job
    return first, following


def _shapes(
    workload: Workload, machine: NodeCluster, requests: JobRequests, arrays: NodeArrays
) -> tuple[Ints, Ints]:
    """Return what jobs ask nodes for: each job's row, and the rows, in the order of the kernel."""
    least = np.minimum(requests.least_nodes, requests.cores)
    # Who may have one node alone has all its cores there.
    only_one = (requests.most_nodes == 1) & (least <= 1)
    per_node = np.where(only_one, requests.cores, requests.cores_per_node)
    by_node = -(-requests.cores // np.maximum(per_node, 1))
    least = np.maximum(least, np.where(per_node > 0, by_node, 1))
    most = np.where(requests.most_nodes > 0, np.maximum(requests.most_nodes, least), 0)
    user = np.unique(workload.user, return_inverse=True)[1].ravel()
    by_user = bool((requests.exclusive == 2).any())
    alike = not requests.exclusive.any() and bool((arrays.threads_per_core == 1).all())
    memory = (requests.memory_per_node, requests.memory_per_core, requests.whole_memory)
    further = [*memory, requests.gpus_per_node, requests.cores_per_task - 1]
    plain = alike & (np.stack([column.astype(np.int64) for column in further]) == 0).all(axis=0)
    columns = [
        *(least, most, requests.cores, per_node, requests.cores_per_task, *memory),
        *(requests.gpus_per_node, requests.gpu_type, requests.exclusive, requests.node_set),
        *(user if by_user else np.full_like(user, NOBODY), plain, requests.reservation),
    ]
    assert len(columns) == SHAPE_COLUMNS
    if machine.outages:
        columns.append(workload.walltime)  # whether a job is over before an outage
    table = np.stack([column.astype(np.int64) for column in columns], axis=1)
    shapes, shape = np.unique(table, axis=0, return_inverse=True)
    return shape.ravel().astype(np.int64), shapes
