"""Programs that we start ourselves never come from the workspace, where commands could have put them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keen_tui.system.executables import find_program, program_of_commands


def program(folder: Path, name: str = "rg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("path", ["bin", "./bin", ":bin", "", "."])
def test_relative_folders_of_the_path_are_passed_over(workspace: Path, path: str) -> None:
    program(workspace / "bin")
    assert find_program("rg", {"PATH": path}) is None


def test_a_folder_in_the_workspace_is_passed_over_and_the_next_one_taken(
    workspace: Path, tmp_path: Path
) -> None:
    planted, real = program(workspace / ".venv/bin"), program(tmp_path / "usr/bin")
    environ = {"PATH": f"{planted.parent}:{real.parent}"}
    assert find_program("rg", environ) == str(real)
    assert program_of_commands("rg", environ) == str(planted)


def test_links_into_the_workspace_are_passed_over(workspace: Path, tmp_path: Path) -> None:
    planted = program(workspace / "bin")
    (tmp_path / "folder-link").symlink_to(planted.parent)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/rg").symlink_to(planted)
    assert find_program("rg", {"PATH": f"{tmp_path}/folder-link:{tmp_path}/links"}) is None


def test_a_link_to_the_workspace_is_the_workspace(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = program(workspace / "bin")
    (tmp_path / "alias").symlink_to(workspace)
    monkeypatch.chdir(tmp_path / "alias")
    for folder in (planted.parent, tmp_path / "alias/bin"):
        assert find_program("rg", {"PATH": str(folder)}) is None


def test_in_the_home_folder_the_programs_of_the_user_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = program(tmp_path / ".local/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert find_program("rg", {"PATH": str(own.parent)}) == str(own)


def test_a_removed_current_folder_is_no_reason_to_fail(workspace: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "usr/bin")
    workspace.rmdir()
    assert find_program("rg", {"PATH": str(real.parent)}) == str(real)
    assert not os.path.lexists(workspace)
