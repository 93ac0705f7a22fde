"""Which method suits which instance: what `queuesmith map` without a method rests on.

    python -m papers.grid_choice --seconds 1 5

maps generated instances, of seeds that no table of any study uses, by every method that could be
chosen, in the same time on one thread, and prints by how much each is above the best of them. The
rule in `queuesmith.grid.choosing` is what this table says.
"""

from __future__ import annotations

import argparse
import itertools

from papers.study import markdown
from queuesmith.grid import EtcMatrix, MapOptions, map_jobs
from queuesmith.grid.etc import generate_etc
from queuesmith.schedule import Schedule

#: Seeds of instances that are looked at here and nowhere else.
SEEDS = (7001, 7002)
KINDS = ("u_c_hihi", "u_c_lolo", "u_i_hihi", "u_i_lolo", "u_s_hihi", "u_s_lolo")
SIZES = ((64, 8), (512, 16), (2048, 64))
METHODS = ("min-min", "sufferage", "exact", "queuesmith", "carretero")
OBJECTIVES = ("makespan", "simultaneous", "flowtime")


def main() -> None:
    """Print a row for each kind of instance, size, objective and time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 5.0])
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--objectives", nargs="+", default=OBJECTIVES)
    parser.add_argument("--sizes", type=int, nargs="+", default=range(len(SIZES)))
    asked = parser.parse_args()
    rows = []
    for place, objective, seconds in itertools.product(
        asked.sizes, asked.objectives, asked.seconds
    ):
        for kind in asked.kinds:
            rows.append(compared(kind, SIZES[place], objective, seconds))
            print(rows[-1], flush=True)
    print(markdown(rows))


def compared(kind: str, size: tuple[int, int], objective: str, seconds: float) -> dict[str, object]:
    """Return by how many per cent each method is above the best, mean of all seeds."""
    above = dict.fromkeys(METHODS, 0.0)
    for seed in SEEDS:
        matrix = generate_etc(kind, *size, seed=seed)
        values = {name: value(mapped(matrix, name, objective, seconds)) for name in METHODS}
        for name in METHODS:
            above[name] += 100 * (values[name] / min(values.values()) - 1) / len(SEEDS)
    sizes = f"{size[0]} x {size[1]}"
    told: dict[str, object] = {"kind": kind, "size": sizes, "objective": objective, "s": seconds}
    return told | {name: f"{percent:.2f}" for name, percent in above.items()}


def mapped(matrix: EtcMatrix, name: str, objective: str, seconds: float) -> Schedule:
    """Map an instance by a heuristic, the exact method, or a preset of ga."""
    method = name if name in ("min-min", "sufferage", "exact") else "ga"
    preset = name if method == "ga" else "queuesmith"
    options = MapOptions(objective=objective, preset=preset, seconds=seconds, workers=1)
    return map_jobs(matrix, method, options)


def value(schedule: Schedule) -> float:
    """Return what was minimised."""
    assert schedule.proof is not None
    return schedule.proof.value


if __name__ == "__main__":
    main()
