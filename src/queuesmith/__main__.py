"""``python -m queuesmith``: the command, where its script is not on the path."""

from queuesmith.cli import run

if __name__ == "__main__":
    run()
