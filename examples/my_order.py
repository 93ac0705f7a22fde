"""An order: small jobs first, unless another has waited longer than its patience."""


def small_but_fair(job, now, patience=24):
    """Jobs that waited `patience` hours go first, longest wait first; then the smallest area."""
    wait = now - job.submit
    if wait > patience * 3600:
        return wait
    return -job.walltime * job.cores
