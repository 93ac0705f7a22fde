"""Moments of a log as people name them: seconds of the log, or dates."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from queuesmith.base.errors import UsageError

#: A second of the log, or a date: as text such as ``2020-04-01`` or ``2020-04-01T12:00``.
Moment = int | float | str | date


def second_of(moment: Moment, epoch: int | None, name: str) -> int:
    """Return the second of a log that a moment means.

    Parameters
    ----------
    moment
        Seconds, a date, or text: ``86400``, ``2020-04-01``, ``2020-04-01T12:00``. A date without
        a time zone is in UTC.
    epoch
        The Unix time of the log's second 0; None where the log has no dates.
    name
        The log, for messages.
    """
    if isinstance(moment, (int, float, np.number)) and not isinstance(moment, bool):
        return _whole(float(moment), moment)
    when = _date(moment)
    if epoch is None:
        raise UsageError(
            f"'{moment}' is a date, but the log '{name}' does not say on which day it begins. "
            "Give seconds of the log."
        )
    return round(when.timestamp()) - epoch


def _whole(number: float, moment: object) -> int:
    if not np.isfinite(number):
        raise UsageError(
            f"the moment is {moment}, but it must be a number. Give seconds, or a date."
        )
    return int(number)


def _date(moment: Any) -> datetime:
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError:
            raise UsageError(
                f"the moment is '{moment}', but it must be seconds of the log or a date. "
                "Give for example 86400, 2020-04-01 or 2020-04-01T12:00."
            ) from None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if not isinstance(moment, datetime):
        raise UsageError(
            f"the moment is {moment!r}, but it must be seconds of the log or a date. "
            "Give for example 86400 or '2020-04-01'."
        )
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def split_moments(text: str) -> tuple[Moment, Moment] | None:
    """Return the two moments of ``FIRST:LAST`` or ``FIRST..LAST``; None where they are not two."""
    parts = text.split("..") if ".." in text else text.split(":")
    if len(parts) != 2 or not all(part.strip() for part in parts):
        return None
    return _moment(parts[0].strip()), _moment(parts[1].strip())


def _moment(text: str) -> Moment:
    try:
        return float(text)
    except ValueError:
        return text
