"""Additions to the program in files of users and projects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from keen_tui.settings.added.agents import BUILT_IN, AgentDefinition
from keen_tui.settings.added.custom_commands import Commands, CustomCommand, joined, read_commands
from keen_tui.settings.added.hooks import FILE as HOOKS
from keen_tui.settings.added.hooks import Hook, read_own_hooks
from keen_tui.settings.added.mcp_entries import joined_servers
from keen_tui.settings.added.mcp_json import ProjectServers
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.project import RuleCheck, trusted_project
from keen_tui.system.paths import home_folder, own_agent_places, own_command_places, own_skill_places

if TYPE_CHECKING:
    from keen_tui.settings.added.skills import FoundSkills, Skill
    from keen_tui.settings.project import Project


class Additions(Struct, frozen=True, kw_only=True):
    """The additions that are used in a folder: the user's own, and those of a project that the user trusts.
    `agents` are the sub-agents, the built-in ones included. `problems` are sentences about files that can't
    be used, `agent_problems` those of them that are about sub-agents."""

    commands: tuple[CustomCommand, ...] = ()
    servers: tuple[McpServer, ...] = ()
    skills: tuple[Skill, ...] = ()
    agents: tuple[AgentDefinition, ...] = ()
    agent_problems: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


NO_ADDITIONS: Final = Additions()


def read_additions(
    folder: Path,
    environ: Mapping[str, str],
    check_rules: RuleCheck,
    built_in: Sequence[str],
    *,
    servers: Mapping[str, Mapping[str, Any]],
    api_keys: Callable[[], Iterable[str]],
) -> Additions:
    """Read what is added in this folder. Blocks.

    Args:
        built_in: the names of the program's own slash commands, which nothing replaces.
        servers: the MCP servers of the user's settings.
        api_keys: the variables that hold API keys of model providers, which no project gets.

    Raises:
        ConfigError: the user's hooks are wrong: one that guards something would be missing. Every other wrong
            file is one of the `problems`.
    """
    project = trusted_project(folder, environ, check_rules)
    own = read_commands(own_command_places(environ), "yours")
    of_project = project.commands if project else Commands()
    skills = _skills(environ, project)
    commands = joined(own, of_project, built_in, skills.found if skills else ())
    names = {each.name for each in commands.found}
    named, hidden = skills.called_by_name(names, built_in) if skills else ((), ())
    broken = skills.problems if skills else ()
    agents, wrong_agents = _agents(environ, project)
    own_hooks = read_own_hooks(home_folder(environ) / HOOKS)
    brought = project.servers if project else ProjectServers()
    used = joined_servers(servers, brought.found, environ, api_keys)
    return Additions(
        commands=commands.found,
        servers=used.found,
        skills=named,
        agents=agents,
        agent_problems=wrong_agents,
        hooks=(*own_hooks.found, *(project.hooks if project else ())),
        problems=(
            *commands.problems,
            *brought.problems,
            *used.problems,
            *broken,
            *hidden,
            *wrong_agents,
            *own_hooks.notice("your"),
            *(project.hook_problems if project else ()),
        ),
    )


def _skills(environ: Mapping[str, str], project: Project | None) -> FoundSkills | None:
    """The user's skills and those of the project. None: there is no folder for any, and nothing is loaded."""
    places = own_skill_places(environ)
    if not (any(map(os.path.isdir, places)) or (project and project.skills)):
        return None
    from keen_tui.settings.added.skill_folders import own_folders  # noqa: PLC0415 - only where somebody has skills
    from keen_tui.settings.added.skills import joined_skills, read_skills  # noqa: PLC0415

    own = read_skills(own_folders(places))
    return joined_skills(own, read_skills(project.skills if project else ()))


def _agents(
    environ: Mapping[str, str], project: Project | None
) -> tuple[tuple[AgentDefinition, ...], tuple[str, ...]]:
    """The sub-agents, and sentences about files that can't be used. Where nobody defines any, nothing is
    loaded."""
    places = own_agent_places(environ)
    if not (any(map(os.path.isdir, places)) or (project and project.agents)):
        return BUILT_IN, ()
    from keen_tui.settings.added.agent_files import own_agent_files  # noqa: PLC0415 - only where somebody has some
    from keen_tui.settings.added.agent_reading import joined_agents, read_agents  # noqa: PLC0415

    agents = joined_agents(
        read_agents(project.agents if project else ()), read_agents(own_agent_files(places))
    )
    return agents.found, agents.problems
