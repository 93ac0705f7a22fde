"""The process of a run: does what its folder asks for, and tells there how far it is."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.errors import QueuesmithError, interrupted
from queuesmith.base.files import atomic_write
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.web.runs import (
    FAILURE,
    JOBS,
    OUTPUT,
    POLICY,
    PROGRESS,
    RESULT,
    STOPPED,
    STORE,
    Run,
    load_jobs,
)

#: The most settings of a sweep that the map shows; more hide each other.
MOST_POINTS = 4_000
#: Planning steps with more waiting jobs are left to the command line, which has more time.
MOST_WAITING = 60

Told = Callable[[dict[str, Any]], None]


def main(folder: Path) -> int:
    """Do a run to its end, or until it is told to stop."""
    signal.signal(signal.SIGTERM, _interrupt)
    run = Run(folder)
    (folder / PROGRESS).unlink(missing_ok=True)  # what is recorded is told again
    try:
        with (folder / PROGRESS).open("w", encoding="utf-8") as lines:

            def tell(step: dict[str, Any]) -> None:
                lines.write(json.dumps(step) + "\n")
                lines.flush()

            found = json.dumps(KINDS[run.asked["kind"]](run, tell))
        with atomic_write(folder / RESULT) as file:
            file.write(found.encode())
    except (Exception, KeyboardInterrupt) as error:
        if interrupted(error):
            (folder / STOPPED).write_text("by a signal\n", encoding="utf-8")
            return 130
        (folder / FAILURE).write_text(f"{_why(error, folder)}\n", encoding="utf-8")
        return 1
    return 0


def _why(error: BaseException, folder: Path) -> str:
    """Return what went wrong in a sentence; of what nobody foresaw, the details are written."""
    if isinstance(error, QueuesmithError):
        return str(error)
    traceback.print_exception(error, file=sys.stderr)  # which is that file
    words = traceback.format_exception_only(error)[-1].strip()
    return f"the run failed where it should not have ({words}). Details are in {folder / OUTPUT}."


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _machine(asked: Mapping[str, Any]) -> Cluster:
    return Cluster(
        int(asked["cores"]),
        partition_priority=asked.get("partition_priority", {}),
        qos_priority=asked.get("qos_priority", {}),
    )


def _learn(run: Run, tell: Told) -> dict[str, Any]:
    from queuesmith.learning import tune
    from queuesmith.learning.methods import make_method

    asked = run.asked
    parameters = {"generations": asked["generations"]} if asked.get("generations") else {}

    def progress(state: Any) -> None:
        if state.policy is not None:
            state.policy.save(run.folder / POLICY)
        names = ("round", "rounds", "evaluations", "best", "seconds_left")
        tell({name: getattr(state, name) for name in names} | {"share": state.share})

    tuned = tune(
        load_jobs(run.folder / JOBS),
        _machine(asked),
        asked["objective"],
        make_method(asked["method"], **parameters),
        no_worse=asked.get("no_worse", ()),
        seed=int(asked["seed"]),
        store=run.folder / STORE,
        progress=progress,
    )
    tuned.policy.save(run.folder / POLICY)
    rows = [{key: _plain(value) for key, value in row.items()} for row in tuned.rows()]
    return {"rows": rows, "said": repr(tuned).strip("<>"), "no_worse": tuned.no_worse_sentences()}


def _sweep(run: Run, tell: Told) -> dict[str, Any]:
    from queuesmith.knobs.sweep_result import TERMS
    from queuesmith.knobs.sweeping import sweep

    asked = run.asked
    found = sweep(
        load_jobs(run.folder / JOBS),
        _machine(asked),
        asked["ranges"],
        backfill=asked["backfill"],
        keep=run.folder / STORE,
        progress=lambda share: tell({"share": share}),
    )
    # Settings that cost the same are one point of the map.
    _, first = np.unique(found.costs[:, found.known], axis=0, return_index=True)
    chosen = np.sort(first)[:: max(1, -(-len(first) // MOST_POINTS))]
    return {
        "settings": found.settings[chosen].tolist(),
        "costs": {str(TERMS[i]): found.costs[chosen, i].tolist() for i in found.known},
        "said": ", ".join(
            [
                so_many(len(found), "setting"),
                so_many(found.replays, "replay"),
                f"{found.seconds:.1f} s",
            ]
        ),
    }


def _gap(run: Run, tell: Told) -> dict[str, Any]:
    from dataclasses import asdict

    from queuesmith.engine import simulate
    from queuesmith.planning.gap import gap
    from queuesmith.planning.steps import snapshots

    asked = run.asked
    replayed = simulate(load_jobs(run.folder / JOBS), _machine(asked), asked["policy"])
    steps = list(snapshots(replayed, steps=int(asked["steps"]), most=MOST_WAITING))
    study = gap(
        steps,
        objective=asked["objective"],
        seconds=float(asked["seconds"]),
        progress=lambda done: tell({"share": done / len(steps)}),
    )
    rows = [{key: _plain(value) for key, value in asdict(step).items()} for step in study.steps]
    return {"steps": rows, "averages": {k: _plain(v) for k, v in study.to_dict().items()}}


def _placement(run: Run, tell: Told) -> dict[str, Any]:
    from queuesmith.report.gantt import gantt_payload
    from queuesmith.report.placed import best_proven

    found = _placed(run, lambda share: tell({"share": share}))
    nothing_proven = "Nothing is proven about it."
    return {"gantt": gantt_payload([found]), "said": best_proven([found]) or nothing_proven}


def _placed(run: Run, progress: Callable[[float], None]) -> Schedule:
    """Place a queue on clusters, or map the jobs of a grid to its machines."""
    from queuesmith.web.instances import clusters_of, grid_of, is_grid, queue_of

    asked, files = run.asked, run.folder.parent
    if is_grid(asked["place"]):
        from queuesmith.grid.methods import map_jobs
        from queuesmith.grid.options import MapOptions

        matrix, limit = grid_of(asked["place"], files), MapOptions(seconds=asked["seconds"])
        return map_jobs(matrix, asked["method"], limit, progress=progress)
    from queuesmith.federation.methods import place
    from queuesmith.federation.options import PlaceOptions

    clusters, queue = clusters_of(asked["place"], files), queue_of(asked["queue"], files)
    options = PlaceOptions(seconds=asked["seconds"])
    return place(clusters, queue, asked["method"], options, progress=progress)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; a number that JSON has not becomes None."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain


KINDS: Mapping[str, Callable[[Run, Told], dict[str, Any]]] = {
    "learn": _learn,
    "sweep": _sweep,
    "gap": _gap,
    "placement": _placement,
}

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
