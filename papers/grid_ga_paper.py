"""What Carretero, Xhafa and Abraham report: tables 5 and 6."""

from __future__ import annotations

from typing import NamedTuple


class Makespans(NamedTuple):
    """A row of table 5: Min-Min, and the best makespan of three genetic schedulers."""

    min_min: float
    braun: float
    hierarchic: float
    simultaneous: float


class Flowtimes(NamedTuple):
    """A row of table 6: the flowtime with replacement if better, and with a steady state."""

    if_better: float
    steady_state: float


TABLE_5 = {
    "u_c_hihi.0": Makespans(8460675.000, 8050844.500, 7730973.882, 7610176.437),
    "u_c_hilo.0": Makespans(164022.440, 156249.200, 157255.844, 155251.196),
    "u_c_lohi.0": Makespans(275837.340, 258756.770, 252907.580, 248466.775),
    "u_c_lolo.0": Makespans(5546.260, 5272.250, 5310.615, 5226.972),
    "u_i_hihi.0": Makespans(3513919.250, 3104762.500, 3141395.822, 3077705.818),
    "u_i_hilo.0": Makespans(80755.680, 75816.130, 77455.085, 75924.023),
    "u_i_lohi.0": Makespans(120517.710, 107500.720, 108047.402, 106069.101),
    "u_i_lolo.0": Makespans(2779.090, 2614.390, 2676.207, 2613.110),
    "u_s_hihi.0": Makespans(5160343.000, 4566206.000, 4745284.938, 4359312.628),
    "u_s_hilo.0": Makespans(104540.730, 98519.400, 101817.924, 98334.640),
    "u_s_lohi.0": Makespans(140284.480, 130616.530, 137785.504, 127641.889),
    "u_s_lolo.0": Makespans(3867.490, 3583.440, 3650.316, 3515.526),
}
TABLE_6 = {
    "u_c_hihi.0": Flowtimes(1073774996, 1048333229),
    "u_c_hilo.0": Flowtimes(28314677.9, 27687019.4),
    "u_c_lohi.0": Flowtimes(35677170.8, 34767197.1),
    "u_c_lolo.0": Flowtimes(942076.61, 920475.17),
    "u_i_hihi.0": Flowtimes(376800875, 378010732),
    "u_i_hilo.0": Flowtimes(12902561.3, 12775104.7),
    "u_i_lohi.0": Flowtimes(13108727.9, 13444708.3),
    "u_i_lolo.0": Flowtimes(453399.32, 446695.83),
    "u_s_hihi.0": Flowtimes(541570911, 526866515),
    "u_s_hilo.0": Flowtimes(17007775.2, 16598635.5),
    "u_s_lohi.0": Flowtimes(15992229.8, 15644101.3),
    "u_s_lolo.0": Flowtimes(616542.78, 605375.38),
}
