from typing import Any

import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.solving import libraries as solvers


def test_a_missing_solver_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *_: Any, **__: Any) -> Any:
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(solvers.importlib, "import_module", refuse)
    with pytest.raises(QueuesmithError, match=r"pip install queuesmith\[exact\]"):
        solvers.solver_library("scipy.optimize")
