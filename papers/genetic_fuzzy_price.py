"""Further tables of the genetic fuzzy study: what groups pay, jobs not seen, extensions, cost."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from papers.genetic_fuzzy_approaches import APPROACHES, BEFORE_THE_GUARD, CHOSEN_ON
from papers.genetic_fuzzy_paper import LEARNERS, TABLE_4
from papers.genetic_fuzzy_results import GROUPS, Results
from papers.study import markdown, section

Row = dict[str, object]

DAY = 86_400
#: The share of "alone" that is asked of a learned policy where the paper's figure is above it.
ASKED = 0.85
#: So many seeds are asked for.
SEEDS = 3
#: A gain on jobs not seen of fewer per cent than this, by the median of the seeds, is none.
NO_GAIN = 0.05
EXTENSIONS = tuple(name for name, approach in APPROACHES.items() if approach.ours)
TITLES = {name: approach.title for name, approach in APPROACHES.items()} | BEFORE_THE_GUARD


def wait_rows(each: Results) -> list[Row]:
    """Return what groups wait under EASY, the best fixed strategy, and whatever was learned."""
    best = each.best_fixed()
    return [
        _wait_row(each, "EASY", each.easy),
        _wait_row(each, f"best fixed: {best}", each.fixed["all"][best]),
        *(
            _wait_row(each, title, run["learning"]["learned"])
            for name, title in TITLES.items()
            if (run := each.typical(name)) is not None
        ),
    ]


def waits(results: Sequence[Results]) -> str:
    """What each group waits on all logs, beside the gain."""
    rows = [row for each in results for row in wait_rows(each)]
    note = (
        "Beside every gain: the longest wait of each group in days, and in brackets its jobs that "
        "wait more than a week. Learned on all; the run that is the median of its seeds, of two "
        "the worse. The paper's learners have no guard, as in the paper; ours admit no policy "
        "under which a group's longest or 99 % wait is more than twice EASY's. *Cores kept free, "
        "no guard* was learned before there was a guard, from the best fixed strategy and with ten "
        "strategies that were chosen on these very logs, for f plus a wall where the utilization "
        "falls: it is kept as a warning."
    )
    return section("What groups pay", note, rows)


def _wait_row(results: Results, name: str, values: dict[str, Any]) -> Row:
    row: Row = {"log": results.name, "approach": name, "gain, %": f"{results.gain(values):.2f}"}
    for group in GROUPS:
        row[f"group {group}"] = _waits(values["waits"].get(group))
    return row


def _waits(waits: Sequence[float] | None) -> str:
    if waits is None:
        return "-"
    _, longest, _, beyond = waits
    return f"{longest / DAY:,.1f}" + (f" ({beyond:,})" if beyond else "")


def held_out(results: Sequence[Results]) -> str:
    """Learned on the first part of the log, judged on the rest, with paired intervals."""
    rows: list[Row] = []
    counts: dict[str, list[bool]] = {}
    of_thirteen: dict[str, list[bool]] = {}
    for each in results:
        for name, title in TITLES.items():
            runs = each.of(name, "held out")
            if not runs:
                continue
            over = [run["held out"]["gain"]["best fixed"] for run in runs]
            beaten = median(gain[0] for gain in over) > NO_GAIN
            counts.setdefault(title, []).append(beaten)
            over_thirteen = each.over_best_of_thirteen(name)
            assert over_thirteen is not None  # there are runs
            of_thirteen.setdefault(title, []).append(over_thirteen > NO_GAIN)
            rows.append(
                {
                    "log": each.name,
                    "approach": title,
                    "best fixed offered": runs[0]["learning"]["best fixed"],
                    "seen: over EASY": _gains(runs, "learning", "baseline"),
                    "not seen: over EASY": _gains(runs, "held out", "baseline"),
                    "not seen: over best fixed": _gains(runs, "held out", "best fixed"),
                    "better than it": "yes" if beaten else "no",
                    "not seen: over the best of the thirteen": f"{over_thirteen:.2f}",
                    "groups beyond the guard": ", ".join(map(str, each.beyond_the_guard(name))),
                    **{f"group {g}": _waits(_unseen(each, name).get(g)) for g in GROUPS},
                }
            )
    if not rows:
        return ""
    note = (
        "Learned on the first 70 % of the time, judged on the rest. The best fixed strategy is the "
        "best on the first part of the thirteen and of all else that the learner could choose "
        "from, and that keeps the guard where there is one; the best of the thirteen on the first "
        "part most often breaks it. On so many logs is the median of the seeds better (less than "
        f"{NO_GAIN:g} % is not):"
    )
    legend = (
        "Log by log, in per cent: in brackets the 95 % interval from redrawing weeks in pairs, one "
        "for each seed; a rest too short for one has none. *Groups beyond the guard*, one for each "
        "seed: how many wait longer on jobs not seen than the guard admits, twice as long as under "
        "EASY there; learning cannot enforce that, nor does a head start promise it. The last "
        "columns are longest waits in days on jobs not seen, as above."
    )
    summary = [
        {
            "approach": title,
            "better than the best fixed offered": _of_logs(beaten),
            "better than the best of the thirteen": _of_logs(of_thirteen[title]),
        }
        for title, beaten in counts.items()
    ]
    return f"{section('Held out', note, summary)}\n\n{legend}\n\n{markdown(rows)}"


def _of_logs(beaten: Sequence[bool]) -> str:
    return f"{sum(beaten)} of {len(beaten)}"


def _unseen(results: Results, approach: str) -> dict[str, Any]:
    run = results.typical(approach, "held out")
    return {} if run is None else dict(run["held out"]["learned"]["waits"])


def _gains(runs: Sequence[dict[str, Any]], part: str, than: str) -> str:
    return "; ".join(_gain(run[part]["gain"][than]) for run in runs)


def _gain(gain: Sequence[float | None] | None) -> str:
    if gain is None or gain[0] is None:
        return "-"
    value, low, high = gain
    return f"{value:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")


def asked_of(results: Results) -> float:
    """Return the gain that is asked for on a log, in per cent."""
    paper = TABLE_4[results.name][-1] if results.name in TABLE_4 else None
    return ASKED * results.alone if paper is None else min(paper, ASKED * results.alone)


def extension_rows(results: Sequence[Results]) -> list[Row]:
    """Return what our own learners gain on each log, learned on all, beside what is asked."""
    return [
        {
            "log": each.name,
            "approach": APPROACHES[name].title,
            "gain, %": found,
            "best of the thirteen": f"{each.gain(each.fixed['all'][each.best_fixed()]):.2f}",
            "asked": f"{asked_of(each):.2f}",
            "reached": "yes" if found.median >= asked_of(each) else "no",
        }
        for each in results
        for name in EXTENSIONS
        if (found := each.gains(name)) is not None
    ]


def extensions(results: Sequence[Results]) -> str:
    """What our own learners reach, learned on all, with nobody starved."""
    rows = extension_rows(results)
    if not rows:
        return ""
    reached = sum(row["reached"] == "yes" for row in rows)
    chosen = "\n".join(f"- **{APPROACHES[name].title}**: {CHOSEN_ON[name]}" for name in EXTENSIONS)
    note = (
        "Not the paper's. All learn with the guard on: no group's longest or 99 % wait above twice "
        "EASY's, waits of up to a day apart. Asked is the smaller of the paper's figure and "
        f"{ASKED:.0%} of *alone*. Reached in {reached} of {len(rows)} rows."
    )
    table = section("Extensions of ours", note, rows)
    return f"{table}\n\n### What they are, and what they were chosen on\n\n{chosen}"


def cost(results: Sequence[Results]) -> str:
    """How much was computed, and what was not run."""
    rows: list[Row] = []
    for each in results:
        for (name, part), runs in each.runs.items():
            known = [run["cpu"] for run in runs if "cpu" in run]
            if known:
                cpu = median(known)
                replays = runs[0]["evaluations"]
                rows.append(
                    {
                        "log": each.name,
                        "approach": APPROACHES[name].title,
                        "learned on": "all" if part == "all" else "70 %",
                        "seeds": len(runs),
                        "replays": f"{replays:,}",
                        "CPU seconds": f"{cpu:.0f}",
                        "replays a CPU second": f"{replays / max(cpu, 1e-9):.1f}",
                    }
                )
    note = (
        "The paper needed 4 hours a replay: for the 843 of one log 4 months on one machine, and a "
        "week on its 120 processors. Processor seconds of one run, median of the seeds, reading "
        "the log and judging included; made on a machine with other work beside, and partly before "
        "replays of rule bases became faster."
    )
    return section("What it cost", note, rows)


def missing(results: Sequence[Results]) -> str:
    """Name what was not run."""
    lacking = [
        f"- {each.name}: {', '.join(words)}"
        for each in results
        for words in [
            [
                f"{APPROACHES[name].title} ({part})"
                for name in (*LEARNERS, *EXTENSIONS)
                for part in ("all", "held out")
                if not each.of(name, part)
            ]
        ]
        if words
    ]
    few = sum(0 < len(runs) < SEEDS for each in results for runs in each.runs.values())
    text = (
        f"With fewer than {SEEDS} seeds, so that their spread is not known: {few} of the rows "
        "above. Logs scaled in another way: only what their table shows. What sequences of the "
        "thirteen can reach was searched on a few windows only, not on whole logs. Not run at all:"
    )
    return "\n".join(["## What was not run", "", text, "", *(lacking or ["- nothing"])])
