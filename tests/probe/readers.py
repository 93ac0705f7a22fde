"""All readers, each with a sound file; and what mutations of that file do to it."""

from __future__ import annotations

import gzip
import importlib
import itertools
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.probe.mutate import mutated
from tests.probe.tally import Tally

Sample = Callable[[Path], None]
Read = Callable[[Path], object]


class Reader(NamedTuple):
    """What reads a kind of file, and how a sound one is made."""

    suffix: str
    make: Sample
    read: Read


def at(place: str) -> Any:
    """Return what stands at ``module:name.name``."""
    module, _, names = place.partition(":")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def text(content: str | bytes) -> Sample:
    """Let a sound file have this content."""
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data) and None


def calling(place: str, *more: Any) -> Read:
    """Let a function read the file."""
    return lambda path: at(place)(path, *more)


def calling_with_text(place: str) -> Read:
    """Let a function read the file's text."""
    return lambda path: at(place)(path.read_text(encoding="utf-8", errors="replace"))


def _log(path: Path) -> None:
    at("queuesmith.workload.files:write")(at("queuesmith:lublin")(12, 16, seed=1), path)


def _sweep(path: Path) -> None:
    log = at("queuesmith:lublin")(12, 16, seed=1)
    found = at("queuesmith.knobs.sweeping:sweep")(log, cores=16, ranges="0:1:1", workers=1)
    at("queuesmith.knobs.sweep_files:save_sweep")(found, path)


def _federation(path: Path) -> None:
    at("queuesmith.federation.model.generate:paper_federation")().write(path)


def _queue(path: Path) -> None:
    at("queuesmith.federation.model.generate:paper_queue")("WL-3").write(path)


def _snapshot(path: Path) -> None:
    at("queuesmith:Snapshot").make(
        now=100, cores=8, staircase=[(100, 2), (160, 8)], submit=[90, 95], walltime=[60, 30],
        width=[8, 2],
    ).save(path)  # fmt: skip


_RULES = {"centre": [[0.5], [0.7]], "width": [[1.0], [2.0]], "weight": [[1, 2], [3, -5]]}
_POLICIES = {
    "order": {"order": "power", "parameters": {"alpha": 2.0}, "backfill": "easy"},
    "keep": {"order": "group", "backfill": "easy", "keep": {"share": 0.3, "groups": 2}},
    "dynp": {
        "kind": "dynp",
        "candidates": [{"order": "fcfs", "parameters": {}}, {"order": "sjf"}],
        "metric": "sldwa",
        "decider": "preferred",
        "preferred": "sjf",
        "margin": 0.05,
        "steps": "all",
    },
    "rule base": {
        "kind": "rule base",
        "name": "rules",
        "features": ["utilization"],
        "window": 0,
        "strategies": ["fcfs+easy", "sjf"],
        "rules": _RULES,
    },
    "rigid rules": {
        "kind": "rule base",
        "features": ["utilization"],
        "strategies": ["fcfs+easy", "sjf"],
        "rules": {"bounds": [[0.5]], "choice": [0, 1]},
    },
    "pair": {
        "kind": "pair of rule bases",
        "features": ["utilization"],
        "orders": ["fcfs", "sjf"],
        "algorithms": ["easy", "none"],
        "order_rules": _RULES,
        "algorithm_rules": _RULES,
    },
    "written": {"kind": "written", "policy": "power(alpha=2)+easy"},
}
_SACCT = """\
JobID|User|Account|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|ReqCPUS
1|ann|bio|main|normal|2024-03-01T00:00:00|2024-03-01T00:00:10|2024-03-01T01:00:10|01:00:00|02:00:00|COMPLETED|4|4
2|bob|chem|debug|high|2024-03-01T00:00:05|2024-03-01T02:00:10|2024-03-01T03:00:10|01:00:00|1-02:00:00|FAILED|4|4
"""
_SLURM = """\
PriorityWeightAge=1000
PriorityWeightFairshare=2000
PriorityDecayHalfLife=7-0
PartitionName=DEFAULT PriorityJobFactor=1
PartitionName=main Nodes=n[1-4] PriorityJobFactor=10
"""
_FRONT = {
    "log": "x", "jobs": 3, "cores": 4, "objective": "awrt", "objectives": ["awrt[1]", "awrt"],
    "left_out": [], "points": [{"name": "a", "values": {"awrt[1]": 1.0, "awrt": 2.0}, "value": 2}],
    "policies": [{"name": "b", "values": {"awrt[1]": 2.0, "awrt": 3.0}, "value": 3}],
    "settings": {"seed": 1}, "evaluations": 3, "seconds": 1.5,
}  # fmt: skip
_ETC = "a,1.5,2.5\nb,3.5,inf\nc,1e3,7\n"

READERS: dict[str, Reader] = {
    "swf": Reader(".swf", _log, calling("queuesmith:read")),
    "swf.gz": Reader(".swf.gz", _log, calling("queuesmith:read")),
    "csv": Reader(".csv", _log, calling("queuesmith:read")),
    "parquet": Reader(".parquet", _log, calling("queuesmith:read")),
    "sacct": Reader(".sacct", text(_SACCT), calling("queuesmith:read")),
    "any log": Reader(".txt", text(_SACCT), calling("queuesmith:read")),
    **{
        f"policy {kind}": Reader(
            ".json", text(json.dumps(content)), calling("queuesmith.policy:load_policy")
        )
        for kind, content in _POLICIES.items()
    },
    "policy text": Reader(
        ".txt",
        text("power(alpha=2)+easy, group+easy+keep(share=0.3), dynp(fcfs,sjf; metric=sldwa)"),
        calling_with_text("queuesmith.policy:parse_policies"),
    ),
    "objective": Reader(
        ".txt",
        text("10*awrt[1] + 4*max(0, awrt[2] - 3.5e2)/(1 + utilization)"),
        calling_with_text("queuesmith:Objective"),
    ),
    "knobs": Reader(
        ".txt",
        text("alpha=1,beta=1,gamma=-0.5"),
        calling_with_text("queuesmith.knobs.setting:Knobs.parse"),
    ),
    "range": Reader(
        ".txt", text("-2:2:0.1"), calling_with_text("queuesmith.knobs.ranges:Range.parse")
    ),
    "slurm.conf": Reader(
        ".conf", text(_SLURM), calling("queuesmith.policy.slurm_conf:read_slurm_conf")
    ),
    "reservations": Reader(
        ".csv",
        text("id,submit,begin,end,cores\n1,0,5,8,2\n2,0,7,9,1\n"),
        calling("queuesmith.schedule.reservations:read_requests"),
    ),
    "sweep csv": Reader(".csv", _sweep, calling("queuesmith.knobs.sweep_files:read_sweep")),
    "sweep parquet": Reader(".parquet", _sweep, calling("queuesmith.knobs.sweep_files:read_sweep")),
    "front": Reader(
        ".json", text(json.dumps(_FRONT)), calling("queuesmith.learning.offline_front:Front.load")
    ),
    "federation": Reader(
        ".toml", _federation, calling("queuesmith.federation.model.federation:Federation.read")
    ),
    "federation jobs": Reader(
        ".csv", _queue, calling("queuesmith.federation.model.jobs:FederationJobs.read")
    ),
    "etc": Reader(
        ".etc", text("3 2\n1.5\n2.5\n3.5\n4\n5\n6\n"), calling("queuesmith.grid.etc.files:read_etc")
    ),
    "etc csv": Reader(".csv", text(_ETC), calling("queuesmith.grid.etc.files:read_etc")),
    "etc amounts": Reader(
        ".csv",
        text("name,mips,ready\na,100,0\nb,50.5,3\n"),
        calling("queuesmith.grid.etc.files:read_amounts"),
    ),
    "etc solution": Reader(
        ".sol", text("0 1 1 0 3\n"), calling("queuesmith.grid.etc.mapping_files:read_solution")
    ),
    "machine events": Reader(
        ".csv",
        text("time,machine,event\n1.5,m1,leave\n7,m1,join\n"),
        calling("queuesmith.grid.dynamic.machine_events:read_machine_events", ["m1", "m2"]),
    ),
    "genetic config": Reader(
        ".toml",
        lambda path: at("queuesmith.grid.genetic.config:load_config")("braun").save(path),
        calling("queuesmith.grid.genetic.config:load_config"),
    ),
    "snapshot": Reader(".json", _snapshot, calling("queuesmith:Snapshot.load")),
}


def fuzz(name: str, numbers: Sequence[int], seed: int = 0) -> Tally:
    """Give mutated files to one reader; each is made of the seed, the reader and its number."""
    tally, reader = Tally(), READERS[name]
    with _folder() as folder:
        sound = folder / f"sound{reader.suffix}"
        reader.make(sound)
        data = sound.read_bytes()
        reader.read(sound)
        path = folder / f"mutated{reader.suffix}"
        for number in numbers:
            _write(path, data, random.Random(f"{seed}/{name}/{number}"))
            how = f"python -m tests.probe --reader '{name}' --number {number} --seed {seed}"
            with tally.watching(f"read {name}", how):
                reader.read(path)
    return tally


def fuzz_all(inputs: int, seed: int = 0, workers: int | None = None, most: float = 1e9) -> Tally:
    """Give so many mutated files to all readers, on all cores, for so many seconds at most."""
    tally, began, each = Tally(), time.monotonic(), -(-inputs // len(READERS))
    step = 500
    parts = [range(first, min(first + step, each)) for first in range(0, each, step)]
    waiting = ((name, part) for part in parts for name in READERS)
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        running = [pool.submit(fuzz, *one, seed) for one in itertools.islice(waiting, 8)]
        while running:
            tally.add(running.pop(0).result())
            if time.monotonic() - began < most:
                running += [pool.submit(fuzz, *one, seed) for one in itertools.islice(waiting, 1)]
    return tally


def _write(path: Path, data: bytes, chance: random.Random) -> None:
    if path.name.endswith(".gz") and chance.random() < 0.5:
        # Half of the packed files are damaged inside, half as packed bytes.
        path.write_bytes(gzip.compress(mutated(gzip.decompress(data), chance), 1, mtime=0))
    else:
        path.write_bytes(mutated(data, chance))


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a folder in memory, where there is one, and go there: names in files lead nowhere."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=place, prefix="queuesmith-probe-") as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
