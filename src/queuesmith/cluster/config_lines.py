"""Slurm's configuration files line by line: ``Key=Value`` words, comments, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from queuesmith.base.errors import ClusterError, QueuesmithError
from queuesmith.base.files import AnyPath

_WORD = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class ConfigLine:
    """The settings of one line, by keyword in small letters, and where the line stands.

    ``spelling`` has the keywords as they are written.
    """

    values: Mapping[str, str]
    spelling: Mapping[str, str]
    place: str

    @property
    def subject(self) -> str:
        """The first keyword, which tells what the line is about: ``nodename``."""
        return next(iter(self.values))


def config_lines(
    path: AnyPath, *, error: type[QueuesmithError] = ClusterError
) -> Iterator[ConfigLine]:
    """Yield the lines of a slurm.conf, a gres.conf or a topology.conf, those of included files too.

    Parameters
    ----------
    path
        The file. Included files are looked for beside the one that includes them.
    error
        The kind of error where a file cannot be read or includes itself.
    """
    for file, number, text in _texts(Path(path), (), error):
        found = _WORD.findall(text)
        if found:
            yield ConfigLine(
                # A second sign of equality is a slip that Slurm passes over, too.
                {key.lower(): value.lstrip("=").strip('"') for key, value in found},
                {key.lower(): key for key, _ in found},
                f"line {number} of '{file}'",
            )


def _texts(
    path: Path, above: tuple[Path, ...], error: type[QueuesmithError]
) -> Iterator[tuple[Path, int, str]]:
    """Yield each line without its comment, continued lines as one."""
    if path.resolve() in above:
        raise error(
            f"'{above[-1]}' includes '{path}', which it is included by. Let no file include itself."
        )
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as wrong:
        raise error(
            f"'{path}' cannot be read: {wrong.strerror}. Give the path of a slurm.conf."
        ) from wrong
    for number, line in _joined(text):
        include = _INCLUDE.fullmatch(line)
        if include is None:
            yield path, number, line
        else:
            yield from _texts(path.parent / include[1], (*above, path.resolve()), error)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    kept, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0]
        first = number if not kept else first
        if line.rstrip().endswith("\\"):
            kept += line.rstrip()[:-1]  # as Slurm does, without a space between
            continue
        yield first, kept + line
        kept = ""
    if kept:
        yield first, kept
