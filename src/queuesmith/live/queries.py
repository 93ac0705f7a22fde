"""What is asked of a running Slurm, and the folder in which the answers are kept."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

from queuesmith.base.errors import OutputError
from queuesmith.base.files import atomic_write
from queuesmith.live.commands import PATIENCE, NoAnswerError, SlurmError, run
from queuesmith.live.rights import hidden_from

#: What separates the fields of a job: no text that a user can choose is among them, and no field
#: has this character.
SEPARATOR = "\x1f"
#: The fields of a job that squeue tells, by our names. Names and comments of jobs are never asked
#: for: users write there what they like.
JOB_FIELDS = {
    "id": "%A",
    "array": "%F",
    "tasks": "%K",
    "user": "%u",
    "account": "%a",
    "partition": "%P",
    "qos": "%q",
    "state": "%T",
    "reason": "%r",
    "priority": "%Q",
    "nice": "%y",
    "cores": "%C",
    "nodes": "%D",
    "walltime": "%l",
    "elapsed": "%M",
    "start": "%S",
    "submit": "%V",
    "node_list": "%N",
    "reservation": "%v",
    "dependency": "%E",
    "gres": "%b",
    "sharing": "%h",
    "wanted_nodes": "%n",
    "excluded_nodes": "%x",
    "features": "%f",
}
#: The parts of a priority that sprio tells; `site` is what steering sets.
PRIORITY_FIELDS = {
    "id": "%i",
    "priority": "%Y",
    "site": "%S",
    "age": "%A",
    "association": "%B",
    "fair_share": "%F",
    "size": "%J",
    "partition": "%P",
    "qos": "%Q",
    "nice": "%N",
    "resources": "%T",
}
_SECONDS = {"SLURM_TIME_FORMAT": "%s"}
_ALL_JOBS = ("--noheader", "--all", "--array-unique", "--local")


@dataclass(frozen=True)
class Query:
    """A question to Slurm, and what it means to have no answer."""

    words: tuple[str, ...]
    needed: bool = False
    in_seconds: bool = False  # dates as Unix seconds


QUEUE = Query(
    ("squeue", *_ALL_JOBS, "--format", SEPARATOR.join(JOB_FIELDS.values())),
    needed=True,
    in_seconds=True,
)
PRIORITIES = Query(
    ("sprio", "--noheader", "--local", "--format", "|".join(PRIORITY_FIELDS.values()))
)
CONFIG = Query(("scontrol", "show", "config"), needed=True)
#: By the name of the file that keeps the answer; `machine_from` reads those of the machine.
QUERIES = {
    "scontrol-config": CONFIG,
    "scontrol-nodes": Query(("scontrol", "--oneliner", "show", "nodes"), needed=True),
    "scontrol-partitions": Query(("scontrol", "--oneliner", "show", "partitions"), needed=True),
    "scontrol-reservations": Query(("scontrol", "--oneliner", "show", "reservations")),
    "sacctmgr-qos": Query(("sacctmgr", "--parsable2", "show", "qos")),
    "sacctmgr-assoc": Query(("sacctmgr", "--parsable2", "show", "assoc")),
    "squeue": QUEUE,
    "squeue-tres": Query(("squeue", *_ALL_JOBS, "--Format", "JobID:20,tres-alloc:400")),
    "sprio": PRIORITIES,
    "sshare": Query(("sshare", "--all", "--parsable2")),
    "sdiag": Query(("sdiag",)),
}
MOMENT = "moment.json"
_SETTING = re.compile(r"(\w+(?:\[[0-9]+\])?)\s+= ?(.*)")


def answer(query: Query, *, seconds: float = PATIENCE) -> str:
    """Ask Slurm and return what it says."""
    return run(query.words, seconds=seconds, settings=_SECONDS if query.in_seconds else None)


def record(folder: Path, *, seconds: float = PATIENCE) -> None:
    """Ask Slurm everything and keep the answers in a folder, with the moment.

    What has no answer and is not needed is noted there: a site without accounting has no shares.
    So is whether Slurm hides the jobs of others from whoever asks.
    """
    notes = []
    for name, query in QUERIES.items():
        try:
            text = answer(query, seconds=seconds)
        except NoAnswerError:
            raise
        except SlurmError as error:
            if query.needed:
                raise
            notes.append(str(error))
            continue
        if name.startswith("sacctmgr") and text.count("\n") < 2:
            continue
        _write(folder / f"{name}.txt", text)
    settings = settings_of((folder / "scontrol-config.txt").read_text("utf-8", "replace"))
    hidden = hidden_from(settings, seconds=seconds)
    if hidden is not None:
        notes.append(f"the jobs of others: Slurm hides them from '{hidden}' (PrivateData=jobs)")
    moment = {"now": int(time.time()), "notes": notes, "hidden_from": hidden}
    _write(folder / MOMENT, json.dumps(moment, indent=1) + "\n")


def settings_of(text: str) -> dict[str, str]:
    """Return what ``scontrol show config`` tells, by Slurm's names."""
    matches = (_SETTING.fullmatch(line.strip()) for line in text.splitlines())
    return {match[1]: match[2].strip() for match in matches if match is not None}


def _write(path: Path, text: str) -> None:
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder '{path.parent}' to write to. Make it first.")
    with atomic_write(path) as file:
        file.write(text.encode())
