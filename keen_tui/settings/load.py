"""All settings put together: the user's, those of a project that is trusted, the environment, the flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keen_tui.settings.config import load_settings
from keen_tui.settings.flags import settings_of
from keen_tui.settings.schema import Settings
from keen_tui.system.paths import brings_something
from keen_tui.system.work_tree_records import project_folder

if TYPE_CHECKING:
    from keen_tui.settings.project import RuleCheck


def load_all(
    given: Mapping[str, Any], environ: Mapping[str, str], folder: Path | None, check_rules: RuleCheck
) -> tuple[Settings, str]:
    """The settings for what was given (`flags.parsed`), and a sentence on a project that is not listened to.

    Args:
        folder: the folder to work in; None where none is worked in. In a work tree of Keen's its project
            counts.
        check_rules: checks the rules of a project.

    Raises:
        ConfigError: a setting is wrong.
    """
    return load_given(settings_of(given), environ, folder, check_rules, where="")


def load_given(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    folder: Path | None,
    check_rules: RuleCheck,
    where: str,
) -> tuple[Settings, str]:
    """As `load_all`, for settings by name that were given in the place that `where` names, "" for
    the command line. Raises ConfigError."""
    folder = folder and project_folder(folder, environ)
    if folder is None or not brings_something(folder):
        return load_settings(flags, environ, where=where), ""
    from keen_tui.settings.project import with_project  # noqa: PLC0415 - only where there is one

    said: list[str] = []

    def join(settings: Settings) -> Settings:
        settings, problem = with_project(settings, folder, environ, check_rules)
        said.append(problem)
        return settings

    return load_settings(flags, environ, join, where), said[0]
