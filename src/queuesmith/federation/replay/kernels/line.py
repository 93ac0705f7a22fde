"""The line of waiting jobs: who is the next that has few enough tasks?"""

from queuesmith.federation.replay.kernels.site import NOBODY, kernel


@kernel
def set_leaf(line, rank, tasks):
    """Note how many tasks the job at a rank has: TOO_WIDE where nobody waits."""
    tree = line.tree
    place = tree.size // 2 + rank
    tree[place] = tasks
    place //= 2
    while place >= 1:
        tree[place] = min(tree[2 * place], tree[2 * place + 1])
        place //= 2


@kernel
def next_in_line(line, first, most):
    """The least rank of at least ``first`` whose job has at most so many tasks, or nobody."""
    tree = line.tree
    leaves = tree.size // 2
    if first >= leaves:
        return NOBODY
    place = leaves + first
    while tree[place] > most:
        while place % 2 == 1:  # a right child: its parent has nothing further right
            place //= 2
            if place <= 1:
                return NOBODY
        place += 1
    while place < leaves:
        place *= 2
        if tree[place] > most:
            place += 1
    return place - leaves
