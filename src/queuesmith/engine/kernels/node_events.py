"""What happens on nodes when: arrivals, completions, cancels, nodes that come back."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import (
    ARRIVED,
    CANCEL,
    ENDING,
    NEVER,
    NEXT_START,
    NOBODY,
    STARTED,
)
from queuesmith.engine.kernels.node_state import (
    CANCELLED,
    DEPENDENT,
    ELIGIBLE,
    GONE,
    NEXT_ARRIVAL,
    NEXT_CANCEL,
    NEXT_RETURN,
    RELEASES,
    STUCK,
    end_on_nodes,
    pop_dependent,
    release_followers,
)
from queuesmith.engine.kernels.replay import end_all


@kernel
def next_instant_on_nodes(state):
    """Return when something happens next: an arrival, a completion, a reserved start, or, where
    jobs wait, a cancel or nodes that come back.
    """
    counters, board, arrival = state.counters, state.board, state.arrival
    instant = counters[NEXT_START]
    if counters[NEXT_ARRIVAL] < len(arrival):
        instant = min(instant, board.job[ELIGIBLE, arrival[counters[NEXT_ARRIVAL]]])
    if counters[DEPENDENT] > 0:
        instant = min(instant, state.dependents[0, 0])
    if counters[ENDING] > 0:
        instant = min(instant, state.running.end[0])
    if counters[ARRIVED] > counters[STARTED] + counters[GONE]:
        if counters[NEXT_RETURN] < len(board.returns):
            instant = min(instant, board.returns[counters[NEXT_RETURN]])
        instant = min(instant, next_cancel(state))
    return instant


@kernel
def next_cancel(state):
    """Return when the next job is cancelled."""
    if state.counters[NEXT_CANCEL] == len(state.cancels):
        return NEVER
    return state.board.job[CANCELLED, state.cancels[state.counters[NEXT_CANCEL]]]


@kernel
def next_cancelled(state, now):
    """Return the next job that has to leave the queue by now, NOBODY where there is none.

    Who waits for it comes now.
    """
    counters, start, cancelled = state.counters, state.start, state.board.job[CANCELLED]
    while next_cancel(state) <= now:
        job = state.cancels[counters[NEXT_CANCEL]]
        counters[NEXT_CANCEL] += 1
        if start[job] == NOBODY or start[job] >= cancelled[job]:  # waits, or has a reservation
            counters[GONE] += 1
            release_followers(state.board, state.dependents, job, now)
            return job
    return NOBODY


@kernel
def nodes_come_back(counters, returns, kept, now):
    """Tell whether outages are over; then all nodes are looked at again, for so many are kept."""
    before = counters[NEXT_RETURN]
    while counters[NEXT_RETURN] < len(returns) and returns[counters[NEXT_RETURN]] <= now:
        counters[NEXT_RETURN] += 1
        counters[RELEASES] += kept + 1
    return counters[NEXT_RETURN] > before


@kernel
def release_on_nodes(state, now):
    """Release the nodes of jobs that end now, and those that come back; tells whether any was."""
    released = end_all(state, now, end_on_nodes)
    kept = len(state.released)
    return nodes_come_back(state.counters, state.board.returns, kept, now) or released


@kernel
def arrive_on_nodes(state, now):
    """Take note of the jobs that can start from now on; return how many newcomers these are."""
    counters, of_job, arrival, count = state.counters, state.board.job, state.arrival, 0
    while (
        counters[NEXT_ARRIVAL] < len(arrival)
        and of_job[ELIGIBLE, arrival[counters[NEXT_ARRIVAL]]] == now
    ):
        state.newcomers[count] = arrival[counters[NEXT_ARRIVAL]]
        counters[NEXT_ARRIVAL] += 1
        count += 1
    while counters[DEPENDENT] > 0 and state.dependents[0, 0] == now:
        state.newcomers[count] = pop_dependent(state.dependents, counters)
        count += 1
    counters[ARRIVED] += count
    return count


@kernel
def finish(state):
    """Take note where jobs are left that can never start."""
    counters = state.counters
    if counters[STARTED] + counters[GONE] < len(state.start) and counters[CANCEL] == 0:
        counters[STUCK] = 1
