import dataclasses

import pytest

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.grid.genetic.config import GeneticConfig, load_config, preset, preset_names


def test_all_presets_load_and_bear_their_names():
    names = ["braun", "carretero", "carretero-strict", "queuesmith", "steady-state"]
    assert preset_names() == names
    for name in preset_names():
        assert preset(name).name == name


def test_the_presets_are_those_of_the_papers():
    braun, carretero, steady = (preset(n) for n in ("braun", "carretero", "steady-state"))
    assert (braun.population, braun.crossover, braun.mutation) == (200, "one-point", "move")
    assert (braun.selection, braun.replacement) == ("linear-ranking", "elitist")
    assert (braun.generations, braun.stagnation, braun.children) == (1000, 150, 198)
    assert (carretero.crossover, carretero.encoding) == ("cx", "permutation")
    assert (carretero.mutation, carretero.mutation_parameter) == ("rebalance", 0.75)
    assert (carretero.children, carretero.crossover_probability) == (68, 0.8)
    assert (steady.population, steady.children, steady.generations) == (30, 10, 16500)


@pytest.mark.parametrize("name", ["braun", "carretero", "queuesmith", "steady-state"])
def test_a_saved_configuration_loads_as_the_same(name, tmp_path):
    path = tmp_path / f"{name}.toml"
    preset(name).save(path)
    assert load_config(path) == preset(name)
    assert load_config(str(path)) == load_config(name)


def test_a_file_without_a_name_is_called_by_its_stem(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('crossover = "ox"\n[initial]\nmct = 2\nrandom = 1\n')
    config = load_config(path)
    assert (config.name, config.crossover, dict(config.initial)) == (
        "mine",
        "ox",
        {"mct": 2, "random": 1},
    )


def test_a_configuration_cannot_be_changed():
    config = GeneticConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.population = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.initial["random"] = 2  # type: ignore[index]


@pytest.mark.parametrize(
    ("settings", "merges", "children"),
    [
        ({"replacement": "generational"}, False, 80),
        ({"replacement": "elitist"}, False, 78),
        ({"replacement": "if-better"}, True, 80),
        ({"replacement": "steady-state"}, False, 26),
        ({"replacement": "if-better", "offspring": 200}, True, 200),
        ({"replacement": "if-better", "replace_generational": True}, False, 80),
        (
            {"replacement": "if-better", "replace_generational": True, "offspring": 90},
            True,
            90,
        ),
        ({"replacement": "steady-state", "replace_only_if_better": True}, True, 26),
    ],
)
def test_the_flags_and_sizes_say_who_survives(settings, merges, children):
    config = GeneticConfig(**settings)
    assert (config.merges, config.children) == (merges, children)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 1}, "the population is 1, but it must be a whole number of at least 2"),
        ({"crossover": "sbx"}, "there is no crossover 'sbx'. Choose from: one-point, two-point"),
        ({"mutation": "flip"}, "there is no mutation 'flip'"),
        ({"selection": "roulette"}, "there is no selection 'roulette'"),
        ({"improvement": "tabu"}, "there is no improvement 'tabu'"),
        ({"replacement": "struggle"}, "there is no replacement 'struggle'"),
        ({"crossover_probability": 1.5}, "the crossover probability is 1.5, but it must be"),
        ({"mutation_probability": float("nan")}, "the mutation probability is nan"),
        ({"scatter": -1}, "the scatter is -1"),
        ({"restart": 0}, "restart is 0"),
        ({"restart_share": 1.5}, "the restart share is 1.5, but it must be"),
        ({"restart_share": "few"}, "the restart share is 'few'"),
        ({"makespan_weight": 2}, "the makespan weight is 2"),
        ({"crossover": "cx", "crossover_parameter": 2}, "crossover 'cx' has no parameter"),
        ({"selection_parameter": 0}, "the parameter of selection 'n-tournament' is 0"),
        ({"initial": {}}, "no initial method has a share"),
        ({"initial": 1.5}, "initial is 1.5, but it must be a table"),
        ({"initial": "x"}, "initial is 'x', but it must be a table"),
        ({"initial": {"sufferage": 1}}, "there is no initial method 'sufferage'"),
        ({"initial": {"mct": -1}}, "the share of initial method 'mct' is -1"),
        ({"generations": 0}, "generations is 0"),
        ({"generations": None}, "configuration 'custom' never stops"),
        ({"seconds": 0}, "seconds is 0, but it must be a number above 0"),
        ({"stagnation": 1.5}, "stagnation is 1.5"),
        ({"offspring": 0}, "the offspring is 0"),
        (
            {"replacement": "generational", "offspring": 3},
            "of a population of 80 needs 80 children",
        ),
        ({"replacement": "elitist", "offspring": 80}, "needs 78 children, but offspring is 80"),
        ({"replacement": "steady-state", "offspring": 80}, "needs fewer children than the popul"),
        ({"replace_generational": "no"}, "replace_generational is 'no', but it must be true or"),
        ({"name": ""}, "the name is '', but it must be a text on one line"),
    ],
)
def test_a_wrong_setting_is_told_in_one_sentence(settings, message):
    with pytest.raises(UsageError) as caught:
        GeneticConfig(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("population = ", "is not TOML"),
        (
            "populaton = 3",
            "there is no setting 'populaton'. Did you mean 'population'?",
        ),
        (f"population = {'7' * 5000}", "a number of too many digits"),
        (f"initial = {'[' * 5000}{']' * 5000}", "nests values too deeply"),
        ("population = 1", "bad.toml': the population is 1"),
    ],
)
def test_a_bad_file_is_named(text, message, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert message in str(caught.value)
    assert "bad.toml" in str(caught.value)


def test_files_and_presets_that_are_not_there(tmp_path):
    with pytest.raises(WorkloadError, match="there is no file"):
        load_config(tmp_path / "absent.toml")
    with pytest.raises(UsageError, match=r"no preset 'caretero'. Did you mean 'carretero'\?"):
        load_config("caretero")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not TOML"):
        load_config(tmp_path / "bytes.toml")
    with pytest.raises(OutputError, match="cannot be written"):
        GeneticConfig().save(tmp_path / "no" / "folder.toml")
