"""What is known of a run of bags, from its journal and what workers recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from queuesmith.base.errors import UsageError
from queuesmith.base.files import AnyPath
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.knobs.setting import Knobs
from queuesmith.running.bag_files import Bag
from queuesmith.running.progress import BagProgress, State
from queuesmith.running.records import Tail
from queuesmith.running.task_work import Ended, TaskEnd


@dataclass(frozen=True)
class Turn:
    """From a second on, these knobs; and who turned them."""

    second: float
    knobs: Knobs
    by: str


@dataclass(repr=False)
class RunState(Framed):
    """What is known of a run, from its files.

    Parameters
    ----------
    folder
        Where they lie.
    begun
        When the run began, in seconds since 1970.
    cwd
        The folder in which commands run: where the run was begun.
    bags
        The bags in the order of their coming.
    turns
        The knobs, and when they were turned.
    """

    folder: Path
    begun: float = 0.0
    cwd: str = "."
    bags: list[BagProgress] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def __repr__(self) -> str:
        tasks = sum(len(bag.tasks) for bag in self.bags)
        return (
            f"<RunState of '{self.folder}': {so_many(len(self.bags), 'bag')} of "
            f"{so_many(tasks, 'task')}>"
        )

    @property
    def knobs(self) -> Knobs:
        """The knobs as they are now."""
        return self.turns[-1].knobs if self.turns else Knobs()

    @property
    def over(self) -> bool:
        """Whether all tasks of all bags have completed or failed."""
        return all(bag.over for bag in self.bags)

    @property
    def failed(self) -> int:
        """How many tasks failed."""
        return sum(bag.failed for bag in self.bags)

    def named(self, name: str) -> BagProgress | None:
        """Return a bag by its name."""
        return next((bag for bag in self.bags if bag.bag.name == name), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each bag."""
        return [bag.row(self.begun) for bag in self.bags]

    def note(self, line: dict[str, Any]) -> None:
        """Take in a line of the journal."""
        if line["event"] == "begun":
            self.begun, self.cwd = float(line["at"]), line["cwd"]
        elif line["event"] == "bag":
            bag = Bag.from_json(line["bag"])
            self.bags.append(BagProgress(bag, float(line["submit"]), len(self.bags)))
        elif line["event"] == "knobs":
            self.turns.append(Turn(line["at"] - self.begun, Knobs(*line["knobs"]), line["by"]))

    def to_json(self) -> dict[str, Any]:
        """Return all that is known, ready for JSON."""
        return {
            "folder": str(self.folder),
            "bags": self.rows(),
            "knobs": [
                {"second": t.second, "knobs": list(t.knobs.values), "by": t.by} for t in self.turns
            ],
        }


def read_state(folder: AnyPath) -> RunState:
    """Return what is known of a run, whether it is under way or not."""
    place = Path(folder).absolute()
    journal = place / "journal.jsonl"
    if not journal.is_file():
        raise UsageError(f"'{folder}' is no folder of a run. Begin one with: queuesmith run BAGS.")
    state = RunState(place)
    for line in Tail(journal).lines():
        state.note(line)
    take_records(state)
    return state


def is_under_way(folder: AnyPath) -> bool:
    """Tell whether somebody runs the bags of a folder now."""
    return Tail(Path(folder) / "journal.jsonl").writer_is_alive()


def take_records(state: RunState) -> tuple[dict[Path, Tail], dict[tuple[str, int], Path]]:
    """Take in all that workers recorded; return the files, and who began each task last."""
    tails = {path: Tail(path) for path in sorted((state.folder / "records").glob("*.jsonl"))}
    lines = [(line, path) for path, tail in tails.items() for line in tail.lines()]
    # Attempts in their order, and of one attempt its beginning before its end.
    lines.sort(key=lambda each: (each[0]["attempt"], each[0]["event"] == "ended"))
    latest = {}
    for line, path in lines:
        take_record(state, line)
        latest[(line["bag"], line["task"])] = path
    return tails, latest


def take_record(state: RunState, line: dict[str, Any]) -> None:
    """Take in a line that a worker recorded."""
    bag = state.named(line["bag"])
    if bag is None:
        return
    number, task = int(line["task"]), bag.tasks[int(line["task"])]
    if task.state in (State.WAITING, State.RUNNING) and line["event"] == "started":
        bag.begin(number, line["start"])
    if line["event"] == "ended":
        bag.settle(number, end_of(line))
    # Attempts have numbers of their own; the next one is above all that were begun.
    task.attempts = max(task.attempts, int(line["attempt"]) + 1)


def end_of(line: dict[str, Any]) -> TaskEnd:
    """Return how an attempt ended, as it was recorded."""
    return TaskEnd(Ended(line["ended"]), line["code"], line["start"], line["end"])
