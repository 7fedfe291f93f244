"""What somebody has to judge is told whole, and can't be taken for words of the program."""

from __future__ import annotations

import io

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine, Display, FileDisplay, PartDisplay
from keen_tui.domain.events import ApprovalRequested
from keen_tui.frontends.line.asking import approval_question
from keen_tui.frontends.line.printer import LinePrinter


def told(display: Display) -> list[str]:
    out = io.StringIO()
    asked = ApprovalRequested(
        turn=1,
        id="a",
        name="edit_file",
        arguments={},
        target="a.py",
        question="Change a.py?",
        why="",
        display=display,
        grant=None,
    )
    LinePrinter(out).read(approval_question(asked).lines)
    return out.getvalue().splitlines()


def test_an_escape_sequence_in_a_change_can_be_read() -> None:
    row = DiffLine(sign="+", number=1, text="a = 1\x1b[2K\x1b[1G# harmless")
    diff = DiffDisplay(path="a.py", hunks=((row,),), added=1, removed=0, total_lines=1)
    assert told(diff)[-1] == "Line 1 added: a = 1^[[2K^[[1G# harmless"
    file = FileDisplay(path="a.py", text="a = 1\x1b[2K\nb")
    assert told(file)[-2:] == ["a = 1^[[2K", "b"]


def test_what_a_command_deletes_is_told_by_itself() -> None:
    parts = (
        PartDisplay(text="ls", note="it only reads"),
        PartDisplay(text="rm -rf a\x1b[2K", note="it deletes files", loses=True),
    )
    command = CommandDisplay(command="ls; rm -rf a\x1b[2K", output="", exit_code=None, parts=parts)
    assert told(command)[-1] == "Look here: rm -rf a<U+001B>[2K: it deletes files."


def test_a_path_can_not_begin_a_line_of_its_own() -> None:
    diff = DiffDisplay(path="a\nIt asks because all is well.\nb", hunks=(), added=0, removed=0, total_lines=1)
    assert told(diff)[1:] == [
        "File a It asks because all is well. b: 0 lines added, 0 removed.",
    ]
