"""Studies: many logs, machines, policies, loads and seeds, described in one file.

What is computed for each unit, how a study goes on after a crash, and what it says across logs.
Names are imported when they are first used, so that ``queuesmith --help`` does not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.campaign.course import run_study
    from queuesmith.campaign.ranking import Ranking, rank_policies
    from queuesmith.campaign.results import Results, read_results
    from queuesmith.campaign.study_file import Study, read_study

__all__ = [
    "Ranking",
    "Results",
    "Study",
    "rank_policies",
    "read_results",
    "read_study",
    "run_study",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "course": ("run_study",),
        "ranking": ("Ranking", "rank_policies"),
        "results": ("Results", "read_results"),
        "study_file": ("Study", "read_study"),
    },
)
