"""What a report says about a learned policy: its worth, how it was learned, what it does."""

from __future__ import annotations

import os
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from queuesmith.learning.conclusion import gain
from queuesmith.learning.result import Tuned
from queuesmith.learning.verdict import Verdict
from queuesmith.policy.rules import FuzzyRules
from queuesmith.policy.sentences import sentences
from queuesmith.report.caution import is_untrue, refusal
from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
from queuesmith.report.group_waits import CAPTION, DAY, wait_rows
from queuesmith.report.html import write_report
from queuesmith.report.html_rows import html_row, html_rows, scrolling_table
from queuesmith.report.wording import plain, scale_of
from queuesmith.schedule import Schedule
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.paired import interval_words

if TYPE_CHECKING:
    from queuesmith.learning.offline_front import Front
    from queuesmith.report.html import Content
    from queuesmith.schedule.fidelity import Fidelity

#: The most rules that the page spells out, and how often they decide at least.
MOST_RULES, RARE = 12, 0.0005
MOST_STRATEGIES = 6


def tuning_sections(
    tuned: Tuned,
    front: Front | None = None,
    *,
    fidelity: Fidelity | None = None,
    although_untrue: bool = False,
) -> list[tuple[str, Content]]:
    """Return sections about a learned policy, for ``write_report(extra_sections=...)``.

    Parameters
    ----------
    tuned
        What was learned.
    front
        The off-line front to show it against, of the jobs it did not see or of all.
    fidelity, although_untrue
        As for ``write_tuning_report``.
    """
    said = tuning_conclusion(tuned, fidelity, although_untrue=although_untrue)
    sections = [
        ("The learned policy", _worth(tuned, "" if fidelity is None else fidelity.sentence, said)),
        ("How it was learned", _course(tuned)),
        ("What it does", _rules(tuned)),
        ("Groups before and after", _groups(tuned)),
    ]
    return sections if front is None else [*sections, ("The off-line front", _front(tuned, front))]


def write_tuning_report(
    tuned: Tuned,
    path: str | os.PathLike[str],
    *,
    front: Front | None = None,
    title: str | None = None,
    command: str | None = None,
    fidelity: Fidelity | None = None,
    although_untrue: bool = False,
) -> Path:
    """Write a learned policy as one self-contained HTML page, and return where it is.

    The page compares it with FCFS with EASY and the best fixed strategy, on jobs that it did not
    see where there are such.

    Parameters
    ----------
    tuned, front
        As for ``tuning_sections``.
    path, title, command
        As for ``write_report``.
    fidelity
        How true replays of the log are, where it tells what really happened.
    although_untrue
        Say what to do even where they are 20 % or more from it.
    """
    verdict = tuned.held_out or tuned.learning
    metrics = (str(tuned.objective), *(m for m in DEFAULT_METRICS if m != str(tuned.objective)))
    comparison = Comparison(_distinct(verdict), metrics, bound=tuned.objective.bound)
    return write_report(
        comparison,
        path,
        title=title or f"{comparison.workload.name}: a policy learned by {tuned.method}",
        description=f"What is compared below are {_parts(tuned)[_judged(tuned)]}.",
        command=command,
        extra_sections=tuning_sections(
            tuned, front, fidelity=fidelity, although_untrue=although_untrue
        ),
    )


def terminal_rows(tuned: Tuned) -> list[dict[str, str]]:
    """Return a row for each policy on each part of the log, few and narrow enough for a terminal.

    A gain comes with its price: the longest wait of all stands beside it.
    """
    verdicts = {"learned on": tuned.learning, "not seen": tuned.held_out}
    known = {jobs: verdict for jobs, verdict in verdicts.items() if verdict is not None}
    scale = scale_of(tuned.objective, [i.value for v in known.values() for i in v.values.values()])
    alone = str(tuned.objective) in tuned.objective.names
    head = str(tuned.objective) if alone else "objective"
    unit = f" ({scale.unit})" if scale.unit else ""
    return [
        {
            "jobs": jobs,
            "policy": "fcfs+easy" if part == "baseline" else part.replace("_", " "),
            f"{head}{unit}": plain(verdict.values[part].value / scale.factor),
            "learned is better by (%)": _gain_text(verdict.improvement.get(part)),
            "longest wait (d)": plain(max(verdict.longest_waits[part].values()) / DAY),
        }
        for jobs, verdict in known.items()
        for part in verdict.schedules
    ]


def _gain_text(gain: Interval | None) -> str:
    if gain is None:
        return "-"
    return f"{gain.value:.1f}{interval_words(gain)}"


# -- what it is worth ----------------------------------------------------------------------------


def tuning_conclusion(
    tuned: Tuned, fidelity: Fidelity | None, *, although_untrue: bool = False
) -> str:
    """Say what came out, unless replays are so far from what happened that nobody should act."""
    if is_untrue(fidelity) and fidelity is not None and not although_untrue:
        return refusal(fidelity)
    return tuned.conclusion


def _worth(tuned: Tuned, *said: str) -> str:
    sentence = f'<p class="verdict">{escape(_sentence(tuned))}</p>'
    guards = "".join(
        f"<p>{escape(each)}</p>" for each in (*tuned.no_worse_sentences(), *filter(None, said))
    )
    return f"{sentence}{guards}{_table(tuned)}{_note(tuned)}"


def _sentence(tuned: Tuned) -> str:
    """Say what the learning did; what it is worth on other jobs, the conclusion says."""
    easy, fixed = (
        gain(tuned.learning, part, with_interval=False) for part in ("baseline", "best_fixed")
    )
    text = (
        f"{tuned.method} judged {tuned.evaluations:,} policies. For {tuned.objective}, the one it "
        f"learned is {easy} than FCFS with EASY and {fixed} than "
        f"{tuned.best_fixed}, the best fixed strategy, on the jobs it learned from."
    )
    return text if tuned.held_out else f"{text} It was not judged on other jobs."


def _table(tuned: Tuned) -> str:
    verdicts = {"learned on": tuned.learning, "not seen": tuned.held_out}
    known = {part: verdict for part, verdict in verdicts.items() if verdict is not None}
    scale = scale_of(tuned.objective, [i.value for v in known.values() for i in v.values.values()])
    objective = escape(f"{tuned.objective}, {scale.unit}".removesuffix(", "))
    columns = (objective, "learned is better by", "longest wait, d")
    names = {
        "baseline": "FCFS with EASY",
        "best_fixed": f"best fixed: {tuned.best_fixed}",
        "learned": f"learned: {tuned.policy}",
    }
    return scrolling_table(
        ("policy", *(f"{head}<small>{part}</small>" for part in known for head in columns)),
        (
            html_row(
                escape(name),
                *(
                    cell
                    for verdict in known.values()
                    for cell in _cells(verdict, part, scale.factor)
                ),
            )
            for part, name in names.items()
        ),
    )


def _cells(verdict: Verdict, part: str, factor: float) -> tuple[str, str, str]:
    value, gain = verdict.values[part], verdict.improvement.get(part)
    return (
        f"{plain(value.value / factor)}{_range(value, factor)}",
        "" if gain is None else f"{gain.value:.1f} %{_range(gain, 1)}",
        plain(max(verdict.longest_waits[part].values()) / DAY),
    )


def _range(interval: Interval, factor: float) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f"<small>{plain(interval.low / factor)} to {plain(interval.high / factor)}</small>"


def _note(tuned: Tuned) -> str:
    if tuned.split is None:
        text = "Learned on the whole log: this does not show what it is worth on other jobs."
    else:
        text = (
            f"Learned on the jobs submitted in the first {100 * tuned.split:g} % of the log's "
            "time, judged on the rest; the best fixed strategy was chosen on the same first part. "
            f"Of {tuned.objective}, {tuned.objective.better} is better."
        )
    if any(i.low is not None for i in tuned.learning.values.values()):
        text += " Below a value: its 95 % confidence interval, where there are weeks enough."
    return f'<p class="note">{text}</p>'


# -- how it was learned, and what it does --------------------------------------------------------


def _course(tuned: Tuned) -> Content:
    from queuesmith.report.learning_figures import draw_convergence

    direction = "higher" if tuned.objective.better == "higher" else "lower"
    text = (
        f"<p>The best value so far and the mean of each generation, on the jobs learned from; "
        f"{direction} is better. The seed is {tuned.seed}.</p>"
    )
    return [text, draw_convergence(tuned)]


def _rules(tuned: Tuned) -> str:
    verdict = tuned.held_out or tuned.learning
    counts = getattr(verdict.learned.decisions, "rule_counts", None)
    found = sentences(tuned.policy, counts)
    parts = list(dict.fromkeys(sentence.part for sentence in found))
    lists = []
    for part in parts:
        own = [sentence for sentence in found if sentence.part == part]
        told = [each for each in own if each.share is None or each.share >= RARE][:MOST_RULES]
        items = "".join(f"<li>{escape(str(each).strip())}</li>" for each in told)
        silent = len(own) - len(told)
        items += f"<li>and {silent} more that hardly ever decide</li>" if silent else ""
        head = f"<h3>For the {part}</h3>" if len(parts) > 1 else ""
        lists.append(f"{head}<ul>{items}</ul>")
    how = f"<p>{_voting(tuned)}</p>" if counts is not None else ""
    return f"{how}{''.join(lists)}{_chosen(verdict.learned)}"


def _voting(tuned: Tuned) -> str:
    """Say how rules decide, and what their shares mean."""
    over = _parts(tuned)[_judged(tuned)]
    if not any(isinstance(rules, FuzzyRules) for rules in getattr(tuned.policy, "parts", ())):
        return f"Every state belongs to one rule. The share says how often it decided over {over}."
    return (
        "Rules overlap: at each decision all of them vote, the more the better the state fits "
        "them, and what has most votes is done. The share says how often a rule had the largest "
        f"say over {over}."
    )


def _chosen(schedule: Schedule) -> str:
    """Say which strategies were chosen how often."""
    if not hasattr(schedule.decisions, "by_strategy"):
        return ""
    counts = Counter(schedule.decisions.by_strategy())
    total = max(sum(counts.values()), 1)
    shares = [
        f"{escape(name)} {100 * count / total:.1f} %"
        for name, count in counts.most_common(MOST_STRATEGIES)
        if count
    ]
    return f"<p>Chosen most often: {', '.join(shares)}.</p>"


def _groups(tuned: Tuned) -> Content:
    from queuesmith.report.learning_figures import draw_group_changes, group_changes

    verdicts = {"learned from": tuned.learning}
    if tuned.held_out is not None:
        verdicts["not seen"] = tuned.held_out
    changes = group_changes(tuned.held_out or tuned.learning)
    gains = ", ".join(
        f"{escape(label)} {abs(change.better_percent):.0f} % "
        f"{'shorter' if change.better_percent >= 0 else 'longer'}"
        for label, change in changes.items()
    )
    text = (
        "<p>The average response time, weighted by the work of jobs (AWRT), under FCFS with EASY "
        f"and under the learned policy. Over {_parts(tuned)[_judged(tuned)]}: {gains}.</p>"
    )
    judged = (tuned.held_out or tuned.learning).schedules
    waits = wait_rows({part.replace("_", " "): each for part, each in judged.items()})
    return [text, draw_group_changes(verdicts), f"<p>{CAPTION}</p>{html_rows(waits)}"]


# -- against what could be had -------------------------------------------------------------------


def _front(tuned: Tuned, front: Front) -> Content:
    from queuesmith.report.front_figure import draw_front

    names = {str(tuned.policy): f"learned: {tuned.policy}"}
    items = "".join(
        f"<li>{escape(names.get(each.point.name, each.point.name))}: {abs(each.gap_percent):.1f} % "
        f"{'above' if each.gap_percent >= 0 else 'below'} the front's best "
        f"{escape(str(front.objective))}; at least as good in everything: {each.dominated_by:,} of "
        "the front's schedules.</li>"
        for each in front.distances
    )
    left_out = f" No job belongs to {', '.join(front.left_out)}." if front.left_out else ""
    text = (
        f"<p>{front.evaluations:,} off-line schedules of {front.jobs:,} jobs were made; they know "
        "every runtime, and some of them every job still to come. Shown are those of which none is "
        f"better than another in all of {len(front.objectives)} objectives.{left_out} No policy "
        "has to reach them, for a policy knows less. Their hypervolume, up to twice EASY's "
        f"response times, is {front.hypervolume:.3f}.</p><ul>{items}</ul>"
    )
    return [text, draw_front(front, names)]


# -- parts of the log ----------------------------------------------------------------------------


def _judged(tuned: Tuned) -> str:
    return "learning" if tuned.held_out is None else "held_out"


def _parts(tuned: Tuned) -> dict[str, str]:
    seen = "the whole log" if tuned.held_out is None else "the jobs it learned from"
    return {"learning": seen, "held_out": "the jobs it did not see"}


def _distinct(verdict: Verdict) -> tuple[Schedule, ...]:
    """Return the schedules, one for each policy: the best fixed one may be EASY itself."""
    order = (verdict.baseline, verdict.best_fixed, verdict.learned)
    return tuple({schedule.policy: schedule for schedule in order}.values())
