"""Fair shares of the slow twin of Slurm: usage that decays, and everybody's factor."""

from __future__ import annotations

import math

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limits import share_tree
from queuesmith.policy.slurm_settings import SlurmSettings


class TwinShares:
    """Who has used how much, up the tree of accounts, and what that leaves of a fair share."""

    def __init__(self, machine: NodeCluster, settings: SlurmSettings) -> None:
        self.settings = settings
        self.tree = share_tree(machine.associations)
        self.usage = [0.0] * len(machine.associations)
        self.fresh = [0.0] * len(machine.associations)
        self.factor = [0.0] * len(machine.associations)

    def fade(self, seconds: int) -> None:
        """Let all usage decay for so long."""
        self.usage = [used * self.decay(seconds) for used in self.usage]

    def decay(self, seconds: int) -> float:
        """Return what is left of usage after so many seconds."""
        half_life = self.settings["PriorityDecayHalfLife"]
        return float((0.5 ** (1.0 / half_life)) ** seconds) if half_life else 1.0

    def note(self, link: int, worth: float, seconds: int) -> None:
        """Count what an association has used in so many seconds, until it is added up."""
        if link >= 0 and seconds > 0:
            self.fresh[link] += worth * seconds * self.decay(seconds)

    def add_up(self) -> None:
        """Add what is new to the usage of associations and of all above them."""
        for link, new in enumerate(self.fresh):
            above = link
            while above >= 0:
                self.usage[above] += new
                above = int(self.tree.parent[above])
        self.fresh = [0.0] * len(self.fresh)

    def share_out(self) -> None:
        """Compute everybody's fair-share factor."""
        if self.usage:
            (self._fair_tree if self.settings.fair_tree else self._classic)()

    def _level_share(self, link: int) -> float:
        parent, shares = self.tree.parent, self.tree.shares
        siblings = [int(shares[i]) for i in range(len(parent)) if parent[i] == parent[link]]
        return float(shares[link]) / sum(siblings)

    def _fair_tree(self) -> None:
        def level(link: int) -> float:
            if self.usage[link] <= 0:
                return math.inf
            part = self.usage[link] / self.usage[int(self.tree.parent[link])]
            return self._level_share(link) / part

        def path(link: int) -> list[float]:
            above = int(self.tree.parent[link])
            return [*(path(above) if above > 0 else []), level(link)]

        users = [i for i in range(len(self.usage)) if self.tree.is_user[i]]
        paths = {user: path(user) for user in users}
        for user in users:
            ahead = sum(paths[other] > paths[user] for other in users)
            self.factor[user] = (len(users) - ahead) / len(users)

    def _classic(self) -> None:
        effective, share = [1.0], [1.0]
        self.factor[0] = 1.0
        total = self.usage[0]
        for link in range(1, len(self.usage)):
            above = int(self.tree.parent[link])
            part = self._level_share(link)
            used = self.usage[link] / total if total > 0 else 0.0
            effective.append(used + ((effective[above] - used) * part if above > 0 else 0.0))
            share.append(share[above] * part)
            dampening = self.settings["FairShareDampeningFactor"]
            self.factor[link] = 2.0 ** (-effective[link] / share[link] / dampening)
