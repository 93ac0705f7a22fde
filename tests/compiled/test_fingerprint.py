"""The word for a function changes whenever its machine code might."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numba
import pytest

from queuesmith.compiled import fingerprint

TEXT = """
import math
import numpy as np
from math import sqrt

LIMIT = {limit}

def order(job, now, weight=1.0):
    return weight * np.log(job.cores) + sqrt(now) * {factor} - max(LIMIT, math.pi)
"""


def function_of(text: str, name: str = "order", **names: Any) -> Callable[..., Any]:
    exec(text, names)
    function: Callable[..., Any] = names[name]
    return function


def word(limit: str = "3", factor: str = "2", before: str = "") -> str | None:
    return fingerprint(function_of(before + TEXT.format(limit=limit, factor=factor)))


def test_the_same_text_has_the_same_word_wherever_it_stands() -> None:
    assert word() == word() == word(before="\n\n")
    assert word() is not None


def test_another_number_or_another_kind_of_number_changes_the_word() -> None:
    words = {word(limit, factor) for limit in ("3", "3.0", "4") for factor in ("2", "2.0", "5")}
    assert len(words) == 9


def test_what_else_is_given_changes_the_word() -> None:
    order = function_of(TEXT.format(limit=1, factor=1))
    assert len({fingerprint(order, *more) for more in ((), (1,), (2,), (("a", "b"),))}) == 4


def test_the_same_name_for_another_function_of_a_library_changes_the_word() -> None:
    text = "from math import {} as f\ndef order(job):\n    return f(job.cores)\n"
    words = {fingerprint(function_of(text.format(name))) for name in ("sqrt", "exp")}
    assert None not in words
    assert len(words) == 2


def test_a_number_of_the_function_around_counts() -> None:
    def around(number: float) -> Callable[..., Any]:
        return lambda job: job * number

    words = {fingerprint(around(number)) for number in (1, 2)}
    assert None not in words
    assert len(words) == 2


def test_a_field_of_the_name_of_a_function_beside_it_is_a_field() -> None:
    text = "def group(job):\n    return 1\ndef order(job):\n    return job.group\n"
    assert fingerprint(function_of(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "def helper(x):\n    return x\ndef order(job):\n    return helper(job)\n",
        "NUMBERS = [1, 2]\ndef order(job):\n    return NUMBERS[job]\n",
        "import os\ndef order(job):\n    return os.getpid()\n",
        "def order(job):\n    return max(x for x in (job, 1))\n",
        "def max(a, b):\n    return a\ndef order(job):\n    return max(job, 1)\n",
    ],
)
def test_a_function_that_uses_more_has_none(text: str) -> None:
    assert fingerprint(function_of(text)) is None


def test_a_function_with_a_compiled_helper_has_none() -> None:
    text = "def order(job):\n    return helper(job)\n"
    assert fingerprint(function_of(text, helper=numba.njit(lambda x: x))) is None


def test_the_word_is_the_same_in_another_process() -> None:
    from queuesmith.policy import orders

    script = (
        "from queuesmith.compiled import fingerprint\n"
        "from queuesmith.policy import orders\n"
        "print(fingerprint(orders.multifactor, 'more'))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == fingerprint(orders.multifactor, "more")
