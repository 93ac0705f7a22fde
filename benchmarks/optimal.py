"""Optimal planning: placings a second, branches a second, and what is proven in a second."""

import time

import numpy as np

import queuesmith as qs
from benchmarks.data import trace
from queuesmith.planning import Snapshot
from queuesmith.planning.bounds import BranchingProof
from queuesmith.planning.gap import gap
from queuesmith.planning.order_search import OrderSearch
from queuesmith.planning.plans import POLICIES, plan
from queuesmith.planning.problem import PlanningProblem
from queuesmith.planning.solve import load_kernels
from queuesmith.planning.steps import snapshots

STEPS, PLACINGS, BRANCHES = 20, 20_000, 50
TARGET_GAP = 2.0


def optimal() -> None:
    """Time the parts on steps of the CTC log, then solve each in a second."""
    path = trace("CTC-SP2-1996-3.1-cln.swf.gz")
    log = qs.lublin(5000, 430, load=1.0, seed=0) if path is None else qs.read(path)
    schedule = qs.simulate(log, cores=430, policy="fcfs+plan")
    steps = list(snapshots(schedule, steps=STEPS, seed=1, fewest=9, most=40))
    load_kernels()
    jobs = np.mean([len(step) for step in steps])
    print(f"{STEPS} steps with {jobs:.1f} waiting jobs on average")
    took = [parts(step) for step in steps]
    policies, placing, branching = np.mean(took, axis=0)
    print(f"plans of three policies {1000 * policies:.2f} ms a step")
    print(f"search {1 / placing:,.0f} placings/s; bound {1 / branching:,.0f} branches/s")
    found = gap(steps, seconds=1.0).to_dict()
    proven = found["mean_proven_gap_percent"]
    verdict = "met" if proven <= TARGET_GAP else "MISSED"
    print(f"proven gap at 1 s a step {proven:.2f} %; target {TARGET_GAP:g} %: {verdict}")


def parts(step: Snapshot) -> tuple[float, float, float]:
    """CPU seconds of planning under the policies, of one placing, of one branch."""
    began = time.process_time()
    for name in POLICIES:
        plan(step, name)
    policies = time.process_time() - began
    problem = PlanningProblem.of(step, "artww")
    search = OrderSearch(problem, [np.arange(len(step))])
    began = time.process_time()
    search.anneal(PLACINGS)
    placing = (time.process_time() - began) / PLACINGS
    proof = BranchingProof(problem, search.order)
    proof.plant()
    began = time.process_time()
    proof.branch(BRANCHES)
    branching = (time.process_time() - began) / max(proof.branches, 1)
    return policies, placing, branching


if __name__ == "__main__":
    optimal()
