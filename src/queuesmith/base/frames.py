"""Results as pandas tables: with one call, and as what a notebook shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: A notebook shows so many rows of a table, the first and the last ones.
MOST_SHOWN = 20


class Framed:
    """A result that becomes a pandas table with one call, and that a notebook shows as one."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the table."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas table."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def _repr_html_(self) -> str:
        return frame_html(self, self.to_frame())


def rows_html(result: object, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what a notebook shows of a result: its one line, then some rows."""
    import pandas as pd

    return frame_html(result, pd.DataFrame(list(rows)))


def frame_html(result: object, frame: pd.DataFrame) -> str:
    """Return what a notebook shows of a result: its one line, then a table."""
    table: str = frame.to_html(index=False, max_rows=MOST_SHOWN)
    return f"<p>{escape(repr(result))}</p>{table}"
