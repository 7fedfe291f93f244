"""`python -m keen_tui` and `keen-tui`: something is seen before most of the program is imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

_WITHOUT_SCREEN = ("-p", "--prompt", "--output", "-h", "--help", "--version")
_PRINTING = ("sessions", "export")
"""Commands that print and draw nothing."""


def main() -> int:
    """Run the program; returns its exit code. What goes wrong is one sentence, never a traceback."""
    try:
        return _start(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from keen_tui.cli import told

        return told(error)


def _start(arguments: Sequence[str]) -> int:
    if not _wants_screen(arguments):
        from keen_tui.cli import run

        return run(arguments)
    gc.disable()  # start-up makes many objects and no garbage; the screen turns it on when it is ready
    from keen_tui.ui.skeleton import skeleton

    with skeleton(_theme(arguments), os.environ):
        from keen_tui.cli import run

        return run(arguments)


def _wants_screen(arguments: Sequence[str]) -> bool:
    no_screen = any(each in _PRINTING or each.startswith(_WITHOUT_SCREEN) for each in arguments)
    return not no_screen and all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _theme(arguments: Sequence[str]) -> str:
    """The theme by name, as far as that can be told at once; what is wrong is found out later."""
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--theme":
            return value or "".join(arguments[index + 1 : index + 2])
    from keen_tui.home import settings_file

    try:
        written = settings_file(os.environ).read_text("utf-8")
        import tomllib

        return str(tomllib.loads(written).get("theme", "keen-dark"))
    except (OSError, ValueError):
        return "keen-dark"


if __name__ == "__main__":
    sys.exit(main())
