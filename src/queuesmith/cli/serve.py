"""The command that opens the what-if page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.cli.options import LogOrDemo, MachineOptions, with_options
from queuesmith.cli.output import tell
from queuesmith.cli.trust import Trust, chosen_policies

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.workload import Workload

MEGABYTE = 2**20


@with_options
def serve(
    log: LogOrDemo,
    machine_options: MachineOptions,
    machine: Annotated[
        str | None,
        typer.Option(help="A machine of nodes: a folder, a slurm.conf, a TOML file, or 'infer'."),
    ] = None,
    policies: Annotated[
        str,
        typer.Option(
            help="What is compared at first, comma-separated. Own orders must be named here."
        ),
    ] = "",
    instance: Annotated[
        list[Path] | None,
        typer.Option(help="A file to place or map: clusters (TOML), a queue (CSV), a grid (ETC)."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; other than this machine only where you say so.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="Which port; by default 8050, or any that is free.")
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="The path of a proxy before the page, as Open OnDemand has it.")
    ] = "/",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further name of the page, such as the proxy's.")
    ] = None,
    upload_limit: Annotated[int, typer.Option(help="The most MB of an upload.")] = 200,
    runs: Annotated[
        Path | None, typer.Option(help="The folder of runs and uploads; by default your own.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    trust: Trust = False,
) -> None:
    """Open the what-if page: turn the knobs of policies, see who waits."""
    from queuesmith.web.logs import BUILT_IN
    from queuesmith.web.server import DEFAULT_POLICIES, ServeOptions, check_installed, serve

    check_installed()
    options = ServeOptions(
        host=host,
        port=port,
        prefix=prefix,
        allow_hosts=tuple(allow_host or ()),
        upload_limit=upload_limit * MEGABYTE,
        folder=runs,
    )
    named = chosen_policies(policies, trust=trust) if policies else []
    built_in = str(log.log) in BUILT_IN and not log.log.exists()
    jobs = BUILT_IN[str(log.log)]() if built_in else log.read()
    where = _machine(machine, machine_options, jobs, log.timezone)
    if machine is not None and not named:
        named = chosen_policies("slurm()", trust=trust)

    def ready(link: str) -> None:
        tell("The page is at the link below; Ctrl-C ends it.", quiet=log.quiet)
        print(link, flush=True)

    serve(
        jobs,
        where,
        named or DEFAULT_POLICIES,
        options=options,
        log_source=None if built_in else log.log,
        log_options={} if built_in else log.chosen(),
        machine_source=machine,
        instances=instance or (),
        open_browser=browser,
        ready=ready,
    )


def _machine(
    source: str | None, options: MachineOptions, jobs: Workload, timezone: str
) -> Cluster | NodeCluster:
    if source is not None:
        from queuesmith.cluster.sources import machine_from

        return machine_from(source, log=jobs, timezone=timezone)
    return options.cluster(jobs)
