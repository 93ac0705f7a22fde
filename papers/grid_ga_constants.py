"""How constants of the grid's methods were chosen: on instances that no table uses.

    python -m papers.grid_ga_constants steps
    python -m papers.grid_ga_constants columns --seconds 20

`steps` runs `carretero`, hierarchic, for 2,500 generations with several `makespan_step`; `columns`
lets `exact` go over to columns (`MANY` in `queuesmith.grid.exact.makespan`) from fewer machines on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from papers.study import markdown
from queuesmith.grid.etc import generate_etc
from queuesmith.grid.exact import makespan as exact_makespan
from queuesmith.grid.exact import solve_exact
from queuesmith.grid.genetic import evolve_many, preset

#: Seeds of instances that are looked at here and nowhere else.
SEEDS = (1001, 1002)
KINDS = ("u_c_hihi", "u_c_lolo", "u_i_hihi", "u_s_hilo")
STEPS = (0.0, 0.001, 0.003, 0.005, 0.01, 0.03)
MANIES = (24, 64)
SIZES = ((1024, 32),)


def main() -> None:
    """Print how good each value is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("steps", "columns"))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    asked = parser.parse_args()
    rows = [
        makespan_steps(kind) if asked.what == "steps" else columns(kind, size, asked.seconds)
        for kind in asked.kinds
        for size in (SIZES if asked.what == "columns" else SIZES[:1])
    ]
    print(markdown(rows))


def makespan_steps(kind: str) -> dict[str, object]:
    """Return the mean makespan of hierarchic runs for each step."""
    row: dict[str, object] = {"kind": kind}
    for step in STEPS:
        config = replace(preset("carretero"), makespan_step=step)
        found = [
            evolve_many(
                generate_etc(kind, 512, 16, seed=seed),
                config,
                objective="hierarchic",
                runs=3,
                generations=2500,
            ).makespan.mean
            for seed in SEEDS
        ]
        row[f"step {step:g}"] = f"{sum(found) / len(found):.1f}"
    print(row, flush=True)
    return row


def columns(kind: str, size: tuple[int, int], seconds: float) -> dict[str, object]:
    """Return the mean gap of the exact method for each number of machines it counts as many."""
    row: dict[str, object] = {"kind": kind, "size": f"{size[0]} x {size[1]}"}
    for many in MANIES:
        exact_makespan.MANY = many
        found = [
            solve_exact(generate_etc(kind, *size, seed=seed), "makespan", seconds=seconds)
            for seed in SEEDS
        ]
        row[f"many {many}"] = f"{sum(each.gap_percent or 0.0 for each in found) / len(found):.3f}"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
