"""The engine: replays a workload under a policy."""

from queuesmith.engine.simulate import Replay, simulate

__all__ = ["Replay", "simulate"]
