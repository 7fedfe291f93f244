"""Keys stay out of what is kept: the log, and what is told of a crash."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from keen_tui.cli import told
from keen_tui.domain.display import FileListDisplay
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import GivenInstructions, ToolResult
from keen_tui.system import log
from keen_tui.text.redaction import KeysTakenOut, keep_secret, keep_secrets_of, masked, taken_out


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("KEEN_HOME", str(tmp_path / "home"))
    before = list(logging.getLogger().handlers), logging.raiseExceptions
    log.begin_log({"KEEN_HOME": str(tmp_path / "home"), "MY_API_KEY": "made-up-value"})
    yield tmp_path / "home"
    logging.getLogger().handlers[:], logging.raiseExceptions = before


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefgh12345678",
        "sk-ant-api03-AAAABBBBCCCC",
        "AIzaSyA1234567890123456789012345",
        "ghp_0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "npm_0123456789abcdefghij",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdef-_g",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_key_is_taken_out(key: str) -> None:
    assert masked(f"before {key} after") == "before [key] after"
    assert "Bearer [key]" in masked("Authorization: Bearer abc.def")
    assert (
        masked("postgres://user:secret@host/db Basic dXNlcjpwYXNz") == "postgres://[key]@host/db Basic [key]"
    )
    assert masked("x-api-key: abcdef") == "x-api-key: [key]"


def test_words_stay() -> None:
    text = "the key of task-list and mask_token, sk-1, a risk-averse pk-x, key_columns_of_it"
    assert masked(text) == text


def test_secrets_that_are_known_are_taken_out() -> None:
    keep_secret("a-value-nobody-guesses")
    keep_secrets_of({"DEPLOY_TOKEN": "token-value-1", "PASSWORD": "short", "EDITOR": "nothing-secret"})
    assert (
        masked("a-value-nobody-guesses token-value-1 nothing-secret short")
        == "[key] [key] nothing-secret short"
    )


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_keys_are_taken_out_of_output_however_it_comes(size: int) -> None:
    output = b"a made-up-value-1 made-up-made-up-value-2 made-up-value-12 short made-up"
    filtered = KeysTakenOut(("made-up-value-1", "made-up-value-2", "short", ""))
    pieces = [filtered.feed(output[at : at + size]) for at in range(0, len(output), size)]
    assert b"".join((*pieces, filtered.rest())) == b"a [key] made-up-[key] [key]2 short made-up"


@pytest.mark.parametrize("size", [1, 5, 8, 12, 100])
def test_of_a_key_that_another_one_begins_with_nothing_is_left(size: int) -> None:
    output = b"long-key-and-more, long-key, more-key-long-key"
    filtered = KeysTakenOut(("long-key", "long-key-and-more", "more-key"))
    pieces = [filtered.feed(output[at : at + size]) for at in range(0, len(output), size)]
    assert b"".join((*pieces, filtered.rest())) == b"[key], [key], [key]-[key]"


def test_the_log_is_for_the_user_alone_and_holds_no_key(home: Path) -> None:
    try:
        raise RuntimeError("refused: made-up-value")
    except RuntimeError:
        logging.getLogger("keen_tui.x").exception("it failed with %s", "sk-proj-abcdefgh12345678")
    logging.getLogger("keen_tui.x").info("nothing to say")
    text = (home / "keen.log").read_text()
    assert "it failed with [key]" in text
    assert "RuntimeError: refused: [key]" in text
    assert "nothing to say" not in text
    assert (home / "keen.log").stat().st_mode & 0o777 == 0o600


def test_the_log_does_not_grow_for_ever(home: Path) -> None:
    home.mkdir()
    (home / "keen.log").write_text("x" * (log.MOST_BYTES + 1))
    logging.getLogger("keen_tui.x").warning("once more")
    assert (home / "keen.log").stat().st_size < 1_000
    assert (home / "keen.log.1").stat().st_size > log.MOST_BYTES


def test_a_log_that_can_not_be_written_is_silent(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.write_text("a file in its place")
    logging.getLogger("keen_tui.x").warning("lost")
    assert capsys.readouterr() == ("", "")


def test_a_crash_is_told_without_keys(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(RuntimeError("made-up-value is wrong")) == 1
    assert "[key] is wrong" in capsys.readouterr().err
    assert "made-up-value" not in (home / "crash.txt").read_text()
    assert (home / "crash.txt").stat().st_mode & 0o777 == 0o600


def test_a_crash_whose_report_cannot_be_written_says_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "crash.txt").mkdir(parents=True)
    assert told(RuntimeError("odd")) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "keen-tui crashed (RuntimeError: odd); this is a bug. The details can't be written"
    )
    assert "Is a directory" in said
    assert said.count("\n") == 1


def test_a_value_without_a_key_stays_the_very_same() -> None:
    result = ToolResult(
        text="fine",
        display=FileListDisplay(lines=("a.py", "b.py")),
        facts=(FileChanged(path="a.py"),),
        instructions=(GivenInstructions(name="AGENTS.md", bytes=9),),
    )
    assert taken_out(("made-up-value",), result) is result


def test_a_key_is_taken_out_wherever_it_stands_in_a_value() -> None:
    result = ToolResult(text="made-up-value", display=FileListDisplay(lines=("a", "is made-up-value")))
    assert taken_out(("made-up-value", "made-up"), result) == ToolResult(
        text="[key]", display=FileListDisplay(lines=("a", "is [key]"))
    )
