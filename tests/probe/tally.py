"""What was tried, what came of it, and what must not have happened."""

from __future__ import annotations

import signal
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from queuesmith.base.errors import QueuesmithError

#: An input that takes longer, in seconds of processor time, hangs.
LONGEST = 20.0


class HangError(Exception):
    """An input took too long."""


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Stop what takes longer, where Python can."""

    def stop(*_: object) -> None:
        raise HangError(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Tally:
    """Counts of outcomes by what was probed, and the faults, each kind once.

    Parameters
    ----------
    outcomes
        How often each probe ended how: ``outcomes["read swf", "refused"]``.
    faults
        One sentence for each kind of fault, with how to repeat it.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    def note(self, probe: str, outcome: str) -> None:
        """Count one outcome."""
        self.outcomes[probe, outcome] += 1

    def fault(self, probe: str, kind: str, how: str) -> None:
        """Count something that must not happen, and keep how the first of its kind came about."""
        self.note(probe, "FAULT")
        self.faults.setdefault(f"{probe}: {kind}", how)

    @contextmanager
    def watching(self, probe: str, how: str) -> Iterator[None]:
        """Count one try: done, refused with a sentence, or a fault."""
        try:
            with no_longer_than(LONGEST):
                yield
        except QueuesmithError as error:
            sentence = str(error)
            if not sentence.strip() or len(sentence) > 2000:
                self.fault(probe, f"no sentence but {len(sentence)} characters", how)
            else:
                self.note(probe, "refused")
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {place.filename.rpartition('/')[2]}:{place.lineno}"
            self.fault(probe, kind, f"{str(error)[:200]}\n      {how}")
        else:
            self.note(probe, "done")

    def add(self, other: Tally) -> None:
        """Take in the counts of another."""
        self.outcomes.update(other.outcomes)
        self.faults = {**other.faults, **self.faults}

    @property
    def tried(self) -> int:
        """How much was tried in all."""
        return self.outcomes.total()

    def __str__(self) -> str:
        probes = dict.fromkeys(probe for probe, _ in self.outcomes)
        lines = []
        for probe in probes:
            counts = {what: n for (name, what), n in self.outcomes.items() if name == probe}
            told = ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items()))
            lines.append(f"{probe:24} {sum(counts.values()):>9,} tried: {told}")
        lines.append(f"{'in all':24} {self.tried:>9,} tried, {len(self.faults)} kinds of faults")
        lines += [f"FAULT {kind}\n      {how}" for kind, how in self.faults.items()]
        return "\n".join(lines)
