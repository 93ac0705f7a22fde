"""How a genetic scheduler is set up: checked at birth, kept as small TOML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from queuesmith.base.checks import number, positive, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.base.files import write_bytes
from queuesmith.base.registry import entry, known
from queuesmith.base.toml import check_keys, parse_toml, read_toml, toml_text
from queuesmith.grid.etc.measures import MAKESPAN_WEIGHT
from queuesmith.grid.genetic.operators import (
    CROSSOVERS,
    IMPROVEMENTS,
    INITIALS,
    MUTATIONS,
    REPLACEMENTS,
    SELECTIONS,
    Operator,
)
from queuesmith.grid.genetic.preset_files import is_preset, preset_names, preset_text

__all__ = ["GeneticConfig", "load_config", "preset", "preset_names"]

_MOST = 10**9


@dataclass(frozen=True, kw_only=True)
class GeneticConfig:
    """Operators, probabilities, sizes and stops of a genetic scheduler.

    Parameters
    ----------
    name
        What results call it.
    population
        How many individuals a generation has.
    offspring
        How many children it has; by default what its replacement needs.
    initial
        By which methods the first population is made, and the share of each.
    scatter
        A method that always gives the same mapping gives it once; in its further individuals, this
        share of the jobs is on random machines.
    crossover, mutation, selection, improvement
        Names of operators in ``CROSSOVERS``, ``MUTATIONS``, ``SELECTIONS``, ``IMPROVEMENTS``.
    crossover_probability, mutation_probability, improvement_probability
        How often a pair is crossed, a child mutated, a child improved.
    crossover_parameter, mutation_parameter, selection_parameter, improvement_parameter
        The number of the operator; by default its own.
    replacement
        A name in ``REPLACEMENTS``.
    replace_generational, replace_only_if_better
        The flags of the paper's section 3.4.5; by default those of the replacement.
    distinct
        Where the best of all survive: whether only one of those alike does.
    makespan_weight
        The weight of the makespan where both criteria count (lambda in eq. 4).
    makespan_step
        Where the makespan comes first and the flowtime second: makespans count as equal within
        steps of this relative size, so that the flowtime has a say; the best of all is the one of
        the least makespan in any case. 0 takes every difference seriously.
    generations, seconds, stagnation
        When to stop: after so many generations, so much time, so many generations without a better
        best. At least one is given.
    restart
        After so many generations without a better best, the population is made anew and the best
        is set aside.
    restart_share
        How far a restart goes: its individuals are copies of an ancestor, which is a copy of the
        best, each with about this share of the jobs where a first population would have them.
    """

    name: str = "custom"
    population: int = 80
    offspring: int | None = None
    initial: Mapping[str, float] = field(default_factory=lambda: {"random": 1.0})
    scatter: float = 0.25
    crossover: str = "two-point"
    crossover_probability: float = 0.8
    crossover_parameter: float | None = None
    mutation: str = "rebalance"
    mutation_probability: float = 0.4
    mutation_parameter: float | None = None
    selection: str = "n-tournament"
    selection_parameter: float | None = None
    improvement: str = "none"
    improvement_probability: float = 1.0
    improvement_parameter: float | None = None
    replacement: str = "if-better"
    replace_generational: bool | None = None
    replace_only_if_better: bool | None = None
    distinct: bool = True
    makespan_weight: float = MAKESPAN_WEIGHT
    makespan_step: float = 0.0
    generations: int | None = 2500
    seconds: float | None = None
    stagnation: int | None = None
    restart: int | None = None
    restart_share: float = 1.0

    def __post_init__(self) -> None:
        _check_name(self.name)
        whole_number("the population", self.population, 2, "Give for example 80.")
        if not isinstance(self.initial, Mapping):
            raise UsageError(
                f"initial is {self.initial!r:.60}, but it must be a table of methods and their "
                'shares. Give for example {"random": 1}.'
            )
        object.__setattr__(self, "initial", MappingProxyType(dict(self.initial)))
        _check_initial(self.initial)
        for kind, registry in _REGISTRIES.items():
            _check_operator(kind, registry, getattr(self, kind), getattr(self, f"{kind}_parameter"))
        for what in ("crossover", "mutation", "improvement"):
            share = f"{what}_probability"
            number(f"the {what} probability", getattr(self, share), 0, 1, "Give for example 0.8.")
        number("the scatter", self.scatter, 0, 1, "Give for example 0.25.")
        number("the restart share", self.restart_share, 0, 1, "Give for example 0.05.")
        number("the makespan step", self.makespan_step, 0, 1, "Give for example 0.005.")
        number("the makespan weight", self.makespan_weight, 0, 1, "Give for example 0.75.")
        _check_replacement(self)
        _check_stops(self)

    @property
    def children(self) -> int:
        """How many children a generation has."""
        if self.offspring is not None:
            return self.offspring
        return REPLACEMENTS[self.replacement].offspring(self.population)

    @property
    def merges(self) -> bool:
        """Whether the best of parents and children survive, rather than all children (3.4.5)."""
        named = REPLACEMENTS[self.replacement]
        given = self.replace_generational, self.replace_only_if_better
        generational = named.generational if given[0] is None else given[0]
        only_if_better = named.only_if_better if given[1] is None else given[1]
        if self.population >= self.children and generational:
            return False
        return only_if_better

    @property
    def encoding(self) -> str:
        """What the crossover recombines: ``direct`` or ``permutation``."""
        return CROSSOVERS[self.crossover].encoding

    def to_toml(self) -> str:
        """Return the configuration as a TOML file that ``load_config`` reads."""
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        settings["initial"] = {name: float(share) for name, share in self.initial.items()}
        return toml_text(settings | {"generations": self.generations or False})

    def save(self, path: str | Path) -> None:
        """Write the configuration as a TOML file."""
        write_bytes(path, self.to_toml().encode())


def preset(name: str) -> GeneticConfig:
    """Return a configuration that comes with Queuesmith, such as ``carretero``."""
    return _from_table(parse_toml(preset_text(name), f"preset '{name}'"), f"preset '{name}'", name)


def load_config(source: str | Path | GeneticConfig) -> GeneticConfig:
    """Return a configuration from a preset's name, a TOML file, or as it is."""
    if isinstance(source, GeneticConfig):
        return source
    path = Path(source)
    if is_preset(path):
        return preset(str(source))
    return _from_table(read_toml(path), f"configuration '{path}'", path.stem)


def _from_table(given: dict[str, Any], what: str, name: str) -> GeneticConfig:
    check_keys(given, [f.name for f in fields(GeneticConfig)], what, kind="setting")
    if given.get("generations") is False:
        given["generations"] = None
    try:
        return GeneticConfig(**{"name": name, **given})
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error


_REGISTRIES: dict[str, dict[str, Operator]] = {
    "crossover": CROSSOVERS,
    "mutation": MUTATIONS,
    "selection": SELECTIONS,
    "improvement": IMPROVEMENTS,
}


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise UsageError(f"the name is {name!r}, but it must be a text on one line. Give one.")


def _check_operator(
    kind: str, registry: dict[str, Operator], name: str, parameter: float | None
) -> None:
    operator = entry(kind, name, registry)
    if parameter is None:
        return
    if operator.parameter is None:
        raise UsageError(
            f"{kind} '{name}' has no parameter, but it is given {parameter!r}. Leave it out."
        )
    number(
        f"the parameter of {kind} '{name}'",
        parameter,
        operator.low,
        operator.high,
        f"It is {operator.meaning}.",
    )


def _check_initial(shares: Mapping[str, float]) -> None:
    for name, share in shares.items():
        known("initial method", name, INITIALS)
        number(f"the share of initial method '{name}'", share, 0, _MOST, "Give for example 1.")
    if sum(shares.values()) <= 0:
        raise UsageError(
            "no initial method has a share, but the first population must come from somewhere. "
            'Give for example {"random": 1}.'
        )


def _check_replacement(config: GeneticConfig) -> None:
    name = known("replacement", config.replacement, REPLACEMENTS)
    if config.offspring is not None:
        whole_number("the offspring", config.offspring, 1, "Give for example 78.")
    limits = {"generational": config.population, "elitist": config.population - 2}
    if name in limits and config.children != max(limits[name], 1):
        raise UsageError(
            f"replacement '{name}' of a population of {config.population} needs "
            f"{max(limits[name], 1)} children, but offspring is {config.offspring}. Leave it out, "
            "or choose replacement 'steady-state' or 'if-better'."
        )
    if name == "steady-state" and config.children >= config.population:
        raise UsageError(
            f"replacement 'steady-state' needs fewer children than the population of "
            f"{config.population}, but offspring is {config.offspring}. Give for example "
            f"{max(config.population // 3, 1)}."
        )
    flags = ("replace_generational", "replace_only_if_better", "distinct")
    for flag in flags:
        value = getattr(config, flag)
        if (value is not None or flag == "distinct") and not isinstance(value, bool):
            raise UsageError(f"{flag} is {value!r}, but it must be true or false. Correct it.")


def _check_stops(config: GeneticConfig) -> None:
    for what in ("generations", "stagnation", "restart"):
        if getattr(config, what) is not None:
            whole_number(f"{what}", getattr(config, what), 1, "Give for example 2500.")
    if config.seconds is not None:
        positive("seconds", config.seconds, "Give for example 90.")
    if config.generations is None and config.seconds is None and config.stagnation is None:
        raise UsageError(
            f"configuration '{config.name}' never stops. Give generations, seconds or stagnation."
        )
