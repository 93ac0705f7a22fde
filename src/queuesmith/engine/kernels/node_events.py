"""What happens on nodes when: arrivals, completions, nodes that come back."""

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.constants import ARRIVED, CANCEL, ENDING, NEXT_START, STARTED
from queuesmith.engine.kernels.node_state import (
    DEPENDENT,
    ELIGIBLE,
    NEXT_ARRIVAL,
    NEXT_RETURN,
    RELEASES,
    STUCK,
    complete_on_nodes,
    pop_dependent,
)


@kernel
def next_instant_on_nodes(state):
    """Return when something happens next: an arrival, a completion, a reserved start, or, where
    jobs wait, nodes that come back.
    """
    counters, board, arrival = state.counters, state.board, state.arrival
    instant = counters[NEXT_START]
    if counters[NEXT_ARRIVAL] < len(arrival):
        instant = min(instant, board.job[ELIGIBLE, arrival[counters[NEXT_ARRIVAL]]])
    if counters[DEPENDENT] > 0:
        instant = min(instant, state.dependents[0, 0])
    if counters[ENDING] > 0:
        instant = min(instant, state.running.end[0])
    if counters[ARRIVED] > counters[STARTED] and counters[NEXT_RETURN] < len(board.returns):
        instant = min(instant, board.returns[counters[NEXT_RETURN]])
    return instant


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
    released = complete_on_nodes(state, now)
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
    if counters[STARTED] < len(state.start) and counters[CANCEL] == 0:
        counters[STUCK] = 1
