"""An order: a function of a waiting job, with the numbers that may be set."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from queuesmith.base.errors import PolicyError, raise_if_interrupted
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.trust import check_allowed
from queuesmith.policy.user_files import is_file

#: What an order function may ask for, in this order, before its parameters.
VIEWS = ("job", "now", "machine")
#: The fields of a job that change with what users have consumed.
USAGE_FIELDS = frozenset({"usage_share", "fair_share"})


@dataclass(frozen=True)
class Order(PolicyFunction):
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

    kind: ClassVar[str] = "order"
    handed: ClassVar[tuple[str, ...]] = VIEWS

    @property
    def fixed(self) -> bool:
        """Whether jobs can never change places: the function reads nothing that changes."""
        return not self.reads & {"now", "machine", *USAGE_FIELDS}


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
