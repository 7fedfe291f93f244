"""The question whether what a project brings may be used: asked in the plain terminal, before anything of the
project has a say in what the program does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.brought import in_question
from keen_tui.settings.project import KINDS, Project, RuleCheck, Trust, read_project
from keen_tui.system.yes_or_no import answered_yes

_QUESTION = ("Your answer holds until they change.", "Use them here? [y/N] ")


def settle_trust(
    folder: Path, environ: Mapping[str, str], keys: TextIO, out: TextIO, check_rules: RuleCheck
) -> None:
    """Ask about what the project brings, unless that is nothing, or the user has answered already.

    Raises:
        ConfigError: the answers can't be read or saved.
    """
    try:
        project = read_project(folder, check_rules)
    except ConfigError:
        return  # the notice at the start says that nothing of it is used
    if project and Trust(environ).said(folder, project) is None:
        _ask(folder, project, environ, keys, out)


def ask_again(
    folder: Path, environ: Mapping[str, str], keys: TextIO, out: TextIO, check_rules: RuleCheck
) -> None:
    """Ask about what the project brings, whatever the user answered before: `keen-tui trust`.

    Raises:
        ConfigError: nobody can answer, or what the project brings can't be read, or the answer can't be
            saved.
    """
    project = read_project(folder, check_rules)
    if project is None or not project.asks:
        out.write(f"This folder has no {KINDS} or hooks for Keen.\n")
        return
    if not keys.isatty():
        raise ConfigError("keen-tui trust needs a terminal, to ask you.")
    answer = _ask(folder, project, environ, keys, out)
    if answer is not None:
        out.write("They are used from the next start on.\n" if answer else "They aren't used.\n")


def _ask(
    folder: Path, project: Project, environ: Mapping[str, str], keys: TextIO, out: TextIO
) -> bool | None:
    """Ask, and save the answer; None if there was none."""
    answer = answered_yes(_question(folder, project), keys, out)
    if answer is not None:
        Trust(environ).say(folder, project, trusted=answer)
    return answer


def _question(folder: Path, project: Project) -> str:
    rows = [""]
    for kind in project.kinds:
        if kind.rows:
            rows += [f"{in_question(folder)} has {kind.title}:", "", *kind.rows, ""]
    if not project.hooks:  # else they stand below those that run
        rows += [row for problem in project.hook_problems for row in (problem, "")]
    return "\n".join((*rows, *_QUESTION))
