"""What RLScheduler published, and the rules under which it measured.

D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, "RLScheduler: an automated HPC batch job scheduler
using reinforcement learning", SC 2020: mean bounded slowdown of ten sequences of 1,024 jobs.
"""

from __future__ import annotations

#: Where the ten sequences begin, counted from 0, the same in all logs.
STARTS = (1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085)
LENGTH = 1024
#: The bound of the bounded slowdown, in seconds.
BOUND = 10

#: The logs by the paper's names: the file, and the cores of the machine.
LOGS = {
    "Lublin-1": ("lublin_256", 256),
    "SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128),
    "HPC2N": ("HPC2N-2002-2.2-cln", 240),
    "Lublin-2": ("lublin_256_new2", 256),
}

#: The table without backfill and with theirs, as published: five digits.
PUBLISHED = {
    "none": {
        "Lublin-1": {"FCFS": 7273.8, "WFP3": 19754, "UNICEP": 22275, "SJF": 277.35, "F1": 258.37},
        "SDSC-SP2": {"FCFS": 1727.5, "WFP3": 3000.9, "UNICEP": 1848.5, "SJF": 2680.6, "F1": 1232.1},
        "HPC2N": {"FCFS": 297.18, "WFP3": 426.99, "UNICEP": 609.77, "SJF": 157.71, "F1": 118.01},
        "Lublin-2": {"FCFS": 7842.5, "WFP3": 9523.2, "UNICEP": 11265, "SJF": 787.89, "F1": 698.34},
    },
    "early": {
        "Lublin-1": {"FCFS": 235.82, "WFP3": 133.87, "UNICEP": 307.23, "SJF": 73.31, "F1": 75.07},
        "SDSC-SP2": {"FCFS": 1595.1, "WFP3": 1083.1, "UNICEP": 548.01, "SJF": 2167.8, "F1": 1098.2},
        "HPC2N": {"FCFS": 127.38, "WFP3": 97.39, "UNICEP": 175.12, "SJF": 122.04, "F1": 71.95},
        "Lublin-2": {"FCFS": 247.61, "WFP3": 318.35, "UNICEP": 379.59, "SJF": 91.99, "F1": 148.25},
    },
}
#: What the learned scheduler of the paper has there.
PUBLISHED_RL = {
    "none": {"Lublin-1": 254.67, "SDSC-SP2": 466.44, "HPC2N": 117.01, "Lublin-2": 724.51},
    "early": {"Lublin-1": 58.64, "SDSC-SP2": 397.82, "HPC2N": 86.14, "Lublin-2": 118.79},
}
#: What is asked of ours with true EASY (issue 20).
ASKED_EASY = {"Lublin-1": 30.0, "SDSC-SP2": 350.0, "HPC2N": 44.0, "Lublin-2": 65.0}
