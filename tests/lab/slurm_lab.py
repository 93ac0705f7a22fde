"""One real Slurm: a controller, its accounting, and several nodes with made-up cores and GPUs."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from queuesmith.cluster.hostlist import expanded
from tests.lab.daemons import Daemons, free_ports

PROGRAMS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacctmgr")
PACKAGES = "slurm-wlm slurmdbd munge mariadb-server"
#: What sacct is asked for: all that a reader of Queuesmith understands.
COLUMNS = (
    "JobID,JobIDRaw,JobName,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,ReqCPUS,AllocCPUS,ReqNodes,NNodes,ReqMem,ReqTRES,AllocTRES,Constraints,Flags,"
    "NodeList,ExitCode,SubmitLine"
)
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: What every lab has in common; all of it can be set otherwise.
SETTINGS = {
    "SlurmdUser": "root",
    "AuthType": "auth/munge",
    "CredType": "cred/munge",
    "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "MpiDefault": "none",
    "SwitchType": "switch/none",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core_Memory",
    "DefMemPerCPU": "1000",
    "SlurmdParameters": "config_overrides",
    "ReturnToService": "2",
    "KillWait": "5",
    "MinJobAge": "300",
    "SchedulerType": "sched/backfill",
    "PriorityType": "priority/multifactor",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageTRES": "gres/gpu",
    "GresTypes": "gpu",
}


def absent() -> str | None:
    """Say what keeps a real Slurm from running here; None where nothing does."""
    lacking = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    if lacking:
        return f"no real Slurm here ({', '.join(lacking)} not found): apt-get install {PACKAGES}"
    if os.geteuid() != 0:
        return "a real Slurm that runs jobs of several users needs root"
    return None


@dataclass(frozen=True)
class LabNodes:
    """Nodes that are alike.

    Parameters
    ----------
    names
        Such as ``n[1-4]``.
    cores, memory, gpus
        Of each node; memory in MB. All of it is made up: jobs of a lab only sleep.
    more
        Further words of the line in slurm.conf, such as ``Weight=5 Feature=big``.
    """

    names: str
    cores: int = 8
    memory: int = 16_000
    gpus: int = 0
    more: str = ""


class SlurmLab:
    """A real Slurm in a folder of its own.

    Parameters
    ----------
    folder
        Everything lies below it. It must not exist yet, or be empty. Daemons that are not root must
        get there, so pytest's own folders will not do: any other run of pytest locks them again.
    nodes
        Kinds of nodes.
    partitions
        The lines of slurm.conf after ``PartitionName=``.
    settings
        Further settings of slurm.conf, or other values of :data:`SETTINGS`.
    accounting
        Commands of sacctmgr, such as ``add account bio Fairshare=30``.

    Examples
    --------
    >>> with SlurmLab(folder, partitions=["main Nodes=ALL Default=YES"]) as lab:
    ...     job = lab.submit(5, "-n 2 -t 1")
    ...     lab.wait_for_jobs(60)
    ...     print(lab.sacct())
    """

    def __init__(
        self,
        folder: Path,
        *,
        nodes: Sequence[LabNodes] = (LabNodes("n[1-4]"),),
        partitions: Sequence[str] = ("main Nodes=ALL Default=YES MaxTime=1-0 DefaultTime=10",),
        settings: Mapping[str, str] | None = None,
        accounting: Sequence[str] = (),
    ) -> None:
        self.folder, self.nodes, self.partitions = folder, nodes, partitions
        self.settings = SETTINGS | dict(settings or {})
        self.accounting = accounting
        #: The folder of slurm.conf, gres.conf and what sacctmgr dumps, for ``machine_from``.
        self.configuration = folder / "etc"
        self._names = [name for kind in nodes for name in expanded(kind.names)]
        self._environment = {
            "PATH": _PATH,
            "SLURM_CONF": str(self.configuration / "slurm.conf"),
            "TZ": "UTC",
            "LANG": "C.UTF-8",
        }

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # -- up and down -------------------------------------------------------------------

    def start(self) -> Self:
        """Start all daemons and wait until every node is idle."""
        for name, user in {
            **dict.fromkeys(("etc", "log", "spool"), "root"),
            "munge": "munge",
            "socket": "munge",
            "state": "slurm",
            "db": "mysql",
        }.items():
            (self.folder / name).mkdir(parents=True)
            shutil.chown(self.folder / name, user)
        self._open_to_all()
        self._daemons = Daemons(self.folder / "log")
        self._first_port = free_ports(len(self._names) + 3)
        self._start_munge()
        self._start_database()
        self._write_configuration()
        self._start_accounting()
        self._start_controller()
        self.show_controller()
        return self

    def stop(self) -> None:
        """Cancel what is left, and end all daemons."""
        if not hasattr(self, "_daemons"):
            return
        self._call("scancel", "--full", *self._unfinished())
        self._daemons.stop()

    def _open_to_all(self) -> None:
        """Let daemons that are not root pass through the folders above."""
        for above in (self.folder, *self.folder.parents):
            mode = above.stat().st_mode
            if not mode & 0o001:
                above.chmod(mode | 0o011)

    def _start(self, name: str, *command: str, user: str = "root") -> None:
        self._daemons.start(name, list(command), user=user, environment=self._environment)

    def _start_munge(self) -> None:
        home, key = self.folder / "munge", self.folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        shutil.chown(key, "munge")
        files = [f"--{n}-file={home / n}" for n in ("pid", "log", "seed")]
        self._start(
            "munged",
            *("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}"),
            *(f"--socket={self._socket}", *files),
            user="munge",
        )
        self._daemons.wait_until("munged", lambda: self._works("munge", "-n", "-S", self._socket))

    @property
    def _socket(self) -> str:
        return str(self.folder / "socket" / "munge")

    def _start_database(self) -> None:
        home = self.folder / "db"
        data, line = home / "data", home / "sql"
        self._call(
            *("mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={data}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
        )
        self._start(
            "mariadbd",
            *("mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={line}"),
            *(f"--pid-file={home / 'pid'}", "--bind-address=127.0.0.1"),
            *(f"--port={self._first_port + 2}", "--innodb-buffer-pool-size=64M"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900"),
            *("--skip-log-bin", f"--log-error={home / 'log'}"),
            user="mysql",
        )
        client = ("--no-defaults", f"--socket={line}", "-u", "root")
        self._daemons.wait_until("mariadbd", lambda: self._works("mariadb-admin", *client, "ping"))
        self._password = secrets.token_hex(12)
        who = "'slurm'@'127.0.0.1'"
        self.run(
            *("mariadb", *client, "-e"),
            f"create database slurm_acct_db; create user {who} identified by '{self._password}'; "
            f"grant all on slurm_acct_db.* to {who};",
        )

    def _write_configuration(self) -> None:
        state, port = self.folder / "state", self._first_port
        settings = self.settings | {
            "ClusterName": "lab",
            "SlurmctldHost": "localhost(127.0.0.1)",
            "SlurmctldPort": str(port),
            "SlurmUser": "slurm",
            "AuthInfo": f"socket={self._socket}",
            "AccountingStorageHost": "127.0.0.1",
            "AccountingStoragePort": str(port + 1),
            "AccountingStoragePass": self._socket,
            "StateSaveLocation": str(state),
            "SlurmctldPidFile": str(state / "slurmctld.pid"),
            "SlurmctldLogFile": str(state / "slurmctld.log"),
            "SlurmdSpoolDir": str(self.folder / "spool" / "%n"),
            "SlurmdPidFile": str(self.folder / "spool" / "%n.pid"),
            "SlurmdLogFile": str(self.folder / "log" / "%n.log"),
        }
        lines = [f"{name}={value}" for name, value in settings.items()]
        lines += [*self._node_lines(port + 3), *(f"PartitionName={p}" for p in self.partitions)]
        self._write("slurm.conf", lines)
        self._write("cgroup.conf", ["CgroupAutomount=no"])
        gpus = [kind for kind in self.nodes if kind.gpus]
        devices = [
            self.folder / "spool" / f"gpu{i}" for i in range(max((k.gpus for k in gpus), default=0))
        ]
        for device in devices:
            device.touch()
        self._write(
            "gres.conf",
            [
                f"NodeName={kind.names} Name=gpu File={self.folder}/spool/gpu[0-{kind.gpus - 1}]"
                for kind in gpus
            ],
        )
        database = {
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self._socket}",
            "DbdHost": "localhost",
            "DbdAddr": "127.0.0.1",
            "DbdPort": str(port + 1),
            "SlurmUser": "slurm",
            "LogFile": str(state / "slurmdbd.log"),
            "PidFile": str(state / "slurmdbd.pid"),
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "127.0.0.1",
            "StoragePort": str(port + 2),
            "StorageUser": "slurm",
            "StoragePass": self._password,
            "CommitDelay": "1",
        }
        self._write("slurmdbd.conf", [f"{name}={value}" for name, value in database.items()])
        (self.configuration / "slurmdbd.conf").chmod(0o600)
        shutil.chown(self.configuration / "slurmdbd.conf", "slurm")

    def _node_lines(self, port: int) -> Iterable[str]:
        for kind in self.nodes:
            count = len(expanded(kind.names))
            ports = f"[{port}-{port + count - 1}]" if count > 1 else str(port)
            port += count
            yield (
                f"NodeName={kind.names} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} "
                f"CPUs={kind.cores} Boards=1 SocketsPerBoard=1 CoresPerSocket={kind.cores} "
                f"ThreadsPerCore=1 RealMemory={kind.memory}"
                + (f" Gres=gpu:{kind.gpus}" if kind.gpus else "")
                + (f" {kind.more}" if kind.more else "")
            )

    def _write(self, name: str, lines: Iterable[str]) -> None:
        (self.configuration / name).write_text("".join(f"{line}\n" for line in lines))

    def _start_accounting(self) -> None:
        self._start("slurmdbd", "slurmdbd", "-D", user="slurm")
        self._daemons.wait_until(
            "slurmdbd", lambda: self._works("sacctmgr", "-n", "show", "cluster")
        )
        self.sacctmgr("add cluster lab")
        for command in self.accounting:
            self.sacctmgr(command)
        self.dump_accounts()

    def dump_accounts(self) -> None:
        """Write what the accounting knows of accounts and QOS beside slurm.conf."""
        # The dump leaves out what a QOS is, so that is asked for by itself.
        home = self.configuration
        self.run("sacctmgr", "-i", "dump", "lab", f"file={home / 'sacctmgr.dump'}")
        (home / "sacctmgr.qos").write_text(self.run("sacctmgr", "-P", "show", "qos"))

    def show_controller(self) -> None:
        """Write beside slurm.conf what the controller tells of itself, such as when it began."""
        told = self.scontrol("show config") + self.scontrol("show nodes")
        (self.configuration / "scontrol.show").write_text(told)

    def _start_controller(self) -> None:
        self._start("slurmctld", "slurmctld", "-D", user="slurm")
        self._daemons.wait_until("slurmctld", lambda: "is UP" in self._call("scontrol", "ping"))
        for name in self._names:
            (self.folder / "spool" / name).mkdir()
            self._start(f"slurmd.{name}", "slurmd", "-D", "-N", name)

        def idle() -> bool:
            found = self._call("sinfo", "-hN", "-t", "idle", "-o", "%N").split()
            return set(found) == set(self._names)

        self._daemons.wait_until(f"slurmd.{self._names[-1]}", idle)

    # -- what a test does with it ------------------------------------------------------

    def run(self, *command: str) -> str:
        """Run a command of this Slurm and return what it prints; an error where it fails."""
        done = self._execute(command)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def scontrol(self, command: str) -> str:
        """Run ``scontrol``, such as ``show config`` or ``update JobId=3 Priority=9``."""
        return self.run("scontrol", *command.split())

    def sacctmgr(self, command: str) -> str:
        """Run ``sacctmgr`` without being asked whether one is sure."""
        return self.run("sacctmgr", "-i", *command.split())

    def submit(self, seconds: float, options: str = "", *, user: str = "root") -> int:
        """Submit a job that sleeps so many seconds, and return its id."""
        script = f"#!/bin/sh\nexec sleep {seconds}\n"
        who = [] if user == "root" else [f"--uid={user}", f"--gid={user}"]
        command = ["sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *who]
        done = self._execute([*command, *options.split()], script)
        if done.returncode:
            raise RuntimeError(f"sbatch {options}: {done.stderr.strip()}")
        return int(done.stdout.split(";")[0])

    def wait_for_jobs(self, seconds: float) -> None:
        """Wait until no job waits or runs; an error where that takes longer."""
        last = time.monotonic() + seconds
        while left := self._unfinished():
            if time.monotonic() > last:
                raise RuntimeError(f"{len(left)} jobs are not over after {seconds:.0f} s")
            time.sleep(0.5)

    def sacct(self, columns: str = COLUMNS) -> str:
        """Return the accounting of all jobs, as the reader of sacct takes it."""
        command = ["sacct", "-aDPX", "-S", "2000-01-01", f"--format={columns}"]
        unended = ("RUNNING", "PENDING")
        last = time.monotonic() + 20
        while True:
            # The controller tells the accounting of ends some seconds late.
            table = self.run(*command)
            if time.monotonic() > last or not any(word in table for word in unended):
                return table
            time.sleep(0.5)

    def _unfinished(self) -> list[str]:
        return self._call("squeue", "-h", "-a", "-o", "%A").split()

    def _works(self, *command: str) -> bool:
        return self._execute(command).returncode == 0

    def _call(self, *command: str) -> str:
        return self._execute(command).stdout

    def _execute(
        self, command: Sequence[str], script: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            input=script,
            stdin=subprocess.DEVNULL if script is None else None,
            capture_output=True,
            text=True,
            env=self._environment,
            check=False,
        )
