"""Which way of learning serves later jobs: the held-out part of the RLScheduler study rests on it.

    python -m papers.rl_scheduler_choice

learns the order ``blend`` in several ways on the earlier half of logs that the study does not
report (two generated ones, KTH and CTC, squeezed in time until they are as busy), and prints by how
much each is above or below the best fixed order on 50 later sequences. With ``--foretold`` it keeps
what the earlier half chooses of two orders that look at foretold runtimes, for more such logs; with
``--validated`` it learns what is missing on still more of them, keeps what each rule of the fourth
way takes there and what that is worth, and prints it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

import queuesmith as qs
from papers.kept_pieces import KeptPieces
from papers.rl_scheduler_foretold import GENERATED as SEEDS
from papers.rl_scheduler_foretold import chosen, generated, halves, learned_on
from papers.rl_scheduler_later import CHOICE, best_fixed
from papers.rl_scheduler_learning import FOR_LATER, LEARNED, SEQUENCES, Way, learn
from papers.rl_scheduler_paper import LENGTH
from papers.rl_scheduler_runs import (
    FIXED,
    MENDED,
    RULES,
    Columns,
    JobSequence,
    judged,
    read_columns,
)
from papers.rl_scheduler_validated import (
    JUDGED,
    TRIED,
    VALIDATED,
    on_quarters,
    on_whole,
    orders_of,
    other_log_rows,
    parts_of,
    rule_rows,
    slowdowns_of,
)
from papers.study import ROOT, markdown


@dataclass(frozen=True)
class Squeezed:
    """A real log: its file and cores, how far submissions are squeezed in time, which jobs."""

    file: str
    cores: int
    squeeze: float
    jobs: slice


#: Real logs on which ways of learning were tried at first.
SQUEEZED = {
    "KTH": Squeezed("KTH-SP2-1996-2.1-cln", 100, 0.9, slice(40_000)),
    "CTC": Squeezed("CTC-SP2-1996-3.1-cln", 338, 0.75, slice(40_000)),
}
#: For the orders with foretold runtimes, besides.
MORE_SQUEEZED = SQUEEZED | {
    "LANL": Squeezed("LANL-CM5-1994-4.1-cln", 1024, 0.8, slice(60_000)),
    "ANL": Squeezed("ANL-Intrepid-2009-1", 163_840, 0.7, slice(60_000)),
}
#: For the rules of the fourth way, besides.
ALL_SQUEEZED = MORE_SQUEEZED | {
    "CTC, last jobs": Squeezed("CTC-SP2-1996-3.1-cln", 338, 0.75, slice(40_000, None)),
    "LANL, last jobs": Squeezed("LANL-CM5-1994-4.1-cln", 1024, 0.7, slice(60_000, None)),
    "SDSC-Par": Squeezed("SDSC-Par-1996-3.1-cln", 400, 0.75, slice(None)),
    "NASA": Squeezed("NASA-iPSC-1993-3.1-cln", 128, 0.45, slice(None)),
}
#: Generated logs of 10,000 jobs on 256 cores: the seed and the load.
GENERATED = {"generated, seed 11": (11, 1.05), "generated, seed 12": (12, 0.8)}
WAYS = {
    "as for the published sequences": Way("chance", 1.0, "mean", "best", FOR_LATER.generations),
    "from smallest area, mean": Way("smallest area", 0.3, "mean", "centre", FOR_LATER.generations),
    "from smallest area, ratio": FOR_LATER,
}


def main() -> None:
    """Print a row for each log."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rules", choices=RULES, default="easy")
    parser.add_argument("--logs", nargs="+", default=[*GENERATED, *SQUEEZED])
    parser.add_argument("--foretold", action="store_true", help="orders with foretold runtimes")
    parser.add_argument("--validated", action="store_true", help="rules of the fourth way")
    asked = parser.parse_args()
    kept = KeptPieces(ROOT / "papers" / "kept" / "rl_scheduler.json")
    if asked.foretold:
        keep_foretold(kept)
        return
    if asked.validated:
        keep_validated(kept)
        print(markdown(rule_rows(kept)), markdown(other_log_rows(kept)), sep="\n\n")
        return
    rows = []
    for log in asked.logs:
        rows.append({"log": log} | changes(*jobs_of(log), asked.rules))
        print(rows[-1], flush=True)
    print(markdown(rows))


def changes(jobs: Columns, cores: int, rules: str) -> dict[str, object]:
    """Return the change over the best fixed order of the judged half, in per cent, for each way."""
    border = int(LEARNED * len(jobs))
    earlier = spread(jobs[:border], cores, SEQUENCES["learned"])
    later = spread(jobs[border:], cores, SEQUENCES["judged"])
    fixed = min(float(judged(order, rules, later).mean()) for order in FIXED.values())
    told: dict[str, object] = {"best fixed order": f"{fixed:.2f}"}
    for name, way in WAYS.items():
        order = learn(rules, earlier, 0, way).order
        told[name] = f"{100 * (judged(order, rules, later).mean() / fixed - 1):+.1f} %"
    return told


def keep_foretold(kept: KeptPieces) -> None:
    """Keep what the earlier half of each other log chooses, and what it is worth later.

    The learned order never comes from the log that is judged: it is learned on the generated logs
    of odd seeds for those of even seeds, and the other way round; for real ones on all.
    """
    for seed in SEEDS:
        others = tuple(other for other in SEEDS if other % 2 != seed % 2)
        _keep_one(kept, f"generated, seed {seed}", generated(seed), others)
    for log in MORE_SQUEEZED:
        _keep_one(kept, log, jobs_of(log), tuple(SEEDS))


def _keep_one(
    kept: KeptPieces, log: str, jobs: tuple[Columns, int], seeds: tuple[int, ...]
) -> None:
    learned = learned_on(kept, seeds, only_kept=False)
    assert learned is not None

    def make() -> dict[str, object]:
        parts = halves(*jobs)
        name, order = chosen(learned, parts["learned"])
        rivals = {"five": MENDED, "six": FIXED}
        best = {
            each: float(best_fixed(orders, "easy", parts["judged"])[1].mean())
            for each, orders in rivals.items()
        }
        return {"chosen": name, "ours": float(judged(order, "easy", parts["judged"]).mean())} | best

    kept.piece(CHOICE + log, make)


def keep_validated(kept: KeptPieces) -> None:
    """Keep what each rule of the fourth way takes for each other log, and what it is worth."""
    for log in ALL_SQUEEZED:
        _keep_rules(kept, log, jobs_of(log))
    for seed in SEEDS:
        _keep_rules(kept, f"generated, seed {seed}", generated(seed))


def _keep_rules(kept: KeptPieces, log: str, jobs: tuple[Columns, int]) -> None:
    quarters = on_quarters(kept, log, *jobs, only_kept=False)
    whole = on_whole(kept, log, *jobs, only_kept=False)
    assert quarters is not None
    assert whole is not None

    def make() -> dict[str, object]:
        orders = orders_of(quarters, whole, foretold=True)
        slowdowns = slowdowns_of(orders, parts_of(*jobs, foretold=True))
        later = {name: float(found[JUDGED].mean()) for name, found in slowdowns.items()}
        taken = {name: rule.chosen(slowdowns) for name, rule in TRIED.items()}
        return {
            "five": min(later[name] for name in MENDED),
            "six": min(later[name] for name in FIXED),
            "rules": {name: {"chosen": one, "ours": later[one]} for name, one in taken.items()},
        }

    kept.piece(VALIDATED + log, make)


def spread(jobs: Columns, cores: int, count: int) -> list[JobSequence]:
    """Return sequences that begin evenly over some jobs."""
    starts = np.linspace(0, len(jobs) - LENGTH, count).astype(int)
    return [JobSequence(jobs[start : start + LENGTH], cores) for start in starts]


def jobs_of(log: str) -> tuple[Columns, int]:
    """Return a log that the study does not report, and its cores."""
    if log in GENERATED:
        seed, load = GENERATED[log]
        made = qs.lublin(10_000, 256, seed=seed, load=load, estimates=False)
        return np.stack([made.submit, made.runtime, made.walltime, made.cores], axis=1), 256
    real = ALL_SQUEEZED[log]
    jobs = read_columns(real.file)[real.jobs]
    jobs[:, 0] = (jobs[:, 0] - jobs[0, 0]) * real.squeeze
    jobs[:, 3] = np.clip(jobs[:, 3], 1, real.cores)
    return jobs, real.cores


if __name__ == "__main__":
    main()
