"""Jobs that arrive over time, machines that join and leave."""

from queuesmith.grid.dynamic.generate import generate_scenario, scenario_from_log
from queuesmith.grid.dynamic.machine_events import MachineEvent, churn, read_machine_events
from queuesmith.grid.dynamic.measures import lost_seconds, replay_facts, restarts, write_attempts
from queuesmith.grid.dynamic.replay import IMMEDIATE, Trigger, compare_dynamic, replay_grid
from queuesmith.grid.dynamic.scenario import Scenario

__all__ = [
    "IMMEDIATE",
    "MachineEvent",
    "Scenario",
    "Trigger",
    "churn",
    "compare_dynamic",
    "generate_scenario",
    "lost_seconds",
    "read_machine_events",
    "replay_facts",
    "replay_grid",
    "restarts",
    "scenario_from_log",
    "write_attempts",
]
