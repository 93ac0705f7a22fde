"""Steps a second of the environment, beside the same choices in plain Python."""

from __future__ import annotations

import time

import numpy as np

from queuesmith import Workload, lublin
from queuesmith.environment import SchedulingEnvironment
from queuesmith.testing.twin_environment import TwinEpisode

JOBS, CORES, EPISODES = 1024, 256, 20


def main() -> None:
    log = lublin(JOBS, CORES, load=1.0, users=50, seed=1)
    for backfill in ("none", "easy"):
        environment = SchedulingEnvironment(log, jobs=JOBS, window=128, backfill=backfill)
        _play(environment)  # compiles
        began = time.process_time()
        steps = sum(_play(environment) for _ in range(EPISODES))
        ours = steps / (time.process_time() - began)
        began = time.process_time()
        plain = _plain(log, backfill == "easy") / (time.process_time() - began)
        print(
            f"{backfill:5} environment {ours:10,.0f} steps a second of processor time, "
            f"plain Python {plain:8,.0f}: {ours / plain:.1f} times"
        )


def _play(environment: SchedulingEnvironment) -> int:
    chance, steps, over = np.random.default_rng(1), 0, False
    _, info = environment.reset(options={"first": 0})
    while not over:
        place = int(chance.integers(info["action_mask"].sum()))
        _, _, over, _, info = environment.step(place)
        steps += 1
    return steps


def _plain(log: Workload, easy: bool) -> int:
    chance, steps = np.random.default_rng(1), 0
    twin = TwinEpisode(log, CORES, easy)
    while twin.waiting:
        twin.look(128)
        twin.step(int(chance.integers(min(len(twin.waiting), 128))))
        steps += 1
    return steps


if __name__ == "__main__":
    main()
