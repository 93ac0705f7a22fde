"""Bundles of options: a command takes a dataclass, and each field becomes an option."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take bundles of options: each field becomes an option of its own."""
    bundles: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        bundle = parameter.annotation
        if isinstance(bundle, type) and is_dataclass(bundle):
            bundles[parameter.name] = bundle
            own = inspect.signature(bundle, eval_str=True).parameters.values()
            parameters += [_in_panel(each, getattr(bundle, "panel", None)) for each in own]
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def expanded(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{f.name: values.pop(f.name) for f in fields(bundle)})
        command(**values)

    ordered = sorted(parameters, key=lambda p: p.default is not p.empty)
    keyword = [p.replace(kind=p.KEYWORD_ONLY) for p in ordered]
    expanded.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    expanded.__annotations__ = {p.name: p.annotation for p in keyword}
    return expanded


def _in_panel(parameter: inspect.Parameter, panel: str | None) -> inspect.Parameter:
    """Let help show an option of a bundle in the bundle's panel."""
    kind, *facts = get_args(parameter.annotation) or (parameter.annotation,)
    options = [fact for fact in facts if hasattr(fact, "rich_help_panel")]
    if panel is None or not options or options[0].rich_help_panel:
        return parameter
    option = copy(options[0])
    option.rich_help_panel = panel
    return parameter.replace(annotation=Annotated[kind, option])
