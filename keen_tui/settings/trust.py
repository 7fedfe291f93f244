"""The question whether what a project brings may be used: asked in the plain terminal, before anything of the
project has a say in what the program does."""

from __future__ import annotations

import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.custom_commands import CustomCommand
from keen_tui.settings.project import COMMANDS, FILE, ProjectSettings, RuleCheck, Trust, read_project
from keen_tui.settings.schema import name_in_file
from keen_tui.text.disguise import revealed

_LONGEST = 300
"""Characters of a value that are shown; what is longer is no setting that anybody reads."""
_MOST_SHOWN = 20
"""Names that are shown of what is not used, and of commands."""
_QUESTION = ("Your answer holds until they change.", "Use them here? [y/N] ")


def settle_trust(
    folder: Path, environ: Mapping[str, str], keys: TextIO, out: TextIO, check_rules: RuleCheck
) -> None:
    """Ask about what the project brings, unless there are none or it has been said. An empty answer is a no.

    Raises:
        ConfigError: what was said can't be read or kept.
    """
    try:
        project = read_project(folder, check_rules)
    except ConfigError:
        return  # said on the screen: they are not used
    trust = Trust(environ)
    if project is None or trust.said(folder, project) is not None:
        return
    forget_typed(keys)
    out.write(_question(folder, project))
    out.flush()
    answer = keys.readline()
    if not answer:
        return  # nobody is there
    trust.say(folder, project, trusted=answer.strip().casefold() in ("y", "yes"))


def forget_typed(keys: TextIO) -> None:
    """What was typed before the question was there is no answer to it."""
    if keys.isatty():
        termios.tcflush(keys.fileno(), termios.TCIFLUSH)


def _question(folder: Path, project: ProjectSettings) -> str:
    rows, commands = [""], project.commands.found
    if project.used or project.ignored or not commands:
        rows += [f"{_value(folder)} has settings of its own, in {FILE}:", "", *_settings(project), ""]
    if commands:
        rows += [f"{_value(folder)} has commands of its own, in {COMMANDS}:", "", *_commands(commands), ""]
    return "\n".join((*rows, *_QUESTION))


def _commands(commands: Sequence[CustomCommand]) -> list[str]:
    rows = [f"  /{command.name}   {_value(command.description)}" for command in commands[:_MOST_SHOWN]]
    return rows + ([f"  and {len(commands) - _MOST_SHOWN} more"] if len(commands) > _MOST_SHOWN else [])


def _settings(project: ProjectSettings) -> list[str]:
    limits = {"mode": "   (only if stricter than yours)"}
    used = [
        f"  {name_in_file(name)} = {_value(value)}{limits.get(name, '')}"
        for name, value in project.used.items()
    ]
    ignored = ", ".join(_value(name) for name in project.ignored[:_MOST_SHOWN])
    if len(project.ignored) > _MOST_SHOWN:
        ignored += f" and {len(project.ignored) - _MOST_SHOWN} more"
    return [
        *(used or ["  nothing that a project may set"]),
        *(["", f"  ignored, since only your own settings may set it: {ignored}"] if ignored else []),
    ]


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    text = revealed(str(value)).replace("\n", "<U+000A>")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
