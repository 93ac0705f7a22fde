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
    instead
        What is said instead of holds or fails: ``undecided`` where too little was found to tell,
        ``by construction`` where it could not be otherwise.
    """

    paper: str
    found: str
    holds: bool | None
    why: str = ""
    instead: str = ""

    def row(self) -> dict[str, object]:
        """Return the row of the table."""
        told = {True: "holds", False: "**fails**", None: "not measured"}[self.holds]
        return {
            "the paper": self.paper,
            "found here": self.found,
            "": self.instead or told,
            "why": self.why,
        }
