#!/usr/bin/env python3
"""A Slurm in one file: squeue, sprio, scontrol and the others, over a JSON file of jobs.

It is copied under those names into a folder that tests put on the PATH, beside ``cluster.json``:

    {"config": {...}, "nodes": 2, "cores": 8, "admin": "Operator", "down": false, "delay": 0,
     "jobs": {"5": {"user": "ann", "parts": 100, "site": 0, ...}}}
"""

import fcntl
import json
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
STORE = FOLDER / "cluster.json"
SHOWN = {
    "%A": "id",
    "%F": "array",
    "%K": "tasks",
    "%u": "user",
    "%a": "account",
    "%P": "partition",
    "%q": "qos",
    "%T": "state",
    "%r": "reason",
    "%Q": "priority",
    "%y": "nice",
    "%C": "cores",
    "%D": "nodes",
    "%l": "walltime",
    "%M": "elapsed",
    "%S": "start",
    "%V": "submit",
    "%N": "node_list",
    "%v": "reservation",
    "%E": "dependency",
    "%b": "gres",
    "%h": "sharing",
    "%n": "wanted",
    "%x": "excluded",
    "%f": "features",
}
DEFAULTS = {
    "tasks": "N/A",
    "user": "ann",
    "account": "bio",
    "partition": "day",
    "qos": "normal",
    "state": "PENDING",
    "reason": "Priority",
    "nice": 0,
    "cores": 4,
    "nodes": 1,
    "walltime": "1:00:00",
    "elapsed": "0:00",
    "start": "N/A",
    "submit": 1_700_000_000,
    "node_list": "",
    "reservation": "(null)",
    "dependency": "(null)",
    "gres": "N/A",
    "sharing": "OK",
    "wanted": "",
    "excluded": "",
    "features": "(null)",
    "parts": 100,
    "site": 0,
    "direct": None,
}


def jobs(cluster):
    for number, given in cluster["jobs"].items():
        job = {"id": number, "array": number, **DEFAULTS, **given}
        held = "Held" in job["reason"]
        natural = max(job["parts"] + job["site"] - job["nice"], 1)
        job["priority"] = 0 if held else job["direct"] or natural
        yield job


def squeue(cluster, words):
    if "--Format" in words:
        return [f"{job['id']:<20}cpu={job['cores']},mem=100M,node=1" for job in jobs(cluster)]
    separator = "\x1f"
    names = [SHOWN[each] for each in words[words.index("--format") + 1].split(separator)]
    return [separator.join(str(job[name]) for name in names) for job in jobs(cluster)]


def sprio(cluster, words):
    lines = []
    for job in jobs(cluster):
        if job["state"] == "PENDING" and job["priority"]:
            direct = job["direct"] is not None
            site, parts = (0, 0) if direct else (job["site"], job["parts"])
            nice = 0 if direct else job["nice"]
            lines.append(f"{job['id']}|{job['priority']}|{site}|{parts}|0|0|0|0|0|{nice}|")
    return lines


def scontrol(cluster, words):
    words = words or ["(from stdin)"]
    if words[-1] == "config":
        return [f"{name:<24}= {value}" for name, value in cluster["config"].items()]
    if words[-1] == "nodes":
        return [
            f"NodeName=n{i} CPUAlloc=0 CPUTot={cluster['cores']} RealMemory=64000 State=IDLE"
            for i in range(1, cluster["nodes"] + 1)
        ]
    if words[-1] == "partitions":
        nodes = f"n[1-{cluster['nodes']}]"
        return [
            f"PartitionName=day Default=YES MaxTime=1-00:00:00 Nodes={nodes} State=UP TotalNodes=1"
        ]
    if words[-1] == "reservations":
        return ["No reservations in the system"]
    for line in sys.stdin:
        update(line)
        time.sleep(cluster["delay"])
    return []


def update(line):
    """Set a site's part as Slurm does: of a whole array, and only with the rights to do so."""
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = json.loads(STORE.read_text())
        settings = dict(word.split("=") for word in line.split()[1:])
        number, site = settings["JobId"], int(settings["SiteFactor"])
        with (FOLDER / "told.txt").open("a") as told:
            told.write(line)
        if cluster["admin"] not in ("Operator", "Administrator"):
            print(f"Access/permission denied for job {number}", file=sys.stderr)
            return
        for key, job in cluster["jobs"].items():
            if job.get("array", key) == number:
                job["site"] = site
        fresh = STORE.with_suffix(".new")
        fresh.write_text(json.dumps(cluster))
        fresh.replace(STORE)


def sacctmgr(cluster, words):
    if cluster["admin"] is None:
        sys.exit("You are not running a supported accounting_storage plugin")
    return [f"{words[words.index('user') + 1]}|{cluster['admin']}"] if "user" in words else []


def sshare(cluster, words):
    if cluster["admin"] is None:
        sys.exit("You are not running a supported accounting_storage plugin")
    return cluster.get("shares", [])


def sdiag(cluster, words):
    return ["sdiag output"]


def main(name=None, words=None):
    cluster = json.loads(STORE.read_text())
    if cluster["down"]:
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    name, words = name or Path(sys.argv[0]).name, sys.argv[1:] if words is None else words
    for line in globals()[name](cluster, words):
        print(line)


if __name__ == "__main__":
    main()
