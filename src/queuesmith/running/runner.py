"""Runs bags of tasks: decides who is next, hands tasks to workers, and survives its own death."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from queuesmith.base.checks import all_of_kind
from queuesmith.base.errors import OutputError, QueuesmithError, UsageError
from queuesmith.base.files import AnyPath, as_path, write_bytes
from queuesmith.base.json import parse_json
from queuesmith.knobs.setting import Knobs
from queuesmith.running.bag_files import Bag
from queuesmith.running.dispatch import starts
from queuesmith.running.progress import BagProgress, State, expected_runtimes
from queuesmith.running.records import Lines, Tail
from queuesmith.running.run_state import RunState, end_of, take_record, take_records
from queuesmith.running.task_work import Ended, TaskEnd, TaskOrder, kill_leftovers, run_task
from queuesmith.running.tuning import KnobTuning
from queuesmith.study.engines import Engine, checked_engine

#: How often engines, the inbox and survivors of an earlier run are looked after, in seconds.
LOOK_EVERY = 0.25
#: Who turned knobs or added bags, where it was the command that runs them.
COMMAND = "the command"
#: How often a full disk is tried again, in seconds.
FULL_DISK_EVERY = 2.0


def run_bags(
    bags: Sequence[Bag],
    engine: Engine,
    folder: AnyPath,
    knobs: Knobs | None = None,
    *,
    cores: int | None = None,
    tuning: KnobTuning | None = None,
    watch: Callable[[RunState], None] | None = None,
) -> RunState:
    """Run bags of tasks to their end, and return what became of them.

    Called again with the same folder after whatever kind of end, it goes on: tasks that ended are
    not run again, and those that still run are waited for.

    Parameters
    ----------
    bags
        The bags; those that the folder knows already must be the same.
    engine
        Where tasks run.
    folder
        Where everything is kept; all workers must see it under this name.
    knobs
        The exponents of the priority.
    cores
        How many cores may be used at once; by default all that the engine has.
    tuning
        Where the knobs tune themselves from the forecast of what waits.
    watch
        Is called every quarter of a second with how things stand.
    """
    checked_engine(engine)
    bags = all_of_kind("bags", bags, Bag, "Read them with read_bags(...).")
    with contextlib.closing(_Runner(as_path(folder).absolute(), engine, cores, tuning)) as runner:
        # What is wrong with them is told before any worker begins.
        runner.check_widths(runner.new(bags))
        engine.ready()
        runner.begin()
        runner.accept(bags, COMMAND)
        if knobs is not None:
            runner.command_knobs(knobs)
        while not runner.state.over or runner.inbox():
            runner.step()
            if watch is not None:
                watch(runner.state)
        return runner.state


def send(folder: AnyPath, request: dict[str, Any]) -> None:
    """Ask a run under way for something: ``{"bags": [...]}`` or ``{"knobs": [1, 1, 0]}``."""
    inbox = Path(folder).absolute() / "inbox"
    if not inbox.is_dir():
        raise UsageError(f"'{folder}' is no folder of a run. Begin one with: queuesmith run BAGS.")
    name = f"{time.time_ns()}-{secrets.token_hex(4)}.json"
    write_bytes(inbox / name, json.dumps(request).encode())


@dataclass
class _Survivor:
    """A worker that nobody waits for, and the tasks that it still runs."""

    tail: Tail
    tasks: set[tuple[str, int]] = field(default_factory=set)


@dataclass(eq=False)
class _Runner:
    folder: Path
    engine: Engine
    cores: int | None
    tuning: KnobTuning | None

    def __post_init__(self) -> None:
        try:
            for name in ("records", "output", "inbox"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"the folder '{self.folder}' cannot be made ({error.strerror}). Name another one."
            ) from error
        self.journal = Lines(self.folder / "journal.jsonl")
        self.state = RunState(self.folder)
        for line in Tail(self.journal.path).lines():
            self.state.note(line)
        self.out: dict[Future[Any], TaskOrder] = {}
        self.survivors: dict[Path, _Survivor] = {}
        self.looked = self.disk_full_until = 0.0

    def close(self) -> None:
        """Let go of the journal."""
        self.journal.close()

    def write(self, line: dict[str, Any]) -> None:
        """Put a fact into the journal, and take it in."""
        self.journal.append(line)
        self.state.note(line)

    # -- what comes from outside ---------------------------------------------------------------

    def new(self, bags: Iterable[Bag]) -> list[Bag]:
        """Return the bags that are not known yet; those that are must be the same."""
        new = []
        for bag in bags:
            known = self.state.named(bag.name)
            if known is None:
                new.append(bag)
            elif known.bag != bag:
                raise UsageError(
                    f"the run in '{self.folder}' has another bag called '{bag.name}'. Give this "
                    "one another name, or name another --folder."
                )
        return new

    def accept(self, bags: Iterable[Bag], by: str) -> None:
        """Take in bags that are not known yet."""
        # Bags that arrive earlier rank before those that arrive later; of equals the first named.
        first = time.time() if self.state.bags else self.state.begun
        for bag in sorted(self.new(bags), key=lambda each: each.arrival):
            line = {"event": "bag", "bag": bag.to_json(), "submit": first + bag.arrival, "by": by}
            self.write(line)

    def check_widths(self, bags: Iterable[Bag]) -> None:
        """Refuse tasks that need more cores than there will ever be."""
        most = self.cores if self.engine.grows else self.limit
        for bag in bags:
            if most is not None and bag.cores > most:
                raise UsageError(
                    f"a task of bag '{bag.name}' needs {bag.cores} cores, but there are {most}. "
                    "Give more with --cores."
                )

    def command_knobs(self, knobs: Knobs) -> None:
        """Set the knobs of the command, unless they were turned since it asked for the same."""
        asked = [turn.knobs for turn in self.state.turns if turn.by == COMMAND]
        if not asked or asked[-1].values != knobs.values:
            self.turn(knobs, COMMAND)

    def turn(self, knobs: Knobs, by: str) -> None:
        """Turn the knobs."""
        line = {"event": "knobs", "knobs": list(knobs.values), "at": time.time(), "by": by}
        self.write(line)

    def inbox(self) -> list[Path]:
        """Return the requests that wait."""
        return sorted((self.folder / "inbox").glob("[0-9]*.json"))

    def read_inbox(self) -> None:
        """Do what other commands ask for; what cannot be done is put aside with its reason."""
        for path in self.inbox():
            try:
                request = parse_json(path.read_bytes(), f"request '{path.name}'")
                if "knobs" in request:
                    self.turn(Knobs(*request["knobs"]), "a request")
                bags = [Bag.from_json(each) for each in request.get("bags", [])]
                self.check_widths(bags)
                self.accept(bags, "a request")
            except (QueuesmithError, TypeError, KeyError) as error:
                path.with_suffix(".refused").write_text(str(error), encoding="utf-8")
            path.unlink()

    # -- beginning and going on ----------------------------------------------------------------

    def begin(self) -> None:
        """Let time begin, where it has not, and see what is left of an earlier run."""
        if not self.state.begun:
            self.write({"event": "begun", "at": time.time(), "cwd": str(Path.cwd())})
        tails, latest = take_records(self.state)
        self._count_claims()
        running = self._running()
        for key, path in latest.items():
            if key in running:
                self.survivors.setdefault(path, _Survivor(tails[path])).tasks.add(key)
        self.watch_survivors()

    def _count_claims(self) -> None:
        """Note attempts that were claimed by a worker that died before it recorded them."""
        for bag in self.state.bags:
            for path in (self.folder / "output" / bag.bag.name).glob("*.out"):
                number, attempt = map(int, path.name.split(".")[:2])
                task = bag.tasks[number]
                task.attempts = max(task.attempts, attempt + 1)

    def watch_survivors(self) -> None:
        """Hear from workers that nobody waits for; what went away with one is begun again."""
        for path, survivor in list(self.survivors.items()):
            alive = survivor.tail.writer_is_alive()  # before its last lines are read
            for line in survivor.tail.lines():
                if line["event"] == "ended" and (line["bag"], line["task"]) in survivor.tasks:
                    take_record(self.state, line)
            survivor.tasks &= self._running() - self._handed_out()
            if not alive:
                self.reclaim(survivor.tasks)
            if not alive or not survivor.tasks:
                del self.survivors[path]

    def _running(self) -> set[tuple[str, int]]:
        return {
            (bag.bag.name, number)
            for bag in self.state.bags
            if bag.running
            for number, task in enumerate(bag.tasks)
            if task.state is State.RUNNING
        }

    def _handed_out(self) -> set[tuple[str, int]]:
        return {(order.bag, order.task) for order in self.out.values()}

    def reclaim(self, lost: Iterable[tuple[str, int]]) -> None:
        """Begin again what went away, once nothing of it runs any more on this machine."""
        for name, number in sorted(lost):
            bag = self.state.named(name)
            assert bag is not None
            attempt = bag.tasks[number].attempts - 1
            kill_leftovers(self.order(bag, number, attempt).mark)
            bag.lose(number)

    def step(self) -> None:
        """Start what may start, wait until something happens, and take it in."""
        now = time.time()
        if now - self.looked > LOOK_EVERY:
            self.looked = now
            self.read_inbox()
            self.engine.tend()
            if self.survivors:
                self.watch_survivors()
            if self.tuning is not None and (found := self.tuning.look(self.state, now, self.limit)):
                self.turn(found, "tuning")
        if now >= self.disk_full_until:
            self.start(now)
        arrivals = [b.submit - now for b in self.state.bags if b.waiting and b.submit > now]
        pause = max(min([LOOK_EVERY, *arrivals]), 0.0)
        if not self.out:
            time.sleep(pause)
            return
        done, _ = wait(self.out, pause, return_when=FIRST_COMPLETED)
        for future in done:
            self.settle(self.out.pop(future), future)

    @property
    def limit(self) -> int:
        """How many cores may be used at once."""
        there = self.engine.workers
        return there if self.cores is None else min(there, self.cores)

    def start(self, now: float) -> None:
        """Give free cores to the bags of the highest priority."""
        bags = [bag for bag in self.state.bags if bag.waiting]
        if not bags:
            return
        free = self.limit - sum(bag.running * bag.bag.cores for bag in self.state.bags)
        if free <= 0:
            return
        runtimes = expected_runtimes(self.state.bags)
        demands = [bag.demand(runtimes[bag.place]) for bag in bags]
        for demand, count in starts(demands, now, free, self.state.knobs):
            bag = self.state.bags[demand.place]
            for _ in range(count):
                number = bag.waiting[0]
                order = self.order(bag, number, bag.tasks[number].attempts)
                bag.begin(number, now)
                self.out[self.engine.submit(run_task, order)] = order

    def order(self, bag: BagProgress, number: int, attempt: int) -> TaskOrder:
        """Return an attempt of a task as workers take it."""
        command, timeout = bag.bag.tasks[number], bag.bag.timeout
        return TaskOrder(
            str(self.folder), bag.bag.name, number, attempt, command, timeout, self.state.cwd
        )

    def settle(self, order: TaskOrder, future: Future[Any]) -> None:
        """Take in how an attempt ended."""
        bag = self.state.named(order.bag)
        assert bag is not None
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or (error is not None and self.engine.is_lost(error)):
            self.look_for(bag, order)
        elif error is not None:
            raise error
        else:
            end: TaskEnd = future.result()
            if end.ended is Ended.NO_ROOM:
                self.disk_full_until = time.time() + FULL_DISK_EVERY
                bag.put_back(order.task)
            elif end.ended is Ended.TAKEN:
                self.look_for(bag, order)
            else:
                bag.settle(order.task, end)

    def look_for(self, bag: BagProgress, order: TaskOrder) -> None:
        """Find out what became of an attempt whose worker does not answer."""
        for path in sorted((self.folder / "records").glob("*.jsonl")):
            tail = Tail(path)
            alive = tail.writer_is_alive()
            lines = [
                line
                for line in tail.lines()
                if (line["bag"], line["task"], line["attempt"])
                == (order.bag, order.task, order.attempt)
            ]
            if any(line["event"] == "ended" for line in lines):
                bag.settle(order.task, end_of(lines[-1]))
                return
            if lines and alive:  # it was cut off from us, but goes on
                survivor = self.survivors.setdefault(path, _Survivor(tail))
                survivor.tasks.add((order.bag, order.task))
                return
        self.reclaim([(order.bag, order.task)])
