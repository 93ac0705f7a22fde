"""The words and numbers of Slurm: durations, dates, counts, memory, resources, states, job ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from queuesmith.base.errors import UsageError

UNKNOWN = ("", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit", "infinite")
LARGEST = 2**53
#: Slurm shortens counts by powers of 1024.
SUFFIXES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}

_DURATION = re.compile(
    r"(?:(?P<days>[0-9]{1,9})-(?P<dayhours>[0-9]{1,9})(?::(?P<dayminutes>[0-9]{1,9})"
    r"(?::(?P<dayseconds>[0-9]{1,9}(?:\.[0-9]{1,9})?))?)?"
    r"|(?:(?P<hours>[0-9]{1,9}):)?(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9})?)"
    r"|(?P<plain>[0-9]{1,12}))"
)
_COUNT = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([KMG]?)")
_MEMORY = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,9})?)([KMGTP]?)B?([NC]?)")
#: Megabytes: what Slurm counts memory in where no unit is written.
_MEGABYTES = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
#: Old versions of sacct print the flag of memory per core as a part of the number.
_PER_CORE_FLAGS = (2**63, 2**31)
_GRES = re.compile(
    r"(?:gres[:/])?([^:=/(]+)(?:[:/]([^:=(]*[^0-9:=(KMG][^:=(]*))?(?:[:=]([0-9]+[KMG]?))?"
)
_TRES_CPU = re.compile(r"(?:^|,)cpu=([^,]*)")
_JOB_ID = re.compile(r"([0-9]{1,15})(?:_(?:[0-9]{1,15}|\[.{0,200}\]))?(?:\+[0-9]{1,15})?")
#: What the rest of a date adds to its hour.
_MINUTES = {f":{minute:02}": 60 * minute for minute in range(60)}
_SECONDS = {f":{second:02}": second for second in range(60)}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?.{0,12}")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def zone_of(timezone: str) -> ZoneInfo:
    """Return a time zone by its name."""
    try:
        return ZoneInfo(timezone)
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(
            f"the timezone is {timezone!r}, but it must be a name of the IANA database. "
            "Give for example Europe/Berlin, America/New_York or UTC."
        ) from None


def date_parser(zone: ZoneInfo, fold: int = 0) -> Callable[[str], int]:
    """Return a function from a date to Unix seconds, -1 where unknown.

    It remembers when each hour began, and adds minutes and seconds to that: logs hold many dates.
    """
    hours: dict[str, int] = {}

    def parse(text: str) -> int:
        try:
            return hours[text[:13]] + _MINUTES[text[13:16]] + _SECONDS[text[16:]]
        except KeyError:
            seconds = parse_slowly(text)
        if seconds > 0 and text[13:16] in _MINUTES and text[16:] in _SECONDS:
            first, last = (parse_slowly(text[:13] + rest) for rest in (":00:00", ":59:59"))
            if first > 0 and last - first == 3599:  # no clock was changed within it
                hours[text[:13]] = first
        return seconds

    def parse_slowly(text: str) -> int:
        text = text.strip()
        if text.lower() in UNKNOWN:
            return -1
        if len(text) <= 12 and text.isascii() and text.isdigit():
            return int(text) or -1
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone, fold=fold)
        seconds = int(moment.timestamp())
        return seconds if seconds > 0 else -1

    return parse


def duration(text: str) -> int:
    """Return the seconds of one of Slurm's durations, -1 where it is unlimited or unknown.

    >>> duration("1-02:30"), duration("05:30"), duration("90"), duration("UNLIMITED")
    (95400, 330, 5400, -1)
    """
    text = text.strip()
    if text.lower() in UNKNOWN:
        return -1
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    part = {name: float(value) for name, value in match.groupdict("0").items()}
    days = 86_400 * part["days"] + 3600 * part["dayhours"] + 60 * part["dayminutes"]
    clock = 3600 * part["hours"] + 60 * (part["minutes"] + part["plain"]) + part["seconds"]
    return min(round(days + clock + part["dayseconds"]), LARGEST)


def count(text: str) -> int:
    """Return a number that may end in K, M or G, -1 where it is unknown."""
    text = text.strip()
    if text.lower() in UNKNOWN:
        return -1
    match = _COUNT.fullmatch(text.upper())
    if match is None:
        raise ValueError(text)
    return min(round(float(match[1]) * SUFFIXES[match[2]]), LARGEST)


def tres_cores(text: str) -> int:
    """Return the cpus of a list of resources such as ``cpu=12,node=1``, -1 where it has none."""
    match = _TRES_CPU.search(text)
    return count(match[1]) if match else -1


def job_number(text: str) -> int:
    """Return the number of a job id; ``12_3`` and ``12+1`` belong to job 12."""
    if len(text) <= 15 and text.isascii() and text.isdigit():
        return int(text)
    match = _JOB_ID.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return int(match[1])


def state_of(text: str) -> str:
    """Return a state without who brought it about: ``CANCELLED by 123`` is ``CANCELLED``."""
    return (text.split() or ["(unknown)"])[0].rstrip("+").upper()


class JobMemory(NamedTuple):
    """What a job asks for, in MB, in one of three ways; -1 where it does not ask so."""

    per_node: int = -1
    per_core: int = -1
    whole: int = -1


def job_memory(text: str) -> JobMemory:
    """Return sacct's ReqMem: of a node (``4000Mn``), of a core (``4Gc``), of the job (``4G``).

    >>> job_memory("4000Mn").per_node, job_memory("2.5Gc").per_core, job_memory("4G").whole
    (4000, 2560, 4096)
    """
    text = text.strip().upper()
    if text.lower() in UNKNOWN or text == "?":
        return JobMemory()
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise ValueError(text)
    stated = float(match[1]) if "." in match[1] else int(match[1])
    amount = stated * _MEGABYTES[match[2]]
    for flag in _PER_CORE_FLAGS:
        if amount >= flag:
            return JobMemory(per_core=min(round(amount - flag), LARGEST))
    # Less than a MB is one: 0 would mean all of a node.
    size = min(max(round(amount), 1 if stated else 0), LARGEST)
    if match[3] == "N":
        return JobMemory(per_node=size)
    return JobMemory(per_core=size) if match[3] == "C" else JobMemory(whole=size)


def megabytes(text: str) -> int:
    """Return memory in MB, -1 where unknown; without a unit it is MB.

    >>> megabytes("48000"), megabytes("1.5G"), megabytes("UNLIMITED")
    (48000, 1536, -1)
    """
    per_node, per_core, whole = job_memory(text)
    if per_node >= 0 or per_core >= 0:
        raise ValueError(text)
    return whole


def tres(text: str) -> dict[str, int]:
    """Return a list of resources by name, memory in MB: ``cpu=4,mem=8G,gres/gpu:v100=2``.

    >>> tres("billing=12,cpu=12,mem=62.50G,node=1")
    {'billing': 12, 'cpu': 12, 'mem': 64000, 'node': 1}
    """
    if text.strip().lower() in UNKNOWN:
        return {}
    amounts = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if not equals or not name:
            raise ValueError(part)
        name = name.strip().lower()
        amounts[name] = megabytes(value) if name == "mem" else count(value)
    return amounts


def generic_resources(text: str) -> dict[str, int]:
    """Return generic resources by name, with their type: ``gpu:2``, ``gpu:v100:2(S:0-1)``.

    >>> generic_resources("gpu:v100:2(S:0-1),nic:1"), generic_resources("gres:gpu:1")
    ({'gpu:v100': 2, 'nic': 1}, {'gpu': 1})
    """
    amounts: dict[str, int] = {}
    if text.strip().lower() in (*UNKNOWN, "(null)"):
        return amounts
    for part in re.sub(r"\([^)]*\)", "", text).split(","):
        part = part.strip().replace(":no_consume", "")
        match = _GRES.fullmatch(part)
        if match is None:
            raise ValueError(part)
        name = match[1].strip().lower() + (f":{match[2].strip()}" if match[2] else "")
        amounts[name] = amounts.get(name, 0) + (count(match[3]) if match[3] else 1)
    return amounts
