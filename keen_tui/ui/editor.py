"""The user's own editor, in the place of the screen until it ends. What runs meanwhile goes on."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from textual.app import App, SuspendNotSupported

from keen_tui.errors import KeenError

_USUAL: Final = ("nano", "vim", "vi")
_LINE_WITH_PLUS: Final = frozenset(
    ("vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "kak", "micro", "joe", "ne", "mg", "pico")
)
_LINE_WITH_COLON: Final = frozenset(("hx", "helix", "subl", "zed", "zeditor"))
_LINE_WITH_GOTO: Final = frozenset(("code", "codium", "cursor", "windsurf"))


class EditorFailed(KeenError):
    """The editor can't be had, or ended with an error: a sentence for the user."""


async def edited(app: App[Any], text: str) -> str:
    """What the user makes of `text` in the editor.

    Raises:
        EditorFailed: `text` is still all there is.
    """
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="keen-message-"))
    file = folder / "message.md"
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
        await open_in_editor(app, file)
        return file.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError as error:
        raise EditorFailed(f"The text can't be handed to the editor: {error.strerror}.") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def open_in_editor(app: App[Any], file: Path, line: int = 0) -> None:
    """Show a file, at that line where the editor can be told. Returns when it has ended.

    Raises:
        EditorFailed: there is none, it can't be started, or it ended with an error.
    """
    command = editor_command(os.environ, file, line)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # ctrl+c is meant for the editor alone
    problem: Exception | None = None
    code = 0
    try:
        with app.batch_update(), app.suspend():
            try:
                code = await asyncio.to_thread(subprocess.call, command)
            except Exception as error:  # the screen is taken back first
                problem = error
    except SuspendNotSupported as error:
        raise EditorFailed("The screen can't be left for an editor here.") from error
    finally:
        signal.signal(signal.SIGINT, before)
        app.refresh(layout=True)
    if problem:
        raise EditorFailed(f"{command[0]} can't be started: {problem}. Is EDITOR right?")
    if code:
        raise EditorFailed(f"{command[0]} ended with exit code {code}: nothing is changed.")


def editor_command(environ: Mapping[str, str], file: Path, line: int = 0) -> Sequence[str]:
    """How to open the file: with VISUAL, else EDITOR, else one of those that most systems have.

    Raises:
        EditorFailed: there is none, or what is set is no command line.
    """
    named = next(filter(str.strip, (environ.get(name, "") for name in ("VISUAL", "EDITOR"))), "")
    try:
        words = shlex.split(named) or _usual(environ)
    except ValueError as error:
        raise EditorFailed(f"EDITOR can't be understood ({error}): {named}") from error
    if not words:
        raise EditorFailed(f"No editor is set, and none of {', '.join(_USUAL)} is there. Set EDITOR.")
    return [*words, *_at_line(Path(words[0]).name, file, line)]


def _usual(environ: Mapping[str, str]) -> list[str]:
    found = (name for name in _USUAL if shutil.which(name, path=environ.get("PATH")))
    return [name] if (name := next(found, "")) else []


def _at_line(editor: str, file: Path, line: int) -> Sequence[str]:
    if not line:
        return (str(file),)
    if editor in _LINE_WITH_PLUS:
        return (f"+{line}", str(file))
    if editor in _LINE_WITH_COLON:
        return (f"{file}:{line}",)
    return ("--goto", f"{file}:{line}") if editor in _LINE_WITH_GOTO else (str(file),)
