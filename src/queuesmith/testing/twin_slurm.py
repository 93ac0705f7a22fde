"""A slow, obvious twin of the replay under Slurm: read it to know what ``slurm(...)`` does.

It knows cores, memory, GPUs, features, partitions, weights, switches, limits, shares, outages
and reservations; not threads, users with nodes of their own, nor the weights of single resources.
"""

from __future__ import annotations

import math
from functools import cmp_to_key
from itertools import pairwise

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.reserved import from_reservations
from queuesmith.engine.cancelled import cancel_times
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.engine.slurm_worth import asked_cores, billed
from queuesmith.policy.slurm import Slurm
from queuesmith.testing.twin_shares import TwinShares
from queuesmith.testing.twin_slurm_nodes import NodeTask, SlurmNodesTwin
from queuesmith.testing.twin_slurm_preemption import TwinPreemption
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors


class SlurmTwin(SlurmNodesTwin):
    """The machine, its queue, its two schedulers and its clocks."""

    def __init__(self, workload: Workload, machine: NodeCluster, policy: Slurm) -> None:
        super().__init__(workload, machine)
        self.settings = policy.settings(machine.settings)
        self.asked = asked_cores(workload)
        self.eligible = from_reservations(workload, machine, self.requests)
        self.after, self.think = predecessors(workload)
        self.cancelled = cancel_times(workload).tolist()
        self.billed = billed(machine, self.requests, self.settings)
        self.limits = LimitTable(workload, machine, self.requests)
        self.tasks = [NodeTask(i) for i in range(len(workload))]
        self.waiting: list[NodeTask] = []
        self.running: list[NodeTask] = []
        self.limit = np.maximum(-(-workload.walltime // 60) * 60, 60)
        self.shares = TwinShares(machine, self.settings)
        self.calculated = 0
        self.preemption = TwinPreemption(self, self.settings)

    # -- limits and priorities ---------------------------------------------------------

    def over_limit(self, task: NodeTask) -> bool:
        """Tell whether a limit keeps a job from starting."""
        table = self.limits

        def rows(place: int) -> list[int]:
            own: list[int] = table.of_jobs[table.first[place] : table.first[place + 1]].tolist()
            return own

        for row in rows(task.place):
            used = sum(
                (table.amounts[other.place] for other in self.running if row in rows(other.place)),
                np.zeros(table.amounts.shape[1], np.int64),
            )
            own = table.amounts[task.place]
            if ((own > 0) & (used + own > table.most[row])).any():
                return True
        return False

    def prioritize(self, task: NodeTask, now: int) -> None:
        """Compute a job's priority."""
        s, i, machine = self.settings, task.place, self.machine
        asked = self.workload.extra.get("requested_nodes")
        nodes = max(int(asked[i]), 1) if asked is not None else 1
        size = nodes / len(self.order) + float(self.asked[i]) / machine.cores
        age = min((now - self.comes(task)) / s["PriorityMaxAge"], 1.0)
        highest = max(p.priority for p in machine.partitions) or 1.0
        partition = machine.partitions[int(self.requests.partition[i])].priority / highest
        best_qos = max((q.priority for q in machine.qos), default=0) or 1
        qos = machine.qos[int(self.requests.qos[i])].priority / best_qos if machine.qos else 0.0
        link = int(self.requests.association[i])
        site = self.workload.extra.get("site_factor")
        task.priority = int(
            (0 if site is None else int(site[i]))
            + s["PriorityWeightJobSize"] * (size / 2.0)
            + s["PriorityWeightPartition"] * partition
            + s["PriorityWeightQOS"] * qos
            + s["PriorityWeightAge"] * age
            + s["PriorityWeightFairshare"] * (self.shares.factor[link] if link >= 0 else 0.0)
        )

    def in_order(self) -> list[NodeTask]:
        """Return the waiting jobs: by right to stop others, tier, priority, submission."""

        def key(task: NodeTask) -> tuple[int, int, int]:
            tier = self.machine.partitions[int(self.requests.partition[task.place])].tier
            return -tier, -task.priority, task.place

        def compare(one: NodeTask, other: NodeTask) -> int:
            if self.preemption.stands_before(one, other):
                return -1
            if self.preemption.stands_before(other, one):
                return 1
            return -1 if key(one) < key(other) else 1

        return sorted(self.waiting, key=cmp_to_key(compare) if self.preemption else key)

    def recalculate(self, now: int) -> None:
        """Let usage decay, count what is new, and compute shares and priorities."""
        shares = self.shares
        shares.fade(now - self.calculated)
        if not self.settings.fair_tree:
            shares.share_out()
        for task in self.running:
            self.note_use(task, now)
        shares.add_up()
        self.calculated = now
        if self.settings.fair_tree:
            shares.share_out()
        for task in self.waiting:
            self.prioritize(task, now)

    def note_use(self, task: NodeTask, until: int) -> None:
        """Count what a job has used since the last calculation."""
        assert task.start is not None
        seconds = until - max(task.start, self.calculated)
        link = int(self.requests.association[task.place])
        self.shares.note(link, float(self.billed[task.place]), seconds)

    # -- the two schedulers ------------------------------------------------------------

    def begin(self, task: NodeTask, chosen: list[int], now: int) -> None:
        """Start a job."""
        self.hold(task, chosen, self.free)
        task.start = now
        self.waiting.remove(task)
        self.running.append(task)

    def main_pass(self, now: int, depth: int) -> None:
        """Start jobs by priority; the first that cannot start stops its partition.

        One of a reservation stops that reservation alone.
        """
        stopped: set[tuple[int, int]] = set()
        away: set[int] = set()
        for task in self.in_order()[:depth]:
            partition = int(self.requests.partition[task.place])
            reservation = int(self.requests.reservation[task.place])
            lane = (partition, -1) if reservation < 0 else (-1, reservation)
            if lane in stopped or self.over_limit(task):
                continue
            usable = self.usable(task, now, now + int(self.limit[task.place]))
            chosen = self.choose(task, usable - away, self.free)
            if chosen:
                self.begin(task, chosen, now)
                continue
            self.preemption.stop_others(task, self.running, usable - away, now)
            stopped.add(lane)
            if reservation >= 0:
                continue
            row = self.nodes.partitions[partition]
            away |= {n for n, i in enumerate(self.order) if row[i]}

    def backfill_pass(self, now: int) -> bool:
        """Plan jobs by priority, start those that can; tell whether any did."""
        s, started = self.settings, False
        end = now + int(60 * s["bf_window"])
        table: list[tuple[int, int, set[int]]] = [(now, end, set())]  # reserved nodes
        tested: list[NodeTask] = []
        users = self.workload.user
        for task in self.in_order():
            own = sum(users[t.place] == users[task.place] for t in tested)
            if len(tested) >= s["bf_max_job_test"] or self.over_limit(task):
                continue
            if s["bf_max_job_user"] and own >= s["bf_max_job_user"]:
                continue
            tested.append(task)
            outcome = self._place(task, now, table)
            if outcome is None:
                break
            started |= outcome
        return started

    def _place(
        self, task: NodeTask, now: int, table: list[tuple[int, int, set[int]]]
    ) -> bool | None:
        """Start a job or plan it; tell whether it started, None where the table is full."""
        limit, later = int(self.limit[task.place]), now
        window = int(60 * self.settings["bf_window"])
        if self.preemption:
            taken = set().union(*(r[2] for r in table if r[0] <= now + limit))
            usable = self.usable(task, now, now + limit) - taken
            if not self.choose(task, usable, self.free):
                chosen = self.preemption.stop_others(task, self.running, usable, now)
                if chosen and len(table) >= self.settings["bf_node_space_size"]:
                    return None
                if chosen:
                    end = self._rounded(now + limit)
                    self._reserve(table, self._rounded(now), end, set(chosen))
                    return False
        while True:
            begin = later
            over = [r for r in table if r[1] > begin and r[0] <= begin + limit]
            nexts = [r[1] for r in table[:-1] if r[1] > begin]
            taken = set().union(*(r[2] for r in over))
            usable = self.usable(task, begin, begin + limit)
            start, chosen = self.earliest(task, usable - taken, now)
            if start is None or (nexts and max(start, begin) > nexts[0]):
                if not nexts:
                    return False
                later = nexts[0]
                continue
            start = max(start, begin)
            if start <= now:
                self.begin(task, chosen, now)
                return True
            if start > now + window:
                return False
            if len(table) >= self.settings["bf_node_space_size"]:
                return None
            first, end = self._rounded(start), self._rounded(start + limit)
            if any(r[1] > first and r[0] < end and r[2] & set(chosen) for r in table):
                if start <= begin:
                    return False
                later = start
                continue
            self._reserve(table, first, end, set(chosen))
            return False

    def _rounded(self, instant: int) -> int:
        return instant - (instant + (self.workload.epoch or 0)) % int(
            self.settings["bf_resolution"]
        )

    def _reserve(
        self, table: list[tuple[int, int, set[int]]], start: int, end: int, chosen: set[int]
    ) -> None:
        pieces: list[tuple[int, int, set[int]]] = []
        for a, b, reserved in table:
            cuts = [a, *(t for t in (start, end) if a < t < b), b]
            for c, d in pairwise(cuts):
                inside = start <= c and d <= end
                pieces.append((c, d, reserved | chosen if inside else set(reserved)))
        table[:] = pieces

    def earliest(self, task: NodeTask, usable: set[int], now: int) -> tuple[int | None, list[int]]:
        """Return when and where a job could start as running jobs reach their limits."""
        chosen = self.choose(task, usable, self.free)
        if chosen:
            return now, chosen
        later = dict(self.free)
        ends = sorted((self.preemption.due(t), k) for k, t in enumerate(self.running))
        window, step = 30, int(self.settings["bf_window_linear"])
        barrier, seen = 0, False
        while ends:
            group: list[int] = []
            while ends:
                due, k = ends.pop(0)
                if not usable & self.running[k].given.keys():
                    continue
                if not seen or (self.settings.before_20_02 and not group):
                    barrier, seen = self._barrier(due, window), True
                group.append(due)
                self.release(self.running[k], later)
                if ends and ends[0][0] > barrier + window:
                    break
            chosen = self.choose(task, usable, later) if group else []
            if chosen:
                gone = group[-1] + int(self.settings.kill_delay)
                return group[-1] if group[-1] > now else max(gone, now + 1), chosen
            window = window + step if step else 2 * window
            while ends and ends[0][0] > barrier + window and not self.settings.before_20_02:
                window = window + step if step else 2 * window
        return None, []

    def _barrier(self, due: int, window: int) -> int:
        if self.settings.before_20_02:
            return due
        return due + window - (due + (self.workload.epoch or 0)) % window

    # -- the clock ---------------------------------------------------------------------

    def run(self) -> list[int]:
        """Replay all jobs and return their starts."""
        s, eligible = self.settings, self.eligible
        todo = sorted(self.tasks, key=lambda t: (int(eligible[t.place]), t.place))
        now = first = self.calculated = int(eligible[todo[0].place])
        offset = s.clock_offset(int(self.workload.submit[0]) + (self.workload.epoch or 0))
        interval = int(s["sched_interval"])
        looked = first - (offset % interval if offset else int(s["batch_sched_delay"]))
        filled = first - offset % int(s["bf_interval"])
        happened, updated, changed, again = False, False, False, False
        self.shares.share_out()
        # Second by second: nothing can be passed over.
        while todo or self.waiting:
            event, pressed = now > first and not again and self.comes_back(now), False
            for task in [t for t in self.running if self.end(t) <= now]:
                self.note_use(task, now)
                self.release(task, self.free)
                self.running.remove(task)
                event = True
                pressed |= (stopped := self.preemption.was_stopped(task))
                if stopped and self.preemption.leave(task, now):
                    todo.append(task)
            gone = [t for t in self.waiting if self.cancelled[t.place] == now]
            self.waiting = [t for t in self.waiting if t not in gone]
            for task in [t for t in todo if self.comes(t) <= now]:
                todo.remove(task)
                event = True
                if self.cancelled[task.place] > now:
                    self.waiting.append(task)
                    self.prioritize(task, now)
            due = (now - first + offset) % int(s["PriorityCalcPeriod"]) == 0
            if now > first and due and not again:
                self.recalculate(now)
                changed = True
            happened = happened or event
            updated, changed = (each or event or bool(gone) for each in (updated, changed))
            whole = now - looked >= interval
            if whole or pressed or (happened and now - looked >= s["batch_sched_delay"]):
                before = len(self.waiting)
                self.main_pass(now, len(self.tasks) if whole else int(s["default_queue_depth"]))
                changed = changed or len(self.waiting) < before
                looked, happened = now, False
            if (self.waiting or updated) and now - filled >= s["bf_interval"]:
                filled, updated = now, False
                if self.waiting and changed and s.backfills:
                    changed = self.backfill_pass(now) or self.preemption.by_time_alone
            # Who is stopped is gone at this instant, and the main scheduler looks once more.
            again = any(self.end(task) <= now for task in self.running)
            now += not again
        return [task.start if task.start is not None else -1 for task in self.tasks]

    def comes(self, task: NodeTask) -> float:
        """Return when a job comes: when it was submitted, or another has ended; or again."""
        if task.place in self.preemption.comes_again:
            return self.preemption.comes_again[task.place]
        eligible, after = int(self.eligible[task.place]), self.after[task.place]
        if after < 0:
            return eligible
        before = self.tasks[after]
        if before.start is None:
            gone = self.cancelled[before.place] + int(self.think[task.place])
            return max(eligible, gone) if self.cancelled[before.place] < NEVER else math.inf
        return max(eligible, self.end(before) + int(self.think[task.place]))

    def end(self, task: NodeTask) -> int:
        """Return when a job is over in truth."""
        return self.preemption.end(task)
