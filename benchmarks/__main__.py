"""Run the benchmarks named on the command line, or all of them."""

import sys

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

DEEP_QUEUES = "deep-queues"
BENCHMARKS = {
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
    "command-line": command_line.main,
    DEEP_QUEUES: lambda: deep_queues.main([]),
}


def main() -> int:
    names = sys.argv[1:] or list(BENCHMARKS)
    if names[0] == DEEP_QUEUES:
        # Whatever follows is its own: how far, which policies, where to draw.
        deep_queues.main(names[1:])
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
