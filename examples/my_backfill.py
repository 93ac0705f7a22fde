"""A backfill of one's own: the first job may be delayed by a part of what it has waited."""


def patient_head(job, head, now, machine, slack=0.1):
    most = head.reserved + slack * (now - head.submit)
    return now + job.walltime <= most or job.cores <= head.spare
