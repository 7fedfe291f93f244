"""The additions of a project: settings, commands, MCP servers, skills, sub-agents and hooks. They are used
once the user has agreed. Settings, commands, skills and sub-agents never give more rights.

Opening a folder that somebody else wrote must not make the program do what that folder wants. The user's
answer holds for this folder on this disk, and for what it brought at that time.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, to_builtins

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.brought import (
    MOST_ROWS,
    Brought,
    digest_of,
    first_names,
    first_rows,
    in_question,
)
from keen_tui.settings.added.custom_commands import Commands, read_commands
from keen_tui.settings.added.hooks import Hook, brought_hooks, read_project_hooks
from keen_tui.settings.added.mcp_json import ProjectServers, read_servers, servers_brought
from keen_tui.settings.config import flat, problem_of
from keen_tui.settings.schema import Settings, name_in_file
from keen_tui.system.folder_records import ByFolder
from keen_tui.system.paths import AGENT_PLACES, COMMAND_PLACES, SKILL_PLACES, brings_something, home_folder
from keen_tui.system.safe_read import content_of
from keen_tui.text.units import counted, size

if TYPE_CHECKING:
    from keen_tui.settings.added.agent_files import AgentFile
    from keen_tui.settings.added.skill_folders import SkillFolder

RuleCheck: TypeAlias = Callable[[Sequence[str], str], None]
"""Checks rules, as texts, and where they are written, for messages. Raises ConfigError: one isn't a rule."""

FILE: Final = ".keen/settings.toml"

KINDS: Final = "settings, commands, skills, sub-agents, MCP servers"
"""The additions of a project apart from hooks, as the beginning of a list."""

_MAY_SET: Final = (
    "model",
    "effort",
    "mode",
    "memory_policy",
    "compact_at",
    "permissions_ask",
    "permissions_deny",
)
"""The settings that a project may set. `mode` counts if it allows less than the user's own."""

_RULES: Final = ("permissions_ask", "permissions_deny")
_BY_RIGHTS: Final = ("plan", "ask", "auto-edit", "auto")
_MOST_BYTES: Final = 10_000
"""More is none that anybody reads; and what nests deep takes the square of its length to be read."""


class Project(Struct, frozen=True, kw_only=True):
    """The additions of a project: `used` are settings by name. `kinds` is the same for the question, with
    nothing left out."""

    used: Mapping[str, Any]
    commands: Commands
    servers: ProjectServers
    skills: tuple[SkillFolder, ...]
    agents: tuple[AgentFile, ...]
    hooks: tuple[Hook, ...]
    hook_problems: tuple[str, ...]
    kinds: tuple[Brought, ...]

    @property
    def asks(self) -> bool:
        """Whether there is anything to agree to, and not only something that is wrong."""
        return any(kind.rows for kind in self.kinds)

    @property
    def names(self) -> str:
        """The kinds of things that there are to agree to, as a list in a sentence."""
        *first, last = (kind.name for kind in self.kinds if kind.rows)
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def digest(self) -> str:
        """The digest of the additions: an answer holds for exactly these."""
        return digest_of(self.kinds)


class _Said(Struct, frozen=True, kw_only=True):
    """The user's answer about additions with that digest."""

    digest: str
    trusted: bool


def read_project(folder: Path, check_rules: RuleCheck) -> Project | None:
    """Returns the additions of the project in `folder`, None if there are none. Reading them uses none of
    them.

    Raises:
        ConfigError: its settings can't be read.
    """
    try:
        return _read(folder, check_rules)
    except RecursionError as error:
        raise ConfigError(f"{folder / FILE} can't be read: it nests too deep") from error


def _read(folder: Path, check_rules: RuleCheck) -> Project | None:
    path = folder / FILE
    try:
        places = _command_places(folder)
        commands = read_commands([folder / place for place in places], "project")
        servers, skills, hooks = read_servers(folder), _skill_folders(folder), read_project_hooks(folder)
        agents = _agent_files(folder)
        hook_problems = hooks.notice("the project's")
        found = (commands.found, servers.found, servers.problems, skills, agents, hooks.found, hook_problems)
        if not (os.path.lexists(path) or any(found)):
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
    kinds = (
        _settings_brought(used, ignored, content),
        _commands_brought(commands, places),
        servers_brought(servers),
        _skills_brought(skills),
        *_agents_brought(agents),
        brought_hooks(hooks),
    )
    project = Project(
        used=used,
        commands=commands,
        servers=servers,
        skills=skills,
        agents=agents,
        hooks=hooks.found,
        hook_problems=hook_problems,
        kinds=kinds,
    )
    return project if project.asks or servers.problems or hook_problems else None


def _settings_brought(used: Mapping[str, Any], ignored: Sequence[str], content: bytes) -> Brought:
    limits = {"mode": "   (only if stricter than yours)"}
    rows = [
        f"  {name_in_file(name)} = {in_question(value)}{limits.get(name, '')}" for name, value in used.items()
    ]
    if content:
        rows = rows or ["  nothing that a project may set"]
    if ignored:
        rows += ["", f"  ignored, since only your own settings may set it: {first_names(ignored, MOST_ROWS)}"]
    title = f"settings of its own, in {FILE}"
    return Brought(name="settings", title=title, rows=tuple(rows), content=(content,))


def _command_places(folder: Path) -> list[str]:
    """Those of a project that are there; one that a link leads to isn't the project's. In the home folder
    only `.keen` is a project's: what is in the others is the user's own."""
    real = Path(os.path.realpath(folder))
    places = COMMAND_PLACES[:1] if real == Path(os.path.realpath(Path.home())) else COMMAND_PLACES
    inside = (place for place in places if os.path.realpath(real / place) == str(real / place))
    return [place for place in inside if os.path.isdir(folder / place)]  # noqa: PTH112 - never raises


def _commands_brought(commands: Commands, places: Sequence[str]) -> Brought:
    rows = [f"  /{command.name}   {in_question(command.description)}" for command in commands.found]
    return Brought(
        name="commands",
        title=f"commands of its own, in {' and '.join(places)}",
        rows=first_rows(rows),
        content=tuple(json.dumps(to_builtins(command)).encode() for command in commands.found),
    )


def _skill_folders(folder: Path) -> tuple[SkillFolder, ...]:
    if not any(os.path.lexists(folder / place) for place in SKILL_PLACES):
        return ()
    from keen_tui.settings.added.skill_folders import project_folders  # noqa: PLC0415 - only where there are any

    return project_folders(folder)


def _agent_files(folder: Path) -> tuple[AgentFile, ...]:
    if not any(os.path.lexists(folder / place) for place in AGENT_PLACES):
        return ()
    from keen_tui.settings.added.agent_files import project_agent_files  # noqa: PLC0415 - only where there are any

    return project_agent_files(folder)


def _agents_brought(files: Sequence[AgentFile]) -> tuple[Brought, ...]:
    if not files:
        return ()
    from keen_tui.settings.added.agent_files import agents_brought  # noqa: PLC0415 - only where there are any

    return (agents_brought(files),)


def _skills_brought(skills: Sequence[SkillFolder]) -> Brought:
    """Every file of a skill counts: the model follows what it says, and may be told to run it."""
    usable = [skill for skill in skills if not skill.problem]
    measured = ((skill, f"{counted(skill.files, 'file')}, {size(skill.bytes)}") for skill in usable)
    rows = [f"  {in_question(skill.name)}   {sizes}, in {skill.place.shown}" for skill, sizes in measured]
    places = dict.fromkeys(skill.place.shown for skill in usable)
    return Brought(
        name="skills",
        title=f"skills of its own, in {' and '.join(places)}",
        rows=first_rows(rows),
        content=tuple(
            f"{skill.place.shown}/{skill.name}\0{skill.digest}".encode("utf-8", "replace") for skill in usable
        ),
    )


class Trust:
    """The user's answers about folders with additions, in a file in the settings folder."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._kept = ByFolder(home_folder(environ) / "trust.json", _Said)

    def said(self, folder: Path, project: Project) -> bool | None:
        """Whether what it brings may be used in this folder; None: nobody has said. Where there is nothing to
        agree to, it may.

        Raises:
            ConfigError: what was said can't be read.
        """
        if not project.asks:
            return True
        said = self._kept.get(folder)
        return said.trusted if said and said.digest == project.digest else None

    def say(self, folder: Path, project: Project, *, trusted: bool) -> None:
        """Keep what the user says. Raises ConfigError: it can't be kept."""
        self._kept.put(folder, _Said(digest=project.digest, trusted=trusted))


def with_project(
    settings: Settings, folder: Path, environ: Mapping[str, str], check_rules: RuleCheck
) -> tuple[Settings, str]:
    """The user's settings with those of a project that is trusted; else, in a sentence, why they aren't
    used. "" where there is nothing to say.

    Raises:
        ConfigError: what was said of this folder can't be read.
    """
    try:
        project = read_project(folder, check_rules)
    except ConfigError as error:
        return settings, f"This project's {KINDS} and hooks aren't used: {error}"
    if project is None:
        return settings, ""
    said = Trust(environ).said(folder, project)
    if said:
        return narrowed(settings, project), ""
    why = (
        "you haven't trusted this folder yet. Run keen-tui trust to decide"
        if said is None
        else "you answered no. Run keen-tui trust to answer again"
    )
    return settings, f"This project's {project.names} aren't used: {why}."


def narrowed(settings: Settings, project: Project) -> Settings:
    """The settings with what the project says; its rules join the user's, its mode may only be a stricter
    one."""
    changes = dict(project.used)
    for name in _RULES:
        if name in changes:
            changes[name] = (*getattr(settings, name), *changes[name])
    if "mode" in changes and _BY_RIGHTS.index(changes["mode"]) >= _BY_RIGHTS.index(settings.mode):
        del changes["mode"]
    return settings._replace(**changes)


def trusted_project(folder: Path, environ: Mapping[str, str], check_rules: RuleCheck) -> Project | None:
    """Returns the additions of the project in the folder if the user trusts it; else None, and `with_project`
    says why."""
    if not brings_something(folder):
        return None
    try:
        project = read_project(folder, check_rules)
        return project if project and Trust(environ).said(folder, project) else None
    except ConfigError:
        return None
