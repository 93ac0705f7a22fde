"""The application: all commands, and one place where errors become one sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from io import TextIOWrapper

import typer

from queuesmith import __version__
from queuesmith.base.errors import QueuesmithError, interrupted
from queuesmith.base.notices import listening
from queuesmith.cli.compiling import tell_of_compiling
from queuesmith.cli.interrupting import (
    STOPPED,
    end_now,
    end_soon_after_ctrl_c,
    ended_by_itself,
    stopped_sentence,
)
from queuesmith.cli.verbs import VerbGroup

#: What typer raises for a wrong call: an unknown option, a missing argument.
WrongCall: type[Exception] = typer.BadParameter.__mro__[1]
app = typer.Typer(
    name="queuesmith",
    cls=VerbGroup,
    help="Replay a cluster's job log under any scheduling policy, and find a better one.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help answers in half the time
)


@app.callback(invoke_without_command=True)
def queuesmith(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Replay a cluster's job log under any scheduling policy, and find a better one."""
    if version:
        typer.echo(f"queuesmith {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 for success, 1 for failure, 2 for a wrong call.

    Ctrl-C gives 130.

    Parameters
    ----------
    argv
        The words after ``queuesmith``; by default those of this process.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    told = nullcontext() if {"-q", "--quiet"} & set(words) else listening(tell_of_compiling)
    try:
        with told:
            code = app(words, prog_name="queuesmith", standalone_mode=False, obj=words)
        sys.stdout.flush()
    except WrongCall as error:
        return _fail(_wrong_call(error), 2)
    except QueuesmithError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except ImportError as error:
        if not interrupted(error):
            raise
        code = STOPPED
    except SystemExit as stop:  # typer ends so where nobody reads the output
        code = stop.code if isinstance(stop.code, int | None) else _fail(str(stop.code), 1)
    except BrokenPipeError:
        _write_no_more()
        return 1
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or 'the output'}.", 1)
    except MemoryError:
        return _fail("there is not enough memory for so many jobs. Take fewer of them.", 1)
    if code == STOPPED:  # typer returns it after Ctrl-C
        return _fail(stopped_sentence(words), STOPPED)
    return code or 0


def run() -> None:
    """Run the command line of this process."""
    # A terminal that knows no stars gets question marks.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    words = sys.argv[1:]
    end_soon_after_ctrl_c(words)
    code = main(words)
    if code == STOPPED:
        ended_by_itself()
        end_now(words)  # without waiting for what still runs in threads
    sys.exit(code)


def _fail(sentence: str, code: int) -> int:
    print(f"error: {' '.join(sentence.splitlines())}", file=sys.stderr)
    return code


def _wrong_call(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "queuesmith"
    message = getattr(error, "format_message", error.__str__)()
    end = "" if message.endswith("?") else "."
    return f"{message.rstrip('.')}{end} See '{command} --help'."


def _write_no_more() -> None:
    """Let what is still to be flushed go nowhere: whoever read the output has had enough."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
