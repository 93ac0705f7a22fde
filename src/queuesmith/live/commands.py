"""Slurm's own commands, run with a time limit; what goes wrong becomes one sentence."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from queuesmith.base.errors import QueuesmithError

#: Seconds after which a command that does not answer is given up.
PATIENCE = 30.0
#: What Slurm prints must not depend on who looks: dates in UTC, lists of tasks never shortened.
_PLAIN = {"TZ": "UTC", "LC_ALL": "C", "SLURM_TIME_FORMAT": "standard", "SLURM_BITSTR_LEN": "0"}
#: Settings of whoever calls that would change what is printed.
_UNWANTED = (
    *("SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SQUEUE_SORT", "SQUEUE_STATES", "SQUEUE_USERS"),
    *("SQUEUE_PARTITION", "SQUEUE_ACCOUNT", "SQUEUE_QOS", "SQUEUE_NAMES", "SQUEUE_LICENSES"),
    *("SPRIO_FORMAT", "SLURM_CLUSTERS", "SQUEUE_CLUSTERS", "SPRIO_CLUSTERS", "SCONTROL_ALL"),
    *("SQUEUE_ARRAY", "SQUEUE_FEDERATION", "SPRIO_FEDERATION", "SACCT_FEDERATION"),
)


#: How Slurm says that nobody answers.
AWAY = ("unable to contact", "connection refused", "timed out", "zero bytes", "not responding")


class SlurmError(QueuesmithError):
    """A running Slurm does not answer, or refuses what it is asked."""


class NoAnswerError(SlurmError):
    """Nobody answers: the controller is away, or takes too long."""


def run(
    words: Sequence[str],
    *,
    seconds: float = PATIENCE,
    lines: Sequence[str] | None = None,
    settings: Mapping[str, str] | None = None,
    inherits: Sequence[int] = (),
) -> str:
    """Run one of Slurm's commands and return what it prints.

    Parameters
    ----------
    words
        The command and its options.
    seconds
        How long it may take.
    lines
        What it reads from its standard input. Slurm then goes on after a line that it refuses, and
        so does this: read back what became of each. What it says of them is returned, too.
    settings
        Further environment variables.
    inherits
        Open files that the command keeps open, such as a lock.
    """
    environment = {k: v for k, v in os.environ.items() if k not in _UNWANTED}
    environment |= _PLAIN | dict(settings or {})
    try:
        done = subprocess.run(
            words,
            input="".join(f"{line}\n" for line in lines or ()),
            capture_output=True,
            timeout=seconds,
            env=environment,
            encoding="utf-8",
            errors="replace",
            pass_fds=tuple(inherits),
            start_new_session=True,  # Ctrl-C is for us: a change under way is finished
        )
    except FileNotFoundError:
        raise SlurmError(
            f"there is no command '{words[0]}' here. Run this where Slurm's commands are, with "
            "their folder on the PATH."
        ) from None
    except PermissionError:
        raise SlurmError(f"'{words[0]}' may not be run here. Check its permissions.") from None
    except subprocess.TimeoutExpired:
        raise NoAnswerError(
            f"'{' '.join(words[:3])}' has not answered within {seconds:g} s. Look whether "
            "slurmctld is well, or allow more time (--timeout)."
        ) from None
    if done.returncode and lines is None:
        raise _failure(words, done.stderr)
    return done.stdout if lines is None else done.stdout + done.stderr


def _failure(words: Sequence[str], stderr: str) -> SlurmError:
    said = " ".join(stderr.split())[:300].rstrip(".") or "it says nothing"
    command = " ".join(words[:3])
    if any(word in said.lower() for word in AWAY):
        return NoAnswerError(
            f"slurmctld does not answer '{command}' ({said}). Look whether it runs, and try again."
        )
    return SlurmError(f"'{command}' failed ({said}). Run it by hand to see why.")
