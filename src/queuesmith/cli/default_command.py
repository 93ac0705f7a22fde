"""A group with a command that need not be named: ``queuesmith map ETC`` beside ``map compare``."""

from __future__ import annotations

from typing import Any

import typer

from queuesmith.cli.help import PanelGroup, write_options


class DefaultCommandGroup(PanelGroup):
    """Runs the command ``run`` where the first word is no command of the group.

    Its help shows that command's arguments and options, since they are what one types first.
    """

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the default command where none is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands that must be named."""
        return [name for name in super().list_commands(ctx) if name != self.default]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return how the default command is called; the others stand below."""
        default = self.commands[self.default]
        pieces: list[str] = default.collect_usage_pieces(ctx)
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the default command, then the commands that must be named."""
        default = self.commands[self.default]
        write_options(default, typer.Context(default, parent=ctx), formatter)
        self.format_commands(ctx, formatter)
