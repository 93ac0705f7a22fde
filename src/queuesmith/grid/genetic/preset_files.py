"""The configurations that come with Queuesmith, by name. Nothing here needs the compiler."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from queuesmith.base.registry import known


def preset_names() -> list[str]:
    """Return the names of the configurations that come with Queuesmith."""
    names = (str(path.name) for path in _folder().iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def preset_text(name: str) -> str:
    """Return the TOML of a configuration that comes with Queuesmith."""
    text = _folder().joinpath(f"{checked_preset(name)}.toml").read_text(encoding="utf-8")
    return str(text)


def is_preset(source: str | Path) -> bool:
    """Tell whether a configuration is meant by its name, not as a TOML file."""
    return Path(source).suffix != ".toml"


def checked_preset(name: str) -> str:
    """Return the name of a preset; an error where there is none of that name."""
    return known("preset", name, preset_names(), way_out="give the path of a TOML file")


def _folder() -> Any:
    return resources.files("queuesmith.grid.genetic").joinpath("presets")
