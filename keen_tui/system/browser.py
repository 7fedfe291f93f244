"""The person's web browser."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Final

from keen_tui.system.executables import find_program

_OPENERS: Final = ("open",) if sys.platform == "darwin" else ("wslview", "xdg-open", "gio")


def is_remote(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the person sits at another machine, by ssh."""
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


def browser_opener(environ: Mapping[str, str] = os.environ) -> str | None:
    """The program that opens pages on this machine's desktop; None: there is none, or the person isn't
    there."""
    has_desktop = sys.platform == "darwin" or any(
        environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
    )
    if is_remote(environ) or not has_desktop:
        return None
    return next(filter(None, (find_program(name, environ) for name in _OPENERS)), None)


def open_in_browser(url: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Open a page in the browser of this machine's desktop; returns whether that was begun. Nothing that it
    prints reaches the terminal, and a browser for the terminal isn't started."""
    program = browser_opener(environ)
    if program is None or not url.startswith(("https://", "http://")):
        return False
    words = [program, "open", url] if program.endswith("/gio") else [program, url]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, name="browser", daemon=True).start()
    return True
