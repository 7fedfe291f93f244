"""The user's own editor, in the place of the screen until it ends. What runs meanwhile goes on."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from textual.app import App, SuspendNotSupported

from keen_tui.domain.errors import KeenError
from keen_tui.system.executables import find_program

_PATIENCE: Final = 1.0
"""Seconds that an editor has for its end when the program is ended."""
_USUAL: Final = ("nano", "vim", "vi")
_LINE_WITH_PLUS: Final = frozenset(
    ("vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "kak", "micro", "joe", "ne", "mg", "pico")
)
_LINE_WITH_COLON: Final = frozenset(("hx", "helix", "subl", "zed", "zeditor"))
_LINE_WITH_GOTO: Final = frozenset(("code", "codium", "cursor", "windsurf"))


class EditorFailed(KeenError):
    """The editor can't be had, or ended with an error: a sentence for the user."""


async def edited(app: App[Any], text: str, take: Callable[[str], None]) -> None:
    """Let the user go on with `text` in the editor; `take` gets what was saved there, if that is another
    text, also where this is cancelled, as the program ends.

    Raises:
        EditorFailed: the editor can't be had, or ended with an error.
    """
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="keen-message-"))
    file = folder / "message.md"
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
        await open_in_editor(app, file)
    except OSError as error:
        raise EditorFailed(f"The text can't be passed to the editor: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            saved = file.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
            if saved != text.removesuffix("\n"):
                take(saved)
        shutil.rmtree(folder, ignore_errors=True)


async def open_in_editor(app: App[Any], file: Path, line: int = 0) -> None:
    """Show a file, at that line where the editor can be told. Returns when it has ended; cancelled, it ends
    the editor.

    Raises:
        EditorFailed: there is none, it can't be started, or it ended with an error.
    """
    command = editor_command(os.environ, file, line)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # ctrl+c is meant for the editor alone
    try:
        with app.batch_update(), app.suspend():
            ended = await _ended(command)
    except SuspendNotSupported as error:
        raise EditorFailed("An editor can't be opened from here.") from error
    finally:
        signal.signal(signal.SIGINT, before)
        app.refresh(layout=True)
    if isinstance(ended, OSError):
        raise EditorFailed(f"{command[0]} can't be started: {ended.strerror}. Is EDITOR right?")
    if ended:
        raise EditorFailed(f"{command[0]} ended with exit code {ended}.")


async def _ended(command: Sequence[str]) -> int | OSError:
    """Run it in this terminal; its exit code, or why it can't be started. Nothing else is raised but
    CancelledError: the screen is taken back behind it."""
    try:
        process = await asyncio.create_subprocess_exec(*command)
    except OSError as error:
        return error
    try:
        return await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await process.wait()
        raise


def editor_command(environ: Mapping[str, str], file: Path, line: int = 0) -> Sequence[str]:
    """The command line that opens the file: VISUAL, else EDITOR, else an editor that most systems have.

    A program that is named without its folder is never taken from the workspace.

    Raises:
        EditorFailed: no editor is found, or VISUAL or EDITOR isn't a command line.
    """
    named = next(filter(str.strip, (environ.get(name, "") for name in ("VISUAL", "EDITOR"))), "")
    try:
        words = shlex.split(named) or _usual(environ)
    except ValueError as error:
        raise EditorFailed(f"EDITOR can't be understood ({error}): {named}") from error
    if not words:
        raise EditorFailed(f"No editor is set, and none of {', '.join(_USUAL)} is installed. Set EDITOR.")
    return [_placed(words[0], environ), *words[1:], *_at_line(Path(words[0]).name, file, line)]


def _placed(editor: str, environ: Mapping[str, str]) -> str:
    """The editor with its folder, as far as it was named without one."""
    if "/" in editor:
        return editor
    if found := find_program(editor, environ):
        return found
    raise EditorFailed(
        f"{editor} can't be started: it isn't in PATH, or only inside this folder. Check EDITOR."
    )


def _usual(environ: Mapping[str, str]) -> list[str]:
    found = filter(None, (find_program(name, environ) for name in _USUAL))
    return [program] if (program := next(found, "")) else []


def _at_line(editor: str, file: Path, line: int) -> Sequence[str]:
    if not line:
        return (str(file),)
    if editor in _LINE_WITH_PLUS:
        return (f"+{line}", str(file))
    if editor in _LINE_WITH_COLON:
        return (f"{file}:{line}",)
    return ("--goto", f"{file}:{line}") if editor in _LINE_WITH_GOTO else (str(file),)
