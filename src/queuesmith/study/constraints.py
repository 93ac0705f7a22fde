"""Constraints of jobs for logs that do not tell them: inferred, written, read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from queuesmith.base.errors import ClusterError, UsageError, WorkloadError
from queuesmith.base.files import decoded, read_bytes, write_bytes
from queuesmith.base.registry import no_such
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.features import nodes_with
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.cluster.node_arrays import node_features
from queuesmith.engine.inferred_constraints import can_infer, inferred_constraints
from queuesmith.policy import AnyPolicy, Slurm, as_policy
from queuesmith.schedule.fidelity import INFERRED
from queuesmith.workload import Workload
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Change, checked_workload

CONSTRAINT = "constraint"
_HEAD = ("id", CONSTRAINT)


class Constraints(StrEnum):
    """Where the constraints of jobs come from."""

    AS_LOGGED = "as-logged"  # what the log says, nothing where it says nothing
    INFERRED = "inferred"  # from where jobs ran, and from who was let past them


def with_constraints(
    workload: Workload,
    machine: Cluster | NodeCluster,
    constraints: str | Path | None = None,
    *,
    today: AnyPolicy | str | None = None,
    strict: bool = False,
    whole: Workload | None = None,
) -> Workload:
    """Return a log with the constraints that are asked for, for any replay of it.

    Parameters
    ----------
    workload, machine
        The jobs, and the machine that they ran on.
    constraints
        ``"as-logged"``, ``"inferred"`` from where jobs ran and who was let past them, or a CSV file
        with the columns id and constraint. By default they are inferred where ``slurm()`` ran, the
        log has none, and the machine's nodes differ in features.
    today
        The policy that really ran; by default ``slurm()``.
    strict
        Where they are inferred, raise where a job fits no node instead of leaving it out.
    whole
        The log that the jobs are a part of. Nodes that jobs of other parts held seem free without
        it, so that who really waited for them is taken for bound to others.
    """
    checked_workload(workload)
    policy = Slurm() if today is None else as_policy(today)
    if constraints is None and isinstance(policy, Slurm) and _shows_constraints(workload, machine):
        constraints = Constraints.INFERRED
    if constraints in (None, Constraints.AS_LOGGED):
        return workload
    if not isinstance(machine, NodeCluster):
        raise UsageError(
            f"constraints are features of nodes, but the machine '{machine.name}' is a number of "
            "cores. Leave --constraints (constraints) out, or give a --machine with nodes."
        )
    if constraints != Constraints.INFERRED:
        return read_constraints(constraints, workload, machine)
    fit = jobs_that_fit(workload, machine, strict=strict)
    everybody = fit if whole is None else jobs_that_fit(whole, machine)
    bound = inferred(everybody, machine, policy if isinstance(policy, Slurm) else None)
    bound = bound if whole is None else _taken_over(fit, bound)
    count = count_constrained(bound)
    return bound.noting(Change(INFERRED, count, dropped=False)) if count else workload


def _shows_constraints(workload: Workload, machine: Cluster | NodeCluster) -> bool:
    return isinstance(machine, NodeCluster) and can_infer(workload, machine)


def _taken_over(part: Workload, whole: Workload) -> Workload:
    """Return a part of a log with the constraints that its jobs have in the whole of it."""
    known = dict(zip(whole.id.tolist(), _texts(whole), strict=True))
    return constrained(part, [known.get(job, "") for job in part.id.tolist()])


def inferred(workload: Workload, machine: NodeCluster, policy: Slurm | None = None) -> Workload:
    """Return a log with the constraints that its jobs must have had, as far as it shows them.

    Parameters
    ----------
    workload
        Jobs that fit the machine, without constraints but with the nodes that they ran on.
    machine, policy
        The machine with its features, and how Slurm was set up.
    """
    if not can_infer(workload, machine):
        raise UsageError(
            f"constraints of the log '{workload.name}' cannot be inferred: that takes jobs with "
            "node lists and starts but no constraints of their own, and nodes of several features. "
            "Leave --constraints (constraints) out, or export NodeList."
        )
    return constrained(workload, inferred_constraints(workload, machine, policy))


def constrained(workload: Workload, texts: Sequence[str]) -> Workload:
    """Return a log whose jobs have such constraints, empty for none."""
    codes, names = coded(list(texts))
    return workload.replaced(
        extra={**workload.extra, CONSTRAINT: codes}, labels={**workload.labels, CONSTRAINT: names}
    )


def count_constrained(workload: Workload) -> int:
    """Return how many jobs have a constraint."""
    return sum(1 for text in _texts(workload) if text)


def write_constraints(workload: Workload, path: str | Path) -> None:
    """Write the jobs that have a constraint as CSV, to be read, edited and given back.

    Parameters
    ----------
    workload
        The jobs.
    path
        The file.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_HEAD)
    for job, constraint in zip(workload.id.tolist(), _texts(workload), strict=True):
        if constraint:
            rows.writerow([workload.label("id", job), constraint])
    write_bytes(path, text.getvalue().encode())


def read_constraints(path: str | Path, workload: Workload, machine: NodeCluster) -> Workload:
    """Return a log with the constraints of a CSV file of the columns id and constraint.

    Parameters
    ----------
    path
        The file, such as ``write_constraints`` makes.
    workload, machine
        The jobs, and the machine whose features they ask for.
    """
    rows = list(csv.reader(io.StringIO(decoded(read_bytes(path)))))
    if not rows or tuple(cell.strip().lower() for cell in rows[0]) != _HEAD:
        raise WorkloadError(
            f"the first line of '{path}' must be id,constraint. "
            "fidelity --save-constraints writes such a file."
        )
    place = {workload.label("id", job): i for i, job in enumerate(workload.id.tolist())}
    texts = _texts(workload)
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) != len(_HEAD) or row[0].strip() not in place:
            raise WorkloadError(
                f"line {number} of '{path}' is '{','.join(row)}', but it must be the id of a job "
                f"of '{workload.name}' and its constraint. Correct the line, or take it out."
            )
        texts[place[row[0].strip()]] = _checked(row[1].strip(), machine, f"line {number}: ")
    return constrained(workload, texts)


def _texts(workload: Workload) -> list[str]:
    if CONSTRAINT not in workload.extra:
        return [""] * len(workload)
    return [workload.label(CONSTRAINT, c) if c >= 0 else "" for c in workload.extra[CONSTRAINT]]


def _checked(text: str, machine: NodeCluster, where: str) -> str:
    if text and not nodes_with(machine, text).any():
        raise ClusterError(where + no_such("node with", text, node_features(machine)))
    return text
