"""The paper's learners on logs that are scaled in another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from papers.genetic_fuzzy_approaches import APPROACHES
from papers.genetic_fuzzy_logs import Scaling
from papers.genetic_fuzzy_paper import LEARNERS, TABLE_3, TABLE_4
from papers.genetic_fuzzy_price import extension_rows, wait_rows
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_runs import kept_results
from papers.kept_pieces import KeptPieces
from papers.study import markdown, section

EXTENSIONS_TABLE = "[their table](#extensions-of-ours)"
WAITS_TABLE = "[the table above](#what-groups-pay)"
#: Where the utilization stands in a row of table 3.
U = 5
#: The settings beside the first: other jobs become wider, or as many jobs as the paper has.
OTHERS = (Scaling(1), Scaling(0, paper_jobs=True))


def other_scalings(kept: KeptPieces, fronts: Path) -> str:
    """Return what was learned on logs scaled in another way; empty where nothing was."""
    found = {how: kept_results(kept, fronts, how) for how in OTHERS}
    rows = [row for how, results in found.items() for row in _rows(how, results)]
    if not rows:
        return ""
    judged = [_holds(each) for each in found[OTHERS[1]] if each.gains("pitts")]
    note = (
        "Which jobs become wider and of which there are more is drawn by chance: with another "
        f"draw (`--scale-seed 1`, here *{OTHERS[0]}*), or with the factor that gives the paper's "
        "numbers of jobs (`--paper-jobs`), is it the same? Learned on all: improvement over EASY, "
        "median and range. Held out: over the best of the thirteen on the first 70 %, median of "
        "the seeds. *Holds* is the claim of table 4, that PITTS improves f by as much as the paper "
        f"says: with the paper's numbers of jobs on {judged.count('holds')} of {len(judged)} logs. "
        "More jobs on the same machine wait longer, and there is more to gain, for fixed "
        "strategies, too; so what is missed hangs on the scaling as well as on the learner. Nor is "
        "this the paper's setting: of its logs it tells the utilization of CTC alone, "
        f"{TABLE_3['EASY'][U]} %, and with as many jobs as there our machine is busier."
    )
    return "\n\n".join(
        [section("The logs scaled in another way", note, rows), *_ours(found), _waits(found)]
    )


def _ours(found: Mapping[Scaling, Sequence[Results]]) -> list[str]:
    """Say what our own learners gain there; nothing where none was run."""
    rows = [{"scaled": how, **row} for how, each in found.items() for row in extension_rows(each)]
    if not rows:
        return []
    reached = sum(row["reached"] == "yes" for row in rows)
    note = (
        f"**Extensions of ours there**, with the guard on, as in {EXTENSIONS_TABLE}; asked is the "
        "smaller of the paper's figure and so much of what is *alone* there. Reached in "
        f"{reached} of {len(rows)} rows."
    )
    return [f"{note}\n\n{markdown(rows)}"]


def _waits(found: Mapping[Scaling, Sequence[Results]]) -> str:
    """Say what groups pay there."""
    rows = [
        {"scaled": how, **row}
        for how, results in found.items()
        for each in results
        for row in wait_rows(each)
    ]
    return f"What groups pay there, as in {WAITS_TABLE}:\n\n{markdown(rows)}"


def _rows(how: Scaling, results: Sequence[Results]) -> list[dict[str, object]]:
    return [
        {
            "log": each.name,
            "scaled": how,
            "jobs": f"{each.fixed['jobs']['all']:,}",
            "U under EASY, %": f"{100 * each.easy['utilization']:.1f}",
            "PITTS, paper": TABLE_4[each.name][-1] if each.name in TABLE_4 else "-",
            **{APPROACHES[name].title: each.gains(name) or "-" for name in LEARNERS},
            "PITTS holds": _holds(each),
            "best of the thirteen": f"{each.gain(each.fixed['all'][each.best_fixed()]):.2f}",
            "alone": f"{each.alone:.2f}",
            **{f"{APPROACHES[name].title}, held out": _held_out(each, name) for name in LEARNERS},
        }
        for each in results
    ]


def _holds(results: Results) -> str:
    """Say whether PITTS improves f by as much as the paper says; the median of the seeds."""
    found, paper = results.gains("pitts"), TABLE_4.get(results.name)
    if found is None or paper is None:
        return "not run"
    return "holds" if found.median >= paper[-1] else "**fails**"


def _held_out(results: Results, approach: str) -> str:
    over = results.over_best_of_thirteen(approach)
    return "-" if over is None else f"{over:.2f}"
