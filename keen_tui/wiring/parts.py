"""What sessions and front ends work with, built from settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from keen_tui.agent.services.prompt_history import PromptHistory
from keen_tui.providers.catalog.catalog import load_catalog
from keen_tui.providers.catalog.choice import Chooser
from keen_tui.settings.credentials import Keys
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.prompts import PromptStore
from keen_tui.system.executables import find_program
from keen_tui.system.paths import data_folder, home_folder, settings_file
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.rules.rules import RULINGS, Rules, parse_rules
from keen_tui.tools.search.file_names import FileNames
from keen_tui.tools.search.search import Searcher

if TYPE_CHECKING:
    pass


def build_chooser(environ: Mapping[str, str]) -> Chooser:
    """The catalogue, with the user's additions, and the keys."""
    home = home_folder(environ)
    return Chooser(load_catalog(home / "providers"), Keys(environ, home), environ)


def build_file_names(workspace: Path) -> FileNames:
    """The files of the workspace by name."""
    return FileNames(Searcher(Workspace(workspace), find_program("rg")))


def build_prompt_history(workspace: Path, environ: Mapping[str, str]) -> PromptHistory:
    """The prompts and drafts that the user writes."""
    return PromptHistory(PromptStore(data_folder(environ), workspace), os.path.realpath(workspace))


def build_store(environ: Mapping[str, str]) -> SessionStore:
    """All saved sessions."""
    return SessionStore(data_folder(environ))


def build_rules(settings: Settings, environ: Mapping[str, str]) -> Rules:
    """The rules of the user's settings. Raises ConfigError if one isn't a rule."""
    where = str(settings_file(environ))
    by_ruling = {ruling: getattr(settings, f"permissions_{ruling}") for ruling in RULINGS}
    return Rules(rule for ruling, texts in by_ruling.items() for rule in parse_rules(ruling, texts, where))


def key_variables(settings: Settings, environ: Mapping[str, str]) -> Iterable[str]:
    """The variables that hold API keys, as the settings and the whole catalogue name them."""
    catalog = load_catalog(home_folder(environ) / "providers")
    names = (name for provider in catalog.providers.values() for name in provider.key_variables)
    return frozenset({*names, settings.api_key_env} - {""})
