"""Backfills that users might write."""


def easy(job, head, now):
    return now + job.walltime <= head.reserved or job.cores <= head.spare


def anybody(job):
    return True


def nobody(job):
    return False


def patient(job, head, now, machine, slack=0.5):
    most = head.reserved + slack * (now - head.submit)
    return now + job.walltime <= most or job.cores <= head.spare


def narrow_later(job, head, now, machine, most_waiting=10):
    """Whoever waits among many may overtake while half of the machine is free."""
    return machine.waiting > most_waiting and 2 * machine.free > machine.cores
