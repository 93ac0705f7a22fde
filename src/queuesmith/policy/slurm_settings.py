"""The settings of Slurm: as a slurm.conf states them, as given beside it, or Slurm's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known
from queuesmith.cluster.config_lines import config_lines
from queuesmith.cluster.preemption import CANCEL, NONE, OFF, REQUEUE, TYPES
from queuesmith.workload.slurm_text import duration

#: No limit, where Slurm writes 0 for that.
ENDLESS = 2**40

#: What ``SchedulerParameters`` may say, and what Slurm takes where it says nothing.
SCHEDULING = {
    "bf_interval": 30.0,
    "bf_window": 1440.0,
    "bf_resolution": 60.0,
    "bf_max_job_test": 500.0,
    "bf_max_job_user": 0.0,
    "bf_max_job_part": 0.0,
    "bf_max_job_start": 0.0,
    "bf_window_linear": 0.0,
    "bf_node_space_size": 0.0,
    "batch_sched_delay": 3.0,
    "default_queue_depth": 100.0,
    "sched_interval": 60.0,
    "preempt_reorder_count": 1.0,
    "preempt_strict_order": 0.0,
    "preempt_youngest_first": 0.0,
}
_OLD_NAMES = {"max_job_bf": "bf_max_job_test"}
#: Those that stand there without a value; 1 here.
_BARE_WORDS = ("preempt_strict_order", "preempt_youngest_first")
#: Keywords of slurm.conf that are numbers or times, in seconds.
PRIORITIES = {
    "PriorityWeightAge": 0.0,
    "PriorityWeightFairshare": 0.0,
    "PriorityWeightJobSize": 0.0,
    "PriorityWeightPartition": 0.0,
    "PriorityWeightQOS": 0.0,
    "PriorityMaxAge": 7 * 86_400.0,
    "PriorityDecayHalfLife": 7 * 86_400.0,
    "PriorityCalcPeriod": 300.0,
    "FairShareDampeningFactor": 1.0,
    "KillWait": 30.0,
    "OverTimeLimit": 0.0,
    "PreemptExemptTime": 0.0,
}
TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife", "PriorityCalcPeriod", "PreemptExemptTime")
#: Keywords that are words.
_WORDS = {
    "SchedulerType": "sched/backfill",
    "PriorityType": "priority/multifactor",
    "PriorityFavorSmall": "NO",
    "PriorityFlags": "",
    "PriorityWeightTRES": "",
    "FastSchedule": "",
    "BOOT_TIME": "",
    "PreemptType": NONE,
    "PreemptMode": OFF,
    "JobRequeue": "1",
}
#: How long the machine takes for what a replay does at once, in seconds, and how long before the
#: first submission the clocks of the backfill and of priorities began. A job that was requeued can
#: start again a second after its credential has expired, which lasts for two minutes.
DELAYS = {
    "start_delay": 0.0,
    "completion_delay": 0.0,
    "clock_offset": 0.0,
    "requeue_delay": 121.0,
}
#: What must be above 0, for something happens again and again after so many seconds.
_PERIODS = ("bf_interval", "bf_resolution", "sched_interval", "PriorityCalcPeriod")
ABOVE_ZERO = (*_PERIODS, "FairShareDampeningFactor")
NAMES = (*SCHEDULING, *PRIORITIES, *_WORDS, *DELAYS)


@dataclass(frozen=True)
class SlurmSettings:
    """All settings that a replay under Slurm looks at.

    Parameters
    ----------
    numbers, words
        By Slurm's names; times of slurm.conf in seconds, others in the unit that Slurm has.
    """

    numbers: Mapping[str, float]
    words: Mapping[str, str]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    @property
    def backfills(self) -> bool:
        """Whether there is a backfill scheduler at all."""
        return "builtin" not in self.words["SchedulerType"].lower()

    @property
    def multifactor(self) -> bool:
        """Whether jobs have priorities; without, they stand in the order of submission."""
        return "basic" not in self.words["PriorityType"].lower()

    @property
    def flags(self) -> frozenset[str]:
        """The words of ``PriorityFlags``, in capitals."""
        return frozenset(self.words["PriorityFlags"].upper().split(","))

    @property
    def fair_tree(self) -> bool:
        """Whether fair-share is by the fair tree, not by the classic formula.

        It is by default since Slurm 19.05. A configuration with the keyword FastSchedule, which
        20.02 gave up, is taken to be older.
        """
        if self.flags & {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"}:
            return False
        return "FAIR_TREE" in self.flags or not self.before_20_02

    @property
    def before_20_02(self) -> bool:
        """Whether the configuration has a keyword that Slurm 20.02 gave up."""
        return bool(self.words["FastSchedule"])

    def clock_offset(self, first: int) -> int:
        """Return how long before the first submission the controller's clocks began.

        Where it is not given, the controller's own word counts: ``BOOT_TIME`` of ``scontrol show
        config``, as seconds since 1970.
        """
        boot = int(self.words["BOOT_TIME"] or first)
        return int(self["clock_offset"]) or max(first - boot, 0)

    @property
    def kill_delay(self) -> float:
        """How many seconds after its limit a job that is still there is thought to end."""
        return self["KillWait"] + 60 * self["OverTimeLimit"]

    @property
    def favours_small(self) -> bool:
        """Whether small jobs come first, instead of large ones."""
        return self.words["PriorityFavorSmall"].upper() in ("YES", "1", "TRUE")

    @property
    def tres_weights(self) -> dict[str, float]:
        """The weights of ``PriorityWeightTRES``, by names in small letters."""
        parts = (part.partition("=") for part in self.words["PriorityWeightTRES"].split(","))
        return {
            n.strip().lower(): setting_number("PriorityWeightTRES", v) for n, _, v in parts if n
        }


def settings_of(stated: Mapping[str, str], parameters: Mapping[str, str]) -> SlurmSettings:
    """Return all settings: those given, what a slurm.conf states, and Slurm's own values.

    Parameters
    ----------
    stated, parameters
        What a slurm.conf says, and what is set otherwise, both by Slurm's names.
    """
    # Names in slurm.conf mean the same in any case; PriorityWeightFairShare is common.
    spelled = {name.lower(): name for name in NAMES}
    stated = {spelled.get(name.lower(), name): value for name, value in stated.items()}
    stated |= _scheduler_parameters(stated.get("SchedulerParameters", ""))
    stated |= _preempt_parameters(stated.get("PreemptParameters", ""))
    stated |= _requeue_delay(stated.get("AuthInfo", ""))
    stated |= parameters
    numbers = {
        name: setting_number(name, stated[name]) if name in stated else value
        for name, value in (SCHEDULING | PRIORITIES | DELAYS).items()
    }
    numbers["bf_node_space_size"] = numbers["bf_node_space_size"] or numbers["bf_max_job_test"]
    return SlurmSettings(numbers, {n: stated.get(n, v) for n, v in _WORDS.items()})


def read_stated(path: str) -> dict[str, str]:
    """Return the settings of a slurm.conf that are about scheduling."""
    lists = ("SchedulerParameters", "PreemptParameters", "AuthInfo")
    wanted = {name.lower(): name for name in (*NAMES, *lists)}
    found = {}
    for line in config_lines(Path(path), error=PolicyError):
        for keyword, value in line.values.items():
            if keyword in wanted:
                found[wanted[keyword]] = value
    return found


def _scheduler_parameters(text: str) -> dict[str, str]:
    found = {}
    for part in text.lstrip("=").split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        name = _OLD_NAMES.get(name, name)
        if equals and name in SCHEDULING:
            found[name] = value
        elif name in _BARE_WORDS:
            found[name] = "1"
    return found


def _preempt_parameters(text: str) -> dict[str, str]:
    """Read ``PreemptParameters``, whose words older versions have in ``SchedulerParameters``."""
    return _scheduler_parameters(",".join(f"preempt_{part.strip()}" for part in text.split(",")))


def _requeue_delay(text: str) -> dict[str, str]:
    """Read from ``AuthInfo`` how long a job that was requeued waits before it can start again."""
    parts = (part.strip().partition("=") for part in text.split(","))
    seconds = next((value for name, _, value in parts if name.lower() == "cred_expire"), "")
    return {"requeue_delay": str(int(seconds) + 1)} if seconds.isdecimal() else {}


def check_preemption(parameters: Mapping[str, str]) -> None:
    """Refuse a kind of preemption that is given here and that a replay does not know."""
    kind = parameters.get("PreemptType", NONE)
    known("PreemptType", kind, TYPES, error=PolicyError)
    mode = parameters.get("PreemptMode", OFF)
    known("PreemptMode", mode.upper(), (OFF, REQUEUE, CANCEL), error=PolicyError)
    requeue = parameters.get("JobRequeue", "1")
    known("JobRequeue", requeue, ("0", "1"), error=PolicyError)


def setting_number(name: str, text: str) -> float:
    """Return the number that a setting stands for, times in seconds; an error where it is none."""
    if name == "OverTimeLimit" and text.upper() in ("UNLIMITED", "INFINITE"):
        return 365.0 * 1440
    try:
        # Plain numbers are minutes where Slurm reads times.
        value = float(duration(text)) if name in TIMES else float(text)
    except ValueError:
        value = float("nan")
    if name == "PriorityMaxAge" and value < 0:
        return float(2**32 - 1)  # unlimited
    if name == "PreemptExemptTime" and value < 0:
        return 0.0
    least = 1 if name in _PERIODS or name == "PriorityMaxAge" else 0
    if name == "FairShareDampeningFactor":
        least = 1
    if not least <= value < ENDLESS:
        kind = "time" if name in TIMES else "number"
        raise PolicyError(
            f"{name} is '{text}', but it must be a {kind} of at least {least}. "
            "Correct it, or leave it out for Slurm's own value."
        )
    return value
