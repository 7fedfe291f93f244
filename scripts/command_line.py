"""Writes the shell completions and the man page, from the declared flags and commands.

    python scripts/command_line.py

shtab generates the scripts from an argparse parser. The parser here has a subparser for each command, which
the program itself doesn't need.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import shtab

from keen_tui.settings.about import Completes
from keen_tui.settings.flags import BELONGS, add_flag, flags_of, offered
from keen_tui.settings.line_flags import LineFlag, flag_groups
from keen_tui.settings.subcommands import PURPOSE, SHELLS, SUBCOMMANDS, Subcommand
from keen_tui.subcommands.completion import SCRIPTS, VALUES
from keen_tui.subcommands.mcp_flags import ACTIONS, FLAGS_OF_ADD
from scripts.man_page import man_page

MAN_PAGE: Final = Path(__file__).parents[1] / "docs" / "keen-tui.1"

_FUNCTIONS: Final = {
    "bash": '_keen_values_{kind}() {{ compgen -W "$(keen-tui completion {kind} 2>/dev/null)" -- "$1"; }}',
    "zsh": '_keen_values_{kind}() {{ compadd -- ${{(f)"$(keen-tui completion {kind} 2>/dev/null)"}}; }}',
}
"""A shell function that completes one kind of values."""

_COMMANDS: Final = {
    "bash": '_keen_commands() { compgen -c -- "$1"; }',
    "zsh": "",
    "fish": "",
}


def main() -> None:
    """Write all files."""
    SCRIPTS.mkdir(exist_ok=True)
    for file, text in written().items():
        file.write_text(text, "utf-8")


def written() -> Mapping[Path, str]:
    """The content of each file."""
    scripts = {SCRIPTS / f"keen-tui.{shell}": _script(shell) for shell in SHELLS}
    return {**scripts, MAN_PAGE: man_page()}


def _script(shell: str) -> str:
    made = shtab.complete(completion_parser(), shell, preamble=_preamble(shell))
    return "\n".join(line.rstrip() for line in made.splitlines()) + "\n"


def _preamble(shell: str) -> str:
    functions = (_FUNCTIONS[shell].format(kind=kind) for kind in VALUES) if shell in _FUNCTIONS else ()
    return "\n".join((*functions, _COMMANDS[shell]))


def completion_parser() -> argparse.ArgumentParser:
    """The command line as shells should complete it."""
    parser = argparse.ArgumentParser(prog="keen-tui", description=PURPOSE, add_help=False)
    for flag in _flags():
        if not BELONGS.get(flag.dest):
            _add(parser, offered(flag))
    commands = parser.add_subparsers(dest="command")
    for command in SUBCOMMANDS:
        each = commands.add_parser(command.name, help=command.usages[0][1], add_help=False)
        each.add_argument("-h", "--help", action="help", help="show how to use this command")
        if command.name == "mcp":
            _add_actions(each)
        else:
            _add_parts(each, command)
    return parser


def _add_parts(parser: argparse.ArgumentParser, command: Subcommand) -> None:
    """Add the flags and the arguments of a command."""
    of_settings = [flag for flag in _flags() if command.has_settings and flag.is_setting]
    for flag in (*of_settings, *flags_of(command.name)):
        _add(parser, flag)
    if command.words:
        parser.add_argument("word", choices=command.words, help=command.takes)
    if command.completes:
        name = parser.add_argument("name", nargs="*" if command.name == "eval" else "?", help=command.takes)
        _complete(name, command.completes)


def _add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `keen-tui mcp`. Names of servers aren't completed: no shell should read their
    files."""
    actions = parser.add_subparsers(dest="action")
    for action, meaning in ACTIONS.items():
        each = actions.add_parser(action, help=meaning, add_help=False)
        for flag in FLAGS_OF_ADD if action == "add" else ():
            _add(each, flag)


def _flags() -> Iterator[LineFlag]:
    return (flag for group in flag_groups() for flag in group.flags)


def _add(parser: argparse.ArgumentParser, flag: LineFlag) -> None:
    action = add_flag(parser, flag)
    if flag.completes:
        _complete(action, flag.completes)


def _complete(action: argparse.Action, kind: Completes) -> None:
    action.complete = _completed(kind)  # type: ignore[attr-defined]


def _completed(kind: Completes) -> Any:
    if kind == "file":
        return shtab.FILE
    if kind == "folder":
        return shtab.DIRECTORY
    if kind == "commands":
        return {"bash": "_keen_commands", "zsh": "_command_names -e", "fish": "(__fish_complete_command)"}
    name = f"_keen_values_{kind}"
    return {"bash": name, "zsh": name, "fish": f"(keen-tui completion {kind} 2>/dev/null)"}


if __name__ == "__main__":
    main()
