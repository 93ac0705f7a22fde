"""The tables of the study of genetic schedulers for grids, made from the pieces that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.grid_ga_paper import TABLE_5, TABLE_6
from papers.grid_ga_runs import COLUMNS, Pieces, instance, larger_names, published
from papers.study import markdown
from queuesmith.grid.bounds import lower_bound
from queuesmith.grid.genetic_runs import Statistics
from queuesmith.grid.heuristics import map_by_heuristic

#: Published makespans are rounded to one decimal.
ROUNDED = 0.05


class Summary:
    """What the kept pieces say about some instances.

    Parameters
    ----------
    pieces
        Where they come from.
    names
        The instances.
    early
        After how many seconds the runs are looked at before their end.
    """

    def __init__(self, pieces: Pieces, names: Sequence[str], early: float) -> None:
        self.pieces, self.names = pieces, list(names)
        self.early, self.end = f"{early:g}", f"{pieces.seconds:g}"

    def values(self, column: str, name: str, moment: str, what: str = "makespan") -> list[float]:
        """Return what the kept runs of a column had found by a moment."""
        runs = self.pieces.runs(COLUMNS[column], name)
        return [float(run["course"][moment][what]) for run in runs if moment in run["course"]]

    def count(self, column: str) -> str:
        """Say how many runs a column has: one number, or the least and the most of an instance."""
        counts = [len(self.pieces.runs(COLUMNS[column], name)) for name in self.names]
        few, many = min(counts), max(counts)
        return str(few) if few == many else f"{few} to {many}"

    def reached(self) -> str:
        """Return in words what was reached."""
        lines = [*self._carretero(), *self._queuesmith(), *self._exact(), *self._flowtime()]
        return "\n".join(f"- {line}" for line in lines)

    def _carretero(self) -> list[str]:
        lines = []
        for moment in (self.early, self.end):
            best = {n: self.values("carretero", n, moment) for n in self.names}
            known = [n for n in self.names if best[n]]
            won = [n for n in known if min(best[n]) <= TABLE_5[n].simultaneous]
            if known:
                lines.append(
                    f"`carretero`, simultaneous, best of {self.count('carretero')} runs after "
                    f"{moment} s: at or below the paper's makespan on {len(won)} of {len(known)}."
                )
        return lines

    def _queuesmith(self) -> list[str]:
        lines = []
        for moment in (self.early, self.end):
            found = {n: self.values("queuesmith", n, moment) for n in self.names}
            known = [n for n in self.names if found[n]]
            won = [n for n in known if max(found[n]) < TABLE_5[n].simultaneous]
            gaps = [100 * (Statistics.of(found[n]).mean / _lp(n) - 1) for n in known]
            if known:
                lines.append(
                    f"`queuesmith`, makespan, {self.count('queuesmith')} runs, after {moment} s: "
                    f"below the paper's makespan in every run on {len(won)} of {len(known)}; mean "
                    f"gap to the LP bound {sum(gaps) / len(gaps):.2f} %."
                )
        return lines

    def _exact(self) -> list[str]:
        found = self._all_exact("makespan", self.names)
        if not found:
            return []
        gap = sum(100 * (piece["makespan"] / _lp(n) - 1) for n, piece in found.items())
        return [
            f"`exact`, makespan, {self.pieces.exact_seconds:g} s, {self.pieces.workers} workers: "
            f"mean gap to the LP bound {gap / len(found):.3f} %; at or below CPR on "
            f"{_wins(found, '_CPR_')} of {len(found)}, at or below MS on {_wins(found, '_MS_')}."
        ]

    def _flowtime(self) -> list[str]:
        found = self._all_exact("flowtime", self.names)
        if not found:
            return []
        proven = sum(piece["status"] == "optimal" for piece in found.values())
        longest = max(piece["seconds"] for piece in found.values())
        return [
            f"`exact`, flowtime: proven optimal on {proven} of {len(found)}, in at most "
            f"{longest:.1f} s."
        ]

    def _all_exact(self, objective: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = {name: self.pieces.exact(name, objective, make=False) for name in names}
        return {name: piece for name, piece in found.items() if piece is not None}

    def makespans(self) -> str:
        """Return table 5, as far as the genetic schedulers go."""
        return markdown([self._makespan_row(name) for name in self.names])

    def _makespan_row(self, name: str) -> dict[str, object]:
        paper = TABLE_5[name]
        early = self.values("carretero", name, self.early)
        late = self.values("carretero", name, self.end)
        own_early = self.values("queuesmith", name, self.early)
        own = self.values("queuesmith", name, self.end)
        hierarchic = self.values("hierarchic", name, self.end)
        return {
            "instance": name,
            "Min-Min paper": f"{paper.min_min:.1f}",
            "ours": f"{map_by_heuristic(instance(name), 'min-min').makespan:.1f}",
            "hierarchic paper": f"{paper.hierarchic:.1f}",
            "`carretero` hierarchic best": _best(hierarchic),
            "simultaneous paper": f"{paper.simultaneous:.1f}",
            f"`carretero` best, {self.early} s": _best(early),
            f"best, {self.end} s": _best(late),
            "mean (sd)": _spread(late),
            "against the paper %": _against(late, paper.simultaneous),
            f"`queuesmith` worst, {self.early} s": _worst(own_early),
            f"best, {self.end} s ": _best(own),
            f"worst, {self.end} s": _worst(own),
            "mean gap to LP %": _against([Statistics.of(own).mean] if own else [], _lp(name)),
        }

    def exact(self) -> str:
        """Return what the exact method finds beside the published solutions and the bounds."""
        return self._exact_table(self.names, with_best_known=True)

    def larger(self) -> str:
        """Return the same for the instances of 1,024 x 32, or nothing where none was solved."""
        names = larger_names()
        found = self._all_exact("makespan", names)
        if not found:
            return ""
        words = (
            f"`exact` in {self.pieces.exact_seconds:g} s with {self.pieces.workers} workers: at or "
            f"below the published solution on {_wins(found, '_CPR_')} of {len(found)}. Six files "
            "hold times rounded to 0.00; these count as 1e-9."
        )
        return f"{words}\n\n{self._exact_table(list(found), with_best_known=False)}"

    def _exact_table(self, names: Sequence[str], *, with_best_known: bool) -> str:
        rows = []
        for name, piece in self._all_exact("makespan", names).items():
            row = {
                "instance": name,
                "LP bound": f"{piece['lp_bound']:.2f}",
                "proven bound": f"{piece['lower_bound']:.2f}",
                "exact": f"{piece['makespan']:.2f}",
                "gap to LP %": f"{100 * (piece['makespan'] / piece['lp_bound'] - 1):.3f}",
                "proven gap %": f"{piece['gap_percent']:.3f}",
                "published (CPR)": f"{published(name, '_CPR_'):.1f}",
            }
            if with_best_known:
                row["best known (MS)"] = f"{published(name, '_MS_'):.1f}"
            rows.append(row)
        return markdown(rows) if rows else "Not made yet."

    def flowtimes(self) -> str:
        """Return table 6: the paper's flowtimes, ours, the proven least."""
        return markdown([self._flowtime_row(name) for name in self.names])

    def _flowtime_row(self, name: str) -> dict[str, object]:
        paper = TABLE_6[name]
        if_better = self.values("carretero", name, self.end, "flowtime")
        steady = self.values("steady-state", name, self.end, "flowtime")
        exact = self.pieces.exact(name, "flowtime", make=False)
        return {
            "instance": name,
            "if-better paper": f"{paper.if_better:.1f}",
            "`carretero` best": _best(if_better),
            "steady-state paper": f"{paper.steady_state:.1f}",
            "`steady-state` best": _best(steady),
            "least (proven)": "-" if exact is None else f"{exact['flowtime']:.2f}",
            "status": "-" if exact is None else exact["status"],
            "seconds": "-" if exact is None else f"{exact['seconds']:.1f}",
        }

    def front(self, name: str) -> str:
        """Return the trade-off of an instance, or nothing where it was not made."""
        piece = self.pieces.front(name, make=False)
        if piece is None:
            return ""
        points = zip(piece["makespan"], piece["flowtime"], piece["flowtime_bound"], strict=True)
        return markdown(
            [
                {
                    "makespan": f"{makespan:.1f}",
                    "flowtime": f"{flowtime:.1f}",
                    "flowtime proven to be needed": f"{bound:.1f}",
                    "gap %": f"{100 * (flowtime / bound - 1):.2f}",
                }
                for makespan, flowtime, bound in points
            ]
        )


def _lp(name: str) -> float:
    return lower_bound(instance(name)).value


def _wins(found: dict[str, dict[str, Any]], kind: str) -> int:
    return sum(
        piece["makespan"] <= published(name, kind) + ROUNDED for name, piece in found.items()
    )


def _best(values: Sequence[float]) -> str:
    return f"{min(values):.1f}" if values else "-"


def _worst(values: Sequence[float]) -> str:
    return f"{max(values):.1f}" if values else "-"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    statistics = Statistics.of(values)
    return f"{statistics.mean:.1f} ({statistics.std:.1f})"


def _against(values: Sequence[float], reference: float) -> str:
    return f"{100 * (min(values) / reference - 1):+.2f}" if values else "-"
