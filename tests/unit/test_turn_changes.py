"""The changes of turns against the disk, and taking them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.agent.services.undo import NEWEST, WHOLE_SESSION, TurnChanges
from keen_tui.domain.errors import SessionRefused
from tests.support.checkpoints import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def turns(project: Project) -> TurnChanges:
    return TurnChanges(project.checkpoints)


def test_the_newest_turn_that_changed_files_is_meant(project: Project, turns: TurnChanges) -> None:
    project.change(1, "a", b"1")
    project.change(4, "b", b"2")
    assert turns.turn_meant(NEWEST) == 4
    turns.undo(NEWEST)
    assert turns.turn_meant(NEWEST) == 1
    assert turns.changes(4).undone
    assert not turns.changes(1).undone


def test_where_nothing_was_changed_it_says_so(turns: TurnChanges) -> None:
    assert turns.changes(WHOLE_SESSION).files == ()
    for turn in (NEWEST, WHOLE_SESSION, 3):
        with pytest.raises(SessionRefused, match="changed"):
            turns.undo(turn)


def test_a_turn_is_undone_once(project: Project, turns: TurnChanges) -> None:
    project.change(1, "a", b"1")
    assert turns.undo(1).files == ("a",)
    with pytest.raises(SessionRefused, match="The changes of turn 1 are already undone"):
        turns.undo(1)


def test_a_file_somebody_else_changed_is_named_and_taken_back_all_the_same(
    project: Project, turns: TurnChanges
) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    assert [file.changed_since for file in turns.changes(1).files] == [False]
    project.write("a", b"by hand")
    assert [file.changed_since for file in turns.changes(1).files] == [True]
    assert turns.undo(1).files == ("a",)
    assert project.read("a") == b"a0"


def test_a_later_turn_counts_as_somebody_else(project: Project, turns: TurnChanges) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.change(2, "a", b"a2")
    assert [file.changed_since for file in turns.changes(1).files] == [True]
    assert [file.changed_since for file in turns.changes(2).files] == [False]
    assert [file.changed_since for file in turns.changes(WHOLE_SESSION).files] == [False]


def test_a_file_that_is_as_before_was_not_changed_since(project: Project, turns: TurnChanges) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.write("a", b"a0")
    assert [file.changed_since for file in turns.changes(1).files] == [False]
    assert turns.undo(1).files == ()


def test_a_file_deleted_since_was_changed_since(project: Project, turns: TurnChanges) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    (project.root / "a").unlink()
    assert [file.changed_since for file in turns.changes(1).files] == [True]
    turns.undo(1)
    assert project.read("a") == b"a0"


def test_what_became_a_folder_was_changed_since(project: Project, turns: TurnChanges) -> None:
    project.change(1, "a", b"a1")
    (project.root / "a").unlink()
    (project.root / "a").mkdir()
    assert [file.changed_since for file in turns.changes(1).files] == [True]
    assert turns.undo(1).problems == ("a: it isn't a regular file.",)
