"""What really happened, as far as a log tells it: when jobs ran, and on which nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster.hostlist import expanded, natural
from queuesmith.cluster.levels import Levels, levels
from queuesmith.workload import Workload
from queuesmith.workload.requests import label_texts, partition_column
from queuesmith.workload.workload import Ints


@dataclass(frozen=True)
class NodePieces:
    """The parts of jobs on nodes: which job, which node, and the names of the nodes."""

    job: Ints
    node: Ints
    names: tuple[str, ...]


class JobHistory:
    """A workload, and what it tells about the nodes its jobs ran on."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        start = workload.extra.get("real_start")
        known = np.zeros(len(workload), np.bool_) if start is None else start >= workload.submit
        self.ran: NDArray[np.bool_] = known
        self.submit = workload.submit
        self.start: Ints = np.where(known, 0 if start is None else start, workload.submit)
        self.end: Ints = self.start + np.where(known, workload.runtime, 0)

    def names(self, column: str) -> NDArray[Any]:
        """Return a column as texts, empty where unknown."""
        if column == "user":
            return label_texts(self.workload.user, self.workload.labels.get("user", ()))
        if column not in self.workload.extra:
            return np.full(len(self.workload), "", object)
        return label_texts(self.workload.extra[column], self.workload.labels.get(column, ()))

    @cached_property
    def partition(self) -> NDArray[Any]:
        """The partition of each job, or its queue where the log has no partitions."""
        return self.names(partition_column(self.workload))

    def numbers(self, column: str) -> Ints:
        """Return a column of numbers, -1 where unknown."""
        unknown = np.full(len(self.workload), -1, np.int64)
        values: Ints = self.workload.extra.get(column, unknown)
        return values

    @cached_property
    def pieces(self) -> NodePieces | None:
        """The parts of jobs on nodes; None where the log has no node lists."""
        lists = self.names("node_list")
        if not self.ran.any() or not (lists[self.ran] != "").any():
            return None
        members = {text: expanded(text) for text in set(lists[self.ran]) if text}
        names = sorted({node for nodes in members.values() for node in nodes}, key=natural)
        number = {node: i for i, node in enumerate(names)}
        codes = {text: [number[n] for n in nodes] for text, nodes in members.items()}
        parts = [(i, codes[lists[i]]) for i in np.flatnonzero(self.ran) if lists[i]]
        job = np.repeat([i for i, _ in parts], [len(nodes) for _, nodes in parts])
        node = np.concatenate([nodes for _, nodes in parts])
        return NodePieces(job.astype(np.int64), node.astype(np.int64), tuple(names))

    def by(self, line: Ints, amount: Ints) -> Levels:
        """Return what was held and waited over time, by a line for each job; below 0: none."""
        used = self.ran & (line >= 0)
        jobs = (line, self.submit, self.start, self.end, amount)
        return levels(*(column[used] for column in jobs))
