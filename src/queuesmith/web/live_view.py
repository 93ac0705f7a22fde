"""Live: the queue of a Slurm, where one is there; the page only looks."""

from __future__ import annotations

import shutil

from dash import html

from queuesmith.web.context import Context
from queuesmith.web.state import PageState


def view(state: PageState, context: Context) -> html.Div:
    """Say whether there is a Slurm here."""
    if shutil.which("squeue") is None:
        words = "No Slurm found here: there is no command squeue on this machine."
    else:
        words = (
            "There is a Slurm here. This page does not look at its queue yet; the commands of "
            "queuesmith do."
        )
    return html.Div(html.P(words, className="note", id="live"))
