"""The logs of the genetic fuzzy study, scaled to 1,024 processors."""

from __future__ import annotations

from dataclasses import dataclass

import queuesmith as qs
from papers.study import data_folder

CORES = 1024
#: The logs by the paper's names: the files that may hold them, the first that is there counts, and
#: the size of machine that they are scaled from. The paper read logs as they were before the
#: archive cleaned them.
LOGS = {
    "SDSC 96": (("SDSC-Par-1996-3.1-cln",), 416),
    "CTC": (("CTC-SP2-1996-3.1-cln",), 430),
    "KTH": (("KTH-SP2-1996-2.1-cln",), 100),
    "LANL": (("LANL-CM5-1994-4.1-cln",), 1024),
    "SDSC 00": (("SDSC-SP2-1998-4.2-cln",), 128),
    "SDSC 95": (("SDSC-Par-1995-3.1-cln", "SDSC-Par-1995-3"), 416),
    "LANL uncleaned": (("LANL-CM5-1994-4",), 1024),
}
#: The logs that lie beside the project; the others are read where somebody puts them there.
AT_HAND = ("SDSC 96", "CTC", "KTH", "LANL", "SDSC 00")
#: Table 2 of the paper: jobs after scaling.
PAPER_JOBS = {
    "CTC": 136_471,
    "KTH": 167_375,
    "LANL": 201_378,
    "SDSC 00": 310_745,
    "SDSC 95": 131_762,
    "SDSC 96": 66_185,
}


@dataclass(frozen=True)
class Scaling:
    """How a log becomes one of 1,024 processors.

    Parameters
    ----------
    seed
        Decides which jobs become wider and which more.
    paper_jobs
        Whether the factor is the one that gives as many jobs as the paper's table 2, not the one
        of the machines' sizes.
    """

    seed: int = 0
    paper_jobs: bool = False

    def __str__(self) -> str:
        return f"scaling {self.seed}" + (" to the paper's jobs" if self.paper_jobs else "")

    def size(self, name: str, jobs: int) -> int:
        """Return the size of machine that a log of so many jobs is scaled from."""
        if not self.paper_jobs:
            return LOGS[name][1]
        # Half of the jobs become wider, of the others there are more: n (1 + factor) / 2 in all.
        return min(CORES, round(CORES / (2 * PAPER_JOBS[name] / jobs - 1)))

    def scaled(self, name: str, workload: qs.Workload) -> qs.Workload:
        """Return a log of the study as one of 1,024 processors."""
        size = self.size(name, len(workload))
        if size != CORES:
            workload = qs.scale(workload, size, CORES, seed=self.seed)
        return workload.fitting(CORES)


def read_log(name: str, scaling: Scaling) -> qs.Workload:
    """Return a log of the study, scaled."""
    folder = data_folder("traces")
    files = [folder / f"{stem}.swf.gz" for stem in LOGS[name][0]]
    found = next((file for file in files if file.exists()), None)
    if found is None:
        raise SystemExit(f"log '{name}' is not there: put {files[0].name} into {folder}.")
    return scaling.scaled(name, qs.read(found))
