"""Mappings with a proof: bounds by prices, searches guided by them, solvers."""

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.grid.exact.bounds import Bound, lower_bound
    from queuesmith.grid.exact.column_search import ColumnSearch
    from queuesmith.grid.exact.pair_search import PairSearch
    from queuesmith.grid.exact.solve import solve_exact
    from queuesmith.grid.exact.tradeoff import TradeOff, trade_off

__all__ = [
    "Bound",
    "ColumnSearch",
    "PairSearch",
    "TradeOff",
    "lower_bound",
    "solve_exact",
    "trade_off",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "bounds": ("Bound", "lower_bound"),
        "column_search": ("ColumnSearch",),
        "pair_search": ("PairSearch",),
        "solve": ("solve_exact",),
        "tradeoff": ("TradeOff", "trade_off"),
    },
)
