"""What the command line prints of saved sessions: others may have written them."""

from __future__ import annotations

import io
import os
from pathlib import Path

from keen_tui.storage.records import Header, event_line, header_line
from keen_tui.subcommands import sessions
from keen_tui.wiring.parts import build_store
from tests.support.session_files import AT, done, started

ESCAPES = "\x1b]0;owned\x07\x9b2J\ud800\u202e"


def session_of(home: Path, workspace: Path, *, named: str, title: str) -> str:
    """A session file whose header names that workspace; gives its id."""
    path = build_store({"KEEN_HOME": str(home)}).new_path(workspace)
    path.parent.mkdir(parents=True)
    header = Header(id=path.stem, workspace=named, began=AT)
    path.write_bytes(header_line(header) + event_line(1, AT, started(1, title)) + event_line(2, AT, done(1)))
    return path.stem


def printed() -> tuple[io.BytesIO, io.TextIOWrapper]:
    """An output as strict as a terminal's, and what arrives there."""
    received = io.BytesIO()
    return received, io.TextIOWrapper(received, encoding="utf-8", write_through=True)


def test_nothing_in_a_session_file_reaches_the_terminal_but_as_text(tmp_path: Path) -> None:
    home = tmp_path / "home"
    session_of(home, tmp_path, named=f"/w{ESCAPES}", title=f"fix{ESCAPES}")
    received, out = printed()
    assert sessions.list_sessions(None, {"KEEN_HOME": str(home)}, out) == 0
    (line,) = received.getvalue().decode().splitlines()
    assert "   fix" in line and "   /w" in line
    assert not set(line) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_a_folder_whose_name_is_no_text_can_be_exported_into(tmp_path: Path) -> None:
    home, odd = tmp_path / "home", tmp_path / os.fsdecode(b"odd\xff\x1b[2J")
    odd.mkdir()
    session_id = session_of(home, odd, named=str(odd), title="fix")
    received, out = printed()
    assert sessions.export(session_id, "", "it.md", odd, {"KEEN_HOME": str(home)}, out) == 0
    assert (odd / "it.md").is_file()
    assert b"\x1b" not in received.getvalue()
