"""`python -m keen_tui` and `keen-tui`: shows a first picture before most of the program is imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_WITHOUT_SCREEN = (
    "sessions",
    "usage",
    "export",
    "eval",
    "settings",
    "schema",
    "mcp",
    "trust",
    "worktrees",
    "review",
    "completion",
    "serve",
    "acp",
)
"""Commands that show no screen here."""


def main() -> int:
    """Run the program; returns its exit code. Errors are printed as one sentence, never as a traceback."""
    _hold_places()
    try:
        return _to_the_end(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from keen_tui.cli import told

        return told(error)


def _hold_places() -> None:
    """Reopen closed standard streams on /dev/null, so that a file opened later doesn't take their
    descriptors."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stderr = sys.stderr or _nowhere("w")


def _nowhere(mode: str) -> Any:
    return os.fdopen(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), mode, encoding="utf-8")


def _to_the_end(arguments: Sequence[str]) -> int:
    """Run the program until everything that it printed is written."""
    if sys.stdout is None:
        from keen_tui.domain.errors import OutputFailed

        sys.stdout = _nowhere("w")
        raise OutputFailed("Standard output is closed, so nothing can be printed.")
    try:
        return _start(arguments)
    except SystemExit as left:  # of --help and --version; argparse keeps quiet about what it can't print
        from keen_tui.frontends.headless.outlets import require_writable

        require_writable(sys.stdout)
        return int(left.code or 0)
    finally:
        sys.stdout.flush()


def _start(arguments: Sequence[str]) -> int:
    from keen_tui.settings.flags import parsed

    return _run(parsed(arguments))


def _run(given: Mapping[str, Any]) -> int:
    _require_folder()
    written = _written_settings()
    if given.keys() & {"provider", "effort", "theme", "resume"}:
        from keen_tui.subcommands.given_values import require_known

        require_known(given, os.environ, has_model="model" in given or "model" in written)
    if "worktree" in given and "entered" not in given:
        from keen_tui.subcommands.worktrees import enter

        given = {**given, "entered": enter(given["worktree"], os.environ)}
    is_plain = bool(given.get("plain", written.get("plain", False)))
    has_person = _has_person(given, is_plain=is_plain)
    if has_person and _is_work(given):
        _settle_trust()
        _settle_left_running()
    from keen_tui.system.own_process import close_memory

    if is_plain or not has_person:
        close_memory()
        from keen_tui.cli import run

        return run(given, talks=has_person)
    _require_screen(os.environ)
    gc.disable()  # start-up makes many objects and no garbage; the screen turns it on when it is ready
    os.environ.setdefault("TEXTUAL_FPS", "120")  # a key waits for the next frame; Textual makes 60 a second
    from keen_tui.frontends.tui.terminal.skeleton import skeleton

    with skeleton(_theme(given, written), os.environ):
        close_memory()
        from keen_tui.start_tui import run_on_screen

        was_tour = run_on_screen(given)
    if not was_tour:
        return 0
    work = {name: value for name, value in given.items() if name not in ("demo", "pace")}
    return _run({**work, "picks_model": True})


def _settle_trust() -> None:
    """Ask whether what the project brings may be used, if it brings something."""
    from pathlib import Path

    from keen_tui.system.paths import brings_something

    folder = Path.cwd()
    if "worktrees" in folder.parts:
        from keen_tui.system.work_tree_records import project_folder

        folder = project_folder(folder, os.environ)
    if not brings_something(folder):
        return
    from keen_tui.settings.trust import settle_trust
    from keen_tui.tools.permissions.rule_check import check_rules

    settle_trust(folder, os.environ, sys.stdin, sys.stdout, check_rules)


def _settle_left_running() -> None:
    """Ask about commands that a killed program left running, if there may be any."""
    from keen_tui.system.paths import data_folder

    folder = data_folder(os.environ) / "running"
    if not os.path.isdir(folder) or not os.listdir(folder):  # noqa: PTH112, PTH208 - before the first paint
        return
    from keen_tui.tools.orphans.question import settle_left_running

    settle_left_running(folder, sys.stdin, sys.stdout)


def _require_folder() -> None:
    """Raises ConfigError if the current folder was removed."""
    try:
        os.getcwd()  # noqa: PTH109 - a Path costs more
    except OSError:
        from keen_tui.domain.errors import ConfigError

        raise ConfigError("The current folder no longer exists. Change to another one first.") from None


def _has_person(given: Mapping[str, Any], *, is_plain: bool) -> bool:
    """Whether there is something to talk about, and a person at both ends. Textual draws on standard error;
    line by line, output may go anywhere."""
    if "prompt" in given or (given["words"] and given["words"][0] in _WITHOUT_SCREEN):
        return False
    ends = (sys.stdin,) if is_plain else (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in ends)


def _require_screen(environ: Mapping[str, str]) -> None:
    """Raises ConfigError if the terminal says that it can't draw a screen."""
    if environ.get("TERM", "") in ("", "dumb"):
        from keen_tui.domain.errors import ConfigError

        said = f"TERM={environ['TERM']}" if environ.get("TERM") else "TERM is not set"
        raise ConfigError(f"This terminal can't draw a screen ({said}). keen-tui --plain works line by line.")


def _is_work(given: Mapping[str, Any]) -> bool:
    """Whether to work in the current folder."""
    return "demo" not in given and given["words"][:1] != ["replay"]


def _theme(given: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """The theme by name, as far as it is known without a full check; errors are reported later."""
    from keen_tui.frontends.tui.look.usual_theme import theme_for

    return theme_for(str(given.get("theme", written.get("theme", ""))), os.environ)


def _written_settings() -> Mapping[str, Any]:
    """The content of the settings file, as far as it is known without a full check; errors are reported
    later."""
    from keen_tui.domain.errors import ConfigError
    from keen_tui.system.paths import settings_file, text_of

    try:
        written = text_of(settings_file(os.environ))
        import tomllib

        return tomllib.loads(written)
    except (OSError, ValueError, ConfigError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
