"""What the genetic fuzzy study says of each of the paper's claims, and beyond them, in short."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from papers.claims import Claim
from papers.genetic_fuzzy_paper import LEARNERS, TABLE_4
from papers.genetic_fuzzy_price import ASKED, DAY, EXTENSIONS, TITLES, asked_of
from papers.genetic_fuzzy_results import GROUPS, LONGEST, Results
from papers.genetic_fuzzy_tables import NEAR_FRONT, NO_CHANGE
from papers.study import section

#: What PROB gains on average, and the log that the paper leaves out of that.
PROB_GAIN, LEFT_OUT = 10.0, "KTH"
FAVOURED, OTHERS = GROUPS[:2], GROUPS[3:]
SCALED = "[the logs scaled in another way](#the-logs-scaled-in-another-way)"


def claims(results: Sequence[Results]) -> str:
    """Return the table of the paper's claims, and what was asked beyond them."""
    known = [each for each in results if each.gains("pitts") is not None and each.name in TABLE_4]
    if not known:
        return ""
    rows = [
        _pitts(known),
        _prob(known),
        _above_prob(known),
        *_cca(known),
        _utilization(known),
        _who_pays(known),
        *_front(known),
    ]
    note = (
        "The paper's claims, each with a table of its own below: medians over seeds, learned and "
        "judged on all jobs, as in the paper."
    )
    beyond = "\n".join(f"- {line}" for line in (_price(known), _held_out(known), _asked(known)))
    table = section("Claims", note, [each.row() for each in rows])
    return f"{table}\n\nBeyond the paper:\n\n{beyond}"


def _pitts(results: Sequence[Results]) -> Claim:
    missed = [
        f"{each.name} {_gain(each, 'pitts'):.1f} instead of {TABLE_4[each.name][-1]:.1f} %"
        for each in results
        if _gain(each, "pitts") < TABLE_4[each.name][-1]
    ]
    learned = sum(_gain(each, "pitts") > _best_fixed(each) for each in results)
    found = f"as much or more on {len(results) - len(missed)} of {len(results)} logs"
    return Claim(
        "PITTS improves f over EASY by 1.31 to 55.79 % (table 4)",
        f"{found}; better than the best of the thirteen on {learned}",
        not missed,
        "; ".join(missed) and f"{'; '.join(missed)}; see {SCALED}",
    )


def _prob(results: Sequence[Results]) -> Claim:
    gains = [_gain(each, "prob") for each in results if _has(each, "prob", but=LEFT_OUT)]
    mean = fmean(gains) if gains else None
    found = "not run" if mean is None else f"{mean:.1f} % on average of {len(gains)} logs"
    holds = None if mean is None else mean >= PROB_GAIN
    return Claim("PROB improves f by 10 % on average, KTH apart (5)", found, holds)


def _above_prob(results: Sequence[Results]) -> Claim:
    compared = [each for each in results if all(_has(each, name) for name in LEARNERS)]
    above = [
        each
        for each in compared
        if min(_gain(each, "pitts"), _gain(each, "cca")) > _gain(each, "prob")
    ]
    return Claim(
        "both genetic systems outperform PROB (5)",
        f"on {len(above)} of {len(compared)} logs",
        len(above) == len(compared) if compared else None,
    )


def _cca(results: Sequence[Results]) -> list[Claim]:
    for each in results:
        pitts, cca = each.gains("pitts"), each.gains("cca")
        if each.name == "CTC" and pitts is not None and cca is not None:
            found = f"{cca.median:.2f} and {pitts.median:.2f} %"
            overlap = cca.overlaps(pitts)
            why = "the seeds of both overlap" if overlap else ""
            holds = cca.median > pitts.median
            paper = "CCA is a little better than PITTS on CTC (5)"
            return [Claim(paper, found, holds, why, instead="undecided" if overlap else "")]
    return []


def _utilization(results: Sequence[Results]) -> Claim:
    moved = {
        each.name: max(abs(each.points(run["learning"]["learned"])) for run in runs)
        for each in results
        if (runs := [run for name in LEARNERS for run in each.of(name)])
    }
    changed = [name for name, points in moved.items() if points >= NO_CHANGE]
    found = f"by less than {NO_CHANGE:g} points on {len(moved) - len(changed)} of {len(moved)} logs"
    return Claim(
        "U remains constant but for SDSC 00 (tables 3 and 4)",
        found + (f"; it moves on {', '.join(changed)}" if changed else ""),
        not set(changed) - {"SDSC 00"},
        "only the first start and the last end count, which hardly move over months",
    )


def _who_pays(results: Sequence[Results]) -> Claim:
    others = []
    for each in results:
        run = each.typical("pitts")
        assert run is not None
        gains = {g: each.gain(run["learning"]["learned"], f"awrt[{g}]") for g in GROUPS}
        unlike = [g for g in FAVOURED if gains[g] <= 0] + [g for g in OTHERS if gains[g] >= 0]
        if unlike:
            told = ", ".join(f"group {group} by {gains[group]:+.1f} %" for group in unlike)
            others.append(f"{each.name}: {told}")
    return Claim(
        "AWRT of groups 1 and 2 gets better, groups 4 and 5 pay (table 4)",
        f"on {len(results) - len(others)} of {len(results)} logs",
        not others,
        "; ".join(others),
    )


def _front(results: Sequence[Results]) -> list[Claim]:
    gaps = []
    for each in results:
        run = each.typical("pitts")
        if each.front is not None and run is not None:
            gaps.append(100 * (run["learning"]["learned"]["f"] / each.front.best.value - 1))
    if not gaps:
        return []
    return [
        Claim(
            "both almost reach the off-line front (5)",
            f"PITTS is {min(gaps):.1f} to {max(gaps):.1f} % above it",
            max(gaps) <= NEAR_FRONT,
            "our front knows all runtimes and jobs to come, so it lies lower than the paper's",
        )
    ]


def _price(results: Sequence[Results]) -> str:
    """Say how long the unluckiest wait under the paper's learner, where they wait longest."""

    def longest(each: Results) -> float:
        runs = each.of("pitts")
        return max(_longest(run["learning"]["learned"]["waits"]) for run in runs)

    worst = max(results, key=longest)
    return (
        "The price, without a guard, of the worst seed: under PITTS somebody waits "
        f"{longest(worst) / DAY:,.0f} days on {worst.name}, "
        f"under EASY {_longest(worst.easy['waits']) / DAY:,.1f}."
    )


def _longest(waits: dict[str, Sequence[float]]) -> float:
    return max(own[LONGEST] for own in waits.values())


def _held_out(results: Sequence[Results]) -> str:
    told = []
    for name in (*LEARNERS, "race"):
        gains = [
            median(float(gain[0] or 0.0) for gain in found)
            for each in results
            if (found := each.held_out(name, "best fixed"))
        ]
        if gains:
            told.append(f"{TITLES[name]} on {sum(gain > 0 for gain in gains)} of {len(gains)} logs")
    return (
        "On jobs not seen, better than the best fixed strategy that was offered: "
        f"{', '.join(told) or 'not run'}."
    )


def _asked(results: Sequence[Results]) -> str:
    """Say on which logs an extension of ours gains what was asked, with the guard on."""
    best = {
        each.name: max((_gain(each, name) for name in EXTENSIONS if _has(each, name)), default=0)
        for each in results
    }
    reached = [each.name for each in results if best[each.name] >= asked_of(each)]
    missed = [
        f"{each.name} {best[each.name]:.1f} of {asked_of(each):.1f} %"
        for each in results
        if each.name not in reached
    ]
    return (
        "With the guard on, the best of our extensions on each log, some with one seed only, gains "
        f"what was asked (the smaller of the paper's figure and {ASKED:.0%} of *alone*) "
        f"on {len(reached)} of {len(results)} logs"
        f"{': ' + ', '.join(reached) if reached else ''}."
        f"{' Not on ' + ', '.join(missed) + '.' if missed else ''} See also {SCALED}."
    )


def _gain(results: Results, approach: str) -> float:
    found = results.gains(approach)
    assert found is not None
    return found.median


def _has(results: Results, approach: str, but: str = "") -> bool:
    return results.name != but and results.gains(approach) is not None


def _best_fixed(results: Results) -> float:
    return results.gain(results.fixed["all"][results.best_fixed()])
