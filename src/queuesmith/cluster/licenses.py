"""Licenses: how many a machine has of each, and how many jobs ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import ClusterError
from queuesmith.workload import Workload
from queuesmith.workload.requests import label_texts
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster


def machine_licenses(machine: NodeCluster) -> dict[str, int]:
    """Return how many licenses a machine has of each name; ``Licenses`` of its settings."""
    text = machine.settings.get("Licenses", "")
    try:
        return licenses_of(text)
    except ValueError:
        raise ClusterError(
            f"machine '{machine.name}' sets Licenses={text}, but licenses are written as "
            "matlab:10,ansys:2. Correct it."
        ) from None


def job_licenses(workload: Workload, names: dict[str, int]) -> Ints:
    """Return how many licenses of each name jobs need, one row a job.

    A license that the machine does not have, and one of several that will do, are not counted.
    """
    needed = np.zeros((len(workload), len(names)), np.int64)
    codes = workload.extra.get("licenses")
    if codes is None or not names:
        return needed
    columns = {name: i for i, name in enumerate(names)}
    texts = label_texts(codes, workload.labels.get("licenses", ()))
    for text in set(texts) - {""}:
        for name, amount in (licenses_or_none(text) or {}).items():
            if name in columns:
                needed[texts == text, columns[name]] = amount
    return needed


def licenses_or_none(text: str) -> dict[str, int] | None:
    """Return the licenses that a job asks for; None where it says so in a way not known here."""
    try:
        return licenses_of(text)
    except ValueError:
        return None


def licenses_of(text: str) -> dict[str, int]:
    """Return the number of each license in a text such as ``matlab:10,ansys``.

    Raises
    ------
    ValueError
        Where it is no such text.
    """
    found: dict[str, int] = {}
    for part in text.replace(";", ",").split(","):
        name, colon, amount = part.strip().replace("=", ":").partition(":")
        if name:
            found[name] = int(amount) if colon else 1
            if found[name] < 0 or "|" in name:
                raise ValueError(text)
    return found
