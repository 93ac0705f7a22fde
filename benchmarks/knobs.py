"""All settings of the knobs on a real log, beside the paper's 30 s."""

import queuesmith as qs
from benchmarks.data import trace
from queuesmith.knobs import quick_search, sweep

#: Jobs, cores, target in seconds on two cores.
CASES = ((50, 65_536, 2.0), (1000, 163_840, 300.0))


def knobs() -> None:
    """Time the sweep of 68,921 settings, and the quick search on the whole log."""
    path = trace("ANL-Intrepid-2009-1.swf.gz")
    if path is None:
        return
    log = qs.read(path)
    sweep(log.head(2), ranges="0:1:1")  # compiled before the clock starts
    for jobs, cores, target in CASES:
        found = sweep(log.head(jobs), cores=cores, backfill="easy")
        verdict = "met" if found.seconds <= target else "MISSED"
        print(
            f"{len(found):,} settings on {jobs:,} jobs: {found.seconds:.2f} s, "
            f"{found.replays:,} replays; target {target:g} s: {verdict}"
        )
    found = quick_search(log, backfill="easy", objectives=["mean_wait"])
    verdict = "met" if found.seconds <= 600 else "MISSED"
    print(
        f"quick search on {len(log):,} jobs: {found.seconds:.0f} s, {len(found):,} replays; "
        f"target 600 s: {verdict}"
    )


if __name__ == "__main__":
    knobs()
