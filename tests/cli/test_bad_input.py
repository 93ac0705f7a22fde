"""Everything that can be wrong with what a user gives: one sentence, no traceback, no debris."""

import gzip
from pathlib import Path
from typing import NamedTuple

import pytest

JOB = "{id} {submit} 0 {runtime} {cores} -1 -1 {cores} 100 -1 1 1 1 1 1 1 -1 -1\n"


def job(id=1, submit=0, runtime=10, cores=1):
    return JOB.format(id=id, submit=submit, runtime=runtime, cores=cores)


FILES: dict[str, str | bytes] = {
    "truncated.swf.gz": gzip.compress(job().encode() * 50, mtime=0)[:-20],
    "damaged.swf.gz": b"\x1f\x8b\x08\x00" + b"\xff" * 40,
    "few_fields.swf": "1 0 0 10 1\n",
    "many_fields.swf": job().rstrip() + " 19 20\n",
    "text.swf": job() + job(id=2, submit="noon"),
    "nan.swf": job(runtime="nan"),
    "negative.swf": job(submit=-5, runtime=-9),
    "huge.swf": job(runtime="9" * 30),
    "huge_cores.swf": job(cores="9" * 15),
    "empty.swf": "",
    "blank.swf": "\n  \n\n",
    "no_jobs.swf": "; MaxProcs: 4\n",
    "binary.swf": bytes(range(256)) * 8,
    "binary.csv": bytes(range(256)) * 8,
    "binary.parquet": bytes(range(256)) * 8,
    "half.parquet": b"PAR1" + bytes(100),
    "unknown": "hello\n",
    "sacct.swf": "JobID|Submit|Elapsed|AllocCPUS\n1|2024-01-01T00:00:00|01:00:00|4\n",
    "sacct.csv": "JobID|Submit|Elapsed|AllocCPUS\n1|2024-01-01T00:00:00|01:00:00|4\n",
    "good.sacct": (
        "JobID|Submit|Elapsed|Timelimit|AllocCPUS\n1|2024-01-01T00:00:00|01:00:00|02:00:00|4\n"
    ),
    "headless.sacct": "1|2024-01-01T00:00:00|01:00:00|4\n",
    "date.sacct": "JobID|Submit|Elapsed|AllocCPUS\n1|yesterday|01:00:00|4\n",
    "text.csv": "submit,runtime,cores\n0,ten,1\n",
    "columns.csv": "submit,cores\n0,1\n",
    "syntax.py": "def f(job)\n    return 1\n",
    "fails.py": "import a_module_that_is_not_there\n",
    "good.py": "def f(job, now):\n    return job.cores\n",
    "field.py": "def f(job, now):\n    return job.colour\n",
    "text.py": "def f(job, now):\n    return 'first'\n",
    "signature.py": "def f(task):\n    return 1\n",
    "nan.py": "def f(job, now):\n    return (job.cores - job.cores) / (job.cores - job.cores)\n",
    "keys.json": '{"order": "fcfs", "colour": 1}',
    "no_order.json": '{"backfill": "easy"}',
    "list.json": "[1, 2]",
    "broken.json": '{"order": ',
    "type.json": '{"order": 7}',
    "value.json": '{"order": "power", "parameters": {"alpha": "much"}}',
    "parameter.json": '{"order": "power", "parameters": {"omega": 1}}',
    "backfill.json": '{"order": "fcfs", "backfill": "magic"}',
    "weight.conf": "PriorityWeightAge=much\n",
}


@pytest.fixture(scope="session")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return folder


class Case(NamedTuple):
    """A wrong call and what the message names; LOG is a good log, BAD the folder above."""

    call: str
    named: str
    code: int


SIMULATE = "simulate LOG --cores 64 --schedule s.csv --save-policy p.json "
CASES = [
    # -- logs
    Case("simulate BAD/truncated.swf.gz", "breaks off", 1),
    Case("simulate BAD/damaged.swf.gz", "damaged gzip", 1),
    Case("simulate BAD/few_fields.swf", "line 1", 1),
    Case("simulate BAD/many_fields.swf", "20 fields", 1),
    Case("simulate BAD/text.swf", "'noon'", 1),
    Case("simulate BAD/nan.swf", "nan", 1),
    Case("simulate BAD/negative.swf --cores 4", "never ran", 1),
    Case("simulate BAD/huge.swf --cores 4", "impossibly large", 1),
    Case("simulate BAD/huge_cores.swf --cores 4", "impossibly large", 1),
    Case("simulate BAD/empty.swf", "empty", 1),
    Case("simulate BAD/blank.swf", "empty", 1),
    Case("simulate BAD/no_jobs.swf", "no line of a job", 1),
    Case("simulate BAD/binary.swf", "binary file", 1),
    Case("simulate BAD/binary.csv", "binary file", 1),
    Case("simulate BAD/binary.parquet", "not a Parquet file", 1),
    Case("simulate BAD/half.parquet", "half.parquet", 1),
    Case("simulate BAD/unknown", "'hello'", 1),
    Case("simulate BAD/sacct.swf", "Standard Workload Format", 1),
    Case("simulate BAD/sacct.csv", "no column", 1),
    Case("simulate BAD/headless.sacct", "no header line", 1),
    Case("simulate BAD/headless.sacct --columns xdmod", "4 columns", 1),
    Case("simulate BAD/headless.sacct --columns one", "'one'", 2),
    Case("simulate BAD/date.sacct", "'yesterday'", 1),
    Case("simulate BAD/text.csv", "'ten'", 1),
    Case("simulate BAD/columns.csv", "'runtime'", 1),
    Case("simulate LOG --log-format sacct", "header line", 1),
    Case("simulate LOG --log-format csv", "small.swf", 1),
    Case("simulate LOG --log-format parquet", "not a Parquet file", 1),
    Case("simulate LOG --log-format xml", "'xml'", 2),
    Case("simulate LOG --columns xdmod", "columns", 2),
    Case("simulate LOG --overrun ignore", "'ignore'", 2),
    Case("simulate BAD", "is a folder", 1),
    Case("simulate absent.swf", "'absent.swf'", 1),
    Case("simulate BAD/good.sacct --cores 4 --timezone Mars/Phobos", "'Mars/Phobos'", 2),
    # -- the part of the log
    Case(SIMULATE + "--head 0", "--head is 0", 2),
    Case(SIMULATE + "--head -3", "--head is -3", 2),
    Case(SIMULATE + "--between morning", "--between is 'morning'", 2),
    Case(SIMULATE + "--between 1:2:3", "--between is '1:2:3'", 2),
    Case(SIMULATE + "--between 1:inf", "the moment is inf", 2),
    Case(SIMULATE + "--between nan:5", "the moment is nan", 2),
    Case(SIMULATE + "--between 500:100", "500:100", 1),
    Case(SIMULATE + "--between 2020-04-01:2020-05-01", "does not say on which day", 2),
    Case("convert LOG --between 9999999998:9999999999 --out c.swf", "9999999998", 1),
    Case(SIMULATE + "--load-factor 0", "load factor is 0", 1),
    Case(SIMULATE + "--load-factor nan", "load factor is nan", 1),
    Case(SIMULATE + "--load-factor -1", "load factor is -1", 1),
    Case(SIMULATE + "--groups colour", "'colour'", 2),
    Case(SIMULATE + "--thresholds many", "--thresholds is 'many'", 2),
    Case(SIMULATE + "--thresholds 0.1,0.5", "(0.1, 0.5)", 2),
    # -- the machine
    Case("simulate LOG --cores 0 --schedule s.csv", "0 cores", 2),
    Case("simulate LOG --cores -4 --schedule s.csv", "-4 cores", 2),
    Case("simulate LOG --cores 99999999999999999999 --schedule s.csv", "99999999999999999999", 2),
    Case("simulate LOG --cores 16 --strict --schedule s.csv", "there are 16", 1),
    Case("simulate BAD/good.sacct --cores 2 --schedule s.csv", "no other job", 1),
    Case(SIMULATE + "--slurm-conf absent.conf", "'absent.conf'", 2),
    Case(SIMULATE + "--slurm-conf BAD/weight.conf", "PriorityWeightAge=much", 2),
    Case(SIMULATE + "--qos-priority high", "--qos-priority is 'high'", 2),
    Case(SIMULATE + "--qos-priority high=-1", "'high' is -1", 2),
    # -- policies
    Case(SIMULATE + "--policy first", "'first'", 2),
    Case(SIMULATE + "--policy fcfs+magic", "'magic'", 2),
    Case(SIMULATE + "--policy fcfs+", "'fcfs+'", 2),
    Case(SIMULATE + "--policy power(alpha)+easy", "'alpha'", 2),
    Case(SIMULATE + "--policy power(alpha=nan)", "nan", 2),
    Case(SIMULATE + "--policy absent.py:f", "'absent.py'", 2),
    Case(SIMULATE + "--policy BAD/syntax.py:f", "syntax error in line 1", 2),
    Case(SIMULATE + "--policy BAD/fails.py:f", "a_module_that_is_not_there", 2),
    Case(SIMULATE + "--policy BAD/good.py:g", "no function 'g'", 2),
    Case(SIMULATE + "--policy BAD/field.py:f", "'colour'", 2),
    Case(SIMULATE + "--policy BAD/text.py:f", "returns a text", 2),
    Case(SIMULATE + "--policy BAD/signature.py:f", "(task)", 2),
    Case(SIMULATE + "--policy BAD/nan.py:f", "NaN", 2),
    Case(SIMULATE + "--policy absent.json", "'absent.json'", 2),
    *(
        Case(SIMULATE + f"--policy BAD/{name}.json", f"{name}.json", 2)
        for name in ("keys", "no_order", "list", "broken", "type")
    ),
    Case(SIMULATE + "--policy BAD/value.json", "'much'", 2),
    Case(SIMULATE + "--policy BAD/parameter.json", "'omega'", 2),
    Case(SIMULATE + "--policy BAD/backfill.json", "'magic'", 2),
    Case(SIMULATE + "--set alpha", "--set is 'alpha'", 2),
    Case(SIMULATE + "--set alpha=much", "--set is 'alpha=much'", 2),
    Case(SIMULATE + "--set alpha=1", "no parameter 'alpha'", 2),
    Case("compare LOG --policies ,", "no policy", 2),
    Case("compare LOG --policies fcfs,fcfs", "'fcfs'", 2),
    # -- metrics and what counts
    Case(SIMULATE + "--objective pain", "'pain'", 2),
    Case(SIMULATE + "--objective awrt[1]+", "awrt[1]+", 2),
    Case(SIMULATE + "--objective awrt[99]", "group 99", 2),
    Case("compare LOG --metrics pain", "'pain'", 2),
    Case("compare LOG --metrics awrt[99]", "group 99", 2),
    Case("compare LOG --metrics ,", "at least one metric", 2),
    Case("compare LOG --metrics awrt,awrt", "twice", 2),
    Case("report LOG --metrics awrt[99] --out r.html", "group 99", 2),
    Case(SIMULATE + "--warm-up 0.5 --cool-down 0.5", "warm-up is 0.5", 1),
    Case(SIMULATE + "--warm-up nan", "warm-up is nan", 1),
    Case(SIMULATE + "--cool-down -0.1", "cool-down -0.1", 1),
    Case("compare LOG --warm-up 1", "warm-up is 1", 1),
    Case("report LOG --warm-up 1 --out r.html", "warm-up is 1", 1),
    # -- where results go
    Case("simulate LOG --schedule nowhere/s.csv --save-policy p.json", "nowhere", 1),
    Case("simulate LOG --schedule s.csv --save-policy nowhere/p.json", "nowhere", 1),
    Case("simulate LOG --schedule BAD", "is a folder", 1),
    Case("report LOG --out nowhere/r.html", "nowhere", 1),
    Case("report LOG --out BAD", "is a folder", 1),
    Case("describe LOG --plot picture.png", "'picture.png'", 1),
    Case("describe LOG --plot nowhere/p.html", "nowhere", 1),
    Case("convert LOG --out nowhere/c.swf", "nowhere", 1),
    Case("convert LOG --out BAD", "bad", 2),
    Case("convert LOG --out c.xls", "'c.xls'", 2),
    Case("demo --out BAD/good.py", "good.py", 1),
    # -- making logs
    Case("generate nature --jobs 5 --cores 4 --out g.swf", "'nature'", 2),
    Case("generate lublin --jobs 0 --cores 4 --out g.swf", "jobs is 0", 2),
    Case("generate lublin --jobs 5 --cores 0 --out g.swf", "cores is 0", 2),
    Case("generate lublin --jobs 5 --cores 4 --load 0 --out g.swf", "load is 0", 2),
    Case("generate lublin --jobs 5 --cores 4 --load nan --out g.swf", "load is nan", 2),
    Case("generate lublin --jobs 5 --cores 4 --seed -1 --out g.swf", "seed is -1", 2),
    Case("generate lublin --jobs 5 --cores 4 --users 0 --out g.swf", "users is 0", 2),
    Case("generate lublin --jobs 5 --cores 4 --out g.xls", "'g.xls'", 2),
    Case("generate lublin --jobs 5 --cores 4 --out nowhere/g.swf", "nowhere", 1),
    Case("scale LOG --to 0 --out s.swf", "is 0", 2),
    Case("scale LOG --from 0 --to 8 --out s.swf", "is 0", 2),
    Case("scale LOG --to 8 --widen 2 --out s.swf", "widen is 2", 2),
    Case("scale LOG --to 8 --seed -1 --out s.swf", "seed is -1", 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.call)
def test_bad_input_is_told_in_one_sentence_and_leaves_nothing_behind(run, log, bad, tmp_path, case):
    words = [w.replace("LOG", str(log)).replace("BAD", str(bad)) for w in case.call.split()]
    outcome = run(*words)
    assert outcome.code == case.code, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.endswith(".\n")
    assert outcome.err.count("\n") == 1
    assert case.named in outcome.err
    assert list(tmp_path.iterdir()) == []
    assert {path.name for path in bad.iterdir()} - {"__pycache__"} == set(FILES)


def test_a_file_that_cannot_be_written_keeps_what_stood_there(run, log, tmp_path):
    (tmp_path / "s.csv").write_text("the result of yesterday")
    outcome = run("simulate", log, "--objective", "awrt[99]", "--schedule", "s.csv")
    assert outcome.code == 2
    assert (tmp_path / "s.csv").read_text() == "the result of yesterday"
