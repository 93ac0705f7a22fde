"""Run the benchmarks named on the command line, or all of them."""

import sys
from collections.abc import Callable

from benchmarks import (
    choosing,
    command_line,
    deep_queues,
    federation,
    federation_exact,
    grid,
    grid_exact,
    grid_genetic,
    knobs,
    logs,
    nodes,
    optimal,
    replay,
)

#: These take what follows their name as their own: how far, which policies, which verbs.
WITH_ARGUMENTS = {"deep-queues": deep_queues.main, "command-line": command_line.main}
BENCHMARKS: dict[str, Callable[[], None]] = {
    "replay": replay.main,
    "own-orders": replay.own_orders,
    "workers": replay.workers,
    "growth": replay.growth,
    "rules": choosing.rules,
    "dynp": choosing.dynp,
    "logs": logs.main,
    "nodes": nodes.main,
    "grid-heuristics": grid.heuristics,
    "grid-genetic": grid_genetic.genetic,
    "grid-exact": grid_exact.exact,
    "optimal": optimal.optimal,
    "federation": federation.main,
    "federation-exact": federation_exact.exact,
    "knobs": knobs.knobs,
    "command-line": lambda: command_line.main([]),
    "deep-queues": lambda: deep_queues.main([]),
}


def main() -> int:
    names = sys.argv[1:] or list(BENCHMARKS)
    if names[0] in WITH_ARGUMENTS:
        WITH_ARGUMENTS[names[0]](names[1:])
        return 0
    for name in names:
        if name not in BENCHMARKS:
            print(f"there is no benchmark '{name}'. Choose from: {', '.join(BENCHMARKS)}.")
            return 2
        print(f"\n== {name}")
        BENCHMARKS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
