"""A home folder as the workspace: nothing runs unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.tools.files.workspace import Workspace, broad_folder
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.permissions.permissions import Allowed, judge


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def test_a_home_folder_and_what_holds_it_are_broad_and_a_project_is_not(home: Path) -> None:
    assert "your whole home folder" in broad_folder(home)
    assert broad_folder(home.parent)
    assert broad_folder(Path("/"))
    assert broad_folder(home / "project") == ""


def test_there_everything_asks(home: Path) -> None:
    workspace = Workspace(home)
    reading = workspace.reading(workspace.place("notes.txt"))
    for mode in ("ask", "auto-edit"):
        assert judge(mode, reading, Allowed()).decision == "ask"
        for command in ("ls", "pwd", "cat notes.txt", "grep -r x"):
            assert judge(mode, judged(command, workspace), Allowed()).decision == "ask"
    assert "home folder" in judge("ask", reading, Allowed()).why
    assert judged("ls", Workspace(home / "project")).reads_only
