"""Learned on one log, judged on the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import queuesmith as qs
from papers import genetic_fuzzy_logs as logs
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_runs import Runs
from papers.genetic_fuzzy_worth import worth
from papers.kept_pieces import KeptPieces
from papers.study import section
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.rulebase import rule_base_from

#: Whose policies go to other logs: PITTS, learned on all of a log, with the first seed.
LEARNER = "pitts, all, seed 0"


def transfer(runs: Runs, others: Sequence[str]) -> dict[str, Any] | None:
    """Return what policies that were learned on other logs are worth on this one."""
    names = {name: f"{name}, {runs.scaling}: {LEARNER}" for name in others if name != runs.name}
    known = {
        name: runs.kept[piece]["policy"] for name, piece in names.items() if piece in runs.kept
    }

    def make() -> dict[str, Any]:
        policies: list[AnyPolicy] = [rule_base_from(each) for each in known.values()]
        cluster = qs.Cluster(logs.CORES)
        found = qs.simulate_many(runs.log, cluster, policies, workers=runs.workers)
        return {name: worth(each) for name, each in zip(known, found, strict=True)}

    return runs.piece(f"learned on {', '.join(known)}", make) if known else None


def transfer_table(results: Sequence[Results], kept: KeptPieces) -> str:
    """Return a row for each log learned on, a column for each log judged on."""
    found: dict[str, dict[str, str]] = {}
    for each in results:
        for piece in kept.names(f"{each.name}, "):
            if ": learned on " in piece:
                best = each.fixed["all"][each.best_fixed()]
                for name, values in kept[piece].items():
                    over = 100 * (1 - values["f"] / best["f"])
                    cell = f"{each.gain(values):.2f} ({over:+.2f})"
                    found.setdefault(name, {})[each.name] = cell
    rows = [{"learned on": name, **found[name]} for name in logs.LOGS if name in found]
    if not rows:
        return ""
    note = (
        "PITTS, first seed, learned on all of one log: improvement of f over EASY on another in "
        "per cent, in brackets over the best of the thirteen fixed strategies there."
    )
    return section("Learned on one log, judged on others", note, rows)
