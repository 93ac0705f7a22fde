"""``--on dask``: what a command prints is what it prints without."""

import json

import pytest


def answer(outcome, *leave_out):
    assert outcome.code == 0, outcome.err
    return {k: v for k, v in json.loads(outcome.out).items() if k not in leave_out}


@pytest.mark.parametrize("how", [(), ("--quick", "--budget", "0.5")])
def test_a_sweep_on_dask_is_the_same(run, log, dask_scheduler, how):
    words = ("sweep", log, "--range=-1:1:1", "--format", "json", *how)
    here = answer(run(*words), "seconds")
    there = run(*words, "--on", "dask", "--dask-scheduler", dask_scheduler)
    assert answer(there, "seconds") == here


def test_a_front_on_dask_is_the_same(run, log, dask_scheduler):
    pytest.importorskip("pymoo")
    words = ("pareto", log, "--population", "8", "--generations", "2", "--format", "json")
    here = answer(run(*words), "seconds")
    there = run(*words, "--on", "dask", "--scheduler", dask_scheduler)
    assert answer(there, "seconds") == here


def test_a_gap_on_dask_is_the_same(run, log, dask_scheduler):
    words = ("gap", log, "--steps", "5", "--most", "6", "--seconds-per-step", "5")
    here = answer(run(*words, "--format", "json"), "mean_seconds")
    there = run(*words, "--format", "json", "--on", "dask", "--scheduler", dask_scheduler)
    assert answer(there, "mean_seconds") == here
    assert here["proven_optimal_percent"] == 100


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("sweep", "--on", "dask"), "Give --dask-scheduler tcp://HOST:PORT"),
        (("sweep", "--dask-scheduler", "tcp://x:1"), "--dask-scheduler is for --on dask"),
        (("sweep", "--on", "dusk"), "Did you mean 'dask'"),
        (("gap", "--on", "dask"), "Give --scheduler tcp://HOST:PORT"),
        (("pareto", "--on", "slurm", "--workers", "0"), "workers is 0"),
    ],
)
def test_a_wrong_place_gets_a_sentence(run, log, words, told):
    outcome = run(words[0], log, *words[1:])
    assert outcome.code in (1, 2) and told in outcome.err
    assert outcome.err.count("error:") == 1
