"""Figures 2 to 5 of dynamic prioritisation: the knobs, the share and the size, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.study import markdown, mean_and_half, rank_correlation
from queuesmith import verify
from queuesmith.figures.style import style
from queuesmith.knobs import Knobs, knapsack
from queuesmith.knobs.bag_schedule import running_jobs
from queuesmith.knobs.drawing import draw_activity
from queuesmith.knobs.figure_data import activity_data
from queuesmith.knobs.scaling import over_shares, over_sizes
from queuesmith.workload.airs import airs

PAPER_LAW = "94504 x^-0.78"
#: Figures 2 and 3: the settings, and what the paper says they do. It prints alpha of the first,
#: beta and gamma of the second and all of the last; the others are our completion.
SETTINGS = {
    Knobs(-1, 0, 0): "jobs with fewer tasks first",
    Knobs(0, 1, 1): "longer jobs first",
    Knobs(1, 0, 0): "larger jobs first",
    Knobs(-1, 0, -1): "shorter and smaller jobs first",
    Knobs(0.9, 0.1, 0.1): "a good balance (figure 3)",
}
BALANCE = Knobs(0.9, 0.1, 0.1)
SEEDS = range(10)
#: Exponents of the first and last doubling that are further apart are not one law's.
LAW_BENT = 0.1
#: A change of the response time below this, in per cent, is very small.
VERY_SMALL = 5.0


def workflow(figures: dict[str, Any]) -> tuple[str, list[Claim]]:
    """Replay workflows of 220 jobs on 500 cores under the paper's settings, over seeds."""
    print("figures 2 and 3", flush=True)
    rows, times, running, used, orders = [], {}, {}, {}, []
    for place, (knobs, says) in enumerate(SETTINGS.items()):
        logs = [airs(220, 500, seed=seed) for seed in SEEDS]
        found = [verify(knapsack(log, knobs=knobs, cores=500)) for log in logs]
        divided = [knapsack(log, knobs=knobs, cores=500, over_weight=True) for log in logs]
        title = f"Figure {'3' if knobs == BALANCE else '2' + 'abcd'[place]}: {knobs}"
        figures[title] = draw_activity(activity_data(found[0]), title=title)
        size = [rank_correlation(f.start, f.workload.cores) for f in found]
        length = [rank_correlation(f.start, f.workload.runtime) for f in found]
        times[knobs] = [float(f.makespan) for f in found]
        running[knobs] = [float(running_jobs(f).mean()) for f in found]
        used[knobs] = [100 * f.value("utilization") for f in found]
        if knobs != BALANCE:
            orders += [_as_announced(knobs, *pair) for pair in zip(size, length, strict=True)]
        rows.append(
            {
                "knobs": str(knobs),
                "the paper says": says,
                "start ~ size": interval(size, 2),
                "start ~ runtime": interval(length, 2),
                "response time, s": interval(times[knobs], 0),
                "over weight, s": interval([float(f.makespan) for f in divided], 0),
                "utilization %": interval(used[knobs], 1),
                "jobs at a time": interval(running[knobs], 1),
            }
        )
    text = f"""## Figures 2 and 3: the knobs do what they announce

220 malleable AIRS-like jobs on 500 cores, all there at second 0, {len(SEEDS)} seeds. The paper
prints alpha of the first setting, beta and gamma of the second and all of the last; the others are
our completion of its words. The columns `start ~` are rank correlations of a job's first start with
its size and its runtime: negative means that large (long) jobs start first. *Over weight* is the
response time with algorithm 1 as printed, *jobs at a time* how many run on average.

{markdown(rows)}

At second 0 all waits are equal, so beta has nothing to tell jobs apart by in this workload.
"""
    claims = [_announced(orders), _unmeasured(), _used(used), _more_running(running)]
    return text, [*claims, _halved(times)]


def _as_announced(knobs: Knobs, size: float, length: float) -> bool:
    """Tell whether starts follow every knob that can tell these jobs apart."""
    pairs = ((knobs.alpha, size), (knobs.gamma, length))
    return all(wanted * found < 0 for wanted, found in pairs if wanted)


def _announced(orders: list[bool]) -> Claim:
    return Claim(
        "the parameters do what they announce (figure 2)",
        f"starts follow each knob that is not 0 in {sum(orders)} of {len(orders)} replays",
        all(orders),
        "by the sign of a rank correlation, all jobs there at once; beta cannot matter so",
    )


def _unmeasured() -> Claim:
    return Claim(
        "longest waiting jobs first, in contrast (abstract)",
        "in no replay of figures 2 to 5 do the waits of waiting jobs differ",
        None,
        "the paper shows beta = 1 with gamma = 1 only, and does not tell arrivals",
    )


def _used(used: dict[Knobs, list[float]]) -> Claim:
    least = min(used, key=lambda knobs: float(np.mean(used[knobs])))
    return Claim(
        "objectives are met while utilization stays high (abstract)",
        f"{interval(used[least], 1)} % at the least, with {least}",
        bool(np.mean(used[least]) > 90),
        "high is taken as above 90 %; the balance of figure 3 is not the highest",
    )


def _more_running(running: dict[Knobs, list[float]]) -> Claim:
    others = [float(np.mean(found)) for knobs, found in running.items() if knobs != BALANCE]
    own = float(np.mean(running[BALANCE]))
    return Claim(
        "alpha = 0.9 lets more jobs run at a time, near 6, than figure 2 (figure 3)",
        f"{interval(running[BALANCE], 1)}, with the settings of figure 2 {min(others):.1f} to "
        f"{max(others):.1f}",
        own > max(others),
        "the same jobs, each about as long: jobs at a time x response time is the same under every "
        "setting, so this is the next row once more",
    )


def _halved(times: dict[Knobs, list[float]]) -> Claim:
    others = [np.array(found) for knobs, found in times.items() if knobs != BALANCE]
    change = 100 * (np.array(times[BALANCE]) / np.mean(others, axis=0) - 1)
    return Claim(
        "which leads to almost halving the response time (figure 3)",
        f"{interval(change.tolist(), 1)} % {'longer' if change.mean() > 0 else 'shorter'} than the "
        "mean of the four settings of figure 2",
        bool(change.mean() < -40),
        "tasks of one core leave little for an order to gain: utilization is above 90 % under "
        "every setting",
    )


def shares(figures: dict[str, Any]) -> tuple[str, list[Claim]]:
    """Compare shares on 98 jobs and 64 cores, over several seeds."""
    print("figure 4", flush=True)
    runs = [over_shares(airs(98, 64, seed=s), BALANCE, cores=64, seed=s) for s in SEEDS]
    names = [at if isinstance(at, str) else f"{float(at):g}" for at in runs[0].at]  # type: ignore[arg-type]
    times = np.array([run.makespans for run in runs], dtype=np.float64)
    change = 100 * (times / times[:, [names.index("1")]] - 1)
    figures["Figure 4: response time and share"] = draw_means(
        names, times, "share", "Figure 4: response time and share"
    )
    rows = [
        {
            "share": name,
            "response time, s": interval(times[:, i].tolist(), 0),
            "against share 1, %": interval(change[:, i].tolist(), 1),
        }
        for i, name in enumerate(names)
    ]
    text = f"""## Figure 4: the share

98 AIRS-like jobs, {len(SEEDS)} seeds. The paper tells neither cores nor knobs: here there are 64,
as in its cluster, and {BALANCE}.

{markdown(rows)}
"""
    means = dict(zip(names, change.mean(axis=0).tolist(), strict=True))
    fixed = [name for name in names if name not in ("random", "1")]
    small = [name for name in fixed if means[name] < VERY_SMALL]
    claim = Claim(
        "a larger share gives a very small decrease of the response time (figure 4)",
        f"share {fixed[0]} is {interval(change[:, 0].tolist(), 1)} % above share 1; less than "
        f"{VERY_SMALL:g} % above it are {', '.join(small)}",
        len(small) == len(fixed),
        "with so small a share a large job keeps on to the end with few tasks at a time",
    )
    return text, [claim]


def sizes(figures: dict[str, Any]) -> tuple[str, list[Claim]]:
    """Fit the power law of the response time over the size, for several seeds."""
    print("figure 5", flush=True)
    runs = {seed: over_sizes(airs(98, 64, seed=seed), BALANCE, seed=seed) for seed in SEEDS}
    times = np.array([run.makespans for run in runs.values()], dtype=np.float64)
    at = [str(cores) for cores in runs[0].at]
    title = "Figure 5: response time and size"
    figures[title] = draw_means(at, times, "cores", title, logarithmic=True)
    rows = [
        {
            "seed": seed,
            **{f"{cores} cores": f"{t:,}" for cores, t in zip(run.at, run.makespans, strict=True)},
            "law": str(run.law),
        }
        for seed, run in runs.items()
    ]
    exponents = [run.law.exponent for run in runs.values() if run.law is not None]
    inside = sum(run.law.low <= -0.78 <= run.law.high for run in runs.values() if run.law)
    local = np.diff(np.log(times), axis=1) / np.diff(np.log(np.array(runs[0].at, dtype=float)))
    first, last = (interval(local[:, i].tolist(), 2) for i in (0, -1))
    text = f"""## Figure 5: response time and size

98 AIRS-like jobs, a random share each, as in the paper; it tells no knobs, here {BALANCE}. The
paper: {PAPER_LAW}.

{markdown(rows)}
"""
    law = Claim(
        "the response time follows an inverse power of the size (figure 5)",
        f"the exponent of a doubling is {first} from {at[0]} cores and {last} to {at[-1]}",
        abs(float(local[:, 0].mean() - local[:, -1].mean())) < LAW_BENT,
        "a law has one exponent: here each doubling helps less than the one before, on workloads "
        "that we made; the paper speaks of real ones",
    )
    exponent = Claim(
        f"its exponent is -0.78: {PAPER_LAW} (figure 5)",
        f"fitted {interval(exponents, 2)}; -0.78 lies within the interval of {inside} of "
        f"{len(runs)} seeds",
        inside >= len(runs) / 2,
        "the scale of our workload was chosen to have the paper's times at both ends, roughly, "
        "which leaves the exponent little choice",
        instead="by construction" if inside >= len(runs) / 2 else "",
    )
    doubled = Claim(
        "doubling the size does not halve the response time (section 4.2)",
        f"fitted exponents from {min(exponents):.2f} to {max(exponents):.2f}; the steepest of all "
        f"single doublings {local.min():.2f}",
        min(exponents) > -1,
        "as above: the times at both ends were chosen",
        instead="by construction" if min(exponents) > -1 else "",
    )
    return text, [law, exponent, doubled]


def draw_means(
    names: Sequence[str], times: Any, what: str, title: str, *, logarithmic: bool = False
) -> Any:
    """Draw the mean response time over seeds, with its interval."""
    import plotly.graph_objects as go

    found = [mean_and_half(times[:, i].tolist()) for i in range(len(names))]
    bars = {"type": "data", "array": [half or 0.0 for _, half in found]}
    figure = go.Figure()
    figure.add_scatter(
        x=list(names),
        y=[mean for mean, _ in found],
        error_y=bars,
        mode="lines+markers",
        name=f"mean of {len(times)} seeds, 95 %",
    )
    style(figure, height=460, x=what, y="workload response time, s")
    figure.update_xaxes(type="category")
    figure.update_yaxes(type="log" if logarithmic else "linear")
    figure.update_layout(title=title, margin={"t": 90})
    return figure


def interval(values: Sequence[float], digits: int) -> str:
    """Return the mean of some values and half its interval."""
    mean, half = mean_and_half(values)
    return f"{mean:,.{digits}f} ± {half:,.{digits}f}" if half is not None else f"{mean:,.{digits}f}"
