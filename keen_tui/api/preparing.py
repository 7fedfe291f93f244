"""Reads what a session needs: from the arguments of `open_session` to settings, a model and additions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.errors import ConfigError, ModelMissing
from keen_tui.frontend_setup import additions_here
from keen_tui.providers.catalog.choice import Chooser, ModelChoice
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Provider
from keen_tui.settings.additions import Additions
from keen_tui.settings.config import flat
from keen_tui.settings.credentials import FoundKey, checked_key
from keen_tui.settings.load import load_given
from keen_tui.settings.schema import Settings
from keen_tui.system.paths import data_folder, settings_file
from keen_tui.text.sanitize import clean
from keen_tui.tools.files.workspace import broad_folder
from keen_tui.tools.orphans.question import sentences
from keen_tui.tools.orphans.records import FOLDER, left_running
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.wiring.parts import build_chooser

WHERE: Final = "open_session"
"""Names in messages where a wrong setting was given."""


class WantedSession(Struct, frozen=True, kw_only=True):
    """The arguments of `open_session`. "" and None mean that the settings decide."""

    folder: str
    model: str
    provider: str
    base_url: str
    api_key: str
    mode: Mode | None
    memory: PolicyName | None
    settings: Mapping[str, Any]

    @property
    def flags(self) -> dict[str, Any]:
        """The settings among the arguments, by name. Raises ConfigError."""
        arguments = {
            "model": self.model,
            "provider": self.provider,
            "base_url": self.base_url,
            "mode": self.mode,
            "memory_policy": self.memory,
        }
        given = {name: value for name, value in arguments.items() if value not in ("", None)}
        return {**flat(self.settings, f"settings of {WHERE}"), **given}


class Prepared(Struct, frozen=True, kw_only=True):
    """The parts that a session is built from. `notices` are sentences for the program."""

    folder: Path
    settings: Settings
    chooser: Chooser
    choice: ModelChoice
    provider: Provider
    additions: Additions
    notices: Sequence[str]


def prepared(wanted: WantedSession, environ: Mapping[str, str]) -> Prepared:
    """Read settings, keys and files. Blocks.

    Raises:
        ConfigError: an argument, a setting or a file is wrong.
        ModelMissing: there is no model, or no key for it.
    """
    folder = _folder(wanted.folder)
    settings, problem = load_given(wanted.flags, environ, folder, check_rules, WHERE)
    chooser = build_chooser(environ)
    choice = _choice(chooser, settings, wanted.api_key, environ)
    connection = choice.connection(settings.stall_seconds, searches=settings.web_search)
    additions = additions_here(settings, environ, folder)
    left = sentences(left_running(data_folder(environ) / FOLDER))
    said = (problem, broad_folder(folder), *additions.problems, *left)
    return Prepared(
        folder=folder,
        settings=settings,
        chooser=chooser,
        choice=choice,
        provider=build_provider(choice.model.api, connection),
        additions=additions,
        notices=tuple(filter(None, said)),
    )


def _folder(named: str) -> Path:
    """The folder. Raises ConfigError: it isn't one."""
    with suppress(OSError, ValueError):
        folder = Path(named).resolve()
        if folder.is_dir():
            return folder
    raise ConfigError(f"{WHERE}: {clean(named)} isn't a folder.")


def _choice(chooser: Chooser, settings: Settings, api_key: str, environ: Mapping[str, str]) -> ModelChoice:
    if not settings.model:
        raise ModelMissing(
            f'{WHERE}: no model is named. Pass model="NAME", or set it in {settings_file(environ)}.'
        )
    key = FoundKey(value=checked_key(api_key, "in api_key"), source="api_key") if api_key else None
    try:
        return chooser.choice(settings, key)
    except ModelMissing as missing:
        raise ModelMissing(f"{missing} {WHERE} also takes it as api_key.") from missing
