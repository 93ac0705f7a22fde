"""The command line: ``queuesmith COMMAND ...``.

Heavy modules are imported inside the commands, so that ``--help`` answers at once.
"""

from queuesmith.cli.app import main, run

__all__ = ["main", "run"]
