"""Put every job back as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from queuesmith.base.words import so_many
from queuesmith.live.commands import AWAY, PATIENCE, NoAnswerError, SlurmError, run
from queuesmith.live.jobs import LiveJob, jobs_of
from queuesmith.live.journal import Entry, Journal
from queuesmith.live.queries import PRIORITIES, QUEUE, answer

#: Commands given to one scontrol at once: between them one can be stopped.
AT_ONCE = 250
#: How often what did not take is tried again.
TRIES = 3
#: How Slurm says that one may not do what one asks for.
DENIED = ("permission denied", "invalid user id")


@dataclass(frozen=True)
class Restored:
    """What became of the jobs of a journal.

    Parameters
    ----------
    reset
        How many jobs and arrays were put back.
    gone
        How many have ended since.
    foreign
        Those whose site's part somebody else has set since: they are left as they are.
    """

    reset: int
    gone: int
    foreign: tuple[int, ...]

    def __str__(self) -> str:
        left = (
            f"; left alone, for somebody else has set them: {self.foreign}" if self.foreign else ""
        )
        ended = f"{so_many(self.gone, 'has', 'have')} ended since"
        return f"{so_many(self.reset, 'job')} put back, {ended}{left}"


def tell_slurm(
    lines: Sequence[str], *, seconds: float = PATIENCE, inherits: Sequence[int] = ()
) -> str:
    """Give commands to scontrol, many at once, and return what it says.

    What became of each must be read back, where it can be.
    """
    parts = (lines[first : first + AT_ONCE] for first in range(0, len(lines), AT_ONCE))
    return "".join(
        run(("scontrol",), seconds=seconds, lines=part, inherits=inherits) for part in parts
    )


def present_jobs(*, seconds: float = PATIENCE) -> tuple[LiveJob, ...]:
    """Return the jobs as they are now, with what their priorities are made of."""
    return jobs_of(answer(QUEUE, seconds=seconds), answer(PRIORITIES, seconds=seconds))


def restore(journal: Journal, *, seconds: float = PATIENCE) -> Restored:
    """Take away all that the journal says was set, read back, and empty the journal.

    Jobs that wait and are shown by sprio are looked at before and after. Others, that run or are
    held, do not show it: they are told in any case, which changes nothing where nothing was set,
    and what Slurm says to that is believed.
    """
    found: Restored | None = None
    refused: list[int] = []
    for _ in range(TRIES):
        jobs = present_jobs(seconds=seconds)
        reset, gone, foreign, unseen = _sorted_out(journal.entries.values(), jobs)
        if found is None:
            found = Restored(len(reset) + len(unseen), gone, tuple(foreign))
            refused = unseen if _denied(_take_away(unseen, journal, seconds)) else []
        if not reset:
            break
        _take_away(reset, journal, seconds)
    left = _sorted_out(journal.entries.values(), present_jobs(seconds=seconds))[0] + refused
    if left:
        others = f" and {so_many(len(left) - 1, 'other')} still have" if left[1:] else " still has"
        raise SlurmError(
            f"job {left[0]}{others} what was set: Slurm refuses to take it away. Look whether your "
            "rights are still an operator's, and restore again; the journal is kept."
        )
    journal.forget()
    assert found is not None
    return found


def _take_away(jobs: Sequence[int], journal: Journal, seconds: float) -> str:
    lines = [f"update JobId={job} SiteFactor=0" for job in jobs]
    return tell_slurm(lines, seconds=seconds, inherits=(journal.lock,))


def _denied(said: str) -> bool:
    """Tell whether Slurm refused something; that a job has ended since is no refusal."""
    if any(word in said.lower() for word in AWAY):
        raise NoAnswerError(
            "slurmctld did not hear that jobs are to be put back. Look whether it runs, and "
            "restore again; the journal is kept."
        )
    return any(word in said.lower() for word in DENIED)


def _sorted_out(
    entries: Iterable[Entry], jobs: Iterable[LiveJob]
) -> tuple[list[int], int, list[int], list[int]]:
    """Return which jobs have what we set, how many are gone, which somebody else has set, and
    which do not show it.
    """
    parts: dict[int, list[LiveJob]] = {}
    for job in jobs:
        parts.setdefault(job.array, []).append(job)
    reset, gone, foreign, unseen = [], 0, [], []
    for entry in entries:
        alive = [j for j in parts.get(entry.job, ()) if _same(entry, j)]
        sites = {job.made_of.site for job in alive if job.made_of is not None}
        if not alive:
            gone += 1
        elif sites & entry.sites - {0}:
            reset.append(entry.job)
        elif sites - {0}:
            foreign.append(entry.job)
        elif any(job.made_of is None for job in alive):
            unseen.append(entry.job)
    return reset, gone, foreign, unseen


def _same(entry: Entry, job: LiveJob) -> bool:
    """Tell whether a job is the one that was set; a requeue makes its submission later."""
    return job.user == entry.user and job.submit >= entry.submit
