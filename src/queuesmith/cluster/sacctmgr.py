"""QOS, accounts and users as sacctmgr tells them: a dump, a listing, or a script of commands."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.cluster.limits import ROOT, Association, QualityOfService, ordered
from queuesmith.cluster.sacctmgr_words import (
    Settings,
    association_with,
    names_in,
    qos_with,
    strange_words,
)


@dataclass(frozen=True)
class Accounting:
    """What sacctmgr tells: QOS, accounts and users, and what of it was not understood."""

    qos: tuple[QualityOfService, ...] = ()
    associations: tuple[Association, ...] = ()
    cluster: str | None = None
    not_understood: Mapping[str, int] = field(default_factory=dict)


def read_sacctmgr(*paths: AnyPath) -> Accounting:
    """Read what sacctmgr wrote, or is told to do; several files are read as one after the other.

    Parameters
    ----------
    paths
        Each the output of ``sacctmgr dump``, of ``sacctmgr --parsable2 show qos`` (or
        ``show assoc``), or a script of ``sacctmgr`` commands such as ``add account name=bio``.
    """
    reading = _Reading()
    for path in paths:
        text = decoded(check_text(read_bytes(path), path, "sacctmgr's output"))
        _reader_of(text)(reading, text, str(path))
    return reading.finished()


def _reader_of(text: str) -> Callable[[_Reading, str, str], None]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if any(re.match(r"(Cluster|Parent|Account|User) - ", line) for line in lines):
        return _read_dump
    return _read_listing if lines and "|" in lines[0] else _read_script


Key = tuple[str, str | None, str | None]


@dataclass
class _Reading:
    """What has been read so far; later lines change it."""

    qos: dict[str, QualityOfService] = field(default_factory=dict)
    links: dict[Key, Association] = field(default_factory=dict)
    cluster: str | None = None
    strange: Counter[str] = field(default_factory=Counter)

    def finished(self) -> Accounting:
        links = ordered(self.links.values()) if self.links else ()
        return Accounting(tuple(self.qos.values()), links, self.cluster, dict(self.strange))

    def set_qos(self, name: str, settings: Settings, place: str) -> None:
        self.qos[name] = qos_with(self.qos.get(name, QualityOfService(name)), settings, place)
        self.strange.update(f"{word} of sacctmgr" for word in strange_words(settings))

    def set_link(self, link: Association, settings: Settings, place: str) -> None:
        now = self.links.get(link.key, link)
        self.links[link.key] = association_with(now, settings, place)
        self.strange.update(f"{word} of sacctmgr" for word in strange_words(settings))


# -- a dump --------------------------------------------------------------------------------


def _read_dump(reading: _Reading, text: str, path: str) -> None:
    parent = ROOT
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"(Cluster|Parent|Account|User) - '([^']*)'(.*)", line)
        if match is None:
            continue
        kind, name, rest = match.groups()
        place = f"line {number} of '{path}'"
        pairs = re.findall(r":([^:=']+)=('[^']*'|[^:]*)", rest)
        settings = {key.strip().lower(): value.strip("'") for key, value in pairs}
        if kind == "Cluster":
            reading.cluster = name
            reading.set_link(Association(ROOT), settings, place)
        elif kind == "Parent":
            parent = name
        elif kind == "Account":
            reading.set_link(Association(name, parent=parent), settings, place)
        else:
            where = settings.pop("partition", None) or None
            reading.set_link(Association(parent, name, where), settings, place)


# -- a listing -----------------------------------------------------------------------------


def _read_listing(reading: _Reading, text: str, path: str) -> None:
    columns: list[str] = []
    above: list[str] = [ROOT]  # the accounts above, by how far they are indented
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.rstrip("|").split("|") if line.endswith("|") else line.split("|")
        names = [cell.strip().lower().replace(" ", "") for cell in cells]
        if {"name", "priority"} <= set(names) or {"account", "user"} <= set(names):
            columns = names
        elif columns and line.strip():
            row = dict(zip(columns, cells, strict=False))
            _read_row(reading, row, above, f"line {number} of '{path}'")


def _read_row(reading: _Reading, row: dict[str, str], above: list[str], place: str) -> None:
    indent = len(row.get("account", "")) - len(row.get("account", "").lstrip())
    row = {word: text.strip() for word, text in row.items()}
    settings = {word: text for word, text in row.items() if text}
    if "account" not in row:
        reading.set_qos(row["name"], settings, place)
        return
    account, user = row["account"], row.get("user") or None
    reading.cluster = row.get("cluster") or reading.cluster
    link = Association(account, user, row.get("partition") or None)
    if user is None:
        del above[max(indent, 0) + 1 :]
        link = replace(link, parent=above[-1] if indent else ROOT)
        above += [account] * (indent + 2 - len(above))
    reading.set_link(link, settings, place)


# -- a script of commands ------------------------------------------------------------------

_VERBS = {"add": "add", "create": "add", "modify": "modify", "update": "modify"}
_REMOVE = ("remove", "delete")
_ENTITIES = {"qos": "qos", "cluster": "cluster", "account": "account", "user": "user"}


def _read_script(reading: _Reading, text: str, path: str) -> None:
    for number, words in _commands(text):
        place = f"line {number} of '{path}'"
        verb, entity = words[0].lower(), (words[1].lower().removesuffix("s") if words[1:] else "")
        entity = "qos" if entity == "qo" else entity
        if verb in ("list", "show"):
            continue
        if (verb not in _VERBS and verb not in _REMOVE) or entity not in _ENTITIES:
            reading.strange[f"{verb} {entity}".strip() + " of sacctmgr"] += 1
            continue
        where, settings = _clauses(words[2:])
        if verb in _REMOVE:
            _remove(reading, entity, {**where, **settings})
        elif _VERBS[verb] == "add":
            _add(reading, entity, {**where, **settings}, place)
        else:
            _modify(reading, entity, where, settings, place)


def _commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each command, without ``sacctmgr`` and its options."""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = line.split()
        while words and (words[0].startswith("-") or words[0].endswith("sacctmgr")):
            del words[0]
        if words:
            yield number, words


def _clauses(words: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what stands before ``set`` and what after it; a word alone is a name."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    now = before
    for word in words:
        if word.lower() in ("set", "where"):
            now = after if word.lower() == "set" else before
            continue
        key, equals, value = word.partition("=")
        if not equals:
            # "modify QOS set normal Priority=0" names what it modifies after the set.
            before["name"] = key
        elif key[-1:] in "+-":
            signs = (f"{key[-1]}{name}" for name in value.split(","))
            now[key[:-1].lower()] = ",".join(signs)
        else:
            now[key.lower()] = value
    return before, after


def _add(reading: _Reading, entity: str, given: dict[str, str], place: str) -> None:
    settings = {k: v for k, v in given.items() if k not in ("name", "names")}
    for name in names_in(given.get("name", given.get("names", ""))):
        if entity == "qos":
            reading.set_qos(name, settings, place)
        elif entity == "cluster":
            reading.cluster = name
            reading.set_link(Association(ROOT), settings, place)
        elif entity == "account":
            reading.set_link(Association(name), settings, place)
        else:
            accounts = settings.get("account", settings.get("accounts"))
            accounts = accounts or settings.get("defaultaccount", ROOT)
            partitions = names_in(settings.get("partition", settings.get("partitions", "")))
            for account in names_in(accounts):
                for partition in partitions or (None,):
                    reading.set_link(Association(account, name, partition), settings, place)


def _modify(
    reading: _Reading, entity: str, where: dict[str, str], settings: dict[str, str], place: str
) -> None:
    wanted = names_in(where.get("name", where.get("names", where.get(entity, ""))))
    if entity == "qos":
        for name in wanted or tuple(reading.qos):
            reading.set_qos(name, settings, place)
        return
    for link in [*reading.links.values()]:
        if _is_meant(link, entity, wanted, where, reading.cluster):
            reading.set_link(link, settings, place)


def _is_meant(
    link: Association,
    entity: str,
    wanted: tuple[str, ...],
    where: Settings,
    cluster: str | None,
) -> bool:
    if entity == "cluster":
        return link.key == (ROOT, None, None) and (not wanted or cluster in wanted)
    if (link.user is not None) != (entity == "user"):
        return False
    if entity == "user" and link.account not in names_in(where.get("account", link.account)):
        return False
    return not wanted or (link.user if entity == "user" else link.account) in wanted


def _remove(reading: _Reading, entity: str, where: dict[str, str]) -> None:
    names = names_in(where.get("name", where.get("names", where.get(entity, ""))))
    for name in names:
        if entity == "qos":
            reading.qos.pop(name, None)
            continue
        for key, link in [*reading.links.items()]:
            if name == (link.user if entity == "user" else link.account):
                del reading.links[key]
