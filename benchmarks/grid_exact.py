"""How close exact methods come to the bound, by seconds, beside the published solutions."""

import os
from pathlib import Path

from queuesmith.grid.etc import read_etc
from queuesmith.grid.exact import solve_exact

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared"
INSTANCES = ("u_c_hihi.0", "u_i_lohi.0", "u_s_hilo.0")
SECONDS = (1.0, 5.0, 20.0)

#: Makespans of Gogos et al. (2016), by instance: their _CPR_ and their best, _MS_.
PUBLISHED = {
    "u_c_hihi.0": (7360953.7, 7358942.75),
    "u_c_hilo.0": (152833.7, 152812.21),
    "u_c_lohi.0": (238762.0, 238649.00),
    "u_c_lolo.0": (5138.0, 5135.70),
    "u_i_hihi.0": (2926237.4, 2924720.02),
    "u_i_hilo.0": (73204.5, 73202.14),
    "u_i_lohi.0": (101698.9, 101526.98),
    "u_i_lolo.0": (2535.0, 2533.38),
    "u_s_hihi.0": (4087583.7, 4080153.45),
    "u_s_hilo.0": (95602.4, 95553.27),
    "u_s_lohi.0": (121117.4, 121000.92),
    "u_s_lolo.0": (3421.4, 3419.39),
}


def exact(
    instances: tuple[str, ...] = INSTANCES, budgets: tuple[float, ...] = SECONDS, workers: int = 2
) -> None:
    """Print the gap to the LP bound in per cent, and what is proven of it."""
    folder = Path(os.environ.get("QUEUESMITH_DATA", FOLDER)) / "etc" / "512x16"
    print(f"{'instance':<12} {'seconds':>8} {'gap %':>8} {'proven %':>9} {'CPR %':>8} {'MS %':>8}")
    for name in instances:
        matrix = read_etc(folder / name)
        for seconds in budgets:
            found = solve_exact(matrix, seconds=seconds, workers=workers)
            least = found.facts["lp_bound"]
            gap, cpr, best = (
                100 * (value / least - 1) for value in (found.makespan, *PUBLISHED[name])
            )
            print(
                f"{name:<12} {found.seconds:8.1f} {gap:8.3f} {found.gap_percent:9.3f} "
                f"{cpr:8.3f} {best:8.3f}"
            )
