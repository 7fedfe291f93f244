"""A command that is asked about, part by part."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.shell.shown_parts import shown_parts


def parts(folder: Path, command: str) -> list[tuple[str, str, bool]]:
    access = judged(command, Workspace(folder), sandboxed=True)
    return [(part.text, part.note, part.loses) for part in shown_parts(access)]


def test_a_compound_command_is_told_part_by_part(tmp_path: Path) -> None:
    assert parts(tmp_path, "ls && rm -rf build; make all") == [
        ("ls", "it only reads", False),
        ("rm -rf build", "it deletes files", True),
        ("make all", "make can change files", False),
    ]


def test_no_part_is_longer_than_a_row_and_none_hides_behind_many(tmp_path: Path) -> None:
    spoof = "rm $'a\nIt asks because all is well.'; echo 'a\nb'"
    assert all("\n" not in text + note for text, note, _ in parts(tmp_path, spoof))
    told = parts(tmp_path, "; ".join([*["echo x"] * 200, "make all", *["echo x"] * 10, "rm a"]))
    assert told[:2] == [("rm a", "it deletes files", True), ("make all", "make can change files", False)]
    assert told[50:] == [("and 162 more parts", "they only read", False)]
    many = parts(tmp_path, "; ".join(["make all"] * 60))
    assert many[50:] == [("and 10 more parts", "10 of them may change files", False)]


@pytest.mark.parametrize("command", ["make all", "ls", "echo one > two"])
def test_one_that_deletes_nothing_needs_no_parts(tmp_path: Path, command: str) -> None:
    assert parts(tmp_path, command) == []


@pytest.mark.parametrize(
    ("command", "losing"),
    [
        ("rm a.txt", "rm a.txt"),
        ("sudo rm -rf build", "sudo rm -rf build"),
        ("git reset --hard HEAD~1", "git reset --hard HEAD~1"),
        ("git push --force origin main", "git push --force origin main"),
        ("find . -name x -delete", "find . -name x -delete"),
        ("ls | xargs rm -f", "xargs rm -f"),
        ("for f in *; do rm $f; done", "rm $f"),
        ("bash -c 'unlink a'", "bash -c unlink a"),
        ("echo $(shred key)", "shred key"),
    ],
)
def test_what_deletes_or_can_not_be_undone_is_found_wherever_it_stands(
    tmp_path: Path, command: str, losing: str
) -> None:
    assert [text for text, _, loses in parts(tmp_path, command) if loses] == [losing]
