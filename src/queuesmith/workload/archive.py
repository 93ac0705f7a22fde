"""Logs of the Parallel Workloads Archive by their names, each with the checksum of its file."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.base.files import AnyPath, atomic_write
from queuesmith.base.registry import entry

#: Where the archive is; another place with the same files may be named.
ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"
PATIENCE_SECONDS = 60.0
#: No log of the archive is larger; what sends more is something else.
MOST_BYTES = 500_000_000


@dataclass(frozen=True)
class ArchiveLog:
    """A file of the archive, and the SHA-256 of its bytes."""

    folder: str
    file: str
    sha256: str


#: The checksums are those of the files that this project was measured on.
LOGS = {
    "ANL-Intrepid": ArchiveLog(
        "l_anl_int",
        "ANL-Intrepid-2009-1.swf.gz",
        "ed6df6cd3cc0bb1a5650f6eb170ad1c85ea4b79d9f263ff80dba9615962cf6ce",
    ),
    "CTC-SP2": ArchiveLog(
        "l_ctc_sp2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        "9fa28ac16c4386fb81b72a91d8bd8888281df2948a9d912769d387c5ee285bb4",
    ),
    "HPC2N": ArchiveLog(
        "l_hpc2n",
        "HPC2N-2002-2.2-cln.swf.gz",
        "3c534857d6065cfd9cc35aac8d064c9c17172be7acf336de835006f43a626e64",
    ),
    "KTH-SP2": ArchiveLog(
        "l_kth_sp2",
        "KTH-SP2-1996-2.1-cln.swf.gz",
        "3e152f201fd2e96808a735bced6ea6eb0bb07fdc447689cafb0750d87b264c0b",
    ),
    "LANL-CM5": ArchiveLog(
        "l_lanl_cm5",
        "LANL-CM5-1994-4.1-cln.swf.gz",
        "71ff3dfa301b3ee1bd30ebc63c5363b5e8ec488e75f1f9398aa46d485ef23c3c",
    ),
    "NASA-iPSC": ArchiveLog(
        "l_nasa_ipsc",
        "NASA-iPSC-1993-3.1-cln.swf.gz",
        "5589ae9b2fb78e3bf92de097497cf33a91607de1ad54563e43533f7827597f29",
    ),
    "SDSC-Par-1996": ArchiveLog(
        "l_sdsc_par",
        "SDSC-Par-1996-3.1-cln.swf.gz",
        "cb1aab02b5e3c34659d1c1d6f73c002d415229c59f40c03fab4e20331abdaff7",
    ),
    "SDSC-SP2": ArchiveLog(
        "l_sdsc_sp2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        "e03fe48be50c4ab04d6bb2285296d9c3399e9c1f27ee79b754ad32a14abd9bac",
    ),
}


def fetch_log(name: str, out: AnyPath, *, archive: str = ARCHIVE) -> None:
    """Fetch a log of the archive by its name; the file appears only if its checksum is right.

    Parameters
    ----------
    name
        A name of :data:`LOGS`.
    out
        The file to write, which must end in ``.swf.gz``.
    archive
        The address that the folders of the archive are below.
    """
    log = entry("log of the archive called", name, LOGS)
    if not str(out).endswith(".swf.gz"):
        raise OutputError(f"the log is written as it comes, to a .swf.gz file, not to '{out}'.")
    if not archive.startswith(("http://", "https://")):
        raise UsageError(
            f"the archive is at '{archive}', but that must begin with https:// or http://. "
            "Correct it."
        )
    data = _fetched(f"{archive.rstrip('/')}/{log.folder}/{log.file}")
    found = hashlib.sha256(data).hexdigest()
    if found != log.sha256:
        raise WorkloadError(
            f"'{log.file}' as it was fetched has the checksum {found[:16]}..., not "
            f"{log.sha256[:16]}...: it is another version or was damaged on its way. Try again, or "
            "fetch it by hand and look at it."
        )
    with atomic_write(out) as file:
        file.write(data)


def _fetched(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
            data: bytes = answer.read(MOST_BYTES)
            return data
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise WorkloadError(
            f"'{address}' cannot be fetched ({reason}). Check the network, or fetch the file by "
            "hand."
        ) from None
