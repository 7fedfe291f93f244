"""What a project brings, in `.keen`: settings and commands. Used once the user has said so, and never for
more rights.

Who opens a folder that somebody else wrote must not find the program doing what that folder wants. What is
said of a folder holds for it, as it is on this disk, and for what it brings as that was then.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct, to_builtins

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.config import flat, problem_of
from keen_tui.settings.custom_commands import FOLDER, Commands, read_commands
from keen_tui.settings.schema import Settings, name_in_file
from keen_tui.system.folder_records import ByFolder
from keen_tui.system.paths import home_folder
from keen_tui.system.safe_read import content_of

RuleCheck: TypeAlias = Callable[[Sequence[str], str], None]
"""Checks rules, as texts, and where they are written, for messages. Raises ConfigError: one isn't a rule."""

FILE: Final = ".keen/settings.toml"
COMMANDS: Final = f".keen/{FOLDER}"

_MAY_SET: Final = (
    "model",
    "effort",
    "mode",
    "memory_policy",
    "compact_at",
    "permissions_ask",
    "permissions_deny",
)
"""What a project may say. `mode` counts where it allows less than the user's own."""

_RULES: Final = ("permissions_ask", "permissions_deny")
_BY_RIGHTS: Final = ("plan", "ask", "auto-edit", "auto")
_MOST_BYTES: Final = 10_000
"""More is none that anybody reads; and what nests deep takes the square of its length to be read."""


class ProjectSettings(Struct, frozen=True, kw_only=True):
    """What a project brings: `used` are settings by name, `ignored` names that it may not set."""

    used: Mapping[str, Any]
    ignored: tuple[str, ...]
    commands: Commands
    digest: str


class _Said(Struct, frozen=True, kw_only=True):
    """What the user said of what has that digest."""

    digest: str
    trusted: bool


def read_project(folder: Path, check_rules: RuleCheck) -> ProjectSettings | None:
    """What the project in `folder` brings, None where that is nothing. Nothing is used by that.

    Raises:
        ConfigError: its settings can't be read.
    """
    try:
        return _read(folder, check_rules)
    except RecursionError as error:
        raise ConfigError(f"{folder / FILE} can't be read: it nests too deep") from error


def _read(folder: Path, check_rules: RuleCheck) -> ProjectSettings | None:
    path = folder / FILE
    try:
        commands = read_commands(folder / COMMANDS, "project")
        if not (os.path.lexists(path) or commands.found):
            return None
        content = content_of(Path(os.path.realpath(path.parent)) / path.name, most=_MOST_BYTES) or b""
        written = flat(tomllib.loads(content.decode("utf-8")), str(path))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"{path} can't be read: {why}") from error
    used = {name: value for name, value in written.items() if name in _MAY_SET}
    for name, value in used.items():
        if problem := problem_of(name, value):
            raise ConfigError(f"{path}: {name_in_file(name)} {problem}, not {value!r}.")
    for name in _RULES:
        check_rules(used.get(name, ()), str(path))
    ignored = tuple(name_in_file(name) for name in written if name not in _MAY_SET)
    digest = _digest(content, commands)
    return ProjectSettings(used=used, ignored=ignored, commands=commands, digest=digest)


def _digest(settings: bytes, commands: Commands) -> str:
    """Of the parts, each behind its length: what ends one can't be taken for the beginning of the next."""
    digest = hashlib.sha256()
    for part in (settings, *(json.dumps(to_builtins(command)).encode() for command in commands.found)):
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


class Trust:
    """What the user said of folders that bring something. It stands in a file in the settings folder."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._kept = ByFolder(home_folder(environ) / "trust.json", _Said)

    def said(self, folder: Path, project: ProjectSettings) -> bool | None:
        """Whether what it brings may be used in this folder; None: nobody has said.

        Raises:
            ConfigError: what was said can't be read.
        """
        said = self._kept.get(folder)
        return said.trusted if said and said.digest == project.digest else None

    def say(self, folder: Path, project: ProjectSettings, *, trusted: bool) -> None:
        """Keep what the user says. Raises ConfigError: it can't be kept."""
        self._kept.put(folder, _Said(digest=project.digest, trusted=trusted))


def with_project(
    settings: Settings, folder: Path, environ: Mapping[str, str], check_rules: RuleCheck
) -> tuple[Settings, str]:
    """The user's settings with those of a project that is trusted; else, in a sentence, why they are not
    used. "" where there is nothing to say.

    Raises:
        ConfigError: what was said of this folder can't be read.
    """
    try:
        project = read_project(folder, check_rules)
    except ConfigError as error:
        return settings, f"The settings of this project are not used. {error}"
    if project is None:
        return settings, ""
    said = Trust(environ).said(folder, project)
    if said is None:
        return settings, ".keen is not used: you haven't trusted this folder yet."
    return (narrowed(settings, project), "") if said else (settings, "")


def narrowed(settings: Settings, project: ProjectSettings) -> Settings:
    """The settings with what the project says; its rules join the user's, its mode may only be a stricter
    one."""
    changes = dict(project.used)
    for name in _RULES:
        if name in changes:
            changes[name] = (*getattr(settings, name), *changes[name])
    if "mode" in changes and _BY_RIGHTS.index(changes["mode"]) >= _BY_RIGHTS.index(settings.mode):
        del changes["mode"]
    return settings._replace(**changes)


def trusted_commands(folder: Path, environ: Mapping[str, str], check_rules: RuleCheck) -> Commands:
    """The commands of the project; none where they are not trusted, which `with_project` tells."""
    try:
        project = read_project(folder, check_rules)
        if project and Trust(environ).said(folder, project):
            return project.commands
    except ConfigError:
        pass  # told with the settings
    return Commands()
