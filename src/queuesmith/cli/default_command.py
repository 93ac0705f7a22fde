"""A group with a command that need not be named: ``queuesmith map ETC`` beside ``map compare``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class DefaultCommandGroup(TyperGroup):
    """Runs the command ``run`` where the first word is no command of the group."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the default command where none is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed
