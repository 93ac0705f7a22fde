"""Packages that show names whose modules are imported only when a name is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def door(
    package: str, shown: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that shows names of its modules.

    So that who needs one name does not wait for the compiler of the others. No module may bear one
    of the names.

    Parameters
    ----------
    package
        The name of the package.
    shown
        The names that it shows, by the module of the package in which they live.
    """
    home = {name: module for module, names in shown.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(f"{package}.{home[name]}"), name)

    return find, lambda: sorted(home)
