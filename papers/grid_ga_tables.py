"""The tables of the study of genetic schedulers for grids, made from the pieces that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.grid_ga_claims import all_claims
from papers.grid_ga_figures import compared_figures
from papers.grid_ga_paper import TABLE_5, TABLE_6
from papers.grid_ga_runs import (
    Pieces,
    generated_names,
    instance,
    larger_names,
    published,
)
from papers.study import markdown
from queuesmith.grid.exact import lower_bound
from queuesmith.grid.genetic.runs import Statistics

#: The moment at which a run has done the work of the paper's.
WORK = "work"
#: Columns of the paper's tables by the names of their fields.
TABLE_6_COLUMNS = ("if_better", "steady_state")
#: Published makespans are rounded to one decimal.
ROUNDED = 0.05
#: Published solutions by the heads of their columns.
CPR, MS = {"published (CPR)": "_CPR_"}, {"best known (MS)": "_MS_"}


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

    def __init__(self, pieces: Pieces, names: Sequence[str], early: Sequence[float]) -> None:
        self.pieces, self.names = pieces, list(names)
        self.moments = [f"{seconds:g}" for seconds in (*early, pieces.seconds)]
        self.last = self.moments[-1]

    def values(self, column: str, name: str, moment: str, what: str = "makespan") -> list[float]:
        """Return what the kept runs of a column had found by a moment, or at the paper's work."""
        if moment == WORK:
            runs = self.pieces.runs(column, name, by_time=False)
            return [float(run["end"][what]) for run in runs]
        runs = self.pieces.runs(column, name)
        return [float(run["course"][moment][what]) for run in runs if moment in run["course"]]

    def found(self, column: str, moment: str, what: str = "makespan") -> dict[str, list[float]]:
        """Return what the runs of a column had found at a moment, where there are any."""
        values = {name: self.values(column, name, moment, what) for name in self.names}
        return {name: found for name, found in values.items() if found}

    def claims(self) -> str:
        """Return the paper's sentences beside what was found, and whether they hold."""
        figures = compared_figures(self.pieces.curves)
        claims = [*all_claims(self), *(claim for each in figures for claim in each.claims())]
        return markdown([claim.row() for claim in claims])

    def reached(self) -> str:
        """Return in words what was reached beyond the paper."""
        lines = [*self._queuesmith(), *self._exact(), *self._flowtime()]
        return "\n".join(f"- {line}" for line in lines)

    def at_or_below(self, column: str, what: str, moment: str) -> tuple[int, int, str]:
        """Return on how many instances the best of a column is as good as the paper's, and runs."""
        found = self.found(column, moment, "flowtime" if what in TABLE_6_COLUMNS else "makespan")
        won = [name for name in found if min(found[name]) <= paper_value(name, what)]
        return len(won), len(found), _runs(found) if found else "no run"

    def work_table(self, columns: Sequence[tuple[str, str]], moment: str) -> str:
        """Return the best of columns beside the paper's, in per cent of it; `WORK` is its work."""
        rows = []
        for name in self.names:
            row: dict[str, object] = {"instance": name}
            for column, what in columns:
                flow = "flowtime" if what in TABLE_6_COLUMNS else "makespan"
                values, paper = self.values(column, name, moment, flow), paper_value(name, what)
                row[f"the paper's, {what.replace('_', ' ')}"] = f"{paper:.1f}"
                row[f"`{column}` best %"] = _against(values, paper)
                mean = [Statistics.of(values).mean] if values else []
                row[f"`{column}` mean %"] = _against(mean, paper)
            rows.append(row)
        return markdown(rows)

    def _queuesmith(self) -> list[str]:
        lines = []
        for moment in self.moments:
            found = self.found("queuesmith", moment)
            won = [name for name in found if max(found[name]) < TABLE_5[name].simultaneous]
            gaps = [100 * (Statistics.of(found[name]).mean / _lp(name) - 1) for name in found]
            if found:
                lines.append(
                    f"`queuesmith`, makespan, {_runs(found)}, after {moment} s: "
                    f"below the paper's makespan in every run on {len(won)} of {len(found)}; mean "
                    f"gap to the LP bound {sum(gaps) / len(gaps):.2f} %."
                )
        return lines

    def _exact(self) -> list[str]:
        found = self._all_exact("makespan", self.names)
        if not found:
            return []
        gap = sum(100 * (piece["makespan"] / _lp(n) - 1) for n, piece in found.items())
        fair = sum(map(self.pieces.by_processor, found))
        return [
            f"`exact`, makespan, {self.pieces.exact_seconds:g} s, {self.pieces.workers} workers "
            f"(seconds of the processor on {fair} of {len(found)}, else of the clock): "
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

    def equal_time(self, columns: Sequence[tuple[str, str]], moment: str) -> str:
        """Say on how many instances each column is as good as the paper's in so many seconds."""
        lines = []
        for column, what in columns:
            won, of, runs = self.at_or_below(column, what, moment)
            table = f"table {6 if what in TABLE_6_COLUMNS else 5}, {what.replace('_', ' ')}"
            if of:
                lines.append(
                    f"- `{column}` ({table}), best of {runs}: at or below the paper's on {won} of "
                    f"{of}."
                )
        return "\n".join(lines) if lines else "No column was run as long."

    def own_makespans(self) -> str:
        """Return what the preset queuesmith finds, beside the paper's best and the bound."""
        return markdown([self._own_row(name) for name in self.names])

    def _own_row(self, name: str) -> dict[str, object]:
        row: dict[str, object] = {
            "instance": name,
            "the paper's, simultaneous": f"{TABLE_5[name].simultaneous:.1f}",
            "LP bound": f"{_lp(name):.1f}",
        }
        for moment in self._seen("queuesmith"):
            values = self.values("queuesmith", name, moment)
            mean = [Statistics.of(values).mean] if values else []
            row |= {
                f"best, {moment} s": _best(values),
                f"worst, {moment} s": _worst(values),
                f"mean gap to LP %, {moment} s": _against(mean, _lp(name)),
            }
        return row

    def _seen(self, column: str) -> list[str]:
        """Return the moments that some run of a column has seen."""
        return [moment for moment in self.moments if self.found(column, moment)]

    def exact(self) -> str:
        """Return what the exact method finds beside the published solutions and the bounds."""
        return self._exact_table(self.names, CPR | MS)

    def larger(self) -> str:
        """Return the same for the instances of 1,024 x 32, or nothing where none was solved."""
        names = larger_names()
        found = self._all_exact("makespan", names)
        if not found:
            return ""
        rest = [f"`{name}`" for name in found if not self.pieces.by_processor(name)]
        clock = f", but for {', '.join(rest)}, timed by the clock" if rest else ""
        words = (
            f"`exact` in {self.pieces.exact_seconds:g} s with {self.pieces.workers} workers: at or "
            f"below the published solution on {_wins(found, '_CPR_')} of {len(found)}. They are "
            f"seconds of the processor (`--by-processor`){clock}. Six files hold "
            "times rounded to 0.00; these count as 1e-9."
        )
        return f"{words}\n\n{self._exact_table(list(found), CPR)}"

    def generated(self) -> str:
        """Return the same for large instances of our own, or nothing where none was solved."""
        found = self._all_exact("makespan", list(generated_names()))
        if not found:
            return ""
        near = sum(piece["gap_percent"] <= 1.0 for piece in found.values())
        words = (
            f"`exact` in {self.pieces.exact_seconds:g} s with {self.pieces.workers} workers, LP "
            f"included: within 1 % of the proven bound on {near} of {len(found)}. They are seconds "
            "of the processor. Constants were chosen on instances of other seeds."
        )
        return f"{words}\n\n{self._exact_table(list(found), {})}"

    def _exact_table(self, names: Sequence[str], solutions: dict[str, str]) -> str:
        rows = []
        for name, piece in self._all_exact("makespan", names).items():
            row = {
                "instance": name,
                "LP bound": f"{piece['lp_bound']:.2f}",
                "proven bound": f"{piece['lower_bound']:.2f}",
                "exact": f"{piece['makespan']:.2f}",
                "gap to LP %": f"{100 * (piece['makespan'] / piece['lp_bound'] - 1):.3f}",
                "proven gap %": f"{piece['gap_percent']:.3f}",
            }
            row |= {head: f"{published(name, kind):.1f}" for head, kind in solutions.items()}
            rows.append(row)
        return markdown(rows) if rows else "Not made yet."

    def flowtimes(self) -> str:
        """Return the paper's flowtimes and the proven least."""
        return markdown([self._flowtime_row(name) for name in self.names])

    def _flowtime_row(self, name: str) -> dict[str, object]:
        exact = self.pieces.exact(name, "flowtime", make=False)
        return {
            "instance": name,
            "the paper's, if better": f"{TABLE_6[name].if_better:.1f}",
            "the paper's, steady state": f"{TABLE_6[name].steady_state:.1f}",
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


def paper_value(name: str, what: str) -> float:
    """Return what the paper reports for an instance in a column of its tables."""
    table = TABLE_6 if what in TABLE_6_COLUMNS else TABLE_5
    return float(getattr(table[name], what))


def _runs(found: dict[str, list[float]]) -> str:
    """Say how many runs there are: one number, or the least and the most of an instance."""
    counts = sorted({len(values) for values in found.values()})
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} runs"
    return "1 run" if counts[0] == 1 else f"{counts[0]} runs"


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


def _against(values: Sequence[float], reference: float) -> str:
    return f"{100 * (min(values) / reference - 1):+.2f}" if values else "-"
