"""The application: all commands, and one place where errors become one sentence."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from queuesmith import __version__
from queuesmith.cli import demo, logs, replays
from queuesmith.errors import QueuesmithError

app = typer.Typer(
    name="queuesmith",
    help="Replay a cluster's job log under any scheduling policy, and find a better one.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help answers in half the time
)


@app.callback(invoke_without_command=True)
def queuesmith(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Replay a cluster's job log under any scheduling policy, and find a better one."""
    if version:
        typer.echo(f"queuesmith {__version__}")
        raise typer.Exit


for command in (
    logs.describe,
    logs.generate,
    logs.convert,
    logs.scale,
    replays.simulate,
    replays.compare,
    replays.report,
    replays.policies,
    replays.metrics,
    demo.demo,
):
    app.command()(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 for success, 1 for failure, 2 for a wrong call.

    Parameters
    ----------
    argv
        The words after ``queuesmith``; by default those of this process.
    """
    try:
        app(None if argv is None else list(argv), prog_name="queuesmith")
    except SystemExit as stop:  # typer ends so, also after it has told of a wrong call
        return stop.code if isinstance(stop.code, int) else 0
    except QueuesmithError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("stopped before it was done; nothing was written.", 130)
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or 'the output'}.", 1)
    except MemoryError:
        return _fail("there is not enough memory for this log. Take a part of it with --head.", 1)
    return 0


def run() -> None:
    """Run the command line of this process."""
    sys.exit(main())


def _fail(sentence: str, code: int) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return code
