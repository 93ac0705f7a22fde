"""What can go wrong, in one sentence each.

Every message names the thing, the rule, the value and the way out.
"""

#: A longer message quotes a file at such length that nobody finds the way out at its end.
MOST_CHARACTERS = 1500


class QueuesmithError(Exception):
    """The root of all errors that Queuesmith raises on purpose."""

    exit_code = 1

    def __str__(self) -> str:
        text, half = super().__str__(), MOST_CHARACTERS // 2
        return text if len(text) <= MOST_CHARACTERS else f"{text[:half]} ... {text[-half:]}"


class UsageError(QueuesmithError):
    """The call itself is wrong: an unknown name, an option out of its range."""

    exit_code = 2


class WorkloadError(QueuesmithError):
    """A log cannot be read, or its jobs make no sense."""


class ClusterError(UsageError):
    """A cluster is described in a way that cannot be."""


class ScheduleError(QueuesmithError):
    """A schedule is not feasible."""


class PolicyError(UsageError):
    """A policy is unknown, wrongly written, or fails while it decides."""


class MetricError(UsageError):
    """A metric or an objective is unknown or cannot be computed."""


class OutputError(QueuesmithError):
    """A result cannot be written where it should go."""


class CancelledError(QueuesmithError):
    """Work was stopped before it was done."""


class PatienceError(QueuesmithError):
    """A replay takes too long to be worth its end."""


def interrupted(error: BaseException) -> bool:
    """Tell whether an error came of Ctrl-C: compiled libraries turn that into an ImportError."""
    known: list[BaseException] = [error]
    for each in known:  # which grows meanwhile
        if isinstance(each, KeyboardInterrupt):
            return True
        behind = (each.__cause__, each.__context__)
        known += [e for e in behind if e is not None and all(e is not k for k in known)]
    return False


def raise_if_interrupted(error: BaseException) -> None:
    """Raise KeyboardInterrupt where an import did not fail but was interrupted."""
    if interrupted(error):
        raise KeyboardInterrupt from error
