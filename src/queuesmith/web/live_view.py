"""To be filled."""

from __future__ import annotations

from dash import Dash, html

from queuesmith.web.context import Context
from queuesmith.web.state import PageState


def view(state: PageState, context: Context) -> html.Div:
    """Return the part of the page."""
    return html.Div()


def wire(app: Dash, context: Context) -> None:
    """Connect the controls with what they do."""
