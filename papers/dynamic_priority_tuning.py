"""Knobs that tune themselves beside fixed ones, on jobs that neither has seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from papers.kept_pieces import KeptPieces
from papers.study import data_folder, markdown
from queuesmith import read
from queuesmith.knobs.options import WEEK, RetuneOptions
from queuesmith.knobs.retuning import held_out

INTREPID = "ANL-Intrepid"
#: The one that the paper used, and those of the logs that window and neighbourhood were chosen on
#: (``retune_constants.py``) that take minutes.
LOGS = {
    INTREPID: "ANL-Intrepid-2009-1.swf.gz",
    "KTH": "KTH-SP2-1996-2.1-cln.swf.gz",
    "SDSC-Par": "SDSC-Par-1996-3.1-cln.swf.gz",
    "CTC": "CTC-SP2-1996-3.1-cln.swf.gz",
}
OBJECTIVES = ("mean_wait", "expansion_factor")
#: How retune searched before: the last 12 weeks, each setting by its own value.
BEFORE = (12.0, 0.0)
NOW = (RetuneOptions.window / WEEK, RetuneOptions.neighbourhood)


def make_runs(kept: KeptPieces) -> None:
    """Make what is missing."""
    for asked in itertools.product(LOGS, OBJECTIVES, (NOW, BEFORE)):
        kept.piece(_name(*asked), partial(_run, *asked))


def _name(log: str, objective: str, way: tuple[float, float]) -> str:
    weeks, neighbourhood = way
    return f"self-tuning {log} {objective} {weeks:g} weeks {neighbourhood:g}"


def _run(log: str, objective: str, way: tuple[float, float]) -> dict[str, Any]:
    jobs = read(data_folder("traces") / LOGS[log])
    weeks, neighbourhood = way
    judged = held_out(jobs, None, objective, window=weeks * WEEK, neighbourhood=neighbourhood)
    gain = judged.gain
    told = None if gain is None else [gain.value, gain.low, gain.high]
    return {"rows": {row.pop("policy"): row for row in map(dict, judged.rows)}, "gain": told}


def text(kept: KeptPieces) -> str:
    """Return the section of the page."""
    rows = []
    changes: dict[str, list[tuple[float, float]]] = {log: [] for log in LOGS}
    for log, objective in itertools.product(LOGS, OBJECTIVES):
        if not all(_name(log, objective, way) in kept for way in (NOW, BEFORE)):
            continue
        now, before = (kept[_name(log, objective, way)] for way in (NOW, BEFORE))
        rows.append(_row(log, objective, now, before))
        changes[log].append((_against_fixed(now), _against_fixed(before)))
    others = [pair for log, pairs in changes.items() if log != INTREPID for pair in pairs]
    if not others or len(changes[INTREPID]) < len(OBJECTIVES):
        return "## Knobs that tune themselves\n\nNot made yet.\n"
    on_others, then = (_against_words(each) for each in zip(*others, strict=True))
    every = [pair for pairs in changes.values() for pair in pairs]
    better = sum(pair[0] < pair[1] for pair in every)
    own = "; ".join(
        f"{100 * (pair[0] - 1):+.1f} % on `{objective}`, {100 * (pair[1] - 1):+.1f} % before"
        for objective, pair in zip(OBJECTIVES, changes[INTREPID], strict=True)
    )
    lost = all(pair[0] > 1 for pair in changes[INTREPID])
    verdict = "one fixed setting did better" if lost else "it was not worse throughout"
    gains = [kept[_name(INTREPID, objective, NOW)]["gain"] for objective in OBJECTIVES]
    chance = ", though by no more than chance" if all(_by_chance(gain) for gain in gains) else ""
    return f"""## Knobs that tune themselves

Whole logs, EASY; knobs searched anew every week among 99 settings, on a window of the past
(`queuesmith retune --compare`). Fixed settings are searched on the first half of a log and judged
on the second, which they have not seen; hindsight is searched on the second half itself, from an
empty machine, so it need not be the best behind the jobs that came before. *Turns* says how often
self-tuning changed the setting; *fixed among neighbours* was searched once, as a turn is. Changes
are against the best fixed setting, on the second half, below 0 is better, with the 95 % range where
the weeks of that half are redrawn. The last two columns tell the price: the longest wait. A row
that is missing was not run.

{markdown(rows)}

**On ANL-Intrepid {verdict}**{chance}: {own}. Settings lie close together, and on a few weeks
the least of a hundred values is mostly the luckiest; *before* stands for that, over 12 weeks. Now a
setting is worth the mean of its neighbours, over {NOW[0]:g} weeks. Both were chosen on seven other
logs by an estimate (`python -m papers.retune_constants`), in which self-tuning costs 0.84 of the
best fixed setting. Replayed in earnest it is better than before in {better} of {len(every)} rows,
but on the other logs of this table it is {on_others} (before: {then}), although these
had a part in the choice: **no gain to count on**. The ranges are wide, above all of expansion
factors, which hang on a few jobs of seconds that happen to wait for days. So turn no knobs by
themselves unless `queuesmith retune --compare` has said of your log that it pays.
"""


def _by_chance(gain: list[float] | None) -> bool:
    """Tell whether the range of a gain has both signs."""
    return gain is not None and gain[1] is not None and gain[1] <= 0 <= gain[2]


def _against_words(values: Sequence[float]) -> str:
    """Say how some costs are against those of the best fixed setting."""
    mean, worst = math.exp(float(np.mean(np.log(values)))), max(values)
    side = "better" if mean < 1 else "worse"
    return (
        f"{100 * abs(mean - 1):.0f} % {side} than the best fixed setting by the geometric mean, "
        f"{100 * (worst - 1):+.0f} % at worst"
    )


def _against_fixed(piece: dict[str, Any], policy: str = "self-tuning") -> float:
    found, fixed = (piece["rows"][name]["held out"] for name in (policy, "best fixed"))
    return float(found / fixed)


def _row(log: str, objective: str, now: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
    def change(piece: dict[str, Any], policy: str = "self-tuning") -> str:
        return f"{100 * (_against_fixed(piece, policy) - 1):+.1f}"

    told = change(now)
    if now["gain"] is not None and now["gain"][1] is not None:
        told += f" ({-now['gain'][2]:+.1f} to {-now['gain'][1]:+.1f})"
    waits = {
        policy: f"{now['rows'][policy]['longest wait'] / 3600:,.0f} h"
        for policy in ("self-tuning", "best fixed")
    }
    return {
        "log": log,
        "objective": objective,
        "self-tuning %": told,
        "turns": now["rows"]["self-tuning"]["knobs"].split()[0],
        "before %": change(before),
        "fixed among neighbours %": change(now, "best fixed among neighbours"),
        "hindsight %": change(now, "best fixed in hindsight"),
        "first come %": change(now, "first come, first served"),
        "longest, self-tuning": waits["self-tuning"],
        "longest, best fixed": waits["best fixed"],
    }
