"""requirements.txt: one exact version, with hashes, of everything that `make run` and `make test` install."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.txt").read_text()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


def entries() -> Iterator[tuple[Requirement, list[str]]]:
    """Each locked package with the hashes of its files."""
    text = re.sub(r"^\s*#.*\n", "", LOCK, flags=re.MULTILINE).replace("\\\n", "")
    for line in text.splitlines():
        requirement, *hashes = line.split("--hash=")
        yield Requirement(requirement.strip()), [one.strip() for one in hashes]


def locked_versions() -> dict[str, str]:
    """The locked version of each package that this Python on this system needs."""
    return {
        canonicalize_name(entry.name): next(iter(entry.specifier)).version
        for entry, _ in entries()
        if entry.marker is None or entry.marker.evaluate()
    }


def wanted() -> Iterator[Requirement]:
    """What pyproject.toml asks for: for running, for developing and for building."""
    yield from map(Requirement, PROJECT["project"]["dependencies"])
    yield from map(Requirement, PROJECT["build-system"]["requires"])
    for names in PROJECT["project"]["optional-dependencies"].values():
        yield from map(Requirement, names)
    for group in PROJECT["dependency-groups"].values():
        yield from (Requirement(entry) for entry in group if isinstance(entry, str))


def test_every_package_has_one_version_and_hashes() -> None:
    for entry, hashes in entries():
        assert [one.operator for one in entry.specifier] == ["=="], entry
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), entry


def test_it_names_no_address() -> None:
    assert not re.search(r"://|@|^-", LOCK, re.MULTILINE)
    assert all(entry.url is None for entry, _ in entries())


@pytest.mark.parametrize("requirement", list(wanted()), ids=str)
def test_it_has_what_the_project_asks_for(requirement: Requirement) -> None:
    locked = locked_versions().get(canonicalize_name(requirement.name))
    assert locked is not None, "run make lock"
    assert requirement.specifier.contains(Version(locked)), "run make lock"


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="not the environment that make set up")
def test_what_is_installed_is_what_is_locked() -> None:
    installed = {str(canonicalize_name(one.metadata["Name"])): one.version for one in distributions()}
    locked = locked_versions()
    assert {name: installed.get(name) for name in locked} == locked
