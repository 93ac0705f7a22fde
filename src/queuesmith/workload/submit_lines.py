"""What people typed: the command lines of sbatch that sacct keeps, and what they ask for.

Slurm's accounting forgets much of a request, such as how tasks were to be spread or whether memory
was meant by the core. The command line (sacct's ``SubmitLine``, since Slurm 21.08) tells it; of
options inside the script it tells nothing.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload.sbatch import requests_of, sbatch_options
from queuesmith.workload.table_columns import coded

#: What the accounting itself tells better: these may have been changed after the submission.
_KNOWN = ("account", "partition", "qos", "time", "user", "gpu_type")
_MEMORY = ("memory_per_node", "memory_per_core", "memory")


def with_submit_lines(
    columns: Mapping[str, NDArray[Any]],
    labels: Mapping[str, tuple[str, ...]],
    lines: Sequence[str],
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
    """Return columns and labels with what command lines tell beyond the accounting.

    Parameters
    ----------
    columns, labels
        What the accounting tells.
    lines
        The command of each job, empty where unknown; a line that is no call of sbatch, salloc
        or srun tells nothing.
    """
    read = {line: _stated(line) for line in set(lines)}
    stated = [read[line] for line in lines]
    columns, labels = dict(columns), dict(labels)
    for name in sorted({name for each in stated for name in each} - set(_KNOWN)):
        values = [each.get(name) for each in stated]
        if any(isinstance(value, str) for value in values):
            if name not in columns:
                codes, names = coded([value or "" for value in values])
                columns[name], labels[name] = codes, names
            continue
        known = np.array([value is not None for value in values], np.bool_)
        numbers = np.array([-1 if value is None else value for value in values], np.int64)
        others = _MEMORY if name in _MEMORY else (name,)
        for other in others:
            before = columns.get(other, np.full(len(lines), -1, np.int64))
            columns[other] = np.where(known, numbers if other == name else -1, before)
    return columns, labels


def _stated(line: str) -> dict[str, Any]:
    try:
        words = shlex.split(line)
        if not words or words[0].rpartition("/")[2] not in ("sbatch", "salloc", "srun"):
            return {}
        return requests_of(sbatch_options(words[1:])[0], Counter())
    except ValueError:
        return {}
