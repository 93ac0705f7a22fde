"""The file of a study: TOML with logs, machines, policies or methods, seeds, loads and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.checks import number, positive, whole_number
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.base.files import AnyPath, log_name
from queuesmith.base.registry import known
from queuesmith.base.toml import check_keys, read_toml
from queuesmith.learning.methods import make_method
from queuesmith.learning.split import DEFAULT_SPLIT
from queuesmith.policy import as_policy
from queuesmith.policy.own_metrics import add_metric
from queuesmith.schedule.objective import Objective
from queuesmith.workload.synthetic import GENERATORS

#: What a study measures unless it says otherwise.
DEFAULT_METRICS = ("mean_wait", "mean_bounded_slowdown", "awrt")
#: Units beyond this are a slip: nobody waits for so many.
MOST_UNITS = 1_000_000

_KEYS = (
    *("name", "logs", "machines", "policies", "methods", "seeds", "load_factors", "metrics"),
    *("split", "warm_up", "cool_down"),
)
_LOG_KEYS = ("file", "generate", "name", "cores", "jobs", "load", "head", "format")


@dataclass(frozen=True)
class Log:
    """One log of a study: a file, or jobs that a generator makes.

    Parameters
    ----------
    name
        What tables call it.
    file
        Where it lies, if it is a file.
    generate, jobs, load
        The generator, how many jobs it makes, and at which load, if it is one.
    cores
        The machine's processors; by default what the file states.
    head
        Only so many of the first jobs.
    format
        As for ``read``.
    """

    name: str
    file: Path | None = None
    generate: str | None = None
    jobs: int | None = None
    load: float | None = None
    cores: int | None = None
    head: int | None = None
    format: str = "auto"


@dataclass(frozen=True)
class LearnedPolicy:
    """A policy that is learned for each log: a method with its parameters, and an objective."""

    name: str
    method: str
    objective: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """All that a study combines: each log with each machine, load, policy and seed.

    Parameters
    ----------
    name
        What the study is called.
    logs, policies, methods, metrics
        What is replayed, how, and what is measured.
    own_metrics
        Where those of the metrics stand that are functions of the user's own: ``my.py:worst_day``.
    machines
        Numbers of processors, each for all logs; empty for the machine of each log.
    seeds, load_factors
        Seeds decide generated logs and learned policies; fixed policies on a log of a file have
        one unit whatever the seeds. Arrivals are moved so that the load is multiplied.
    split
        The share of each log's time from which policies are learned; the rest judges all of them,
        fixed ones, too. None where there is nothing to learn.
    warm_up, cool_down
        Shares of a log whose jobs run but do not count.
    """

    name: str
    logs: tuple[Log, ...]
    policies: tuple[str, ...] = ()
    methods: tuple[LearnedPolicy, ...] = ()
    metrics: tuple[str, ...] = DEFAULT_METRICS
    machines: tuple[int, ...] = ()
    seeds: tuple[int, ...] = (0,)
    load_factors: tuple[float, ...] = (1.0,)
    split: float | None = None
    warm_up: float = 0.0
    cool_down: float = 0.0
    own_metrics: tuple[str, ...] = ()


def read_study(path: AnyPath) -> Study:
    """Read the file of a study; logs are looked for beside it."""
    content = read_toml(path)
    what = f"study '{path}'"
    check_keys(content, _KEYS, what)
    try:
        return _study(content, Path(path))
    except QueuesmithError as error:
        kind = type(error) if isinstance(error, UsageError) else UsageError
        raise kind(f"in {what}, {error}") from error


def _study(content: Mapping[str, Any], path: Path) -> Study:
    name = content.get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"the name is {name!r}, but it must be a text. Give one.")
    logs = tuple(_log(table, path.parent) for table in _tables(content, "logs"))
    if not logs:
        raise UsageError("there are no logs. Add [[logs]] with file = ... or generate = ...")
    methods = tuple(_method(table) for table in _tables(content, "methods"))
    policies = tuple(_texts(content, "policies"))
    for policy in policies:
        as_policy(policy)
    _check_once([*policies, *(method.name for method in methods)], "policy")
    _check_once([log.name for log in logs], "log")
    if not policies and not methods:
        raise UsageError('there are no policies. Add policies = ["fcfs+easy"] or [[methods]].')
    metrics, own_metrics = _metrics(_texts(content, "metrics") or DEFAULT_METRICS, path.parent)
    return Study(
        name,
        logs,
        policies,
        methods,
        metrics,
        tuple(_wholes(content, "machines", 1)),
        _seeds(content.get("seeds", [0])),
        _load_factors(content.get("load_factors", [1.0])),
        _split(content.get("split"), bool(methods)),
        *_margins(content),
        own_metrics,
    )


def _metrics(texts: Sequence[str], folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the metrics by name, and where those of the user's own stand; they are loaded."""
    names, own = [], []
    for text in texts:
        if re.fullmatch(r".+\.py:\w+", text):
            own.append(str((folder / text).absolute()))
            names.append(add_metric(own[-1]))
        else:
            Objective(text)
            names.append(text)
    _check_once(names, "metric")
    return tuple(names), tuple(own)


def _log(table: Mapping[str, Any], folder: Path) -> Log:
    check_keys(table, _LOG_KEYS, "a log")
    file, generator = table.get("file"), table.get("generate")
    if (file is None) == (generator is None):
        raise UsageError(
            f"the log {dict(table)} must have either 'file' or 'generate'. Correct it."
        )
    counts: dict[str, Any] = {
        key: whole_number(f"'{key}' of a log", table[key], 1, "Give for example 1000.")
        for key in ("cores", "jobs", "head")
        if key in table
    }
    load = table.get("load")
    if load is not None:
        positive("'load' of a log", load, "Give for example 0.8.")
    if generator is not None:
        known("generator", generator, GENERATORS)
        missing = [key for key in ("jobs", "cores") if key not in counts]
        if missing:
            raise UsageError(f"the log that '{generator}' makes has no '{missing[0]}'. Give it.")
        name = str(table.get("name", generator))
        return Log(name, generate=str(generator), load=load, **counts)
    if not isinstance(file, str):
        raise UsageError(f"'file' of a log is {file!r}, but it must be a path. Correct it.")
    for key in ("jobs", "load"):
        if key in table:
            raise UsageError(f"the log '{file}' is a file, so it takes no '{key}'. Leave it out.")
    name, format = str(table.get("name", log_name(file))), str(table.get("format", "auto"))
    return Log(name, file=folder / file, format=format, **counts)


def _method(table: Mapping[str, Any]) -> LearnedPolicy:
    method, objective = table.get("method"), table.get("objective")
    if not isinstance(method, str) or not isinstance(objective, str):
        raise UsageError(
            f"[[methods]] has {dict(table)}, but it must have 'method' and 'objective'. Write for "
            'example method = "pittsburgh" and objective = "mean_wait".'
        )
    Objective(objective)
    own = {k: v for k, v in table.items() if k not in ("name", "method", "objective")}
    make_method(method, **_tuples(own))
    return LearnedPolicy(str(table.get("name", f"{method}: {objective}")), method, objective, own)


def _tuples(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()}


def _tables(content: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UsageError(f"'{key}' must be tables. Write each under [[{key}]].")
    return found


def _texts(content: Mapping[str, Any], key: str) -> list[str]:
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError(f"'{key}' is {found!r}, but it must be a list of texts. Correct it.")
    return found


def _wholes(content: Mapping[str, Any], key: str, least: int) -> list[int]:
    found = content.get(key, [])
    if not isinstance(found, list):
        raise UsageError(f"'{key}' is {found!r}, but it must be a list of numbers. Correct it.")
    numbers = [whole_number(f"one of '{key}'", each, least, "Correct it.") for each in found]
    _check_once(numbers, key)
    return numbers


def _seeds(found: Any) -> tuple[int, ...]:
    if isinstance(found, int) and not isinstance(found, bool):
        count = whole_number("the number of seeds", found, 1, "Give for example 25.")
        if count > MOST_UNITS:
            raise UsageError(
                f"there are {count:,} seeds, but {MOST_UNITS:,} units are the limit of a study. "
                "Give for example 25."
            )
        return tuple(range(count))
    seeds = tuple(_wholes({"seeds": found}, "seeds", 0))
    if not seeds:
        raise UsageError("'seeds' is empty. Give a list such as [0, 1, 2], or how many: 25.")
    return seeds


def _load_factors(found: Any) -> tuple[float, ...]:
    if not isinstance(found, list) or not found:
        raise UsageError(f"'load_factors' is {found!r}, but it must be a list. Write [0.8, 1.0].")
    factors = tuple(positive("a load factor", each, "Give for example 1.2.") for each in found)
    _check_once(factors, "load factor")
    return factors


def _split(found: Any, learns: bool) -> float | None:
    if found is None:
        return DEFAULT_SPLIT if learns else None
    share = number("the split", found, 0, 1, "Give for example 0.7.")
    if not 0 < share < 1:
        raise UsageError(f"the split is {share:g}, but both parts need jobs. Give for example 0.7.")
    return share


def _margins(content: Mapping[str, Any]) -> tuple[float, float]:
    """Return the warm-up and the cool-down, which must leave something between them."""
    warm_up, cool_down = (
        number(f"'{key}'", content.get(key, 0.0), 0, 1, "Give for example 0.05.")
        for key in ("warm_up", "cool_down")
    )
    if warm_up + cool_down >= 1:
        raise UsageError(
            f"'warm_up' is {warm_up:g} and 'cool_down' {cool_down:g}, but they must leave "
            "something between them. Give for example 0.05 and 0.05."
        )
    return warm_up, cool_down


def _check_once(names: Sequence[object] | Iterable[object], kind: str) -> None:
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise UsageError(
                f"the {kind} '{name}' stands there twice. Leave one out, or rename it."
            )
        seen.add(name)
