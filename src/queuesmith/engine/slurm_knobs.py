"""Slurm's settings as the kernels take them: one array of whole numbers, one of reals."""

from __future__ import annotations

import numpy as np

from queuesmith.engine.kernels.slurm_state import KNOBS
from queuesmith.engine.slurm_worth import Floats, frozen
from queuesmith.policy.slurm_settings import ENDLESS, SlurmSettings
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints


def knobs(workload: Workload, settings: SlurmSettings) -> Ints:
    """Return the settings that are whole numbers."""
    first = int(workload.submit[0]) + (workload.epoch or 0)

    def or_endless(name: str) -> int:
        return int(settings[name]) or ENDLESS

    values = [
        *(settings["bf_interval"], 60 * settings["bf_window"], settings["bf_resolution"]),
        *map(or_endless, ("bf_max_job_test", "bf_max_job_user", "bf_max_job_part")),
        *(or_endless("bf_max_job_start"), settings["bf_window_linear"]),
        *(or_endless("default_queue_depth"), settings["sched_interval"]),
        *(settings["PriorityCalcPeriod"], settings["PriorityMaxAge"], settings.fair_tree),
        *(workload.epoch or 0, settings["start_delay"], settings["completion_delay"]),
        *(settings.backfills, settings.clock_offset(first), settings["batch_sched_delay"]),
        *(or_endless("bf_node_space_size"), settings.kill_delay, not settings.before_20_02),
        *(settings["requeue_delay"], settings["preempt_reorder_count"]),
        *(settings["preempt_strict_order"], settings["preempt_youngest_first"]),
    ]
    assert len(values) == KNOBS
    return frozen(np.array([int(value) for value in values], np.int64))


def weights(settings: SlurmSettings) -> Floats:
    """Return the weights of what changes in priorities, and how usage fades."""
    half_life = settings["PriorityDecayHalfLife"]
    values = [
        settings["PriorityWeightAge"] if settings.multifactor else 0.0,
        settings["PriorityWeightFairshare"] if settings.multifactor else 0.0,
        0.5 ** (1.0 / half_life) if half_life > 0 else 1.0,
        settings["FairShareDampeningFactor"],
    ]
    return frozen(np.array(values, np.float64))
