from typing import Any

import pytest

from queuesmith.base import extras
from queuesmith.base.errors import QueuesmithError
from queuesmith.solving.libraries import solver_library


def test_a_missing_solver_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *_: Any, **__: Any) -> Any:
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr(extras.importlib, "import_module", refuse)
    with pytest.raises(QueuesmithError, match=r"pip install 'queuesmith\[exact\]'"):
        solver_library("scipy.optimize")
