import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.campaign import read_study
from queuesmith.campaign.units import units_of

SMALL = """
policies = ["fcfs+easy", "sjf+easy"]
seeds = 3
load_factors = [0.8, 1.0]
[[logs]]
generate = "lublin"
jobs = 50
cores = 16
load = 0.9
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "study.toml"
        path.write_text(text)
        return path

    return write


def test_a_study_combines_logs_loads_policies_and_seeds(written):
    study = read_study(written(SMALL))
    units = units_of(study)
    assert study.name == "study" and study.seeds == (0, 1, 2)
    assert len(units) == 2 * 3 * 2
    assert len({unit.name for unit in units}) == len(units)


def test_a_fixed_policy_on_a_file_needs_one_unit_whatever_the_seeds(written, tmp_path):
    from queuesmith import lublin, write

    write(lublin(40, 16, load=0.9), tmp_path / "a.swf")
    study = read_study(written('seeds = 3\npolicies = ["fcfs"]\n[[logs]]\nfile = "a.swf"'))
    (unit,) = units_of(study)
    assert unit.seed is None and unit.cores == 16


def test_names_hang_on_the_jobs_not_on_where_the_file_lies(written, tmp_path):
    from queuesmith import lublin, write

    for name, seed in (("a.swf", 0), ("b.swf", 0), ("c.swf", 1)):
        write(lublin(40, 16, load=0.9, seed=seed), tmp_path / name)
    names = {}
    for name in ("a.swf", "b.swf", "c.swf"):
        path = written(f'policies = ["fcfs"]\n[[logs]]\nfile = "{name}"')
        names[name] = units_of(read_study(path))[0].name
    assert names["a.swf"] == names["b.swf"] != names["c.swf"]


def test_anything_that_decides_a_result_is_in_the_name(written):
    first = {unit.name for unit in units_of(read_study(written(SMALL)))}
    for before, after in (
        ("jobs = 50", "jobs = 51"),
        ("cores = 16", "cores = 17"),
        ("load = 0.9", "load = 0.8"),
        ("seeds = 3", "seeds = 3\nwarm_up = 0.1"),
        ("seeds = 3", 'seeds = 3\nmetrics = ["awrt"]'),
        ("seeds = 3", "seeds = 3\nmachines = [32]"),
    ):
        other = {unit.name for unit in units_of(read_study(written(SMALL.replace(before, after))))}
        assert not first & other, after


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("logs = 3", "'logs' must be tables"),
        ('policies = ["fcfs"]', "there are no logs"),
        (SMALL.replace("[[logs]]", "[[logs]]\nfile = 'x'"), "either 'file' or 'generate'"),
        (SMALL.replace('"lublin"', '"lublim"'), "Did you mean 'lublin'"),
        (SMALL.replace("jobs = 50", "jobs = 0"), "'jobs' of a log is 0"),
        (SMALL.replace("cores = 16", ""), "has no 'cores'"),
        (SMALL.replace('"sjf+easy"', '"fcfs+easy"'), "'fcfs+easy' stands there twice"),
        (SMALL.replace('"sjf+easy"', '"sjf+eazy"'), "eazy"),
        (SMALL.replace("seeds = 3", "seeds = []"), "'seeds' is empty"),
        (SMALL.replace("seeds = 3", "seeds = [-1]"), "one of 'seeds' is -1"),
        (SMALL.replace("seeds = 3", "seeds = [[0]]"), "one of 'seeds' is [0]"),
        (SMALL.replace("seeds = 3", "seeds = 1000000000"), "1,000,000 units are the limit"),
        (SMALL.replace("seeds = 3", "machines = [8, [8]]"), "one of 'machines' is [8]"),
        (SMALL.replace("seeds = 3", "warm_up = 0.5\ncool_down = 0.5"), "leave something between"),
        (SMALL.replace("seeds = 3", 'metrics = ["mean_weight"]'), "mean_weight"),
        (SMALL.replace("seeds = 3", "load_factor = [1]"), "Did you mean 'load_factors'"),
        (SMALL.replace("[0.8, 1.0]", "[0]"), "a load factor is 0"),
        (SMALL.replace("[0.8, 1.0]", "[[1.0]]"), "a load factor is [1.0]"),
        (SMALL.replace("seeds = 3", "split = 1"), "both parts need jobs"),
        (SMALL + '[[methods]]\nmethod = "cma"', "must have 'method' and 'objective'"),
        (SMALL + '[[methods]]\nmethod = "cna"\nobjective = "awrt"', "cna"),
        (SMALL + SMALL[SMALL.index("[[logs]]") :], "the log 'lublin' stands there twice"),
    ],
)
def test_a_slip_in_the_file_is_told_in_a_sentence(written, text, told):
    with pytest.raises(QueuesmithError, match="in study") as error:
        read_study(written(text))
    assert told in str(error.value)


def test_a_log_that_is_not_there_is_named(written):
    study = read_study(written('policies = ["fcfs"]\n[[logs]]\nfile = "missing.swf"'))
    with pytest.raises(QueuesmithError, match=r"the log 'missing' .* there is no file"):
        units_of(study)


def test_too_many_units_are_refused(written):
    study = read_study(written(SMALL.replace("seeds = 3", "seeds = 1000000")))
    with pytest.raises(QueuesmithError, match="1,000,000 is the limit"):
        units_of(study)
