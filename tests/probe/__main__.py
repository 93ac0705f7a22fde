"""The long round: ``python -m tests.probe --inputs 1000000 --kills 200 --flips 10000``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.probe.disturbances import flips, full_disks, kills, references
from tests.probe.pages import NAMES, hostile_pages
from tests.probe.readers import READERS, fuzz, fuzz_all
from tests.probe.tally import Tally
from tests.probe.verbs import prepare, warm_up


def arguments() -> argparse.Namespace:
    """Read how much is to be tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.probe", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="mutated files in all")
    parser.add_argument("--kills", type=int, default=200, help="kills of verbs with a record")
    parser.add_argument("--flips", type=int, default=10_000, help="flipped bits of records")
    parser.add_argument("--disks", type=int, default=60, help="full disks")
    parser.add_argument("--names", type=int, default=len(NAMES), help="hostile names in pages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None, help="processes for mutated files")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop a part after so long")
    parser.add_argument("--reader", choices=list(READERS), help="repeat one input of this reader")
    parser.add_argument("--number", type=int, default=0, help="which input")
    return parser.parse_args()


def main() -> int:
    """Try it all; 1 where anything happened that must not."""
    chosen = arguments()
    with tempfile.TemporaryDirectory(prefix="queuesmith-probe-") as place:
        os.environ["QUEUESMITH_CONFIG"] = str(Path(place) / "config")
        folder = Path(place) / "run"
        folder.mkdir()
        if chosen.reader:
            tally = fuzz(chosen.reader, [chosen.number], chosen.seed)
            print(tally)
            return bool(tally.faults)
        return _all(chosen, folder)


def _all(chosen: argparse.Namespace, folder: Path) -> int:
    whole = Tally()

    def part(name: str, probe: Callable[[], Tally]) -> None:
        began = time.monotonic()
        tally = probe()
        whole.add(tally)
        print(f"\n-- {name}, {time.monotonic() - began:,.0f} s\n{tally}", flush=True)

    # Kills fork this process, so they come before anything that has threads of its own.
    prepare(folder)
    warm_up(folder)
    known = references(folder)
    part("kills", lambda: kills(chosen.kills, folder, known, chosen.seed, chosen.seconds))
    part("full disks", lambda: full_disks(chosen.disks, folder, known, chosen.seed))
    part("flipped bits", lambda: flips(chosen.flips, folder, chosen.seed))
    part("pages", lambda: hostile_pages(folder, NAMES[: chosen.names]))
    part(
        "mutated files",
        lambda: fuzz_all(chosen.inputs, chosen.seed, chosen.workers, chosen.seconds),
    )
    print(f"\n{whole.tried:,} tried in all, {len(whole.faults)} kinds of faults")
    return bool(whole.faults)


if __name__ == "__main__":
    sys.exit(main())
