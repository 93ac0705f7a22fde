"""Where a machine is described: a folder, a file, or nothing but a log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from queuesmith.base.errors import ClusterError
from queuesmith.base.files import AnyPath, as_path
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.sacctmgr import Accounting, read_sacctmgr
from queuesmith.cluster.scontrol import machine_of_scontrol, shows_a_cluster, with_running
from queuesmith.cluster.slurm_conf import machine_of_slurm_conf
from queuesmith.cluster.toml import read_machine
from queuesmith.workload import Workload

INFER = "infer"
#: What is looked for in a folder; what is not there is passed over.
MACHINE_TOML, SLURM_CONF = "machine.toml", "slurm.conf"
GRES_CONF, TOPOLOGY_CONF = "gres.conf", "topology.conf"
SACCTMGR_FILES, SCONTROL_FILES = "sacctmgr*", "scontrol*"


def machine_from(
    source: AnyPath | NodeCluster, *, log: Workload | None = None, timezone: str = "UTC"
) -> NodeCluster:
    """Return the machine that a folder or a file describes, or that a log lets one infer.

    Parameters
    ----------
    source
        A folder with a ``machine.toml``, or with a ``slurm.conf`` and beside it, where there are
        such, ``gres.conf``, ``topology.conf``, ``sacctmgr*`` and ``scontrol*``; one such file
        alone; or ``"infer"``.
    log
        The jobs to infer from; what they really did must be known.
    timezone
        The zone of the cluster's clock, for dates that scontrol shows.

    Examples
    --------
    >>> machine_from("atlas/slurm.conf")  # doctest: +SKIP
    >>> machine_from("infer", log=read("atlas.sacct"))  # doctest: +SKIP
    """
    if isinstance(source, NodeCluster):
        return source
    if str(source) == INFER:
        return _inferred(log)
    path = as_path(source)
    if path.is_dir():
        return _of_folder(path, timezone)
    if not path.exists():
        raise ClusterError(
            f"there is no file or folder '{path}' that describes a machine. Give a folder with a "
            f"slurm.conf, a TOML file, or '{INFER}' with a log."
        )
    return _of_file(path, timezone)


def _inferred(log: Workload | None) -> NodeCluster:
    from queuesmith.cluster.infer import infer_machine

    if log is None:
        raise ClusterError("a machine can only be inferred from a log. Give the log as well.")
    return infer_machine(log)


def _of_file(path: Path, timezone: str) -> NodeCluster:
    if path.suffix.lower() == ".toml":
        return read_machine(path)
    if path.suffix.lower() != ".conf" and shows_a_cluster(_text(path)):
        return machine_of_scontrol(path, timezone=timezone)
    return _of_conf(path)


def _of_conf(path: Path) -> NodeCluster:
    """Read a slurm.conf with those files beside it that Slurm reads, too."""
    gres, topology = (path.with_name(name) for name in (GRES_CONF, TOPOLOGY_CONF))
    return machine_of_slurm_conf(
        path,
        gres=gres if gres.exists() else None,
        topology=topology if topology.exists() else None,
    )


def _of_folder(folder: Path, timezone: str) -> NodeCluster:
    if (folder / MACHINE_TOML).exists():
        return read_machine(folder / MACHINE_TOML)
    shown = sorted(path for path in folder.glob(SCONTROL_FILES) if path.is_file())
    told = sorted(path for path in folder.glob(SACCTMGR_FILES) if path.is_file())
    if (folder / SLURM_CONF).exists():
        machine = _of_conf(folder / SLURM_CONF)
        if shown:
            machine = with_running(machine, *shown, timezone=timezone)
    elif shown:
        machine = machine_of_scontrol(*shown, timezone=timezone)
    else:
        raise ClusterError(
            f"folder '{folder}' has no {MACHINE_TOML}, no {SLURM_CONF} and no output of scontrol "
            f"({SCONTROL_FILES}), so it describes no machine. Put one of them there."
        )
    return _with_accounting(machine, read_sacctmgr(*told)) if told else machine


def _with_accounting(machine: NodeCluster, told: Accounting) -> NodeCluster:
    strange = Counter(machine.not_understood) + Counter(told.not_understood)
    return replace(
        machine, qos=told.qos, associations=told.associations, not_understood=dict(strange)
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ClusterError(
            f"'{path}' cannot be read ({error.strerror}). Give a slurm.conf or a TOML file."
        ) from error
