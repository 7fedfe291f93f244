"""Runs the commands that need no screen; prints errors."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from keen_tui.domain.errors import ConfigError, KeenError, ModelMissing, SessionUnknown
from keen_tui.settings.flags import command_of
from keen_tui.settings.load import load_all
from keen_tui.settings.schema import Settings
from keen_tui.system.log import begin_log
from keen_tui.system.paths import data_folder, home_folder
from keen_tui.system.work_tree_records import project_folder
from keen_tui.text.redaction import keep_secrets_of, masked
from keen_tui.text.sanitize import clean
from keen_tui.tools.permissions.rule_check import check_rules

if TYPE_CHECKING:
    from keen_tui.agent.services.session_manager import SessionManager
    from keen_tui.agent.session import Session
    from keen_tui.frontends.headless.standard_input import HeadlessPrompt
    from keen_tui.settings.additions import Additions

EXIT_USAGE = 2
EXIT_PIPE = 128 + signal.SIGPIPE


def run(given: Mapping[str, Any], *, talks: bool = False) -> int:
    """Run the given command (`flags.parsed`); returns the exit code. `talks`: with a person, line by line.

    Raises:
        KeenError: what can't be done, as a sentence for the user.
    """
    begin_log(os.environ)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # titles and answers may not exist in the locale's encoding
    try:
        code = _run(given, talks=talks)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    return code


def told(error: Exception) -> int:
    """Tell the user what went wrong, in one sentence; returns the exit code.

    An unexpected error is written to crash.txt in the settings folder, for a report.
    """
    from keen_tui.frontends.headless.outlets import failure_of, note

    error = (isinstance(error, OSError) and failure_of(sys.stdout)) or error
    if isinstance(error, KeenError):
        note(f"keen-tui: {error}", sys.stderr)
        return EXIT_USAGE if isinstance(error, ConfigError | ModelMissing | SessionUnknown) else 1
    keep_secrets_of(os.environ)
    what = masked(f"{type(error).__name__}: {error}")
    note(f"keen-tui crashed ({what}); this is a bug. {_report(error)}", sys.stderr)
    return 1


def _report(error: Exception) -> str:
    """Write the details of a crash to a file; returns a sentence that says where they are."""
    file = home_folder(os.environ) / "crash.txt"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.touch(0o600)
        file.write_text(masked("".join(traceback.format_exception(error))), "utf-8", errors="replace")
    except OSError as problem:
        return f"The details can't be written to {file}: {problem.strerror}."
    return f"Details are in {file}."


def _run(given: Mapping[str, Any], *, talks: bool) -> int:
    command = command_of(given)
    if command in _WITHOUT_SETTINGS:
        return _WITHOUT_SETTINGS[command](given)
    is_work = "prompt" in given or (talks and "demo" not in given and command != "replay")
    settings, problem = load_all(given, os.environ, Path.cwd() if is_work else None, check_rules)
    if talks:
        return _talk(settings, given, problem)
    if "prompt" in given:
        return _headless(settings, given, problem)
    if problem:
        print(f"! {clean(problem)}", file=sys.stderr)
    if command in _WITH_SETTINGS:
        return _WITH_SETTINGS[command](settings, given)
    if "demo" in given:
        return _tour_as_text(settings, given.get("pace", 0.0))
    if command == "replay":
        raise ConfigError("There is no terminal here, and a replay needs one.")
    if settings.plain:
        raise ConfigError('This needs a terminal to type in. Use keen-tui -p "TEXT" for a single turn.')
    raise ConfigError('There is no terminal here. Use keen-tui -p "TEXT" for one turn without a screen.')


def _mcp(given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import mcp

    return mcp.run(given["words"][1:], os.environ, sys.stdout, sys.stderr)


def _completion(given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import completion

    return completion.run(given["words"][1], os.environ, Path.cwd(), sys.stdout)


def _serve(given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands.serve import command

    return command.run(given, os.environ, Path.cwd(), sys.stdout)


def _schema(given: Mapping[str, Any]) -> int:
    from keen_tui.frontends.headless.line_schema import schema_text

    print(schema_text())
    return 0


def _trust(given: Mapping[str, Any]) -> int:
    from keen_tui.settings.trust import ask_again

    ask_again(project_folder(Path.cwd(), os.environ), os.environ, sys.stdin, sys.stdout, check_rules)
    return 0


def _sessions(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import sessions

    return sessions.list_sessions(None if "all" in given else Path.cwd(), os.environ, sys.stdout)


def _worktrees(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import worktrees

    here = None if "all" in given else Path.cwd()
    return worktrees.run(given["words"][1:], here, os.environ, sys.stdin, sys.stdout)


def _usage(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import sessions

    return sessions.usage(given.get("days", 30), os.environ, sys.stdout, as_json="json" in given)


def _eval(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.evaluation.command import evaluate

    return evaluate(settings, given, os.environ, sys.stdout, sys.stderr)


def _review(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import review

    return review.run(settings, given, os.environ, sys.stdout, sys.stderr)


def _settings(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.settings.file import write_defaults

    file, is_new = write_defaults(os.environ)
    print(f"{clean(str(file))}{'' if is_new else '   (already there, not changed)'}")
    return 0


def _export(settings: Settings, given: Mapping[str, Any]) -> int:
    from keen_tui.subcommands import sessions

    format, file = given.get("format", ""), given.get("out", "")
    return sessions.export(given["words"][1], format, file, Path.cwd(), os.environ, sys.stdout)


def _talk(settings: Settings, given: Mapping[str, Any], problem: str) -> int:
    """A conversation line by line."""
    from keen_tui.frontends.line.run import run_plain

    if command_of(given) == "replay":
        raise ConfigError("A replay needs the full screen: add --no-plain.")
    if "demo" in given:
        from keen_tui.demo.plain import tour_line_by_line

        with tour_line_by_line(settings, given.get("pace", 1.0)) as setup:
            run_plain(setup)
        return 0
    from keen_tui import frontend_setup

    run_plain(frontend_setup.live(settings, given, os.environ, problem))
    return 0


def _serve_editor(given: Mapping[str, Any]) -> int:
    """Sessions for an editor, by the Agent Client Protocol."""
    from importlib.util import find_spec

    if find_spec("acp") is None:
        raise ConfigError(
            "keen-tui acp needs the package agent-client-protocol: install Keen with its extra acp, for "
            "example by pipx install --force '.[acp]' in Keen's folder."
        )
    from keen_tui.frontend_setup import EditorSessions
    from keen_tui.frontends.acp.run import run_acp

    run_acp(EditorSessions(given, os.environ))
    return 0


def _headless(settings: Settings, given: Mapping[str, Any], problem: str) -> int:
    """A turn, a run or a conversation without a screen."""
    from keen_tui.agent.turn.audience import NO_AUDIENCE, Audience
    from keen_tui.frontend_setup import additions_here
    from keen_tui.frontends.headless.outlets import note, require_writable
    from keen_tui.providers.registry import build_provider
    from keen_tui.subcommands.sessions import asked_for
    from keen_tui.tools.orphans.question import sentences
    from keen_tui.tools.orphans.records import FOLDER, left_running
    from keen_tui.wiring.parts import build_chooser, build_store
    from keen_tui.wiring.sessions import SessionProgram, build_saved_session

    require_writable(sys.stdout)
    chooser = build_chooser(os.environ)
    choice = chooser.choice(settings)
    if "max_cost" in given and choice.model.price is None:
        raise ConfigError(
            f"--max-cost doesn't work here: Keen doesn't know the price of {choice.model.id}. Leave it "
            "out, and limit the run with --max-turns or --max-hours."
        )
    provider = build_provider(
        choice.model.api, choice.connection(settings.stall_seconds, searches=settings.web_search)
    )
    asked = _asked(given)
    additions = additions_here(settings, os.environ, sets_up="init" in given)
    text = _with_command(additions, asked.text, is_typed=given["prompt"].startswith("/"))
    store = build_store(os.environ)
    opening = asked_for(given, store)
    left = sentences(left_running(data_folder(os.environ) / FOLDER))
    audience = Audience(approves=True, answers=True) if "input" in given else NO_AUDIENCE
    program = SessionProgram(audience=audience, additions=additions, chooser=chooser)

    async def run() -> int:
        session, history, _ = build_saved_session(
            settings, Path.cwd(), provider, choice.model, store, os.environ, program
        )
        here = history.neighbours.enter() if history.neighbours else ()
        problems = filter(None, (problem, asked.notice, *additions.problems))
        notices = (*given.get("entered", ()), *here, *problems, *left)
        prompt = _prompt_of(session, additions, asked, text, is_typed=given["prompt"].startswith("/"))
        return await _carried_out(given, session, history, prompt, opening.id if opening else "", notices)

    code = asyncio.run(run())
    if "entered" in given:
        from keen_tui.subcommands.worktrees import way_on

        note(way_on(Path.cwd(), os.environ), sys.stderr)
    return code


def _asked(given: Mapping[str, Any]) -> HeadlessPrompt:
    """The prompt of the command line and of standard input. A run that goes on, and a conversation on
    standard input, need none."""
    from keen_tui.frontends.headless.standard_input import HeadlessPrompt, read_prompt

    if "input" in given:
        return HeadlessPrompt(given["prompt"])
    if "until" in given and given["prompt"] == "-" and given.keys() & {"go_on", "resume"}:
        return HeadlessPrompt("")
    return read_prompt(given["prompt"], sys.stdin)


def _prompt_of(
    session: Session, additions: Additions, asked: HeadlessPrompt, text: str, *, is_typed: bool
) -> str | Callable[[], Awaitable[str]]:
    """The message to send. A prompt of an MCP server that was typed is filled in by its server."""
    from keen_tui.agent.services.server_service import ServerService
    from keen_tui.frontends.headless.standard_input import with_data
    from keen_tui.frontends.shared.commands.slash import PromptCall, SlashCommands

    servers = session.state.open.setup.toolbox.servers
    service = ServerService(servers, home_folder(os.environ)) if servers else None
    commands = SlashCommands(additions.commands, additions.skills, service)
    called = commands.called(asked.text) if is_typed else None
    call = called.what if called else None
    if not isinstance(call, PromptCall):
        return with_data(text, asked.data)

    async def filled_in() -> str:
        return with_data(await call.text(), asked.data)

    return filled_in


async def _carried_out(
    given: Mapping[str, Any],
    session: Session,
    history: SessionManager,
    prompt: str | Callable[[], Awaitable[str]],
    opening: str,
    notices: Sequence[str],
) -> int:
    """Send the prompt, and returns the exit code. `opening` is the id of the session to continue, "" for a
    new one; `notices` are told first."""
    out, err = sys.stdout, sys.stderr
    if "input" in given:
        from keen_tui.frontends.headless.conversation import run_conversation

        source = sys.stdin.fileno()
        return await run_conversation(
            session, prompt, source, out, err, history, opening=opening, notices=notices
        )
    output = given.get("output", "text")
    if "until" not in given:
        from keen_tui.frontends.headless.run import run_prompt

        return await run_prompt(session, prompt, output, out, err, history, opening=opening, notices=notices)
    from keen_tui.frontends.headless.until import WantedRun, run_until

    wanted = WantedRun(
        check=given["until"],
        turns=given.get("max_turns"),
        cost=given.get("max_cost"),
        hours=given.get("max_hours"),
    )
    return await run_until(
        session, prompt, wanted, output, out, err, history, opening=opening, notices=notices
    )


def _with_command(additions: Additions, prompt: str, *, is_typed: bool) -> str:
    """The message of the user's own slash command that the prompt calls, else the unchanged prompt. Text from
    a pipe calls nothing: a space before it keeps it from calling a skill."""
    from keen_tui.frontends.shared.commands.slash import PromptCall, SlashCommands

    commands = SlashCommands(additions.commands, additions.skills)
    called = commands.called(prompt) if "/" in prompt[:1] else None
    if called is None or isinstance(called.what, PromptCall):
        return prompt
    if not is_typed:
        return f" {prompt}" if called.name in {skill.name for skill in additions.skills} else prompt
    if called.message is not None:
        return called.message
    raise ConfigError(commands.refusal_without_screen(called))


def _tour_as_text(settings: Settings, pace: float) -> int:
    from keen_tui.demo.play import play_as_text, tour_session

    with tour_session(settings, pace) as session:
        return asyncio.run(play_as_text(session, sys.stdout))


_WITHOUT_SETTINGS: Final[Mapping[str, Callable[[Mapping[str, Any]], int]]] = {
    "mcp": _mcp,
    "completion": _completion,
    "serve": _serve,
    "acp": _serve_editor,
    "schema": _schema,
    "trust": _trust,
}
_WITH_SETTINGS: Final[Mapping[str, Callable[[Settings, Mapping[str, Any]], int]]] = {
    "sessions": _sessions,
    "worktrees": _worktrees,
    "usage": _usage,
    "eval": _eval,
    "review": _review,
    "settings": _settings,
    "export": _export,
}
