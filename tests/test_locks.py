"""The lock files name one version of everything, which is what pyproject.toml asks for."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.pages import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ("3.11.0", "3.12.0", "3.13.0")


def pins(name, python="3.11.0"):
    """Return the version of each library that a lock has for a version of Python on Linux."""
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]
    machine = {"python_full_version": python, "sys_platform": "linux"}
    here = [each for each in wanted if each.marker is None or each.marker.evaluate(machine)]
    versions = {each.name: str(each.specifier).removeprefix("==") for each in here}
    assert len(versions) == len(here)
    return versions


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(("name", "extras"), [("demo.lock", ["tune", "web"]), ("dev.lock", None)])
def test_a_lock_has_what_the_project_asks_for(name, extras, python):
    optional = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"]]
    for extra in extras or optional:
        asked += [text for text in optional[extra] if not text.startswith("queuesmith[")]
    locked = pins(name, python)
    for requirement in map(Requirement, asked):
        version = locked[requirement.name]
        assert requirement.specifier.contains(version), f"{requirement}: run make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_demo_has_the_versions_that_are_tested(python):
    assert pins("demo.lock", python).items() <= pins("dev.lock", python).items()


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_is_valid_with_any_index(path):
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert text.count("==") <= text.count("--hash=sha256:")
