"""What `keen-tui replay` says of a file that it can't play, or not all of."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.errors import StorageFailed
from keen_tui.frontend_setup import replay
from keen_tui.storage.reading import read_session
from keen_tui.storage.records import Header, event_line, header_line
from tests.support import story


@pytest.mark.parametrize("content", [b"# A readme\n", b"", b"\0\1\2" * 900, b'{"a": 1}\n[1, 2]\n'])
def test_a_file_that_isnt_a_session_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(content)
    with pytest.raises(StorageFailed) as refused:
        replay(str(file), 1.0, {"KEEN_HOME": str(tmp_path)})
    assert str(refused.value) == f"{file} isn't a Keen session: nothing in it can be played."
    assert [each.name for each in tmp_path.iterdir()] == ["notes.md"]


def test_of_a_damaged_file_nothing_is_mentioned_that_was_not_written(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    header = header_line(Header(id="s1", workspace="/home/me", began=1.0))
    file.write_bytes(header + event_line(1, 2.0, story.started(1, "hi")) + b"rubbish\n")
    session = read_session(file)
    assert session.skipped == (
        "The session file had 1 damaged place (7 bytes). The rest is here. The file was left unchanged."
    )
