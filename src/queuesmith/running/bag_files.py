"""Bags of shell commands as people write them: one command a line, or TOML."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.checks import number, positive, whole_number
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.base.toml import check_keys, parse_toml

#: More tasks than this in one run are a slip.
MOST_TASKS = 1_000_000
#: What the place of a task in its bag is written as in a ``command``.
PLACE = "{i}"

_KEYS = (
    *("name", "class", "arrival", "runtime", "tasks", "command", "count", "cores"),
    *("share", "retries", "timeout"),
)
_NAME = re.compile(r"[\w][\w .+-]{0,79}")


@dataclass(frozen=True)
class Bag:
    """Independent commands that are submitted together.

    Parameters
    ----------
    name
        What the bag is called; its output goes into a folder of this name.
    tasks
        The commands, as a shell reads them.
    kind
        A class of one's own, shown in tables.
    arrival
        Seconds after the beginning of the run, or after the bag was added, at which it comes.
    runtime
        Seconds that a task is expected to take; None where nobody knows: then what ended tells.
    cores
        Cores that each task needs.
    share
        Which part of its tasks may run at once, from 0 (one at a time) to 1.
    retries
        How often a task that failed is tried again.
    timeout
        Seconds after which a task is killed; None for never.
    """

    name: str
    tasks: tuple[str, ...]
    kind: str = ""
    arrival: float = 0.0
    runtime: float | None = None
    cores: int = 1
    share: float = 1.0
    retries: int = 0
    timeout: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise UsageError(
                f"the bag is called {self.name!r}, but a name has 1 to 80 letters, digits, blanks "
                "or any of . _ + -, and begins with a letter or digit. Give another."
            )
        if not self.tasks:
            raise UsageError(f"bag '{self.name}' has no task. Give it a command, or leave it out.")
        if not all(isinstance(each, str) and each.strip() for each in self.tasks):
            raise UsageError(f"bag '{self.name}' has an empty command. Leave it out.")
        if any("\0" in each for each in self.tasks):
            raise UsageError(f"bag '{self.name}' has a command with a byte 0. Correct it.")
        here = f"of bag '{self.name}'"
        number(f"the arrival {here}", self.arrival, 0, 1e9, "Give for example 0.")
        number(f"the share {here}", self.share, 0, 1, "Give 1 for all tasks at once.")
        whole_number(f"the number of cores {here}", self.cores, 1, "Give for example 1.")
        whole_number(f"the number of retries {here}", self.retries, 0, "Give for example 2.")
        for key in ("runtime", "timeout"):
            if getattr(self, key) is not None:
                positive(f"the {key} {here}", getattr(self, key), "Give for example 60.")

    @property
    def limit(self) -> int:
        """How many of its tasks may run at once."""
        # A share of 0.3 of 10 tasks is 3 of them, though 0.3 * 10 is a little above 3.
        return min(max(math.ceil(self.share * len(self.tasks) - 1e-9), 1), len(self.tasks))

    def to_json(self) -> dict[str, Any]:
        """Return the bag, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Bag:
        """Return the bag of ``to_json``."""
        return cls(**{**content, "tasks": tuple(content["tasks"])})


def read_bags(paths: Sequence[AnyPath], **defaults: Any) -> list[Bag]:
    """Read bags from files: TOML, or one command a line.

    Parameters
    ----------
    paths
        The files. One that does not end in ``.toml`` is one bag, called after the file; blank lines
        and lines that begin with ``#`` are left out.
    defaults
        Fields of bags for which a file says nothing: ``share``, ``retries``, ``timeout``.
    """
    bags: list[Bag] = []
    for path in paths:
        text = decoded(check_text(read_bytes(path), path, "a list of commands"))
        try:
            bags += _parsed(text, path, defaults)
        except QueuesmithError as error:
            raise UsageError(f"in '{path}', {error}") from error
    check_names(bags)
    total = sum(len(bag.tasks) for bag in bags)
    if total > MOST_TASKS:
        raise UsageError(
            f"there are {total:,} tasks, but a run has at most {MOST_TASKS:,}. Run them in parts."
        )
    return bags


def check_names(bags: Iterable[Bag]) -> None:
    """Raise where two bags have one name."""
    seen: set[str] = set()
    for bag in bags:
        if bag.name in seen:
            raise UsageError(f"two bags are called '{bag.name}'. Give one of them another name.")
        seen.add(bag.name)


def _parsed(text: str, path: AnyPath, defaults: Mapping[str, Any]) -> list[Bag]:
    if Path(path).suffix.lower() != ".toml":
        lines = [line.strip() for line in text.splitlines()]
        commands = tuple(line for line in lines if line and not line.startswith("#"))
        return [Bag(Path(path).stem, commands, **defaults)]
    content = parse_toml(text, f"'{path}'")
    check_keys(content, ["bags"], "the file")
    tables = content.get("bags", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise UsageError("'bags' must be tables. Write each bag under [[bags]].")
    if not tables:
        raise UsageError("there is no bag. Write each under [[bags]].")
    return [_bag(table, defaults) for table in tables]


def _bag(table: Mapping[str, Any], defaults: Mapping[str, Any]) -> Bag:
    name = table.get("name", "")
    check_keys(table, _KEYS, f"bag '{name}'")
    chosen = {"arrival": 0.0, **defaults}
    for key in ("arrival", "runtime", "cores", "share", "retries", "timeout"):
        if key in table:
            chosen[key] = table[key]
    return Bag(name, _tasks(table, name), kind=str(table.get("class", "")), **chosen)


def _tasks(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = [key for key in ("tasks", "command") if key in table]
    if len(given) != 1:
        raise UsageError(
            f"bag '{name}' must have either 'tasks', a list of commands, or 'command' and 'count'. "
            "Correct it."
        )
    if "tasks" in table:
        if "count" in table:
            raise UsageError(
                f"bag '{name}' has 'tasks', so that it takes no 'count'. Leave it out, or write "
                "'command' instead of 'tasks'."
            )
        if not isinstance(table["tasks"], list):
            raise UsageError(f"'tasks' of bag '{name}' must be a list of commands. Correct it.")
        return tuple(table["tasks"])
    command = table["command"]
    if not isinstance(command, str):
        raise UsageError(f"'command' of bag '{name}' must be a text. Correct it.")
    count = whole_number(f"'count' of bag '{name}'", table.get("count", 1), 0, "Give 1 or more.")
    if count > MOST_TASKS:
        raise UsageError(
            f"bag '{name}' has {count:,} tasks; the limit is {MOST_TASKS:,}. Divide it."
        )
    return tuple(command.replace(PLACE, str(i)) for i in range(count))
