"""Functions of users that compiled replays call: what they take, and what they look at."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, MappingProxyType
from typing import Any, ClassVar, Self

from queuesmith.base.checks import table
from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import did_you_mean


@dataclass(frozen=True)
class PolicyFunction:
    """A plain function of a user's that compiled replays call, with the numbers that may be set.

    Parameters
    ----------
    function
        Takes what the engine hands over, then parameters with numbers as defaults.
    name
        What one writes to choose it; by default the function's name.
    parameters
        Values of the function's parameters, where they differ from the defaults.
    """

    #: What messages call it.
    kind: ClassVar[str]
    #: What the engine hands over, in this order; the function may leave out the last ones.
    handed: ClassVar[tuple[str, ...]]

    function: Callable[..., Any]
    name: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not inspect.isfunction(self.function):
            raise PolicyError(
                f"{self.kind} {self.function!r} is not a function, but {self._a_kind} is a plain "
                "Python function of a job. Write one with def."
            )
        object.__setattr__(self, "name", self.name or self.function.__name__)
        defaults = self._check_signature()
        values = dict(defaults)
        way_out = f"Give for example {{'{next(iter(defaults), 'power')}': 1}}."
        for parameter, value in table("parameters", self.parameters, way_out).items():
            values[parameter] = self._check_parameter(parameter, value, defaults)
        object.__setattr__(self, "parameters", MappingProxyType(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.name, dict(self.parameters))

    def _check_signature(self) -> dict[str, float]:
        views: list[str] = []
        defaults: dict[str, float] = {}
        for parameter in inspect.signature(self.function).parameters.values():
            if parameter.name in self.handed and parameter.default is not parameter.empty:
                raise PolicyError(
                    f"{self.kind} '{self.name}' gives '{parameter.name}' the default "
                    f"{parameter.default!r}, but the engine hands it over. Leave the default out."
                )
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise PolicyError(
                    f"{self.kind} '{self.name}' takes *{parameter.name}, but its parameters are "
                    "named one by one. Name them, each with a number as its default."
                )
            if parameter.default is parameter.empty:
                views.append(parameter.name)
            elif _is_number(parameter.default):
                defaults[parameter.name] = float(parameter.default)
            else:
                raise PolicyError(
                    f"parameter '{parameter.name}' of {self.kind} '{self.name}' has the default "
                    f"{parameter.default!r}, but a parameter is a number. Give it a number."
                )
        if not views or tuple(views) != self.handed[: len(views)]:
            ways = [f"({', '.join(self.handed[:i])})" for i in range(1, len(self.handed) + 1)]
            raise PolicyError(
                f"{self.kind} '{self.name}' takes ({', '.join(views)}), but {self._a_kind} takes "
                f"{', '.join(ways[:-1])} or {ways[-1]}, then parameters with defaults. Rename them."
            )
        return defaults

    def _check_parameter(self, name: str, value: float, defaults: Mapping[str, float]) -> float:
        if name not in defaults:
            raise PolicyError(
                f"{self.kind} '{self.name}' has no parameter '{name}'. "
                f"{did_you_mean(name, defaults)}"
                f"Choose from: {', '.join(defaults) or '(it has none)'}."
            )
        if not _is_number(value):
            raise PolicyError(
                f"parameter '{name}' of {self.kind} '{self.name}' is {value!r}, but it must be a "
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
        """How many of what the engine hands over the function takes."""
        signature = inspect.signature(self.function).parameters.values()
        return sum(parameter.default is parameter.empty for parameter in signature)

    @property
    def reads(self) -> frozenset[str]:
        """Which of its arguments, and which of their fields, the function looks at."""
        return frozenset(_names_read(self.function.__code__) | _names_of(self.function, set()))

    @property
    def _a_kind(self) -> str:
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    def having(self, **parameters: float) -> Self:
        """Return the function with other values of its parameters."""
        return type(self)(self.function, self.name, {**self.parameters, **parameters})


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
