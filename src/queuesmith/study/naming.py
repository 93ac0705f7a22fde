"""What names a run: all that decides its answer. With other facts it would be another run."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.policy.user_files import content_of, own_orders
from queuesmith.study.store import DIGEST
from queuesmith.workload import Workload
from queuesmith.workload.workload import CORE_COLUMNS

PACKAGE = Path(__file__).resolve().parents[1]
#: Parts of the package that show results and decide none.
SHOWING = ("cli", "figures", "report", "slurm", "testing", "web")
#: Libraries whose versions may decide what is asked or found.
LIBRARIES = ("numba", "numpy")


def run_facts(
    command: str,
    workload: Workload,
    cluster: Cluster | NodeCluster,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what makes a run what it is, ready for JSON, by what messages call it.

    Parameters
    ----------
    command
        Which verb: ``tune``, ``pareto``.
    workload, cluster
        The jobs with all their columns, and the machine with its priorities.
    options
        Everything else that was chosen. Orders in files of Python are found wherever their names
        stand, and count with their source and that of the modules beside them.
    """
    chosen = {str(name): plain(value) for name, value in options.items()}
    return {
        "command": command,
        **chosen,
        **_machine(cluster),
        **order_facts(chosen),
        "jobs of the log": log_digest(workload),
        **version_facts(),
    }


def order_facts(content: Any) -> dict[str, str]:
    """Return the content of each order in a file of Python that is named anywhere within."""
    return {f"order {order}": content_of(file) for order, file in own_orders(_texts(content))}


def version_facts() -> dict[str, Any]:
    """Return what of Queuesmith itself, and below it, decides results."""
    return {
        "version of Queuesmith": version("queuesmith"),
        **{f"version of {library}": _version(library) for library in LIBRARIES},
        "source of Queuesmith": source_stamp(),
    }


@functools.cache
def source_stamp() -> str:
    """Return a word that changes with any source of Queuesmith that may decide a result."""
    sources = sorted(
        path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in SHOWING
    )
    return _digest(
        part
        for path in sources
        for part in (str(path.relative_to(PACKAGE)).encode(), path.read_bytes())
    )


def log_digest(workload: Workload) -> str:
    """Return a word that changes with any column of any job of a log, but not with its name."""
    return _digest(_log(workload))


def plain(value: Any) -> Any:
    """Return a value as JSON keeps it."""
    return json.loads(json.dumps(value, default=_plain, sort_keys=True))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value) if isinstance(value, Mapping) else str(value)


def _machine(cluster: Cluster | NodeCluster) -> dict[str, Any]:
    """Return all about a machine but its name."""
    chosen = (field.name for field in fields(cluster) if field.name != "name")
    return {name.replace("_", " "): plain(getattr(cluster, name)) for name in chosen}


def _log(workload: Workload) -> Iterator[bytes]:
    columns = {name: getattr(workload, name) for name in CORE_COLUMNS}
    for name, values in (columns | dict(workload.extra)).items():
        yield name.encode()
        whole = np.ascontiguousarray(values)
        yield str(whole.dtype).encode()
        yield json.dumps(whole.tolist()).encode() if whole.dtype.hasobject else whole.tobytes()
    yield json.dumps({key: list(names) for key, names in workload.labels.items()}).encode()


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        yield from _texts(list(content.values()))
    elif isinstance(content, list):
        for each in content:
            yield from _texts(each)


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return f"{DIGEST}{digest.hexdigest()[:32]}"
