"""An order: a function of a waiting job, with the numbers that may be set."""

from __future__ import annotations

import dis
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any

from queuesmith.base.errors import PolicyError, raise_if_interrupted
from queuesmith.base.registry import did_you_mean
from queuesmith.policy.trust import check_allowed
from queuesmith.policy.user_files import is_file

#: What an order function may ask for, in this order, before its parameters.
VIEWS = ("job", "now", "machine")
#: The fields of a job that change with what users have consumed.
USAGE_FIELDS = frozenset({"usage_share", "fair_share"})


@dataclass(frozen=True)
class Order:
    """Which waiting job is first: the one for which the function is highest.

    Parameters
    ----------
    function
        Takes ``job``, or ``job, now``, or ``job, now, machine``, then parameters with numbers as
        defaults; returns a number.
    name
        What one writes to choose it; by default the function's name.
    parameters
        Values of the function's parameters, where they differ from the defaults.
    """

    function: Callable[..., Any]
    name: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not inspect.isfunction(self.function):
            raise PolicyError(
                f"order {self.function!r} is not a function, but an order is a plain Python "
                "function of a job. Write one with def."
            )
        object.__setattr__(self, "name", self.name or self.function.__name__)
        defaults = self._check_signature()
        values = dict(defaults)
        for parameter, value in self.parameters.items():
            values[parameter] = self._check_parameter(parameter, value, defaults)
        object.__setattr__(self, "parameters", MappingProxyType(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return Order, (self.function, self.name, dict(self.parameters))

    def _check_signature(self) -> dict[str, float]:
        views: list[str] = []
        defaults: dict[str, float] = {}
        for parameter in inspect.signature(self.function).parameters.values():
            if parameter.name in VIEWS and parameter.default is not parameter.empty:
                raise PolicyError(
                    f"order '{self.name}' gives '{parameter.name}' the default "
                    f"{parameter.default!r}, but the engine hands it over. Leave the default out."
                )
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise PolicyError(
                    f"order '{self.name}' takes *{parameter.name}, but an order's parameters are "
                    "named one by one. Name them, each with a number as its default."
                )
            if parameter.default is parameter.empty:
                views.append(parameter.name)
            elif _is_number(parameter.default):
                defaults[parameter.name] = float(parameter.default)
            else:
                raise PolicyError(
                    f"parameter '{parameter.name}' of order '{self.name}' has the default "
                    f"{parameter.default!r}, but a parameter is a number. Give it a number."
                )
        if not views or tuple(views) != VIEWS[: len(views)]:
            raise PolicyError(
                f"order '{self.name}' takes ({', '.join(views)}), but an order takes (job), "
                "(job, now) or (job, now, machine), then parameters with defaults. Rename them."
            )
        return defaults

    def _check_parameter(self, name: str, value: float, defaults: Mapping[str, float]) -> float:
        if name not in defaults:
            raise PolicyError(
                f"order '{self.name}' has no parameter '{name}'. {did_you_mean(name, defaults)}"
                f"Choose from: {', '.join(defaults) or '(it has none)'}."
            )
        if not _is_number(value):
            raise PolicyError(
                f"parameter '{name}' of order '{self.name}' is {value!r}, but it must be a "
                "finite number. Give a number."
            )
        return float(value)

    def __str__(self) -> str:
        defaults = self._check_signature()
        changed = {k: v for k, v in self.parameters.items() if v != defaults[k]}
        if not changed:
            return self.name
        return f"{self.name}({','.join(f'{k}={_written(v)}' for k, v in changed.items())})"

    @property
    def views(self) -> int:
        """How many of job, now, machine the function takes."""
        signature = inspect.signature(self.function).parameters.values()
        return sum(parameter.default is parameter.empty for parameter in signature)

    @property
    def reads(self) -> frozenset[str]:
        """Which of its arguments, and which of their fields, the function looks at."""
        return frozenset(_names_read(self.function.__code__) | _names_of(self.function, set()))

    @property
    def fixed(self) -> bool:
        """Whether jobs can never change places: the function reads nothing that changes."""
        return not self.reads & {"now", "machine", *USAGE_FIELDS}

    def having(self, **parameters: float) -> Order:
        """Return the order with other values of its parameters."""
        return Order(self.function, self.name, {**self.parameters, **parameters})


def load_order(reference: str) -> Order:
    """Load an order from a Python file: ``path/to/my.py:patient_wide``."""
    return Order(load_function(reference, "policy"), reference)


def load_function(reference: str, what: str) -> Callable[..., Any]:
    """Load a function from a Python file: ``path/to/my.py:name``.

    Parameters
    ----------
    reference
        The file and the name of the function.
    what
        What it is for, as messages call it: ``policy`` or ``metric``.
    """
    path_text, _, name = reference.rpartition(":")
    path = Path(path_text)
    if not is_file(path):
        raise PolicyError(
            f"{what} file '{path_text}' does not exist. Write FILE.py:FUNCTION, for example "
            f"my.py:{'patient_wide+easy' if what == 'policy' else 'worst_day'}."
        )
    check_allowed(path)
    module = _import_file(path)
    function = getattr(module, name, None)
    if not inspect.isfunction(function):
        names = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise PolicyError(
            f"{what} file '{path_text}' has no function '{name}'. "
            f"It has: {', '.join(names) or '(none)'}."
        )
    return function


def _import_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(f"queuesmith_user_{path.stem}", path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise PolicyError(
            f"policy file '{path}' is not a Python file. Give a file that ends in .py."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # Of a file that was edited within a second Python would run the bytecode kept of the old one.
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise PolicyError(
            f"policy file '{path}' has a syntax error in line {error.lineno}: {error.msg}. "
            "Correct it."
        ) from error
    except (Exception, SystemExit) as error:
        raise_if_interrupted(error)
        raise PolicyError(
            f"policy file '{path}' cannot be imported: {type(error).__name__}: {error}. Correct it."
        ) from error
    finally:
        sys.dont_write_bytecode = written
    return module


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _written(value: float) -> str:
    """Write a number briefly, yet so that reading it gives the same number."""
    brief = f"{value:g}"
    return brief if float(brief) == value else repr(value).removesuffix(".0")


def _names_of(function: Any, seen: set[Any]) -> set[str]:
    """Return the names in a function, in those inside it and in those that it calls."""
    function = getattr(function, "py_func", function)  # a helper that Numba has compiled
    if not inspect.isfunction(function) or function in seen:
        return set()
    seen.add(function)
    names = _names_in(function.__code__)
    inner = inspect.getclosurevars(function)
    for helper in (*inner.globals.values(), *inner.nonlocals.values()):
        names |= _names_of(helper, seen)
    return names


def _names_in(code: CodeType) -> set[str]:
    inside = [_names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inside)


@lru_cache(maxsize=256)
def _names_read(code: CodeType) -> frozenset[str]:
    names = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if "LOAD_FAST" in instruction.opname:
            value = instruction.argval
            names.update(value if isinstance(value, tuple) else (value,))
    return frozenset(names)
