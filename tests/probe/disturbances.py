"""Kills, flipped bits and full disks: nothing is lost, nothing changes unnoticed."""

from __future__ import annotations

import contextlib
import random
import time
from pathlib import Path

from queuesmith.base.errors import QueuesmithError
from queuesmith.study.store import Store
from tests.probe.tally import Tally
from tests.probe.verbs import KILLED, VERBS, Ended, Verb, clear, run, run_here

Facts = dict[str, object]


class Reference:
    """What a verb gives undisturbed, how long it takes, and what its record then holds."""

    def __init__(self, verb: Verb, folder: Path) -> None:
        clear(folder)
        ended = run(verb, folder)
        if ended.code != 0:
            raise RuntimeError(f"{' '.join(verb.words)} fails undisturbed: {ended.errors}")
        self.result, self.seconds = verb.result(folder), ended.seconds
        self.sizes = [path.stat().st_size for path in folder.iterdir()]


References = dict[str, Reference]


def references(folder: Path) -> References:
    """Run each verb undisturbed."""
    return {name: Reference(verb, folder) for name, verb in VERBS.items()}


def kills(count: int, folder: Path, known: References, seed: int = 0, most: float = 1e9) -> Tally:
    """Kill verbs at random instants, repeat the command, and compare with an undisturbed run.

    Each trial kills up to three times in a row before the command is let run to its end.
    """
    tally, began = Tally(), time.monotonic()
    number = done = 0
    while done < count and time.monotonic() - began < most:
        name = list(VERBS)[number % len(VERBS)]
        chance = random.Random(f"{seed}/kill/{number}")
        clear(folder)
        for _ in range(min(chance.choice((1, 1, 2, 3)), count - done)):
            when = chance.uniform(0, 1.1 * known[name].seconds)
            ended = run(VERBS[name], folder, kill_after=when)
            tally.note(f"kill {name}", "killed" if ended.code == KILLED else "ended before")
            _look_for_traceback(tally, f"kill {name}", ended, number)
            done += ended.code == KILLED  # one that had ended before does not count
        _compare(tally, f"resume {name}", VERBS[name], known[name], folder, number)
        number += 1
    return tally


def full_disks(count: int, folder: Path, known: References, seed: int = 0) -> Tally:
    """Let no file grow beyond some size, then repeat the command with room."""
    tally = Tally()
    for number in range(count):
        name = list(VERBS)[number % len(VERBS)]
        chance = random.Random(f"{seed}/disk/{number}")
        clear(folder)
        room = chance.randrange(int(1.2 * max(known[name].sizes)))
        ended = run(VERBS[name], folder, most_bytes=room)
        if ended.code not in (0, 1, 2):
            tally.fault(f"full disk {name}", f"exit code {ended.code}", ended.errors[-500:])
        else:
            tally.note(f"full disk {name}", "done" if ended.code == 0 else "refused")
        _look_for_traceback(tally, f"full disk {name}", ended, number)
        if ended.code != 0 and ended.errors.count("error: ") != 1:
            tally.fault(f"full disk {name}", "not one sentence", ended.errors[-500:])
        _compare(tally, f"after that {name}", VERBS[name], known[name], folder, number)
    return tally


def flips(count: int, folder: Path, seed: int = 0, *, resume_each: int = 50) -> Tally:
    """Flip single bits of finished records: they are refused, or hold what they held.

    Every so often the verb itself is repeated on the damaged record.
    """
    tally = Tally()
    recorded = {name: verb for name, verb in VERBS.items() if verb.record}
    for share, (name, verb) in enumerate(recorded.items()):
        clear(folder)
        path, pieces, facts = _finished_record(verb, folder)
        whole, result = path.read_bytes(), verb.result(folder)
        for number in range(share, count, len(recorded)):
            chance = random.Random(f"{seed}/flip/{number}")
            data = bytearray(whole)
            place = chance.randrange(len(data))
            data[place] ^= 1 << chance.randrange(8)
            clear(folder)
            path.write_bytes(data)
            how = f"bit of byte {place} of the record of {name}"
            with tally.watching(f"flip {name}", how):
                _check_pieces(tally, name, path, pieces, facts, how)
            if number // len(recorded) % resume_each == 0:
                _resume_damaged(tally, name, verb, folder, result, how)
    return tally


def _finished_record(verb: Verb, folder: Path) -> tuple[Path, dict[str, bytes], Facts]:
    """Run a verb and return its record, which is kept, with what it holds."""
    held: Facts = {}
    path = folder / str(verb.record)
    pieces: dict[str, bytes] = {}
    make, put = Store.__init__, Store.put

    def making(self: Store, path: Path, facts: Facts) -> None:
        held.update(facts)
        make(self, path, facts)

    def putting(self: Store, key: str, content: bytes) -> None:
        pieces[key] = content
        put(self, key, content)

    from queuesmith.knobs import sweep_files

    remove = sweep_files.remove_record
    Store.__init__, Store.put = making, putting  # type: ignore[method-assign]
    sweep_files.remove_record = lambda _: None
    try:
        code = run_here(verb, folder)
    finally:
        Store.__init__, Store.put = make, put  # type: ignore[method-assign]
        sweep_files.remove_record = remove
    if code or not pieces:
        raise RuntimeError(f"{' '.join(verb.words)} recorded nothing")
    return path, pieces, held


def _check_pieces(
    tally: Tally,
    name: str,
    path: Path,
    pieces: dict[str, bytes],
    facts: Facts,
    how: str,
) -> None:
    with Store(path, facts) as store:
        for key, content in pieces.items():
            if store.get(key) not in (None, content):
                tally.fault(f"flip {name}", "a piece changed unnoticed", how)


def _resume_damaged(
    tally: Tally, name: str, verb: Verb, folder: Path, result: object, how: str
) -> None:
    ended = run(verb, folder)
    _look_for_traceback(tally, f"flip, resume {name}", ended, 0)
    if ended.code != 0:
        tally.note(f"flip, resume {name}", "refused")
    elif verb.result(folder) != result:
        tally.fault(f"flip, resume {name}", "another answer", how)
    else:
        tally.note(f"flip, resume {name}", "same answer")


def _look_for_traceback(tally: Tally, probe: str, ended: Ended, number: int) -> None:
    if "Traceback" in ended.errors or ended.code not in (0, 1, 2, KILLED):
        tally.fault(probe, "traceback", f"trial {number}: {ended.errors[-800:]}")


def _compare(
    tally: Tally, probe: str, verb: Verb, known: Reference, folder: Path, number: int
) -> None:
    ended = run(verb, folder)
    _look_for_traceback(tally, probe, ended, number)
    with contextlib.suppress(OSError, ValueError, QueuesmithError):
        if ended.code == 0 and verb.result(folder) == known.result:
            left = [path.name for path in folder.iterdir() if path.name.endswith(".unfinished")]
            if left:
                tally.fault(probe, "a record was left", f"trial {number}: {left}")
            else:
                tally.note(probe, "same answer")
            return
    tally.fault(probe, "another answer, or none", f"trial {number}: {ended.errors[-500:]}")
