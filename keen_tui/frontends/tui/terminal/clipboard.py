"""The desktop's clipboard, by the programs that each desktop has for it.

A terminal takes text for the clipboard (OSC 52), but some do not, and none hands an image out.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from keen_tui.system.executables import find_program

_PATIENCE: Final = 5.0
"""Seconds that such a program may take."""
_LARGEST: Final = 100_000_000
"""Bytes of an image that are read."""
_APPLE_IMAGE: Final = "get the clipboard as «class PNGf»"
_APPLE_HEX: Final = rb"PNGf([0-9A-F]+)"


class Clipboard(Struct, frozen=True, kw_only=True):
    """The commands of a desktop's clipboard: one takes text on its standard input, one writes a PNG to its
    standard output; () for neither."""

    copies: Sequence[str] = ()
    pastes_image: Sequence[str] = ()

    def copy(self, text: str) -> None:
        """Put text on the clipboard. Blocks until it is there; that it is not is no error: the terminal has
        got the text, too."""
        if self.copies:
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(
                    self.copies,
                    input=text.encode("utf-8", "replace"),
                    stdout=subprocess.DEVNULL,  # one that stays to serve the clipboard would hold a pipe open
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    timeout=_PATIENCE,
                    check=False,
                )

    async def image(self) -> bytes | None:
        """The image on the clipboard, None where there is none."""
        if not self.pastes_image:
            return None
        output = await asyncio.to_thread(self._output_of_paste)
        if output.startswith("«data ".encode()):
            found = re.search(_APPLE_HEX, output)
            return bytes.fromhex(found[1].decode()) if found else None
        return output or None

    def _output_of_paste(self) -> bytes:
        try:
            done = subprocess.run(
                self.pastes_image,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                start_new_session=True,
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return b""
        return done.stdout[:_LARGEST] if done.returncode == 0 else b""


def clipboard_here(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Clipboard:
    """Returns the commands that this desktop has; none if the desktop is on another machine, as over ssh."""
    if platform == "darwin":
        if "SSH_CONNECTION" in environ:
            return Clipboard()
        return _found(environ, ("pbcopy",), ("osascript", "-e", _APPLE_IMAGE))
    if environ.get("WAYLAND_DISPLAY"):
        return _found(environ, ("wl-copy",), ("wl-paste", "--no-newline", "--type", "image/png"))
    if environ.get("DISPLAY"):
        chosen = ("xclip", "-selection", "clipboard")
        return _found(environ, chosen, (*chosen, "-t", "image/png", "-o"))
    return Clipboard()


def _found(environ: Mapping[str, str], copies: Sequence[str], pastes_image: Sequence[str]) -> Clipboard:
    return Clipboard(copies=_absolute(environ, copies), pastes_image=_absolute(environ, pastes_image))


def _absolute(environ: Mapping[str, str], command: Sequence[str]) -> Sequence[str]:
    """The command with the place of its program, () where that is not to be found."""
    program = find_program(command[0], environ)
    return (program, *command[1:]) if program else ()
