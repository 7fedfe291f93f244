"""What the user wrote stays: messages for the history, drafts of programs that ended."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keen_tui.domain.errors import StorageFailed
from keen_tui.storage.prompts import PromptStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


def store(root: Path, name: str = "shop") -> PromptStore:
    folder = root.parent / name
    folder.mkdir(exist_ok=True)
    return PromptStore(root, folder)


def texts(found: PromptStore) -> list[tuple[str, str]]:
    return [(Path(each.folder).name, each.text) for each in found.sent()]


def test_messages_come_back_in_their_order_with_their_folder(root: Path) -> None:
    store(root).add("first\nsecond line")
    store(root, "other").add("elsewhere")
    store(root).add("naïve \u202e text")
    assert texts(store(root)) == [
        ("shop", "first\nsecond line"),
        ("other", "elsewhere"),
        ("shop", "naïve \u202e text"),
    ]
    assert stat.S_IMODE((root / "history.jsonl").stat().st_mode) == 0o600


def test_lines_that_are_none_are_passed_over(root: Path) -> None:
    store(root).add("whole")
    with (root / "history.jsonl").open("ab") as file:
        file.write(b'{"folder": "/x", "te\n\xff\xfe\n[1]\n{"folder": 1, "text": 2}\n')
    store(root).add("after it")
    assert [text for _, text in texts(store(root))] == ["whole", "after it"]


def test_a_long_history_forgets_its_older_half(root: Path) -> None:
    one = store(root)
    for number in range(60):
        one.add(f"{number} " + "x" * 100_000)
    left = [int(text.split()[0]) for _, text in texts(one)]
    assert left == list(range(left[0], 60)) and 20 < left[0] < 40
    assert (root / "history.jsonl").stat().st_size < 4_000_000


def test_a_draft_goes_to_the_next_program_in_its_folder_and_only_once(root: Path) -> None:
    first = store(root)
    first.keep_draft("half a tho")
    first.keep_draft("half a thought")
    assert store(root).take_drafts() == (), "its program still runs"
    first.close()
    assert store(root, "other").take_drafts() == ()
    second = store(root)
    assert second.take_drafts() == ("half a thought",)
    assert store(root).take_drafts() == (), "it is the second one's own now"
    second.keep_draft("")
    second.close()
    assert list((root / "drafts").iterdir()) == []


def test_of_several_drafts_the_older_ones_are_among_the_messages(root: Path) -> None:
    for number, text in enumerate(("lost long ago", "lost just now")):
        left = store(root)
        left.keep_draft(text)
        left.close()
        (file,) = (each for each in (root / "drafts").glob("*.json") if text in each.read_text())
        os.utime(file, (number, number))
    third = store(root)
    assert third.take_drafts() == ("lost long ago", "lost just now")
    assert [text for _, text in texts(third)] == ["lost long ago"]
    third.close()
    assert store(root).take_drafts() == ("lost just now",), "a crash right behind the start loses nothing"


def test_a_torn_line_takes_no_other_with_it_and_any_text_can_be_kept(root: Path) -> None:
    store(root).add("whole")
    with (root / "history.jsonl").open("ab") as file:
        file.write(b'{"folder": "/x", "te')
    store(root).add("after \ud800 it")
    assert [text for _, text in texts(store(root))] == ["whole", "after ? it"]
    store(root).keep_draft("half \ud800")


def test_what_was_sent_leaves_no_draft(root: Path) -> None:
    first = store(root)
    first.keep_draft("on its way")
    first.keep_draft("")
    first.close()
    assert store(root).take_drafts() == ()
    assert list((root / "drafts").iterdir()) == []


def test_where_nothing_can_be_written_it_says_so(root: Path) -> None:
    root.write_text("a file")
    with pytest.raises(StorageFailed, match="can't be written"):
        store(root).add("x")
    with pytest.raises(StorageFailed, match="can't be written"):
        store(root).keep_draft("x")
    assert store(root).take_drafts() == ()
