"""What a session keeps of the files that its turns change: what comes back, and what never fails."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from keen_tui.domain.errors import StorageFailed
from keen_tui.storage.checkpoints.checkpoints import Checkpoints, KeptFile
from tests.support.checkpoints import Project
from tests.support.disk import largest_file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def names(files: tuple[KeptFile, ...]) -> list[str]:
    return [file.name for file in files]


def test_the_attempts_of_a_turn_are_one_change_a_file(project: Project) -> None:
    project.write("a.py", b"one\n")
    project.change(1, "a.py", b"two\n")
    project.change(1, "b.py", b"new\n")
    project.change(1, "a.py", b"three\n")
    a, b = project.checkpoints.changes(1)
    assert (a.name, a.before, a.after, a.unkept) == ("a.py", b"one\n", b"three\n", "")
    assert (b.name, b.before, b.after) == ("b.py", None, b"new\n")


def test_what_was_changed_and_changed_back_is_no_change(project: Project) -> None:
    project.write("a.py", b"one\n")
    project.change(1, "a.py", b"two\n")
    project.change(1, "a.py", b"one\n")
    assert project.checkpoints.changes(1) == ()
    assert project.checkpoints.newest_turn() is None


@pytest.mark.parametrize(
    "content", [b"a\r\nb\r\n", b"\xef\xbb\xbfa\n", b"\x00\xff\xfe\n", b"", b"no end"], ids=repr
)
def test_undo_brings_every_byte_back(project: Project, content: bytes) -> None:
    project.write("f", content)
    project.change(1, "f", b"other")
    assert project.checkpoints.undo(1).files == ("f",)
    assert project.read("f") == content


def test_a_file_that_a_turn_made_is_removed(project: Project) -> None:
    project.change(1, "new/f", b"x")
    assert project.checkpoints.undo(1).files == ("new/f",)
    assert project.read("new/f") is None
    assert (project.root / "new").is_dir()


def test_a_file_deleted_since_comes_back_with_its_mode(project: Project) -> None:
    file = project.write("run.sh", b"old")
    file.chmod(0o751)
    project.change(1, "run.sh", b"new")
    file.unlink()
    assert project.checkpoints.undo(1).files == ("run.sh",)
    assert file.read_bytes() == b"old"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


def test_a_file_keeps_its_mode_and_its_other_names(project: Project) -> None:
    file = project.write("f", b"old")
    file.chmod(0o640)
    os.link(file, project.root / "other")
    project.change(1, "f", b"new")
    project.checkpoints.undo(1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert project.read("other") == b"old"


def test_only_the_files_of_that_turn_are_taken_back(project: Project) -> None:
    project.write("a", b"a0")
    project.write("b", b"b0")
    project.change(1, "a", b"a1")
    project.change(2, "b", b"b2")
    project.change(2, "a", b"a2")
    assert project.checkpoints.undo(1).files == ("a",)
    assert (project.read("a"), project.read("b")) == (b"a0", b"b2")
    assert project.checkpoints.newest_turn() == 2


def test_a_second_undo_of_a_turn_changes_nothing(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.checkpoints.undo(1)
    project.write("a", b"by hand")
    assert project.checkpoints.undo(1).files == ()
    assert project.reopened().undo(1).files == ()
    assert project.read("a") == b"by hand"


def test_what_a_turn_does_after_its_undo_is_undone_by_itself(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.checkpoints.undo(1)
    project.write("a", b"by hand")
    project.change(1, "a", b"a2")
    assert not project.checkpoints.is_undone(1)
    assert project.checkpoints.undo(1).files == ("a",)
    assert project.read("a") == b"by hand"


def test_the_changes_of_an_undone_turn_can_still_be_read(project: Project) -> None:
    project.change(1, "a", b"x")
    project.checkpoints.undo(1)
    (file,) = project.checkpoints.changes(1)
    assert (file.before, file.after) == (None, b"x")


def test_the_session_is_without_what_was_undone(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.change(2, "a", b"a2")
    project.change(2, "b", b"b2")
    project.checkpoints.undo(2)
    (file,) = project.checkpoints.changes(0)
    assert (file.name, file.before, file.after) == ("a", b"a0", b"a1")


def test_what_undo_overwrites_is_kept(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.write("a", b"by hand")
    project.checkpoints.undo(1)
    kept = {file.read_bytes() for file in (project.folder / "contents").iterdir()}
    assert b"by hand" in kept


def test_a_withdrawn_change_is_none(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.checkpoints.keep(1, project.root / "a", "a", b"a1", b"a2", 0o644)
    project.checkpoints.withdraw(project.root / "a")
    (file,) = project.reopened().changes(1)
    assert file.after == b"a1"


def test_a_kill_between_keeping_and_changing_does_no_harm(project: Project) -> None:
    project.write("a", b"a0")
    project.checkpoints.keep(1, project.root / "a", "a", b"a0", b"a1", 0o644)
    undone = project.reopened().undo(1)
    assert (undone.files, undone.problems) == ((), ())
    assert project.read("a") == b"a0"


def test_everything_is_there_again_after_a_restart(project: Project) -> None:
    project.write("a", b"a0")
    project.change(3, "a", b"a1")
    assert project.reopened().undo(3).files == ("a",)
    assert project.read("a") == b"a0"


def test_only_the_user_can_read_what_is_kept(project: Project) -> None:
    project.change(1, "a", b"x")
    for place, folders, files in os.walk(project.folder):
        assert stat.S_IMODE(Path(place).stat().st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE((Path(place) / name).stat().st_mode) == 0o600
        assert folders or files


def test_a_large_file_is_not_kept_and_says_so(project: Project) -> None:
    checkpoints = Checkpoints(project.folder, largest_file=10)
    checkpoints.keep(1, project.write("a", b"0" * 11), "a", b"0" * 11, b"1", 0o644)
    (file,) = checkpoints.changes(1)
    assert file.unkept == "it is larger than 0 MB"
    undone = checkpoints.undo(1)
    assert undone.files == ()
    assert undone.problems == ("a: it is larger than 0 MB.",)
    assert not checkpoints.is_undone(1)


def test_the_oldest_turns_give_way(project: Project) -> None:
    project.checkpoints = Checkpoints(project.folder, most_bytes=25)
    project.write("a", b"0" * 10)
    project.change(1, "a", b"1" * 10)
    project.change(2, "a", b"2" * 10)
    (first,) = project.checkpoints.changes(1)
    (second,) = project.reopened().changes(2)
    assert "newer changes took its place" in first.unkept
    assert (second.before, second.after, second.unkept) == (b"1" * 10, b"2" * 10, "")
    assert sum(file.stat().st_size for file in (project.folder / "contents").iterdir()) <= 25


def test_a_turn_that_changes_too_much_keeps_what_it_had(project: Project) -> None:
    project.checkpoints = Checkpoints(project.folder, most_bytes=25)
    project.change(1, "a", b"1" * 20)
    project.change(1, "b", b"2" * 20)
    a, b = project.checkpoints.changes(1)
    assert (a.unkept, a.after) == ("", b"1" * 20)
    assert "one turn changed more than" in b.unkept
    undone = project.checkpoints.undo(1)
    assert undone.files == ("a",)
    assert len(undone.problems) == 1


@pytest.mark.parametrize("damage", [b"", b"other", None], ids=["empty", "other", "gone"])
def test_a_damaged_content_is_named_and_nothing_is_overwritten(
    project: Project, damage: bytes | None
) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    for file in (project.folder / "contents").iterdir():
        file.unlink() if damage is None else file.write_bytes(damage)
    checkpoints = project.reopened()
    (kept,) = checkpoints.changes(1)
    assert kept.unkept == "its saved content is missing or damaged"
    assert checkpoints.undo(1).files == ()
    assert project.read("a") == b"a1"


def test_a_damaged_content_heals_when_it_is_kept_again(project: Project) -> None:
    project.change(1, "a", b"content")
    (file,) = (project.folder / "contents").iterdir()
    file.write_bytes(b"")
    project.checkpoints = project.reopened()
    project.change(2, "b", b"content")
    assert [file.unkept for file in project.checkpoints.changes(2)] == [""]


@pytest.mark.parametrize("size", range(1, 240, 7))
def test_a_torn_last_line_costs_that_line_alone(project: Project, size: int) -> None:
    project.change(1, "a", b"1")
    log = project.folder / "changes.jsonl"
    whole = log.read_bytes()
    project.change(1, "b", b"2")
    log.write_bytes(log.read_bytes()[: len(whole) + size])
    project.checkpoints = project.reopened()
    assert names(project.checkpoints.changes(1))[0] == "a"
    project.change(2, "c", b"3")
    assert names(project.reopened().changes(2)) == ["c"]


@pytest.mark.parametrize(
    "line",
    [
        b"\x00\x00\x00",
        b"[]",
        b"7",
        b'{"kind": "edit"}',
        b'{"kind": ["edit"]}',
        b'{"kind": "undone", "turn": "1"}',
        b'{"kind": "from the future"}',
        b"[" * 100_000,
    ],
    ids=range(8),
)
def test_a_line_that_is_none_is_passed_over(project: Project, line: bytes) -> None:
    project.change(1, "a", b"1")
    log = project.folder / "changes.jsonl"
    log.write_bytes(line + b"\n" + log.read_bytes() + line + b"\n")
    assert names(project.reopened().changes(1)) == ["a"]
    assert project.reopened().newest_turn() == 1


def test_a_log_that_cannot_be_read_is_a_sentence_and_stops_no_change(project: Project) -> None:
    (project.folder / "changes.jsonl").mkdir(parents=True)
    project.change(1, "a", b"1")
    with pytest.raises(StorageFailed, match="can't be read"):
        project.checkpoints.changes(1)


def test_a_full_disk_is_noted_and_stops_no_change(project: Project) -> None:
    with largest_file(100):
        project.checkpoints.keep(1, project.root / "a", "a", None, b"1" * 100, None)
        project.checkpoints.keep(1, project.root / "c", "c", None, b"1" * 101, None)
    a, c = project.checkpoints.changes(1)
    assert (a.after, a.unkept) == (b"1" * 100, "")
    assert c.unkept == "it could not be saved: File too large"
    assert project.reopened().changes(1) == ()
    project.change(1, "b", b"2")
    assert names(project.reopened().changes(1)) == ["a", "c", "b"]


def test_a_line_that_fits_in_part_only_is_taken_out_and_written_once_later(project: Project) -> None:
    project.change(1, "a", b"1")
    log = project.folder / "changes.jsonl"
    whole = log.read_bytes()
    with largest_file(len(whole) + 50):
        project.change(1, "b", b"2")
        assert log.read_bytes() == whole
    project.change(1, "c", b"3")
    project.change(1, "d", b"4")
    assert names(project.reopened().changes(1)) == ["a", "b", "c", "d"]
    assert log.read_bytes().count(b"\n") == 4


def test_what_is_no_file_any_more_is_left_alone(project: Project) -> None:
    file = project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.change(1, "b", b"b1")
    file.unlink()
    os.mkfifo(file)
    undone = project.checkpoints.undo(1)
    assert undone.files == ("b",)
    assert undone.problems == ("a: it isn't a regular file.",)


def test_a_link_that_was_put_in_the_way_is_not_followed(project: Project, tmp_path: Path) -> None:
    project.write("sub/a", b"a0")
    project.change(1, "sub/a", b"a1")
    elsewhere = tmp_path / "elsewhere"
    (project.root / "sub").rename(elsewhere)
    (project.root / "sub").symlink_to(elsewhere)
    assert project.checkpoints.undo(1).files == ()
    assert (elsewhere / "a").read_bytes() == b"a1"


def test_a_read_only_file_is_named_and_the_rest_taken_back(project: Project) -> None:
    file = project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.change(1, "b", b"b1")
    file.chmod(0o444)
    undone = project.checkpoints.undo(1)
    assert (undone.files, undone.problems) == (("b",), ("a: read-only.",))
    assert names(project.checkpoints.changes(0)) == ["a"]
    assert project.checkpoints.newest_turn() == 1
    file.chmod(0o644)
    assert project.checkpoints.undo(1).files == ("a",)
    assert project.checkpoints.newest_turn() is None


def test_a_name_that_is_no_text_comes_back(project: Project) -> None:
    raw = os.fsdecode(b"caf\xe9")
    project.write(raw, b"old")
    project.change(1, raw, b"new")
    project.reopened().undo(1)
    assert project.read(raw) == b"old"


def test_nothing_is_left_after_delete(project: Project) -> None:
    project.change(1, "a", b"1")
    project.checkpoints.delete()
    assert not project.folder.exists()
    assert project.checkpoints.changes(0) == ()
    project.change(2, "a", b"2")
    assert project.checkpoints.newest_turn() == 2


def test_what_a_kill_left_half_written_is_swept_up(project: Project) -> None:
    project.change(1, "a", b"1")
    (project.folder / "contents" / ".keen-0123").write_bytes(b"half")
    checkpoints = project.reopened()
    checkpoints.changes(1)
    assert not (project.folder / "contents" / ".keen-0123").exists()


def test_changes_from_several_threads_are_all_kept(project: Project) -> None:
    def change(number: int) -> None:
        for turn in range(1, 6):
            project.change(turn, f"f{number}", f"{number} {turn}".encode())

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(project.reopened().changes(0))) == ["f0", "f1", "f2", "f3"]
    assert project.reopened().newest_turn() == 5


def test_a_fork_has_the_changes_up_to_its_turn(project: Project) -> None:
    project.write("a", b"a0")
    project.change(1, "a", b"a1")
    project.change(2, "a", b"a2")
    project.change(3, "a", b"a3")
    fork = project.folder.parent / "fork"
    project.checkpoints.copy_to(fork, up_to=2)
    project.checkpoints.delete()
    copied = Checkpoints(fork)
    (file,) = copied.changes(0)
    assert (file.before, file.after, file.unkept) == (b"a0", b"a2", "")
    assert copied.newest_turn() == 2
    assert copied.undo(2).files == ("a",)
    assert project.read("a") == b"a1"


def test_a_fork_of_nothing_is_empty(project: Project) -> None:
    fork = project.folder.parent / "fork"
    project.checkpoints.copy_to(fork, up_to=9)
    assert Checkpoints(fork).changes(0) == ()
