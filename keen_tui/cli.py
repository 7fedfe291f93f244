"""The command line: flags to settings to a front end."""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from keen_tui import __version__
from keen_tui.choices import Api, ExportFormat, Mode, Output, PolicyName
from keen_tui.config import Settings, load_settings
from keen_tui.errors import ConfigError, KeenError, ModelMissing
from keen_tui.history import SavedSession
from keen_tui.home import home_folder
from keen_tui.plain import clean

if TYPE_CHECKING:
    from keen_tui.storage.sessions import SessionStore

EXIT_USAGE = 2
EXIT_PIPE = 128 + signal.SIGPIPE
COMMANDS = ("sessions", "export", "replay")

_EPILOG = """\
exit codes: 0 done, 1 error, 2 usage, 3 incomplete

environment: OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and the keys of the other
providers, KEEN_HOME (folder of all settings and data), NO_COLOR

examples:
  keen-tui                                                 choose a model, then work in this folder
  keen-tui --demo                                          the guided tour, no key and no network
  keen-tui --provider anthropic --model NAME --effort high
  keen-tui --base-url http://localhost:11434/v1 --model qwen3-coder
  keen-tui -p "why does test_cart fail?" --mode plan       one turn, the answer on standard output
  keen-tui --continue                                      go on with the newest session of this folder
  keen-tui sessions                                        list the sessions of this folder
  keen-tui export 20260131 --format html                   a session as one HTML file
  keen-tui replay session.jsonl --speed 4                  play a session file on the screen
"""


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong instead of printing it: the screen may have to be given back first."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See keen-tui --help.")


def run(argv: Sequence[str]) -> int:
    """Run what the flags ask for; returns the exit code.

    Raises:
        KeenError: what can't be done, as a sentence for the user.
    """
    try:
        code = _run(_parser().parse_args(argv))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    return code


def told(error: Exception) -> int:
    """Tell the user what went wrong, in one sentence; returns the exit code.

    What nobody expected is written to crash.txt in the settings folder, for a report.
    """
    if isinstance(error, KeenError):
        print(f"keen-tui: {clean(str(error))}", file=sys.stderr)
        return EXIT_USAGE if isinstance(error, ConfigError | ModelMissing) else 1
    crash = home_folder(os.environ) / "crash.txt"
    with suppress(OSError):
        crash.parent.mkdir(parents=True, exist_ok=True)
        crash.write_text("".join(traceback.format_exception(error)), "utf-8")
    what = clean(f"{type(error).__name__}: {error}")
    print(f"keen-tui: it failed by a mistake of its own ({what}). Details are in {crash}.", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="keen-tui",
        description="A terminal workspace for a coding agent. Run it in the folder you want to work in.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.add_argument(
        "words",
        nargs="*",
        default=[],
        metavar="command",
        help="sessions, export SESSION or replay FILE: the saved sessions (see the examples)",
    )
    parser.add_argument("--version", action="version", version=f"keen-tui {__version__}")
    parser.add_argument("--demo", action="store_true", help="play the guided tour in a scratch project")
    parser.add_argument(
        "--pace", type=float, metavar="N", help="speed of the demo: 1 as is, 2 twice as fast, 0 at once"
    )
    _add_one_turn(parser)
    _add_saved(parser)
    _add_model(parser)
    _add_work(parser)
    return parser


def _add_one_turn(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument_group("one turn without a screen")
    one.add_argument(
        "-p",
        "--prompt",
        nargs="?",
        const="-",
        metavar="TEXT",
        help="the prompt; without TEXT it is read from standard input",
    )
    one.add_argument(
        "--output", choices=get_args(Output), help="text (default), json, or stream-json: one event a line"
    )


def _add_saved(parser: argparse.ArgumentParser) -> None:
    saved = parser.add_argument_group("saved sessions")
    saved.add_argument(
        "-c", "--continue", action="store_true", dest="go_on", help="go on with the newest of this folder"
    )
    saved.add_argument(
        "-r", "--resume", metavar="ID", help="go on with that one; the beginning of its id is enough"
    )
    saved.add_argument("--fork", action="store_true", help="with --continue or --resume: go on with a copy")
    saved.add_argument("--all", action="store_true", help="with sessions: those of all folders")
    saved.add_argument(
        "--format", choices=get_args(ExportFormat), help="of an export: markdown (default), json or html"
    )
    saved.add_argument("-o", "--out", metavar="FILE", help="where an export is written")
    saved.add_argument(
        "--speed", type=float, metavar="N", help="of a replay: 1 as it was (default), 0 all at once"
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("model")
    model.add_argument("--model", metavar="NAME", help="the model's name, as the server knows it")
    model.add_argument(
        "--provider",
        metavar="NAME",
        help="who serves it: openai, anthropic, google, deepseek, openrouter, ollama and others",
    )
    model.add_argument("--effort", metavar="LEVEL", help="how hard it reasons, where the model has levels")
    model.add_argument("--base-url", metavar="URL", help="the server, when it is not the provider's own")
    model.add_argument(
        "--api", choices=get_args(Api), help="the wire protocol (default: as the provider speaks)"
    )
    model.add_argument(
        "--api-key-env",
        metavar="VARIABLE",
        help="the environment variable that holds the key (default: as the provider names it)",
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    work = parser.add_argument_group("work")
    work.add_argument("--mode", choices=get_args(Mode), help="what runs unasked (default: ask)")
    work.add_argument(
        "--memory",
        choices=get_args(PolicyName),
        dest="memory_policy",
        help="what later turns get of a finished one (default: summary)",
    )
    work.add_argument("--max-steps", type=int, metavar="N", help="model calls a turn may make (default: 100)")
    work.add_argument(
        "--theme",
        metavar="NAME",
        help="keen-dark, keen-light, keen-contrast, keen-safe, keen-ansi16, or your own",
    )


_SETTING_FLAGS = (
    "provider",
    "api",
    "base_url",
    "model",
    "effort",
    "api_key_env",
    "mode",
    "max_steps",
    "memory_policy",
    "theme",
)

_BELONGS: Mapping[str, str] = {
    "all": "sessions",
    "format": "export",
    "out": "export",
    "speed": "replay",
}
"""Flags that only one command takes."""

_WRITTEN: Mapping[str, str] = {
    "prompt": "-p",
    "demo": "--demo",
    "resume": "--resume",
    "go_on": "--continue",
    "fork": "--fork",
    "pace": "--pace",
    "output": "--output",
}
"""Flags that no command takes, as they are written."""

_APART = (("demo", "prompt"), ("demo", "resume"), ("demo", "go_on"), ("resume", "go_on"))
"""Flags that each say what to begin with: two of them can't both be meant."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "fork": ("go_on", "resume"),
    "pace": ("demo",),
    "output": ("prompt",),
}
"""Flags that say more about another one."""


def _run(arguments: argparse.Namespace) -> int:
    given = vars(arguments)
    flags = {name: given[name] for name in _SETTING_FLAGS if name in given}
    settings = load_settings(flags, os.environ)
    command, *subjects = given["words"] or [""]
    if command and command not in COMMANDS:
        raise ConfigError(
            f"There is no command {command!r}: {', '.join(COMMANDS)} are. A prompt goes behind -p."
        )
    _require_sense(command, given)
    if command:
        return _command(command, subjects, settings, given)
    if "demo" in given:
        return _demo(settings, given.get("pace"))
    if "prompt" in given:
        return _headless(settings, given)
    if not has_terminal():
        raise ConfigError('No terminal here. Use keen-tui -p "TEXT" for one turn without a screen.')
    return _workspace(settings, given)


def _require_sense(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for flags that don't go together."""
    for flag, owner in _BELONGS.items():
        if flag in given and command != owner:
            raise ConfigError(f"--{flag} belongs to the command {owner}. See keen-tui --help.")
    for flag, written in _WRITTEN.items():
        if command and flag in given:
            raise ConfigError(f"{written} does not go with the command {command}. See keen-tui --help.")
    for one, other in _APART:
        if one in given and other in given:
            raise ConfigError(f"{_WRITTEN[one]} and {_WRITTEN[other]} don't go together: choose one.")
    for flag, owners in _NEEDS.items():
        if flag in given and not given.keys() & set(owners):
            whose = " or ".join(_WRITTEN[each] for each in owners)
            raise ConfigError(f"{_WRITTEN[flag]} belongs to {whose}. See keen-tui --help.")
    for flag in ("pace", "speed"):
        if not 0 <= given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag} must be a number from 0 up.")


def has_terminal() -> bool:
    """Whether a person sits at both ends. Textual draws on standard error, so that counts too."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _command(command: str, subjects: Sequence[str], settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui import saved

    if len(subjects) != (command != "sessions"):
        wanted = {"sessions": "nothing behind it", "export": "one session id", "replay": "one file"}[command]
        raise ConfigError(f"keen-tui {command} takes {wanted}.")
    if command == "sessions":
        return saved.list_sessions(None if "all" in given else Path.cwd(), os.environ, sys.stdout)
    (subject,) = subjects
    if command == "export":
        return saved.export(
            subject, given.get("format", ""), given.get("out", ""), Path.cwd(), os.environ, sys.stdout
        )
    if not has_terminal():
        raise ConfigError("No terminal here. A replay needs a screen.")
    return saved.replay(Path(subject), settings, given.get("speed", 1.0), _user_themes(), os.environ)


def _asked_for(given: Mapping[str, Any], store: SessionStore) -> SavedSession | None:
    """The session that the flags name, a copy of it with --fork; None for a new one."""
    from keen_tui.agent.history_desk import fork_session
    from keen_tui.storage.peek import glance

    if "resume" in given:
        session = glance(store.path_of(given["resume"]))
    elif "go_on" in given:
        newest = store.newest(Path.cwd())
        if newest is None:
            raise ConfigError("There is no session in this folder yet. keen-tui sessions --all lists all.")
        session = newest
    else:
        return None
    return glance(fork_session(store, store.path_of(session.id), Path.cwd())) if "fork" in given else session


def _headless(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.headless import run_prompt
    from keen_tui.providers.registry import build_provider
    from keen_tui.wiring import build_chooser, build_saved_session, build_store

    choice = build_chooser(os.environ).choice(settings)
    provider = build_provider(choice.model.api, choice.connection(settings.stall_seconds))
    prompt = _prompt(given["prompt"])
    store = build_store(os.environ)
    opening = _asked_for(given, store)

    async def run() -> int:
        session, history = build_saved_session(
            settings, Path.cwd(), provider, choice.model, store, attended=False
        )
        return await run_prompt(
            session,
            prompt,
            given.get("output", "text"),
            sys.stdout,
            sys.stderr,
            history,
            opening=opening.id if opening else "",
            keeps_pending=settings.pending_durable,
        )

    return asyncio.run(run())


def _prompt(given: str) -> str:
    """The prompt; "-" stands for standard input."""
    if given == "-" and sys.stdin.isatty():
        print("Type the prompt, then ctrl+d.", file=sys.stderr)
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace") if given == "-" else given
    if not prompt.strip():
        raise ConfigError("The prompt is empty: give it with -p TEXT, or on standard input with -p alone.")
    return prompt


def _demo(settings: Settings, pace: float | None) -> int:
    from keen_tui.demo.play import play_as_text, tour_session

    if has_terminal():
        from keen_tui.demo.screen import play_on_screen

        play_on_screen(settings, _user_themes(), 1.0 if pace is None else pace)
        return 0
    with tour_session(settings, pace or 0.0) as session:
        return asyncio.run(play_as_text(session, sys.stdout))


def _workspace(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.agent.model_desk import ModelDesk
    from keen_tui.providers.not_configured import NotConfigured
    from keen_tui.providers.registry import build_provider
    from keen_tui.wiring import build_chooser, build_saved_session, build_store, run_screen

    chooser = build_chooser(os.environ)
    store = build_store(os.environ)
    opening = _asked_for(given, store)
    try:
        choice = chooser.choice(settings)
    except ModelMissing as missing:
        absent = NotConfigured(str(missing))
        session, history = build_saved_session(settings, Path.cwd(), absent, None, store, attended=True)
        desk = ModelDesk(session, chooser, settings, None, os.environ)
    else:
        provider = build_provider(choice.model.api, choice.connection(settings.stall_seconds))
        session, history = build_saved_session(
            settings, Path.cwd(), provider, choice.model, store, attended=True
        )
        desk = ModelDesk(session, chooser, settings, choice, os.environ)
    result = run_screen(
        session, settings, themes=_user_themes(), models=desk, history=history, opening=opening
    )
    return _demo(settings, None) if result == "demo" else 0


def _user_themes() -> Path:
    return home_folder(os.environ) / "themes"
