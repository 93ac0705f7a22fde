"""A sentence of a paper, what was found, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One row of a table of claims.

    Parameters
    ----------
    paper
        The paper's sentence, in short, and where it stands.
    found
        Our figure, and by how much work.
    holds
        Whether it holds; None where it was not measured.
    why
        What it depends on, or why it does not hold.
    undecided
        Whether what was found is too little to tell.
    """

    paper: str
    found: str
    holds: bool | None
    why: str = ""
    undecided: bool = False

    def row(self) -> dict[str, object]:
        """Return the row of the table."""
        told = {True: "holds", False: "**fails**", None: "not measured"}[self.holds]
        judged = "undecided" if self.undecided else told
        return {"the paper": self.paper, "found here": self.found, "": judged, "why": self.why}
