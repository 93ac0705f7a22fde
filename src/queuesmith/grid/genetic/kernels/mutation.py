"""Mutation by random moves and swaps (section 3.4.3)."""

import math

from queuesmith.compiled import kernel
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.operators import mutation
from queuesmith.grid.genetic.kernels.problem import random_option
from queuesmith.grid.genetic.kernels.value import move_job, settle

# How often an operator draws again where its draw was not possible.
TRIES = 16


@kernel
def move_at_random(problem, individual, random):
    """Give a random job to another machine; nothing where no draw finds one."""
    for _ in range(TRIES):
        job = below(random, len(individual.genes))
        if problem.option_count[job] > 1:
            machine = random_option(problem, job, random)
            if machine != individual.genes[job]:
                move_job(problem, individual, job, machine)
                return


@kernel
def can_swap(problem, genes, one, other):
    """Say whether two jobs are on different machines that could each run the other one."""
    return (
        genes[one] != genes[other]
        and math.isfinite(problem.times[one, genes[other]])
        and math.isfinite(problem.times[other, genes[one]])
    )


@kernel
def swap_jobs(problem, individual, one, other):
    """Exchange the machines of two jobs."""
    machine = individual.genes[one]
    move_job(problem, individual, one, individual.genes[other])
    move_job(problem, individual, other, machine)


@kernel
def swap_at_random(problem, individual, random):
    """Exchange the machines of two random jobs; nothing where no draw finds a pair."""
    for _ in range(TRIES):
        one = below(random, len(individual.genes))
        other = below(random, len(individual.genes))
        if can_swap(problem, individual.genes, one, other):
            swap_jobs(problem, individual, one, other)
            return


@mutation
def mutate_move(problem, individual, parameter, work):
    """Give a random job to another machine."""
    move_at_random(problem, individual, work.random)
    settle(problem, individual)


@mutation
def mutate_swap(problem, individual, parameter, work):
    """Exchange the machines of two random jobs."""
    swap_at_random(problem, individual, work.random)
    settle(problem, individual)


@mutation
def mutate_move_and_swap(problem, individual, parameter, work):
    """Move with the probability of the parameter, otherwise swap."""
    if uniform(work.random) < parameter:
        move_at_random(problem, individual, work.random)
    else:
        swap_at_random(problem, individual, work.random)
    settle(problem, individual)
