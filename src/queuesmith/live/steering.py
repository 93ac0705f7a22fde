"""The loop that keeps a running queue in the order of a policy, and leaves nothing behind."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.live.changes import AllowList, Change, changes_for, movable
from queuesmith.live.commands import PATIENCE, NoAnswerError, SlurmError
from queuesmith.live.forecast import accounting
from queuesmith.live.grading import STOCK, check_grade, grade_of
from queuesmith.live.journal import Journal
from queuesmith.live.ordering import wanted_order
from queuesmith.live.prometheus import write_figures
from queuesmith.live.restoring import AT_ONCE, Restored, present_jobs, restore, tell_slurm
from queuesmith.live.rights import check_multifactor, check_rights
from queuesmith.live.state import ClusterState, look
from queuesmith.live.steered import Steered, say
from queuesmith.policy import AnyPolicy


@dataclass(frozen=True)
class SteerOptions:
    """How a queue is steered.

    Parameters
    ----------
    allowed
        Whose jobs may be steered.
    every
        Seconds from the beginning of one cycle to the next.
    most_changes
        How many jobs are changed in one cycle at most; the first of the queue come first.
    cycles
        How many cycles; None: until it is stopped.
    pause
        For how many seconds nothing is done after somebody else has changed the same jobs.
    conflicts
        From how many such jobs in one cycle on.
    timeout
        How long each of Slurm's commands may take.
    as_administrator
        Whether to run with more rights than are needed.
    any_grade
        Whether to steer even where replays of the cluster must not be believed.
    history_days
        From how many days of accounting the grade is found.
    grade_every
        Seconds after which the grade is looked at again, from the jobs that have ended since.
    figures
        The file for Prometheus, if there is one.
    """

    allowed: AllowList = field(default_factory=AllowList)
    every: float = 30.0
    most_changes: int = 500
    cycles: int | None = None
    pause: float = 600.0
    conflicts: int = 3
    timeout: float = PATIENCE
    as_administrator: bool = False
    any_grade: bool = False
    history_days: float = 7.0
    grade_every: float = 6 * 3600.0
    figures: Path | None = None

    def __post_init__(self) -> None:
        positive("the time between cycles", self.every, "Give for example 30.")
        positive("the pause", self.pause, "Give for example 600.")
        positive("the days of history", self.history_days, "Give for example 7.")
        positive("the time between grades", self.grade_every, "Give for example 21600.")
        positive("the time for a command", self.timeout, "Give for example 30.")
        whole_number("the most changes of a cycle", self.most_changes, 1, "Give for example 500.")
        whole_number("the number of conflicts", self.conflicts, 1, "Give for example 3.")
        if self.cycles is not None:
            whole_number("the number of cycles", self.cycles, 1, "Leave it out to go on.")


@dataclass
class Counts:
    """What has happened so far, for people and for Prometheus."""

    cycles: int = 0
    changes: int = 0
    refused: int = 0
    conflicts: int = 0
    no_answer: int = 0
    waiting: int = 0
    steered: int = 0
    wanted: int = 0
    paused: bool = False
    cycle_seconds: float = 0.0


#: Seconds after which nodes and settings are read again; jobs are read in every cycle.
MACHINE_SECONDS = 60.0
#: From so many jobs in the journal on, more than twice those there are, it is shortened.
ENDED = 1000


class Steering:
    """A queue that is being steered: one cycle after the other, until it is stopped.

    Parameters
    ----------
    policy
        The policy whose order the queue is to have.
    journal_folder
        Where the journal lies.
    options
        How.
    say
        Told in one line what happens.
    """

    def __init__(
        self,
        policy: AnyPolicy,
        journal_folder: Path,
        options: SteerOptions | None = None,
        *,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.policy, self.options = policy, options or SteerOptions()
        self.counts = Counts()
        self._folder, self._say = journal_folder, say
        self._stop = threading.Event()
        self._left_alone: set[int] = set()
        self._paused_until = 0.0
        self._state: ClusterState | None = None
        self._read_at = -MACHINE_SECONDS
        self._looked_at_grade = self._graded = time.monotonic()
        self._doubted = False

    def stop(self) -> None:
        """Let the present step be finished, then release all that was set."""
        self._stop.set()

    def run(self) -> Restored:
        """Steer until stopped, then put every job back as it was."""
        state = look(seconds=self.options.timeout)
        check_multifactor(state.settings)
        check_rights(
            state.settings,
            more_is_fine=self.options.as_administrator,
            seconds=self.options.timeout,
        )
        with Journal(self._folder, state.cluster) as journal, _stopping(self.stop):
            if journal.entries:
                self._say(f"an earlier run was cut off: {self._released(journal)}")
            journal.forget()  # a steerer that was killed before it set anything has said something
            if not self.options.any_grade:
                self._check_grade(state)
            wanted_order(state, self.policy)  # what must be compiled is, before anything is set
            try:
                self._say_by_what(journal)
                self._loop(journal)
            finally:
                done = self._released(journal)
            self._write_figures()
            self._say(f"stopped: {done}")
            return done

    def _say_by_what(self, journal: Journal) -> None:
        """Let forecasts know by what the queue is steered."""
        how = Steered(self.policy, self.options.every, self.options.allowed)
        say(self._folder, journal.cluster, how)

    def _check_grade(self, state: ClusterState) -> None:
        """Raise where replays must not be believed; what was steered before counts with it."""
        past = accounting(self.options.history_days, seconds=self.options.timeout)
        judged = grade_of(state, past)
        check_grade(judged)
        self._say(f"fidelity grade {judged.grade if judged else 'unknown'}")

    def _grade_again(self, journal: Journal) -> None:
        """Pause and put every job back while replays cannot be believed any more.

        What was steered is no replay of Slurm but one of the policy, so the better of both counts.
        Where too few jobs have ended since the last grade, that one holds.
        """
        options, now = self.options, time.monotonic()
        if options.any_grade or now - self._looked_at_grade < options.grade_every:
            return
        self._looked_at_grade = now
        days = min((now - self._graded) / 86_400, options.history_days)
        past = accounting(days, seconds=options.timeout)
        judged = grade_of(self._looked(), past, (STOCK, self.policy))
        if judged is None:
            return
        self._graded, before = now, self._doubted
        self._doubted = not judged.grade.trustworthy
        self._say(f"fidelity grade {judged.grade}")
        if self._doubted and not before:
            self._say(f"paused until replays can be believed again: {self._released(journal)}")

    def _loop(self, journal: Journal) -> None:
        options = self.options
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self._pass(journal)
            except NoAnswerError as error:
                self.counts.no_answer += 1
                self._say(f"no change in this cycle: {error}")
            self.counts.cycles += 1
            self.counts.cycle_seconds = time.monotonic() - began
            self._write_figures()
            if options.cycles is not None and self.counts.cycles >= options.cycles:
                return
            self._stop.wait(max(options.every - self.counts.cycle_seconds, 0.05))

    def _pass(self, journal: Journal) -> None:
        self._grade_again(journal)
        self.counts.paused = self._doubted or time.monotonic() < self._paused_until
        if self.counts.paused:
            return
        state = self._looked()
        self._mind_others(state, journal)
        if time.monotonic() < self._paused_until:
            return
        ours = {job: entry.sites for job, entry in journal.entries.items()}
        order = [
            job for job in wanted_order(state, self.policy) if job.array not in self._left_alone
        ]
        jobs = movable(order, self.options.allowed, ours)
        wanted = changes_for(jobs)
        now = wanted[: self.options.most_changes]
        counts = self.counts
        counts.waiting, counts.steered, counts.wanted = len(state.waiting), len(jobs), len(wanted)
        if now:
            self._apply(now, journal)
        alive = {job.array for job in state.jobs}
        if len(journal.entries) > 2 * len(alive) + ENDED:
            journal.keep_only(alive)

    def _looked(self) -> ClusterState:
        """Return the present state; nodes and settings may be a minute old."""
        timeout = self.options.timeout
        if self._state is None or time.monotonic() - self._read_at > MACHINE_SECONDS:
            self._state = look(seconds=timeout)
            self._read_at = time.monotonic()
            return self._state
        jobs = present_jobs(seconds=timeout)
        self._state = replace(self._state, now=int(time.time()), jobs=jobs)
        return self._state

    def _mind_others(self, state: ClusterState, journal: Journal) -> None:
        """Leave jobs alone that somebody else has changed; pause where these are many."""
        fresh = set()
        for job in state.waiting:
            entry = journal.entries.get(job.array)
            if entry is None or job.made_of is None or job.array in self._left_alone:
                continue
            foreign = job.made_of.site not in (0, *entry.sites)
            if foreign or job.made_of.by_hand:
                fresh.add(job.array)
        if not fresh:
            return
        self._left_alone |= fresh
        self.counts.conflicts += len(fresh)
        jobs = so_many(len(fresh), "job")
        self._say(f"somebody else has changed {jobs}, {min(fresh)} first: left alone")
        if len(fresh) >= self.options.conflicts:
            self._paused_until = time.monotonic() + self.options.pause
            self.counts.paused = True
            self._say(f"paused for {self.options.pause:g} s")

    def _apply(self, changes: list[Change], journal: Journal) -> None:
        """Write down, set, read back, compare."""
        timeout = self.options.timeout
        self._say_by_what(journal)
        done = 0
        for first in range(0, len(changes), AT_ONCE):
            if self._stop.is_set():
                break
            part = changes[first : first + AT_ONCE]
            journal.remember(part)
            tell_slurm([c.command for c in part], seconds=timeout, inherits=(journal.lock,))
            done += len(part)
        sites = {
            job.array: job.made_of.site
            for job in present_jobs(seconds=timeout)
            if job.made_of is not None
        }
        # A job that no longer shows its parts has started, ended or been held in the meantime.
        refused = [c for c in changes[:done] if sites.get(c.job, c.site) != c.site]
        self.counts.changes += done - len(refused)
        self.counts.refused += len(refused)
        self._say(f"{so_many(done - len(refused), 'job')} changed, {len(refused)} refused")
        if done > 1 and len(refused) == done:
            raise SlurmError(
                f"Slurm refused every one of {so_many(done, 'change')}. Look whether your rights "
                "are still an operator's: sacctmgr show user."
            )

    def _released(self, journal: Journal) -> Restored:
        """Put all jobs back; wait for the controller where it does not answer."""
        for wait in (0, 1, 2, 5, 10, 20, 30):
            time.sleep(wait)
            try:
                return restore(journal, seconds=self.options.timeout)
            except NoAnswerError as error:
                self._say(f"not yet put back: {error}")
        jobs = so_many(len(journal.entries), "job")
        raise SlurmError(
            f"slurmctld does not answer, so what was set for {jobs} is still there. It is in the "
            "journal: run queuesmith slurm restore once the controller is back."
        )

    def _write_figures(self) -> None:
        if self.options.figures is not None:
            try:
                write_figures(self.options.figures, vars(self.counts), str(self.policy))
            except QueuesmithError as error:
                self._say(str(error))


@contextmanager
def _stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP stop in good order while within."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, lambda *_: stop()) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
