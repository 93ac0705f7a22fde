"""Simon, Nguyen and Halem: multiple objective scheduling through dynamic prioritization.

    python -m papers.dynamic_priority

repeats figures 2 to 6 and the claims of the paper, then goes on where it stops: the same search on
1,000 jobs and on the whole log, the quick search beside the exhaustive one, and knobs that tune
themselves. Prints the paper's numbers beside ours and keeps them in
docs/results/dynamic_priority.md, with the pictures. What takes long is kept in one file and not
made again; delete it to make all anew. --figures writes the pictures as one HTML page, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from papers import dynamic_priority_tuning as tuning
from papers.dynamic_priority_figures import shares, sizes, workflow
from papers.dynamic_priority_sweeps import Sweeps, figure_6_claims
from papers.kept_pieces import KeptPieces
from papers.pictures import keep_pictures, write_page
from papers.study import RESULTS, ROOT, data_folder, keep_page, markdown
from queuesmith import read
from queuesmith.knobs.drawing import draw_cloud
from queuesmith.knobs.figure_data import cloud_data


def main() -> None:
    """Make what is missing, and the page of all that is kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS / "dynamic_priority.md")
    parser.add_argument(
        "--kept", type=Path, default=ROOT / "papers" / "kept" / "dynamic_priority.json"
    )
    parser.add_argument("--only-kept", action="store_true", help="tune no knobs, tell what is kept")
    parser.add_argument("--figures", type=Path, default=None)
    asked = parser.parse_args()
    kept = KeptPieces(asked.kept)
    if not asked.only_kept:
        tuning.make_runs(kept)
    sweeps = Sweeps(read(data_folder("traces") / tuning.LOGS[tuning.INTREPID]), kept)
    figures: dict[str, Any] = {}
    quick = [workflow(figures), shares(figures), sizes(figures)]
    parts = [sweeps.text(), tuning.text(kept)]
    cloud = sweeps.shown()
    title = "Figure 6: all settings, 50 jobs"
    figures[title] = draw_cloud(cloud_data(cloud), title=title)
    claims = [claim for found in quick for claim in found[1]]
    claims += [*figure_6_claims(cloud, kept), sweeps.class_b_claim()]
    pictures = keep_pictures(figures, asked.out)
    text = INTRODUCTION.format(claims=markdown([claim.row() for claim in claims]))
    text += "\n".join([*(found[0] for found in quick), *parts, pictures]) + "\n"
    keep_page(text, asked.out)
    if asked.figures is not None:
        write_page(figures.values(), asked.figures, title="Dynamic prioritisation: figures 2 to 6")


INTRODUCTION = """# Dynamic prioritisation: the study

Simon, Nguyen and Halem sort one queue by (tasks / average)^alpha x wait^beta x (runtime /
average)^gamma: the three exponents are the *knobs*, three of them a *setting*. Jobs are large or
small, long or short by the averages of the log: class A is large and long, B large and short, C
small and long, D small and short. *E_f* is the expansion factor, (wait + runtime) / runtime, of a
class its mean; of a job that is split, its response over the length of a task. The *response time*
is that from the first arrival to the last end. Different costs, A to D and the response time, that
no others equal or beat in every part are the *front*; settings with the same costs count once.
More: [knobs](../knobs.md).

Made by `python -m papers.dynamic_priority`, which goes on from what takes long in
`papers/kept/dynamic_priority.json`. The AIRS workloads are made by `queuesmith.workload.airs`,
since the paper's own are not to be had: the medians of their tasks and times were chosen so that
response times have the order of figure 5, some 5,800 s on 36 cores and 660 s on 576. Intervals are
of 95 %, of the mean over 10 seeds.

## Claims

{claims}

The paper sorts by the priority in its text and by priority over weight in algorithm 1
(`knapsack --over-weight`), which is the same as alpha less 1. Its 220 "tasks" of figures 2 and 3
can only be jobs: 220 tasks of one core on 500 cores all start at once, and no knob changes
anything. Left out are figure 1 and the comparison with Hadoop's fair scheduler, which were measured
on a cluster of the authors'.

"""


if __name__ == "__main__":
    main()
