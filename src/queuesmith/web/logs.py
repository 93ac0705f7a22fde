"""The logs that the page can show: one that was named, built-in ones, and what was uploaded."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.files import log_name
from queuesmith.schedule.fidelity import codes_by
from queuesmith.web.state import Filters
from queuesmith.web.uploads import check_size, digest, keep, safe_stem
from queuesmith.workload import Workload
from queuesmith.workload.files import FORMAT_OF_SUFFIX, read
from queuesmith.workload.moments import second_of
from queuesmith.workload.synthetic import airs, demo_workload, lublin

UPLOADED = "upload-"
#: How many logs, whole or filtered, are held at once.
MOST_HELD = 8
_ENDINGS = (*FORMAT_OF_SUFFIX, *(f"{ending}.gz" for ending in FORMAT_OF_SUFFIX), ".txt", ".log")

#: Logs that need no file, by name.
BUILT_IN: Mapping[str, Callable[[], Workload]] = {
    "demo": demo_workload,
    "demo-large": lambda: lublin(100_000, 1024, load=0.85, seed=1, name="demo-large"),
    "demo-bursty": lambda: airs(5_000, 256, load=0.9, seed=1, name="demo-bursty"),
}


class LogShelf:
    """The logs of a page by name; what is read once is held for a while.

    Parameters
    ----------
    given
        The log that the page was started with, under its name.
    folder
        Where uploads are kept, so that a link to one works after the server was started anew.
    limit
        The most bytes that an upload may have.
    """

    def __init__(self, given: Workload | None, folder: Path, *, limit: int) -> None:
        self._given = {} if given is None else {given.name: given}
        self.folder, self.limit = folder, limit
        self._held: OrderedDict[tuple[str, Filters], Workload] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def first(self) -> str:
        """The log that is shown where the address names none."""
        return next(iter(self._given), "demo")

    @property
    def names(self) -> list[str]:
        """The logs to choose from: the given one, the built-in ones, then uploads."""
        uploads = sorted(path.name for path in self.folder.glob(f"{UPLOADED}*"))
        return list(dict.fromkeys([*self._given, *BUILT_IN, *uploads]))

    def whole(self, name: str) -> Workload:
        """Return a log by its name; an empty name is the first."""
        return self.jobs(name, Filters())

    def jobs(self, name: str, filters: Filters) -> Workload:
        """Return the jobs of a log that pass the filters."""
        key = (name or self.first, filters)
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        found = filtered(self.whole(name), filters) if filters else self._read(key[0])
        with self._lock:
            self._held[key] = found
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
        return found

    def _read(self, name: str) -> Workload:
        if name in self._given:
            return self._given[name]
        if name in BUILT_IN:
            return BUILT_IN[name]()
        path = self.folder / name
        if not re.fullmatch(rf"{UPLOADED}[0-9a-f]{{16}}-[\w.-]+", name) or not path.is_file():
            raise UsageError(
                f"there is no log '{name[:80]}' here. Choose another one, or upload it again."
            )
        return read(path).renamed(log_name(name.split("-", 2)[2]))

    def upload(self, filename: str, content: bytes) -> str:
        """Keep a log that somebody sent, and return its name; what is no log is refused."""
        check_size(content, self.limit)
        ending = next((e for e in _ENDINGS if filename.lower().endswith(e)), "")
        stem = safe_stem(log_name(filename), "log")
        path = self.folder / f"{UPLOADED}{digest(content, 16)}-{stem}{ending}"
        return keep(path, filename, content, lambda kept: self.whole(kept.name))


def filtered(workload: Workload, filters: Filters) -> Workload:
    """Return the jobs of a log that pass the filters; an error where none does."""
    part = workload.where(condition_of(workload, filters)) if filters else workload
    if not len(part):
        raise WorkloadError(
            f"no job of '{workload.name}' passes the filters. Take one of them out."
        )
    return part


def condition_of(workload: Workload, filters: Filters) -> str:
    """Return filters, of which there are some, as a condition: what ``--where`` takes."""
    parts = [
        f"submit {how} {_moment(workload, text)!r}"
        for how, text in ((">=", filters.since), ("<", filters.until))
        if text
    ]
    parts += [
        f"{column} {_named(workload, column, wanted)}"
        for column in ("partition", "account", "user")
        if (wanted := getattr(filters, column))
    ]
    if filters.narrowest:
        parts.append(f"cores >= {_cores('fewest cores', filters.narrowest)}")
    if filters.widest:
        parts.append(f"cores <= {_cores('most cores', filters.widest)}")
    return " and ".join(parts)


def choices(workload: Workload, column: str, most: int = 200) -> list[str]:
    """Return the names in a column, those with the most jobs first; none where it is not there."""
    if column != "user" and column not in workload.extra:
        return []
    codes, label = codes_by(workload, column)
    values, count = np.unique(codes, return_counts=True)
    return [label(int(values[i])) for i in np.argsort(-count, kind="stable")[:most]]


def _moment(workload: Workload, text: str) -> int | str:
    stripped = text.strip()
    moment = int(stripped) if re.fullmatch(r"-?[0-9]{1,18}", stripped) else stripped
    second_of(moment, workload.epoch, workload.name)  # or it is told what is wrong
    return moment


def _named(workload: Workload, column: str, wanted: str) -> str:
    """Return the part of a condition that takes what has a name; numbers where that may not do."""
    if column != "user" and column not in workload.extra:
        raise WorkloadError(
            f"the log '{workload.name}' has no column '{column}'. Take that filter out."
        )
    codes, label = codes_by(workload, column)
    same = [int(code) for code in np.unique(codes) if label(int(code)) == wanted]
    if not same:
        raise WorkloadError(
            f"the log '{workload.name}' has no {column} '{wanted[:60]}'. Choose another."
        )
    plain = wanted in workload.labels.get(column, ()) and " ".join(wanted.split()) == wanted
    return f"== {wanted!r}" if plain and len(same) == 1 else f"in {same}"


def _cores(what: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text.strip()) or not 1 <= int(text) <= 2**30:
        raise UsageError(
            f"{what} is '{text[:40]}', but it must be a whole number of cores. Correct it."
        )
    return int(text)
