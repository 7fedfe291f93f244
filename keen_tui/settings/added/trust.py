"""The question whether what a project brings may be used: asked in the plain terminal, before anything of the
project has a say in what the program does."""

from __future__ import annotations

import termios
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.brought import in_question
from keen_tui.settings.added.project import Project, RuleCheck, Trust, read_project

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


def _question(folder: Path, project: Project) -> str:
    rows = [""]
    for kind in project.kinds:
        if kind.rows:
            rows += [f"{in_question(folder)} has {kind.title}:", "", *kind.rows, ""]
    return "\n".join((*rows, *_QUESTION))
