import pytest

from queuesmith.base.errors import UsageError
from queuesmith.cli.options import names, numbers, settings


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        (" a , b ,", ["a", "b"]),
        ("max(a,b),c", ["max(a,b)", "c"]),
        ("x(y[1,2],z),w", ["x(y[1,2],z)", "w"]),
        ("", []),
    ],
)
def test_names_are_separated_by_commas_outside_of_brackets(text, parts):
    assert names(text) == parts


def test_numbers_are_read_as_a_list():
    assert numbers("0.5,1e-3", "thresholds") == [0.5, 0.001]
    assert numbers("0:86400", "between", separator=":", count=2) == [0, 86400]


@pytest.mark.parametrize("text", ["", "x", "1,,2", "nan", "1,inf"])
def test_what_is_no_list_of_numbers_is_refused(text):
    with pytest.raises(UsageError, match=r"--thresholds is .* separated by ','"):
        numbers(text, "thresholds")


def test_a_wrong_count_of_numbers_is_refused():
    with pytest.raises(UsageError, match="must be 2 numbers"):
        numbers("1:2:3", "between", separator=":", count=2)


def test_settings_are_names_and_numbers():
    assert settings("high=100, low=1.5", "qos-priority", "high=100") == {"high": 100, "low": 1.5}
    assert settings("", "qos-priority", "high=100") == {}


@pytest.mark.parametrize("text", ["high", "high=", "high=much", "=x"])
def test_a_setting_without_a_number_is_refused(text):
    with pytest.raises(UsageError, match=r"--qos-priority is .*Write for example high=100"):
        settings(text, "qos-priority", "high=100")
