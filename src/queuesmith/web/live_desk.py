"""What the page knows of a running Slurm: looks, kept for a while, and what was made of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from queuesmith.base.errors import CancelledError, UsageError
from queuesmith.live.advice import Advice, advice
from queuesmith.live.forecast import Expectation, accounting, forecast
from queuesmith.live.journal import default_folder
from queuesmith.live.marks import as_learned
from queuesmith.live.state import ClusterState, look
from queuesmith.live.steered import steered_now
from queuesmith.policy import AnyPolicy
from queuesmith.workload import Workload

#: How many looks are kept; a tab that shows an older one has to look again.
MOST_LOOKS = 4
#: Days of accounting that runtimes are drawn from.
DAYS = 30.0


@dataclass(frozen=True)
class Seen:
    """One look at the cluster, the jobs that ended before it, and what was foretold from it."""

    number: int
    state: ClusterState
    past: Workload | None
    foretold: dict[int, list[Expectation]] = field(default_factory=dict)


class LiveDesk:
    """Looks at the Slurm of this machine when it is asked to, and never changes anything."""

    def __init__(self) -> None:
        self._looks: OrderedDict[int, Seen] = OrderedDict()
        self._count = 0
        self._at_slurm, self._replaying = threading.Lock(), threading.Lock()
        self._share: dict[str, float] = {}
        self._stopped: set[str] = set()

    @property
    def newest(self) -> Seen | None:
        """The last look; None before the first."""
        looks = list(self._looks.values())
        return looks[-1] if looks else None

    def look(self, seconds: float) -> Seen:
        """Ask Slurm for its present state; who asks while another look is under way shares it."""
        before = self._count
        with self._at_slurm:
            if self._count != before:
                return next(reversed(self._looks.values()))
            state = look(seconds=seconds)
            seen = Seen(self._count + 1, state, accounting(DAYS, seconds=seconds))
            self._looks[seen.number] = seen
            self._count = seen.number
            while len(self._looks) > MOST_LOOKS:
                self._looks.popitem(last=False)
            return seen

    def seen(self, number: int) -> Seen:
        """Return an earlier look."""
        found = self._looks.get(number)
        if found is None:
            raise UsageError("what this tab shows of the queue is too old. Look again.")
        return found

    def forecast(self, tab: str, seen: Seen, replays: int) -> list[Expectation]:
        """Foretell the starts of a look's jobs; what was foretold before is not replayed again."""
        with self._replaying:
            if replays not in seen.foretold:
                self._stopped.discard(tab)
                try:
                    seen.foretold[replays] = self._foretold(tab, seen, replays)
                finally:
                    self._share.pop(tab, None)
            return seen.foretold[replays]

    def _foretold(self, tab: str, seen: Seen, replays: int) -> list[Expectation]:
        """Return forecasts whose marks rest on those that the command has noted here."""
        folder = default_folder()
        steered = steered_now(folder, seen.state.cluster)
        found = forecast(
            seen.state,
            seen.past,
            replays=replays,
            explained=(),
            steered=steered,
            tick=lambda share: self._tick(tab, share),
        )
        return as_learned(found, seen.state, seen.past, folder, steered)

    def _tick(self, tab: str, share: float) -> None:
        if tab in self._stopped:
            raise CancelledError("the forecast was stopped.")
        self._share[tab] = share

    def advice(self, seen: Seen, policy: AnyPolicy, by: str) -> Advice:
        """Compare today's order of a look with the one that a policy wants."""
        return advice(seen.state, policy, by=by)

    def progress(self, tab: str) -> float | None:
        """Return how far the forecast of a tab is, 0 to 1; None where there is none."""
        return self._share.get(tab)

    def cancel(self, tab: str) -> None:
        """Stop the forecast that a tab waits for."""
        self._stopped.add(tab)
