"""Serve the what-if page: on this machine, to whoever has the link."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from queuesmith.base.errors import UsageError
from queuesmith.base.extras import extra_library
from queuesmith.policy import AnyPolicy, as_policies

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.web.context import Context
    from queuesmith.workload import Workload

DEFAULT_POLICIES = ("fcfs+easy", "sjf+easy")
#: The port that is tried first; where it is taken, any other.
PORT = 8050
UPLOAD_LIMIT = 200 * 2**20
#: Where runs and uploads are kept, where it is not the usual folder.
FOLDER_VARIABLE = "QUEUESMITH_STATE"


@dataclass(frozen=True)
class ServeOptions:
    """How the page is served.

    Parameters
    ----------
    host, port
        Where it listens; by default on this machine alone, at port 8050 or any that is free.
    prefix
        The path before the page where a proxy such as Open OnDemand forwards to it.
    allow_hosts
        Further names by which the page is reached, such as that of the proxy.
    upload_limit
        The most bytes of an upload.
    folder
        Where runs and uploads are kept.
    token
        The secret in the link; by default a new one each time.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    prefix: str = "/"
    allow_hosts: tuple[str, ...] = ()
    upload_limit: int = UPLOAD_LIMIT
    folder: Path | None = None
    token: str | None = None

    def __post_init__(self) -> None:
        if not (self.prefix.startswith("/") and self.prefix.endswith("/")):
            raise UsageError(
                f"the prefix is '{self.prefix}', but it must begin and end with '/'. "
                "Give for example /node/login1/8050/."
            )
        if self.port is not None and not 0 <= self.port < 65_536:
            raise UsageError(f"the port is {self.port}, but it must be 0 to 65535. Give another.")
        if self.upload_limit < 1:
            raise UsageError("the limit of uploads must be above 0. Give for example 200.")


def serve(
    log: Workload | None = None,
    machine: Cluster | NodeCluster | None = None,
    policies: Sequence[AnyPolicy | str] = DEFAULT_POLICIES,
    *,
    options: ServeOptions | None = None,
    log_source: Path | None = None,
    log_options: Mapping[str, Any] | None = None,
    machine_source: str | None = None,
    instances: Sequence[Path] = (),
    open_browser: bool = True,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve the what-if page until it is stopped by Ctrl-C.

    Parameters
    ----------
    log
        What is replayed; by default the demo's log, others can be uploaded.
    machine
        On what; by default the number of cores that the log states.
    policies
        What is compared at first. Orders in files of Python are available only if named here.
    options
        Where and for whom it is served.
    log_source, log_options, machine_source
        Where log and machine came from, and with which options of the command line the log was
        read, for how to reproduce what is seen.
    instances
        Files to be placed or mapped: clusters (TOML), queues (CSV), grids (ETC).
    open_browser
        Whether to open the page.
    ready
        Is called with the link once the page can be opened.
    """
    chosen = options or ServeOptions()
    context = make_context(
        log,
        machine,
        policies,
        options=chosen,
        log_source=log_source,
        log_options=log_options,
        machine_source=machine_source,
        instances=instances,
    )
    with serving(context, chosen) as (server, link):
        ready(link)
        opened = _open(link, context.runs.folder) if open_browser else None
        try:
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
        finally:
            if opened is not None:
                opened.unlink(missing_ok=True)


def make_context(
    log: Workload | None,
    machine: Cluster | NodeCluster | None,
    policies: Sequence[AnyPolicy | str],
    *,
    options: ServeOptions,
    log_source: Path | None = None,
    log_options: Mapping[str, Any] | None = None,
    machine_source: str | None = None,
    instances: Sequence[Path] = (),
) -> Context:
    """Return what the page shows."""
    from queuesmith.web.context import Context
    from queuesmith.web.instances import InstanceShelf
    from queuesmith.web.live_desk import LiveDesk
    from queuesmith.web.logs import LogShelf
    from queuesmith.web.policies import PolicyShelf, names_of
    from queuesmith.web.replays import ReplayDesk
    from queuesmith.web.runs import RunShelf
    from queuesmith.web.state import MOST_COLUMNS, Column

    folder = options.folder or state_folder()
    runs = RunShelf(folder)
    logs = LogShelf(log, folder, limit=options.upload_limit)
    chosen = as_policies(policies)
    texts = [str(policy) for policy in policies]
    shelf = PolicyShelf(names_of(list(chosen), texts), runs)
    return Context(
        logs=logs,
        policies=shelf,
        desk=ReplayDesk(logs, shelf, machine),
        runs=runs,
        instances=InstanceShelf(folder, limit=options.upload_limit, given=instances),
        live=LiveDesk(),
        machine=machine,
        columns=tuple(Column(text) for text in dict.fromkeys(texts))[:MOST_COLUMNS],
        log_source=log_source,
        log_options=log_options or {},
        machine_source=machine_source,
    )


@contextmanager
def serving(context: Context, options: ServeOptions) -> Iterator[tuple[Any, str]]:
    """Give a server that is ready to answer, and the link to its page."""
    check_installed()
    from werkzeug.serving import WSGIRequestHandler, make_server

    from queuesmith.web.guarding import LOOPBACK, Guard, new_token
    from queuesmith.web.page import make_app

    class Quiet(WSGIRequestHandler):
        """Says nothing about each request: its path has the token."""

        protocol_version = "HTTP/1.1"  # one connection for many requests

        def log(self, type: str, message: str, *args: Any) -> None:
            """Say nothing."""

    token = options.token or new_token()
    app = make_app(context, token=token, prefix=options.prefix)
    hosts = [*LOOPBACK, *options.allow_hosts]
    if options.host not in ("0.0.0.0", "::"):
        hosts.append(f"[{options.host}]" if ":" in options.host else options.host)
    guard = Guard(app.server, token=token, hosts=hosts, prefix=options.prefix)
    listening = _listening(options)
    with listening:
        port = listening.getsockname()[1]
        server = make_server(
            options.host, port, guard, threaded=True, request_handler=Quiet, fd=listening.fileno()
        )
        name = options.host if options.host not in ("0.0.0.0", "::") else socket.gethostname()
        host = f"[{name}]" if ":" in name else name
        try:
            yield server, f"http://{host}:{port}{options.prefix}{token}/"
        finally:
            context.desk.close()
            server.server_close()


def _listening(options: ServeOptions) -> socket.socket:
    """Return a socket that listens: at the port asked for, or else at one that is free."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    ports = [PORT, 0] if options.port is None else [options.port]
    for port in ports:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((options.host, port))
        except OSError as error:
            listening.close()
            if port == ports[-1]:
                raise UsageError(
                    f"nobody can listen at {options.host}, port {port} ({error.strerror}). "
                    "Give another --host or --port."
                ) from error
            continue
        listening.listen(128)
        return listening
    raise AssertionError("one of the ports was tried last")


def state_folder() -> Path:
    """Return where runs and uploads are kept, which need not exist."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen) / "page"
    home = os.environ.get("XDG_STATE_HOME", "")
    return (Path(home) if home else Path("~/.local/state").expanduser()) / "queuesmith" / "page"


def _open(link: str, folder: Path) -> Path:
    """Open the page in a browser, by a file that leads to it, and return that file.

    Not by the link itself, which others could read among the processes.
    """
    handle, path = tempfile.mkstemp(suffix=".html", prefix="open-", dir=folder)  # for us alone
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        url = escape(link)
        file.write(
            f'<!DOCTYPE html><meta charset="utf-8"><title>Queuesmith</title>'
            f'<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Open the page</a>'
        )
    webbrowser.open(Path(path).as_uri())
    return Path(path)


def check_installed() -> None:
    """Raise where the library of the page is not installed."""
    extra_library("dash", "web", "the page")
