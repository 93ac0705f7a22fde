"""The settings of a sweep: all combinations of three ranges, and which of them are the same.

Numbers are read as fractions, so that -2:2:0.1 has 41 values and one of them is exactly 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import all_of_kind
from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.knobs.bags import Floats
from queuesmith.knobs.setting import LARGEST_EXPONENT, NAMES, Knobs
from queuesmith.workload.workload import Ints

MOST_SETTINGS = 50_000_000
#: A number, or a fraction such as 2/3; one as long as 1e999999999 would fill the memory.
_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]*(e[-+]?[0-9]{1,2})?(/[0-9]+)?", re.IGNORECASE)
_MOST_DIGITS = 40


@dataclass(frozen=True)
class Range:
    """Evenly spaced values of a knob, both ends included where the step meets them.

    >>> len(Range.parse("-2:2:0.1"))
    41
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read ``LOW:HIGH:STEP``, or one number for a knob that stays where it is."""
        parts = text.split(":")
        try:
            values = [_fraction(part.strip()) for part in parts]
        except (ValueError, ZeroDivisionError):
            values = []
        if len(values) == 1:
            return cls(values[0], values[0], Fraction(1))
        if len(values) != 3:
            raise UsageError(
                f"the range '{text}' cannot be read: a range is LOW:HIGH:STEP. "
                "Write for example -2:2:0.1."
            )
        return cls(*values)

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise UsageError(
                f"the range {self} never ends: its step is {float(self.step):g}, but it must be "
                "above 0. Write for example -2:2:0.1."
            )
        if self.low > self.high:
            raise UsageError(
                f"the range {self} is empty: it begins above its end. Write the lower end first."
            )
        if max(abs(self.low), abs(self.high)) > LARGEST_EXPONENT:
            raise UsageError(
                f"the range {self} goes beyond {LARGEST_EXPONENT:g}, but only the ratios of the "
                "knobs matter. Give smaller numbers."
            )
        if self._count > MOST_SETTINGS:
            count = f"{self._count:,}" if self._count < 10**12 else "more than 10^12"
            raise UsageError(
                f"the range {self} has {count} values, but a sweep has at most "
                f"{MOST_SETTINGS:,} settings. Give a larger step."
            )

    @property
    def _count(self) -> int:
        # len() itself could not hold what a tiny step gives.
        return int((self.high - self.low) / self.step) + 1

    def __len__(self) -> int:
        return self._count

    def __str__(self) -> str:
        return ":".join(f"{float(part):g}" for part in (self.low, self.high, self.step))


def range_texts(ranges: str | Sequence[str]) -> tuple[str, ...]:
    """Return the ranges of the three knobs as they are written: one for all, or one for each."""
    if isinstance(ranges, str):
        return (ranges,) * len(NAMES)
    way_out = "Write for example '-2:2:0.1', or three of them, one for each knob."
    texts = all_of_kind("ranges", ranges, str, way_out)
    if len(texts) != len(NAMES):
        raise UsageError(
            f"ranges has {so_many(len(texts), 'range')}, but there are {len(NAMES)} knobs. "
            f"{way_out}"
        )
    return texts


@dataclass(frozen=True, eq=False)
class Settings:
    """All settings of three ranges (algorithm 2): lines of equal alpha and beta, gamma rising.

    Parameters
    ----------
    values
        One row a setting: alpha, beta, gamma.
    source
        Of each setting, the first one of the same direction, which may be the setting itself.

    Notes
    -----
    **Settings of one direction give one schedule.** If (a, b, g) = k (a', b', g') with k > 0, then
    a log m + b log w + g log p is k times that of the other setting, for every job at every
    instant. Multiplying all scores by a positive number changes no order and no tie, and a replay
    looks at nothing but the order. So only one setting of each direction needs a replay. Since
    scores are kept to some digits, this holds for the computed schedule where no two compared
    scores of different jobs are closer than these; the replay tells, and else each setting is
    replayed.
    """

    values: Floats
    source: Ints

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Settings:
        """Read three ranges and return their combinations."""
        return cls.of(*(Range.parse(text) for text in texts))

    @classmethod
    def of(cls, alpha: Range, beta: Range, gamma: Range) -> Settings:
        """Return the combinations of three ranges."""
        ranges = (alpha, beta, gamma)
        total = math.prod(len(each) for each in ranges)
        if total > MOST_SETTINGS:
            raise UsageError(
                f"the ranges have {total:,} combinations, but a sweep has at most "
                f"{MOST_SETTINGS:,}. Give larger steps."
            )
        unit = math.lcm(*(part.denominator for each in ranges for part in (each.low, each.step)))
        axes = [_whole(each, unit) for each in ranges]
        whole = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        values = np.ascontiguousarray(whole / unit)
        return cls(values, _first_of_direction(whole))

    def __len__(self) -> int:
        return len(self.values)

    def knobs(self, index: int) -> Knobs:
        """Return one setting."""
        return Knobs(*self.values[index].tolist())

    def columns(self) -> dict[str, Floats]:
        """Return the three knobs by name."""
        return {name: self.values[:, i] for i, name in enumerate(NAMES)}


def _whole(each: Range, unit: int) -> NDArray[np.int64]:
    """Return the values of a range in units of the common fraction."""
    return int(each.low * unit) + int(each.step * unit) * np.arange(len(each), dtype=np.int64)


def _first_of_direction(whole: NDArray[np.int64]) -> Ints:
    divisor = np.gcd.reduce(whole, axis=1)
    primitive = whole // np.maximum(divisor, 1)[:, None]
    # One number for each direction: all are within the largest value.
    largest = int(np.abs(primitive).max()) + 1
    if largest > 2**20:
        _, first, inverse = np.unique(primitive, axis=0, return_index=True, return_inverse=True)
    else:
        key = primitive @ np.array([(2 * largest) ** 2, 2 * largest, 1])
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.ravel()], dtype=np.int64)


def _fraction(text: str) -> Fraction:
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)
