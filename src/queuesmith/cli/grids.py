"""Commands for independent jobs on heterogeneous machines: ``queuesmith map ...``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.options import FormatOption, Quiet, Seed, names, numbers, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_facts,
    print_json,
    print_rows,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.reporting import report_on
from queuesmith.grid.options import OBJECTIVES, MapOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from queuesmith.grid import EtcMatrix
    from queuesmith.grid.dynamic.scenario import Scenario
    from queuesmith.schedule import Schedule

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Map independent jobs to heterogeneous machines: queuesmith map ETC --method ...",
    rich_markup_mode=None,
)

Report = Annotated[
    Path | None, typer.Option(help="Write a page with figures and a Gantt chart: FILE.html.")
]

#: The columns of a comparison, by what they are called in JSON and CSV; short, to fit a terminal.
SHOWN = {
    "method": "method", "makespan": "makespan", "flowtime": "flowtime", "gap_percent": "gap %",
    "status": "status", "seconds": "s",
}  # fmt: skip
#: What a report tells of mappings, and of replays of jobs that arrive over time.
MAPPING_METRICS = ("makespan", "flowtime", "fitness", "load_balance", "utilization")
REPLAY_METRICS = ("mean_response", "max_response", "makespan", "flowtime", "utilization")


@dataclass(frozen=True)
class InstanceOptions:
    """How an instance is read where its file does not tell all."""

    jobs: Annotated[
        int | None, typer.Option(help="Number of jobs, for files without a header.")
    ] = None
    machines: Annotated[
        int | None, typer.Option(help="Number of machines, for files without a header.")
    ] = None
    mips: Annotated[
        Path | None,
        typer.Option(help="Capacities of the machines; ETC then lists the work of the jobs."),
    ] = None
    zero_as: Annotated[
        float | None, typer.Option(help="Read times of 0, from rounding, as this small number.")
    ] = None

    def read(self, path: Path) -> EtcMatrix:
        """Read one instance."""
        from queuesmith.grid.etc import read_etc, read_work

        if self.mips is not None:
            self._refuse_beside_mips()
            return read_work(path, self.mips)
        return read_etc(path, jobs=self.jobs, machines=self.machines, zero_as=self.zero_as)

    def _refuse_beside_mips(self) -> None:
        """Refuse what would not count: lists of work and capacities tell all."""
        for option in ("jobs", "machines", "zero_as"):
            value = getattr(self, option)
            if value is not None:
                raise UsageError(
                    f"--{option.replace('_', '-')} is {value}, but it is about a file of times, "
                    "and --mips makes ETC a list of work. Leave one of them out."
                )


@dataclass(frozen=True)
class MethodOptions:
    """What is minimised, and when methods that search stop."""

    objective: Annotated[str, typer.Option(help=f"{', '.join(OBJECTIVES)}.")] = MapOptions.objective
    preset: Annotated[str, typer.Option(help="Configuration of ga: a preset, or a TOML file.")] = (
        str(MapOptions.preset)
    )
    seconds: Annotated[
        float,
        typer.Option(
            help="Time for ga and exact, for each instance; the clock decides where they end."
        ),
    ] = MapOptions.seconds
    generations: Annotated[
        int | None,
        typer.Option(help="Stop ga after this many generations instead: same seed, same result."),
    ] = MapOptions.generations
    runs: Annotated[
        int,
        typer.Option(help="Independent runs of ga; the best is shown, with mean and deviation."),
    ] = MapOptions.runs
    seed: Annotated[
        int,
        typer.Option(help="What chance follows from; same result if no clock stops the method."),
    ] = MapOptions.seed
    workers: Annotated[
        int | None,
        typer.Option(help="Threads of exact, by default one for each core; runs of ga at once."),
    ] = MapOptions.workers

    def checked(self) -> MapOptions:
        """Return what was asked, checked before anything is compiled."""
        return MapOptions(**asdict(self))


@app.command("run")
@with_options
def run(
    context: typer.Context,
    etc: Annotated[Path, typer.Argument(help="Times of the jobs on the machines.")],
    instance: InstanceOptions,
    options: MethodOptions,
    method: Annotated[
        str,
        typer.Option(
            help="A heuristic such as min-min, ga, exact, or auto: what suits the instance."
        ),
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Write job, machine, start and finish as CSV.")
    ] = None,
    report: Report = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Map the jobs of one instance."""
    from queuesmith.grid.etc import mapping_facts, write_mapping
    from queuesmith.grid.methods import map_jobs

    check_targets(out, report)
    chosen, matrix = options.checked(), instance.read(etc)
    with progress(f"{method} on {matrix.name}", quiet=quiet) as done:
        mapping = map_jobs(matrix, method, chosen, progress=done)
    if out is not None:
        write_mapping(mapping, out)
        tell(f"wrote {out}", quiet=quiet)
    report_on([mapping], MAPPING_METRICS, report, context, quiet=quiet)
    facts = mapping_facts(mapping)
    if "chosen" in facts:
        tell(f"note: {facts['chosen']} was chosen: {facts['why']}", quiet=quiet)
    print_facts(facts, format)


@app.command()
@with_options
def compare(
    context: typer.Context,
    etc: Annotated[list[Path], typer.Argument(help="One or more instances.")],
    instance: InstanceOptions,
    options: MethodOptions,
    methods: Annotated[
        str, typer.Option(help="Methods, comma-separated.")
    ] = "mct,min-min,sufferage,ga,exact",
    report: Report = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Map instances by several methods, side by side with the proven bound."""
    from queuesmith.grid.etc import mapping_facts
    from queuesmith.grid.methods import compare_methods

    check_targets(report)
    if report is not None and len(etc) > 1:
        raise UsageError(
            f"--report is given with {len(etc)} instances, but a report is about one. "
            "Give one instance, or leave the report out."
        )
    chosen, matrices = options.checked(), [instance.read(path) for path in etc]
    with progress(f"mapping {so_many(len(matrices), 'instance')}", quiet=quiet) as done:
        found = compare_methods(matrices, names(methods), chosen, progress=done)
    report_on(found, MAPPING_METRICS, report, context, quiet=quiet)
    rows = [mapping_facts(mapping) for mapping in found]
    if format is not Format.table:
        print_rows(rows, format)
        return
    for name in dict.fromkeys(row["instance"] for row in rows):
        mine = [row for row in rows if row["instance"] == name]
        bound = max((row["lower_bound"] for row in mine if row["lower_bound"]), default=None)
        tell(f"{name}: no mapping is below {bound:,.6g}" if bound else str(name), quiet=quiet)
        print_rows([{head: row[key] for key, head in SHOWN.items()} for row in mine], format)


@app.command()
@with_options
def front(
    etc: Annotated[Path, typer.Argument(help="Times of the jobs on the machines.")],
    instance: InstanceOptions,
    points: Annotated[int, typer.Option(help="How many mappings to seek.")] = 12,
    seconds: Annotated[float, typer.Option(help="Time in all, about.")] = 60.0,
    seed: Annotated[
        int, typer.Option(help="What chance follows from; where it ends is up to the clock.")
    ] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw it, as an HTML page.")] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show the trade-off between makespan and flowtime, beside what no mapping can reach."""
    from queuesmith.figures.page import write_figures
    from queuesmith.grid.exact.tradeoff import trade_off

    check_targets(plot)
    matrix = instance.read(etc)
    with progress(f"front of {matrix.name}", quiet=quiet) as report:
        found = trade_off(matrix, points=points, seconds=seconds, seed=seed, progress=report)
    if plot is not None:
        write_figures([found.draw()], plot, title=f"Makespan and flowtime of {matrix.name}")
        tell(f"wrote {plot}", quiet=quiet)
    if format is Format.json:
        print_json(found.to_dict())
    else:
        print_rows(found.rows(), format)


@app.command()
def generate(
    model: Annotated[str, typer.Argument(help="A preset such as u_c_hihi.")],
    jobs: Annotated[int, typer.Option(help="How many jobs.")],
    machines: Annotated[int, typer.Option(help="How many machines.")],
    out: Annotated[Path, typer.Option(help="The file to write; .csv, or the benchmark's format.")],
    incompatible: Annotated[float, typer.Option(help="Share of impossible pairs.")] = 0.0,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a random instance, and describe it."""
    from queuesmith.grid.etc import describe, generate_etc, write_etc

    check_targets(out)
    matrix = generate_etc(model, jobs, machines, seed=seed, incompatible=incompatible)
    write_etc(matrix, out)
    if not quiet:
        rows = [{"what": what, "value": value} for what, value in describe(matrix).rows()]
        print_rows(rows, Format.table)
    tell(f"wrote {out}", quiet=quiet)


@app.command("describe")
@with_options
def describe_instance(
    etc: Annotated[Path, typer.Argument(help="Times of the jobs on the machines.")],
    instance: InstanceOptions,
    format: FormatOption = Format.table,
) -> None:
    """Say how heterogeneous and how consistent an instance is."""
    from queuesmith.grid.etc import describe

    description = describe(instance.read(etc))
    if format is Format.json:
        print_json(description.to_dict())
    else:
        print_rows([{"what": what, "value": value} for what, value in description.rows()], format)


@app.command()
def dynamic(
    context: typer.Context,
    log: Annotated[
        Path | None, typer.Argument(help="A job log; by default jobs are made at random.")
    ] = None,
    methods: Annotated[
        str, typer.Option(help="Heuristics, NAME-at-once, ga, exact; comma-separated.")
    ] = "mct-at-once,min-min,sufferage",
    loads: Annotated[str, typer.Option(help="Offered loads to compare.")] = "0.5,0.7,0.9",
    interval: Annotated[float, typer.Option(help="Map waiting jobs every N seconds.")] = 60.0,
    speeds: Annotated[
        str, typer.Option(help="Speeds of the machines, for a job log: 1,1,2,4.")
    ] = "",
    jobs: Annotated[
        int | None, typer.Option(help="How many jobs are made at random; default: 1000.")
    ] = None,
    machines: Annotated[
        int | None, typer.Option(help="How many machines, without a log; default: 16.")
    ] = None,
    up_seconds: Annotated[
        float | None, typer.Option(help="How long a machine stays on average; default: for good.")
    ] = None,
    down_seconds: Annotated[
        float, typer.Option(help="How long it stays away on average.")
    ] = 3600.0,
    objective: Annotated[
        str, typer.Option(help=f"What ga and exact minimise: {', '.join(OBJECTIVES)}.")
    ] = MapOptions.objective,
    preset: Annotated[
        str, typer.Option(help="Configuration of ga: a preset, or a TOML file.")
    ] = str(MapOptions.preset),
    decision_seconds: Annotated[
        float, typer.Option(help="Time for each decision of ga and exact.")
    ] = 0.2,
    seed: Annotated[
        int, typer.Option(help="Same seed, same result, unless the clock stops ga or exact.")
    ] = 0,
    report: Report = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Replay arriving jobs on machines that join and leave, mapped every so often."""
    from queuesmith.grid.dynamic import Trigger, compare_dynamic, replay_facts
    from queuesmith.grid.methods import check_genetic_options

    check_targets(report)
    if log is None:
        scenario = _chance(jobs, machines, speeds, seed)
    else:
        scenario = _from_log(log, speeds, {"jobs": jobs, "machines": machines}, quiet=quiet)
    options = MapOptions(
        objective=objective, preset=preset, seconds=decision_seconds, seed=seed, workers=1
    )
    wanted = numbers(loads, "loads") if loads else []
    if report is not None and len(wanted) > 1:
        raise UsageError(
            f"--report is given with --loads {loads}, but a report is about one load. "
            "Give for example --loads 0.9."
        )
    check_genetic_options(names(methods), options, takers=("ga", "auto"))
    chosen = {name: _mapper(name, options) for name in names(methods)}
    found: list[Schedule] = []
    with progress("replaying the grid", quiet=quiet) as done:
        for count, load in enumerate(wanted or [None], start=1):
            moved = scenario if load is None else scenario.with_load(load)
            if up_seconds is not None:
                moved = moved.with_churn(up_seconds, down_seconds, seed=seed)
            found += compare_dynamic(moved, chosen, trigger=Trigger(seconds=interval))
            done(count / max(len(wanted), 1))
    report_on(found, REPLAY_METRICS, report, context, quiet=quiet)
    print_rows([replay_facts(schedule) for schedule in found], format)


def _chance(jobs: int | None, machines: int | None, speeds: str, seed: int) -> Scenario:
    from queuesmith.grid.dynamic import generate_scenario

    if speeds:
        raise UsageError(
            f"--speeds is {speeds}, but they are those of machines for a job log, and none is "
            "given. Give a log, or --machines."
        )
    return generate_scenario(
        1000 if jobs is None else jobs, 16 if machines is None else machines, seed=seed
    )


def _from_log(log: Path, speeds: str, made: dict[str, int | None], *, quiet: bool) -> Scenario:
    """Return the jobs of a log; refuse what is only said of jobs that are made at random."""
    from queuesmith.grid.dynamic import scenario_from_log
    from queuesmith.workload.files import read

    for option, value in made.items():
        if value is not None:
            raise UsageError(
                f"--{option} is {value}, but it is about jobs that are made at random, and '{log}' "
                "has its own. Leave it out."
            )
    if not speeds:
        raise UsageError(f"machines for '{log}' are missing. Give their speeds: --speeds 1,1,2,4.")
    rates = numbers(speeds, "speeds")
    workload = read(log)
    tell_changes(workload, quiet=quiet)
    return scenario_from_log(workload, rates)


def _mapper(name: str, options: MapOptions) -> str | Callable[[EtcMatrix], NDArray[Any]]:
    """Return a method by its name, or what decides by it; its preset is checked beforehand."""
    from queuesmith.grid import EtcMatrix
    from queuesmith.grid.etc import machine_of
    from queuesmith.grid.methods import check_method, map_jobs

    if name not in ("ga", "exact", "auto"):
        return name
    own = replace(options, preset=MapOptions.preset) if name == "exact" else options
    check_method(name, own)

    def decide(matrix: EtcMatrix) -> NDArray[Any]:
        return machine_of(map_jobs(matrix, name, own))

    decide(EtcMatrix([[1.0]]))  # compiled here, so that no decision's time goes there
    return decide
