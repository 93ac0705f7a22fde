"""Commands for bags of tasks that really run: ``queuesmith run BAGS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.options import FormatOption, Quiet, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    on_terminal,
    print_json,
    print_rows,
    readable,
    tell,
)
from queuesmith.cli.studies import EngineOptions
from queuesmith.knobs.options import ALPHA, BETA, GAMMA

if TYPE_CHECKING:
    from queuesmith.running import RunState
    from queuesmith.study.engines import Engine

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Run bags of shell commands under dynamic priority: queuesmith run BAGS --cores N",
    rich_markup_mode=None,
)

BagFiles = Annotated[
    list[Path],
    typer.Argument(metavar="BAGS...", help="Bags: TOML, or files with one command a line."),
]
RunFolder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the run.")]
Share = Annotated[float, typer.Option(help="Part of its tasks that a bag may run at once, 0 to 1.")]
Retries = Annotated[int, typer.Option(help="How often a task that failed is tried again.")]
Timeout = Annotated[
    float | None, typer.Option(help="Seconds after which a task is killed; by default never.")
]


@app.command("run")
@with_options
def run(
    bags: BagFiles,
    engine: EngineOptions,
    cores: Annotated[
        int | None, typer.Option(help="Cores to use at once; by default all there are.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Above 0: large bags first.")] = ALPHA,
    beta: Annotated[float, typer.Option(help="Above 0: bags that waited long first.")] = BETA,
    gamma: Annotated[float, typer.Option(help="Above 0: long tasks first.")] = GAMMA,
    share: Share = 1.0,
    retries: Retries = 0,
    timeout: Timeout = None,
    tune: Annotated[
        str | None,
        typer.Option(
            help="Let the knobs tune themselves: mean_response, expansion_factor or makespan."
        ),
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds between two searches of knobs.")] = 30.0,
    folder: Annotated[
        Path | None, typer.Option(help="Where everything is kept; by default FILE.run.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write figures to this HTML file.")] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Run bags of shell commands for real; after any kind of end, the same command goes on."""
    from queuesmith.knobs.setting import Knobs
    from queuesmith.running import KnobTuning, read_bags, run_bags

    _check_picture(plot)
    if cores is not None and cores < 1:
        raise UsageError(f"--cores is {cores}, but it must be at least 1. Give 1 or more.")
    knobs = Knobs(alpha, beta, gamma)
    found = read_bags(bags, share=share, retries=retries, timeout=timeout)
    tuning = None if tune is None else KnobTuning(tune, every)
    kept = folder or bags[0].with_suffix(".run")
    with _workers(engine, cores, kept) as workers, _live(quiet) as watch:
        state = run_bags(found, workers, kept, knobs, cores=cores, tuning=tuning, watch=watch)
    if plot is not None:
        _draw(state, plot)
        tell(f"wrote {plot}", quiet=quiet)
    _print(state, format)
    if state.failed:
        first = next(row for row in state.rows() if row["failed"])
        tell(
            f"note: {so_many(state.failed, 'task')} failed; the first of bag '{first['bag']}': "
            f"{first['first_failure']}; see {kept / 'output' / first['bag']}",
            quiet=quiet,
        )
        raise typer.Exit(1)


@app.command()
def add(
    folder: RunFolder,
    bags: BagFiles,
    share: Share = 1.0,
    retries: Retries = 0,
    timeout: Timeout = None,
    quiet: Quiet = False,
) -> None:
    """Add bags to a run that is under way."""
    from queuesmith.running import read_bags, read_state, send

    found = read_bags(bags, share=share, retries=retries, timeout=timeout)
    known = read_state(folder)
    for bag in found:
        if known.named(bag.name) is not None:
            raise UsageError(
                f"the run in '{folder}' has a bag called '{bag.name}' already. Give this one "
                "another name."
            )
    send(folder, {"bags": [bag.to_json() for bag in found]})
    tell(f"sent {so_many(len(found), 'bag')} to {folder}", quiet=quiet)
    _tell_if_nobody_reads(folder, quiet)


@app.command()
def turn(
    folder: RunFolder,
    alpha: Annotated[float | None, typer.Option(help="Above 0: large bags first.")] = None,
    beta: Annotated[float | None, typer.Option(help="Above 0: long waits first.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Above 0: long tasks first.")] = None,
    quiet: Quiet = False,
) -> None:
    """Turn the knobs of a run that is under way; those not given stay as they are."""
    from queuesmith.knobs.setting import Knobs
    from queuesmith.running import read_state, send

    now = read_state(folder).knobs
    asked = zip((alpha, beta, gamma), now.values, strict=True)
    knobs = Knobs(*(old if new is None else new for new, old in asked))
    send(folder, {"knobs": list(knobs.values)})
    tell(f"asked {folder} for {knobs}: {knobs.favours()}", quiet=quiet)
    _tell_if_nobody_reads(folder, quiet)


@app.command()
def status(folder: RunFolder, format: FormatOption = Format.table) -> None:
    """Say how far a run is, whether it is under way or not."""
    from queuesmith.running import read_state
    from queuesmith.running.run_state import is_under_way

    state = read_state(folder)
    if not state.over and not is_under_way(folder):
        tell(
            f"note: nobody runs the bags of {folder} now; the same 'queuesmith run' goes on, and "
            "finds out what became of tasks that are shown as running"
        )
    _print(state, format)


def _tell_if_nobody_reads(folder: Path, quiet: bool) -> None:
    from queuesmith.running.run_state import is_under_way

    if not is_under_way(folder):
        tell(
            f"note: nobody runs the bags of {folder} now; this waits there until 'queuesmith run' "
            f"is called with the same bags and --folder {folder}",
            quiet=quiet,
        )


@contextmanager
def _workers(engine: EngineOptions, cores: int | None, folder: Path) -> Iterator[Engine]:
    """Open the engine; on this machine with one worker for each core that is asked for."""
    from dataclasses import replace

    if engine.on == "local":
        if engine.workers is not None:
            raise UsageError("--workers is for other machines; here, give --cores N.")
        engine = replace(engine, workers=cores)
    with engine.open(folder / "workers") as opened:
        yield opened


def _print(state: RunState, format: Format) -> None:
    if format is Format.json:
        print_json(state.to_json())
    else:
        print_rows(state.rows(), format)


def _draw(state: RunState, path: Path) -> None:
    from queuesmith.figures.page import write_figures
    from queuesmith.running.figures import draw_bags, draw_running

    title = f"Bags of {state.folder.name} under {state.knobs}"
    write_figures([draw_running(state), draw_bags(state)], path, title=title)


def _check_picture(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"the picture '{path}' must be an HTML file. End its name in .html.")
    check_targets(path)


@contextmanager
def _live(quiet: bool) -> Iterator[Callable[[RunState], None] | None]:
    """Show a table on the terminal that goes away at the end."""
    if quiet or not on_terminal():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        yield lambda state: live.update(live_table(state))


def live_table(state: RunState) -> Any:
    """Return how things stand, as a table for the terminal."""
    from rich.table import Table

    rows = [bag.counts() for bag in state.bags]
    table = Table(title=f"{state.knobs}: {state.knobs.favours()}")
    for name in rows[0] if rows else ():
        table.add_column(name, justify="left" if name in ("bag", "class") else "right")
    for row in rows:
        table.add_row(*(v if isinstance(v, str) else readable(v) for v in row.values()))
    return table
