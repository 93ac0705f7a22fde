"""The options of sbatch: what a job was submitted with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from queuesmith.workload.requests import EXCLUSIVE, EXCLUSIVE_USER, SHARED, gpus_in
from queuesmith.workload.slurm_text import count, duration, megabytes, words_of

#: The short form of each option that has one.
SHORT = {
    "A": "account",
    "a": "array",
    "C": "constraint",
    "c": "cpus-per-task",
    "d": "dependency",
    "F": "nodefile",
    "G": "gpus",
    "J": "job-name",
    "L": "licenses",
    "N": "nodes",
    "n": "ntasks",
    "p": "partition",
    "q": "qos",
    "S": "core-spec",
    "t": "time",
    "w": "nodelist",
    "x": "exclude",
}
#: Options that say nothing about when and where a job can run.
_ELSEWHERE = words_of(
    """
    chdir comment error export get-user-env gid input mail-type mail-user open-mode output
    parsable profile propagate quiet verbose wait wckey wrap job-name distribution hint
    cpu-freq gpu-freq kill-on-invalid-dep no-kill nice signal spread-job test-only requeue
    no-requeue D e i o Q v W k m H
    bell no-bell disable-status E exact I immediate K kill-on-bad-exit label l multi-prog no-shell
    overlap preserve-env pty quit-on-interrupt u unbuffered whole X x11
    """
)
#: Options without a value; those of _MAYBE may have one after a sign of equality.
_FLAGS = words_of(
    """
    parsable quiet verbose wait hold contiguous overcommit oversubscribe spread-job test-only
    requeue no-requeue use-min-nodes no-kill get-user-env ignore-pbs Q v W H O s k
    bell no-bell disable-status E exact label l multi-prog no-shell overlap preserve-env pty
    quit-on-interrupt u unbuffered whole X
    """
)
_MAYBE = (
    *("exclusive", "nice", "get-user-env", "parsable", "no-kill", "propagate"),
    *("immediate", "I", "kill-on-bad-exit", "K", "x11"),
)


def sbatch_options(
    words: Sequence[str], own: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Return the options among the words of a call of sbatch, by their long names, and the rest.

    Parameters
    ----------
    words
        What stands after ``sbatch``; the script and its arguments end the options.
    own
        Further options with a value, written with one hyphen, such as ``sim-walltime``.
    """
    options: dict[str, str] = {}
    place = 0
    while place < len(words) and words[place].startswith("-") and len(words[place]) > 1:
        name, value = _split(words[place], own)
        takes_one = name not in _FLAGS and name not in _MAYBE
        if value is None and takes_one and place + 1 < len(words):
            place += 1
            value = words[place]
        options[name] = value or ""
        place += 1
    return options, list(words[place:])


def _split(word: str, own: Sequence[str]) -> tuple[str, str | None]:
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, value if equals else None
    if word[1:] in own:
        return word[1:], None
    return SHORT.get(word[1], word[1]), word[2:].removeprefix("=") or None


def requests_of(options: Mapping[str, str], strange: Counter[str]) -> dict[str, Any]:
    """Return what options ask for, by the names of a workload's columns.

    Parameters
    ----------
    options
        The options by their long names.
    strange
        Counts the options that mean nothing here.

    Raises
    ------
    ValueError
        Where a value is not what its option takes.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name in _MEANING:
            found |= _meaning(name, value)
        elif name not in _ELSEWHERE:
            strange[f"--{name}" if len(name) > 1 else f"-{name}"] += 1
    return found


@lru_cache(maxsize=10_000)
def _meaning(name: str, value: str) -> Mapping[str, Any]:
    return _MEANING[name](value)


def _one(column: str, parse: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    return lambda value: {column: parse(value)}


def _nodes(value: str) -> dict[str, Any]:
    least, _, most = value.partition("-")
    return {"requested_nodes": count(least), "most_nodes": count(most or least)}


def _gpus(column: str) -> Callable[[str], dict[str, Any]]:
    def parse(value: str) -> dict[str, Any]:
        listed = value if value.startswith(("gpu", "gres")) else f"gpu:{value}"
        gpus = gpus_in(listed)
        return {column: gpus.number, "gpu_type": gpus.type}

    return parse


def _generic(value: str) -> dict[str, Any]:
    gpus = gpus_in(value)
    return {"gpus_per_node": gpus.number, "gpu_type": gpus.type} if gpus.number >= 0 else {}


def _exclusive(value: str) -> dict[str, Any]:
    word = value.lower()
    return {"exclusive": EXCLUSIVE_USER if word in ("user", "mcs") else EXCLUSIVE}


def _array(value: str) -> dict[str, Any]:
    tasks, _, limit = value.partition("%")
    return {"array_tasks": array_size(tasks), "array_limit": int(limit) if limit else -1}


def array_size(text: str) -> int:
    """Return how many tasks an array has: ``0-9:2,20`` has 6."""
    size = 0
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part.strip())
        if match is None:
            raise ValueError(text)
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        size += len(range(first, last + 1, step))
    return size


_MEANING: dict[str, Callable[[str], dict[str, Any]]] = {
    "account": _one("account", str),
    "array": _array,
    "constraint": _one("constraint", str),
    "cpus-per-task": _one("cores_per_task", count),
    "dependency": _one("dependency", str),
    "exclude": _one("excluded_nodes", str),
    "exclusive": _exclusive,
    "gpus": _gpus("gpus"),
    "gpus-per-node": _gpus("gpus_per_node"),
    "gres": _generic,
    "licenses": _one("licenses", str),
    "mem": _one("memory_per_node", megabytes),
    "mem-per-cpu": _one("memory_per_core", megabytes),
    "nodelist": _one("wanted_nodes", str),
    "nodes": _nodes,
    "ntasks": _one("tasks", count),
    "ntasks-per-node": _one("tasks_per_node", count),
    "tasks-per-node": _one("tasks_per_node", count),
    "oversubscribe": lambda _: {"exclusive": SHARED},
    "partition": _one("partition", str),
    "qos": _one("qos", str),
    "reservation": _one("reservation", str),
    "time": _one("time", duration),
    "uid": _one("user", str),
}
