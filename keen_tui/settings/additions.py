"""What users and projects add to the program in files of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from keen_tui.settings.custom_commands import FOLDER, Commands, CustomCommand, joined, read_commands
from keen_tui.settings.mcp_entries import joined_servers
from keen_tui.settings.mcp_json import ProjectServers
from keen_tui.settings.mcp_servers import McpServer
from keen_tui.settings.project import RuleCheck, trusted_project
from keen_tui.system.paths import home_folder


class Additions(Struct, frozen=True, kw_only=True):
    """What is used in a folder: the user's own, and what a project brings if the user trusts it. `problems`
    are sentences about files that can't be used."""

    commands: tuple[CustomCommand, ...] = ()
    servers: tuple[McpServer, ...] = ()
    problems: tuple[str, ...] = ()


def read_additions(
    folder: Path,
    environ: Mapping[str, str],
    check_rules: RuleCheck,
    built_in: Sequence[str],
    *,
    servers: Mapping[str, Mapping[str, Any]],
    api_keys: Callable[[], Iterable[str]],
) -> Additions:
    """Read what is added in this folder. Blocks; never raises for a file that is wrong.

    Args:
        built_in: the names of the program's own slash commands, which nothing replaces.
        servers: the MCP servers of the user's settings.
        api_keys: the variables that hold API keys of model providers, which no project gets.
    """
    project = trusted_project(folder, environ, check_rules)
    commands = joined(
        read_commands(home_folder(environ) / FOLDER, "yours"),
        project.commands if project else Commands(),
        built_in,
    )
    brought = project.servers if project else ProjectServers()
    used = joined_servers(servers, brought.found, environ, api_keys)
    return Additions(
        commands=commands.found,
        servers=used.found,
        problems=(*commands.problems, *brought.problems, *used.problems),
    )
