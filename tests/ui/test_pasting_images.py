"""Images from the clipboard, and files that are dropped on the terminal, become a part of the message."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual import events

from keen_tui.agent.services.prompt_history import PromptHistory
from keen_tui.frontends.tui.terminal.clipboard import clipboard_here
from keen_tui.frontends.tui.terminal.dropped_files import dropped_image, may_be_image
from keen_tui.storage.prompts import PromptStore
from keen_tui.tools.files.image_files import named_images
from tests.support.images import png
from tests.support.workspace import Driver, workspace

SHOT = Path("shots/my shot.png")


def desktop(folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None) -> Path:
    """An X desktop whose clipboard holds that image, or none; gives the file that copied text lands in."""
    programs, copied = folder / "bin", folder / "copied"
    programs.mkdir()
    (folder / "image").write_bytes(content or b"")
    script = f"""#!{sys.executable}
import pathlib, sys
if "-o" in sys.argv:
    sys.stdout.buffer.write(pathlib.Path({str(folder / "image")!r}).read_bytes())
    sys.exit({0 if content else 1})
pathlib.Path({str(copied)!r}).write_bytes(sys.stdin.buffer.read())
"""
    (programs / "xclip").write_text(script)
    (programs / "xclip").chmod(0o700)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("DISPLAY", ":9")
    return copied


def prompt_history(folder: Path) -> PromptHistory:
    return PromptHistory(PromptStore(folder / "data", folder), str(folder))


async def paste(driver: Driver, text: str) -> None:
    driver.screen.prompt.post_message(events.Paste(text))
    await driver.pilot.pause()


async def test_an_image_on_the_clipboard_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(tmp_path, monkeypatch, png())
    async with workspace(tmp_path, prompts=prompt_history(tmp_path)) as driver:
        await driver.type("what is ")
        await driver.press("ctrl+v")
        await driver.until(lambda: driver.written == "what is [image: 40 × 30]")
        await driver.press("enter")
        [sent] = [call[1] for call in driver.session.calls if call[0] == "submit"]
        [file] = (tmp_path / "data" / "pasted").iterdir()
        assert sent == f"what is @data/pasted/{file.name}"
        assert (file.read_bytes(), file.stat().st_mode & 0o777) == (png(), 0o600)
        await driver.press("up")
        assert driver.written == "what is [image: 40 × 30]"


async def test_words_on_both_sides_are_no_part_of_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(tmp_path, monkeypatch, png())
    async with workspace(tmp_path, prompts=prompt_history(tmp_path)) as driver:
        await driver.type("what is")
        await driver.press("ctrl+v")
        await driver.until(lambda: driver.written == "what is[image: 40 × 30]")
        (tmp_path / "image").write_bytes(png(20, 10))
        await driver.press("ctrl+v")
        await driver.until(lambda: driver.written == "what is[image: 40 × 30][image: 20 × 10]")
        await driver.type("this")
        await driver.press("enter")
        [sent] = [call[1] for call in driver.session.calls if call[0] == "submit"]
        assert isinstance(sent, str) and len(named_images(sent)) == 2
        what, name, first, second, this = sent.split(" ")
        assert (what, name, this) == ("what", "is", "this") and first != second


async def test_a_paste_of_nothing_is_what_some_terminals_send_for_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(tmp_path, monkeypatch, png())
    async with workspace(tmp_path, prompts=prompt_history(tmp_path)) as driver:
        await paste(driver, "")
        await driver.until(lambda: driver.written == "[image: 40 × 30]")


async def test_what_is_no_image_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desktop(tmp_path, monkeypatch, b"no image")
    async with workspace(tmp_path, prompts=prompt_history(tmp_path)) as driver:
        await driver.press("ctrl+v")
        await driver.until_shown("what is in the clipboard isn't a PNG, JPEG, GIF or WebP image.")
        assert driver.written == ""


async def test_without_an_image_the_key_pastes_what_was_copied_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = desktop(tmp_path, monkeypatch, None)
    async with workspace(tmp_path, prompts=prompt_history(tmp_path)) as driver:
        await driver.press("ctrl+v")
        await driver.until_shown("There is no image on the clipboard.")
        driver.app.copy_to_clipboard("some words")
        await driver.until(lambda: copied.exists() and copied.read_text() == "some words")
        await driver.press("ctrl+v")
        await driver.until(lambda: driver.written == "some words")


async def test_a_file_that_is_dropped_is_named(tmp_path: Path) -> None:
    (tmp_path / SHOT).parent.mkdir()
    (tmp_path / SHOT).write_bytes(png())
    async with workspace(tmp_path) as driver:
        await paste(driver, f"'{tmp_path / SHOT}' ")
        await driver.until(lambda: driver.written == f'@"{SHOT}"')
        await driver.type("?")
        await paste(driver, str(tmp_path / SHOT))
        await driver.until(lambda: driver.written == f'@"{SHOT}"? @"{SHOT}"')
        await paste(driver, "/not/there.png")
        await driver.until(lambda: driver.written == f'@"{SHOT}"? @"{SHOT}"/not/there.png')


@pytest.mark.parametrize("form", ["{}", "'{}'", '"{}"', "file://{}", "{}\n"])
def test_however_the_path_is_quoted(tmp_path: Path, form: str) -> None:
    (tmp_path / "a b.png").write_bytes(png())
    text = form.format(tmp_path / "a b.png")
    assert may_be_image(text)
    assert dropped_image(text, tmp_path) == '@"a b.png"'


def test_with_backslashes_or_percents_too(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(png())
    assert dropped_image(f"{tmp_path}/a\\ b.png", tmp_path / "elsewhere") == f'@"{tmp_path}/a b.png"'
    assert dropped_image(f"file://localhost{tmp_path}/a%20b.png", tmp_path) == '@"a b.png"'
    assert dropped_image(f"file://elsewhere{tmp_path}/a%20b.png", tmp_path) is None


@pytest.mark.parametrize(
    "text",
    [
        "see /tmp/a.png and b",
        "a.png",
        "x" * 3_000 + ".png",
        "/a.png\n/b.png",
        "/" + "x" * 1_000 + ".png",
        "file:///" + "x" * 1_000 + ".png",
        "file://[x.png",
        "~nobody-has-this-name/x.png",
        "/a\0.png",
        "/\ud800.png",
    ],
)
def test_any_other_text_is_a_text(tmp_path: Path, text: str) -> None:
    assert not may_be_image(text) or dropped_image(text, tmp_path) is None


def test_over_ssh_the_clipboard_of_another_machine_is_left_alone() -> None:
    nowhere = clipboard_here({"SSH_CONNECTION": "1 2 3 4", "PATH": "/usr/bin"}, "darwin")
    assert (nowhere.copies, nowhere.pastes_image) == ((), ())
    assert clipboard_here({"PATH": "/usr/bin"}, "linux") == nowhere
