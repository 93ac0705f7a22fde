"""Jobs a second of reading and writing logs, beside the bare parsing of numbers."""

import gzip
import io
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import queuesmith as qs
from benchmarks.data import synthetic, trace


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def bare_parse(path: Path) -> object:
    """What numpy needs for the numbers alone."""
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    body = b"\n".join(line for line in lines if line and not line.startswith(b";"))
    return np.loadtxt(io.BytesIO(body), comments=None)


def as_sacct(log: qs.Workload) -> str:
    """What ``sacct --parsable2`` would have printed of these jobs."""
    dates = np.datetime_as_string(
        (log.submit + np.array([[0], [60], [60]]) + [[0], [0], [1]] * log.runtime).astype(
            "datetime64[s]"
        )
    )
    header = "JobID|JobIDRaw|User|Account|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|"
    rows = [
        f"{job}|{job}|u{user}|a{user % 9}|batch|{submit}|{start}|{end}|{runtime}|{walltime // 60}|"
        f"COMPLETED|{cores}|{cores}|4Gn|cpu={cores},mem=4G,node=1"
        for job, user, submit, start, end, runtime, walltime, cores in zip(
            log.id, log.user, *dates, log.runtime, log.walltime, log.cores, strict=True
        )
    ]
    return "\n".join([f"{header}State|AllocCPUS|ReqCPUS|ReqMem|AllocTRES", *rows, ""])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = trace("HPC2N-2002-2.2-cln.swf.gz")
        if path is None:
            path = Path(folder) / "log.swf.gz"
            qs.write(synthetic(200_000), path)
        log = qs.read(path)
        bare = seconds(partial(bare_parse, path))
        for suffix in (".swf.gz", ".swf", ".csv", ".parquet"):
            copy = Path(folder) / f"copy{suffix}"
            out = seconds(partial(qs.write, log, copy))
            back = seconds(partial(qs.read, copy))
            print(
                f"{suffix:<9} {len(log):,} jobs: written in {out:.2f} s, read in {back:.2f} s "
                f"({len(log) / back:,.0f} jobs/s, {back / bare:.1f} x the bare parsing of SWF)"
            )
        text = as_sacct(log)
        copy = Path(folder) / "copy.sacct"
        copy.write_text(text, encoding="utf-8")
        bare = seconds(lambda: [row.split("|") for row in text.split("\n")])
        back = seconds(partial(qs.read, copy))
        print(
            f"{'.sacct':<9} {len(log):,} jobs: read in {back:.2f} s ({len(log) / back:,.0f} "
            f"jobs/s, {back / bare:.1f} x the bare dividing into cells)"
        )
