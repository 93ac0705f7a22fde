"""The units of a study: one log, machine, load, policy and seed each, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.campaign.study_file import MOST_UNITS, LearnedPolicy, Log, Study
from queuesmith.cluster import as_cluster
from queuesmith.policy import as_policy
from queuesmith.policy.user_files import content_of
from queuesmith.study.naming import log_digest, order_facts, plain, version_facts
from queuesmith.study.store import fingerprint
from queuesmith.workload import Workload
from queuesmith.workload.files import read


@dataclass(frozen=True)
class Unit:
    """One replay, or one policy learned and then replayed, and all that decides its values.

    Parameters
    ----------
    name
        A checksum of all that decides the result; see `units_of`.
    log, digest, cores
        The log, a checksum of its jobs (None where a generator makes them), and the machine.
    load_factor, seed
        Of a fixed policy on a log of a file the seed is None: nothing is left to chance.
    policy, learned
        The policy as it is written, or what is to be learned.
    metrics, split, warm_up, cool_down, own_metrics
        As in the study.
    written_as
        A checksum of the policy and of the files with own orders and metrics; see `written_as`.
    """

    name: str
    log: Log
    digest: str | None
    cores: int
    load_factor: float
    seed: int | None
    policy: str | None
    learned: LearnedPolicy | None
    metrics: tuple[str, ...]
    split: float | None
    warm_up: float
    cool_down: float
    own_metrics: tuple[str, ...] = ()
    written_as: str = ""

    @property
    def policy_name(self) -> str:
        """What tables call the policy."""
        return self.learned.name if self.learned is not None else str(self.policy)

    def row(self) -> dict[str, Any]:
        """Return what a table says about the unit before its values."""
        return {
            "log": self.log.name,
            "cores": self.cores,
            "load_factor": self.load_factor,
            "seed": self.seed,
            "policy": self.policy_name,
        }


def units_of(study: Study) -> list[Unit]:
    """Return the units of a study in the order of its file.

    A unit is named by the jobs of its log (for a generator, by its parameters and the seed), the
    machine, the load factor, the policy with the source of own orders, the metrics, and the
    versions of Queuesmith's sources, its kernels included, and of the libraries below.
    """
    count = len(study.logs) * max(len(study.machines), 1) * len(study.load_factors)
    count *= (len(study.policies) + len(study.methods)) * len(study.seeds)
    if count > MOST_UNITS:
        raise UsageError(
            f"study '{study.name}' has {count:,} units, but {MOST_UNITS:,} is the limit. "
            "Divide it into several files."
        )
    versions = version_facts()
    return [unit for log in study.logs for unit in _units_of_log(study, log, versions)]


def _units_of_log(study: Study, log: Log, versions: Mapping[str, Any]) -> list[Unit]:
    digest, own_cores = _measured(log)
    policies: list[str | LearnedPolicy] = [*study.policies, *study.methods]
    units: list[Unit] = []
    # Units of one generated log stand together, so that a worker makes it once.
    for seed in study.seeds:
        for cores in study.machines or (own_cores,):
            for factor in study.load_factors:
                common = (cores, factor, study.metrics, study.split, study.warm_up, study.cool_down)
                own = study.own_metrics
                for policy in policies:
                    fixed = isinstance(policy, str) and log.generate is None
                    if not fixed or seed == study.seeds[0]:
                        chance = None if fixed else seed
                        units.append(_named(log, digest, policy, chance, common, own, versions))
    return units


def _measured(log: Log) -> tuple[str | None, int]:
    """Return the checksum of a log's jobs and the size of its machine."""
    if log.generate is not None:
        assert log.cores is not None  # checked where the file is read
        return None, log.cores
    jobs = read_log(log)
    return log_digest(jobs), as_cluster(jobs, None, log.cores).cores


def read_log(log: Log) -> Workload:
    """Read the log of a file, as much of it as is wanted."""
    assert log.file is not None
    try:
        jobs = read(log.file, format=log.format)
    except QueuesmithError as error:
        raise UsageError(f"the log '{log.name}' of the study cannot be used: {error}") from error
    return jobs if log.head is None else jobs.head(log.head)


def _named(
    log: Log,
    digest: str | None,
    policy: str | LearnedPolicy,
    seed: int | None,
    common: tuple[Any, ...],
    own_metrics: tuple[str, ...],
    versions: Mapping[str, Any],
) -> Unit:
    written, learned = (policy, None) if isinstance(policy, str) else (None, policy)
    cores, factor, metrics, split, warm_up, cool_down = common
    sources = _sources(written, learned, own_metrics)
    facts = {
        "log": digest or [log.generate, log.jobs, log.load, log.cores, log.head],
        **sources,
        "seed": seed,
        "rest": plain(common),
        "versions": plain(versions),
    }
    return Unit(
        fingerprint(facts),
        log,
        digest,
        cores,
        factor,
        seed,
        written,
        learned,
        metrics,
        split,
        warm_up,
        cool_down,
        own_metrics,
        fingerprint(sources),
    )


def written_as(unit: Unit) -> str:
    """Return what a unit's policy and own metrics are now, in files that somebody may edit."""
    return fingerprint(_sources(unit.policy, unit.learned, unit.own_metrics))


def _sources(
    written: str | None, learned: LearnedPolicy | None, own_metrics: tuple[str, ...]
) -> dict[str, Any]:
    """Return what a policy is, as it is written or learned, with the content of own files."""
    decides = {
        "policy": None if written is None else plain(as_policy(written).content()),
        "learned": None if learned is None else plain({**asdict(learned), "name": None}),
    }
    return {**decides, **order_facts(decides), **_metric_facts(own_metrics)}


def _metric_facts(own_metrics: tuple[str, ...]) -> dict[str, Any]:
    """Return what the user's own metrics do, wherever their files lie."""
    places = [each.rpartition(":") for each in own_metrics]
    return {f"metric {name}": content_of(Path(file)) for file, _, name in places}
