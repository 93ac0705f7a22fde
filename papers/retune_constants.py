"""How far back `retune` looks and how far neighbours count: chosen on logs that no claim is about.

    python -m papers.retune_constants

replays seven logs under every setting of the default range, once each, and adds up what the jobs of
each week cost. Then it follows the weeks: each begins with the setting that was best on the window
before it, among its neighbours as far as they reach. What is printed is the cost of the second half
of the log against that of the one setting that was best on the first half; below 1 is better. What
a turn itself costs, jobs left over from other knobs, is not in it: that is in the study's table.
ANL-Intrepid, which the study reports, is not looked at.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from papers.dynamic_priority_tuning import INTREPID, LOGS, OBJECTIVES
from papers.study import data_folder, markdown
from queuesmith import Workload, read, simulate
from queuesmith.cluster import as_cluster
from queuesmith.knobs import Knobs
from queuesmith.knobs.bags import Floats
from queuesmith.knobs.neighbours import among_neighbours
from queuesmith.knobs.options import WEEK, RetuneOptions
from queuesmith.knobs.ranges import Settings, range_texts

#: Those of the study, but for the one that it reports, and four that take longer there.
CHOSEN_ON = {name: file for name, file in LOGS.items() if name != INTREPID} | {
    "SDSC-SP2": "SDSC-SP2-1998-4.2-cln.swf.gz",
    "LANL": "LANL-CM5-1994-4.1-cln.swf.gz",
    "HPC2N": "HPC2N-2002-2.2-cln.swf.gz",
    "Lublin 256": "lublin_256_est_gensched.swf.gz",
}
WINDOWS = {"12 weeks": 12, "26 weeks": 26, "52 weeks": 52, "all the past": 10_000}
REACHES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)


def main() -> None:
    """Print a row for each window and reach."""
    settings = Settings.parse(range_texts(RetuneOptions.ranges))
    values = settings.values[np.unique(settings.source)]
    costs: dict[str, Floats] = {}
    for name, file in CHOSEN_ON.items():
        weeks = weekly_costs(read(data_folder("traces") / file), values)
        costs |= {f"{name}, {objective}": table for objective, table in weeks.items()}
        print(name, flush=True)
    rows = []
    for (window, weeks_back), reach in itertools.product(WINDOWS.items(), REACHES):
        found = {name: followed(values, each, weeks_back, reach) for name, each in costs.items()}
        rows.append(
            {
                "window": window,
                "reach": f"{reach:g}",
                "geometric mean": f"{math.exp(np.mean(np.log(list(found.values())))):.3f}",
                "worst": f"{max(found.values()):.2f}",
                **{name: f"{value:.2f}" for name, value in found.items()},
            }
        )
    print(markdown(rows))


def weekly_costs(log: Workload, values: Floats) -> dict[str, Floats]:
    """Return what the jobs of each week cost in all: a row for each setting, by objective."""
    machine = as_cluster(log, None, None)
    jobs = log.fitting(machine.cores)
    week = ((jobs.submit - jobs.submit[0]) // int(WEEK)).astype(np.int64)
    length = np.maximum(jobs.runtime, 1)
    rows: dict[str, list[Floats]] = {objective: [] for objective in OBJECTIVES}
    for setting in values.tolist():
        policy = Knobs(*setting).policy(RetuneOptions.backfill)
        wait = simulate(jobs, machine, policy).wait.astype(np.float64)
        for objective, cost in (("mean_wait", wait), ("expansion_factor", 1 + wait / length)):
            rows[objective].append(np.asarray(np.bincount(week, weights=cost), np.float64))
    return {objective: np.array(table) for objective, table in rows.items()}


def followed(values: Floats, costs: Floats, weeks_back: int, reach: float) -> float:
    """Return the cost of the second half of the weeks against that of the best fixed setting."""
    weeks = costs.shape[1]
    half = weeks // 2
    fixed = costs[costs[:, :half].sum(axis=1).argmin(), half:].sum()
    ours = 0.0
    for week in range(half, weeks):
        past = costs[:, max(0, week - weeks_back) : week].sum(axis=1)
        ours += costs[among_neighbours(values, past, reach).argmin(), week]
    return float(ours / fixed)


if __name__ == "__main__":
    main()
