"""Prompts of a server: their commands, their arguments, and the text that is sent for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from keen_tui.domain.errors import ServerFailed, SessionRefused
from keen_tui.domain.servers import PromptArgument, ServerPrompt
from keen_tui.settings.added.definition_files import split_words
from keen_tui.text.labels import prompt_hint
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.server_tool_names import LONGEST_LINE, prompt_names, shown_line
from keen_tui.tools.files.image_files import named_images, named_paths
from keen_tui.tools.mcp.resources import MOST_SECONDS, resource_named
from keen_tui.tools.mcp.results import NewFile, prompt_text
from keen_tui.tools.mcp.server import ServerConnection

MOST_PROMPTS: Final = 200
"""Keen offers at most this many prompts of a server."""


def server_prompts(part: str, listed: tuple[Mapping[str, Any], ...]) -> tuple[ServerPrompt, ...]:
    """The prompts that a server lists, by name. `part` stands for the server in their names."""
    by_name = {str(each["name"]): each for each in listed[:MOST_PROMPTS] if each.get("name")}
    commands = prompt_names(part, by_name)
    return tuple(
        ServerPrompt(
            command=command,
            name=name,
            description=shown_line(by_name[name].get("description") or by_name[name].get("title") or ""),
            arguments=tuple(
                PromptArgument(name=str(each["name"]), is_required=each.get("required") is True)
                for each in by_name[name].get("arguments") or ()
                if each.get("name")
            ),
        )
        for name, command in commands.items()
    )


def filled_in(prompt: ServerPrompt, words: str) -> dict[str, str]:
    """The arguments of a prompt from the words after the command: in their order, or as `name=value`.

    Raises:
        SessionRefused: an argument is missing, or there are too many words.
    """
    by_name = {each.name: each for each in prompt.arguments}
    given: dict[str, str] = {}
    in_order: list[str] = []
    for word in split_words(words):
        name, equals, value = word.partition("=")
        if equals and name in by_name and name not in given:
            given[name] = value
        else:
            in_order.append(word)
    places = [name for name in by_name if name not in given]
    if len(in_order) > len(places):
        takes = f"takes {counted(len(by_name), 'argument')}" if by_name else "takes no arguments"
        quotes = " Put quotes around words that belong together." if by_name else ""
        raise SessionRefused(f"/{prompt.command} {takes}.{quotes}")
    given |= dict(zip(places, in_order, strict=False))
    if missing := [name for name, each in by_name.items() if each.is_required and not given.get(name)]:
        what = ", ".join(clean(name)[:LONGEST_LINE] for name in missing)
        raise SessionRefused(f"/{prompt.command} needs {what}. Write /{prompt.command} {prompt_hint(prompt)}")
    return given


async def text_of_prompt(
    connection: ServerConnection,
    prompt: ServerPrompt,
    words: str,
    new_file: NewFile,
    servers: Collection[str],
) -> str:
    """The text that is sent for the prompt. It attaches only images, and resources of these `servers`, that
    `words` name, and it calls no skill.

    Raises:
        SessionRefused: the words don't fit, or the server returns no text.
    """
    server = connection.server.name
    arguments = filled_in(prompt, words)
    seconds = min(connection.server.tool_timeout, MOST_SECONDS)
    try:
        async with asyncio.timeout(seconds):
            result = await connection.prompt(prompt.name, arguments)
    except TimeoutError:
        raise SessionRefused(f"The MCP server {server} didn't answer in {seconds:g} seconds.") from None
    except ServerFailed as error:
        why = clean(str(error))[:LONGEST_LINE].rstrip(".")
        raise SessionRefused(f"The MCP server {server} didn't fill in the prompt: {why}.") from error
    text = await asyncio.to_thread(prompt_text, result, new_file)
    text = clean(text, newlines=True, tabs=True).strip()
    if not text:
        raise SessionRefused(f"The MCP server {server} returned a prompt without text.")
    text = _without_names(text, words, servers)
    return f" {text}" if text.startswith("/") else text


def _without_names(text: str, words: str, servers: Collection[str]) -> str:
    """The text without the @ before names of images and resources, except those that the user named."""
    own = _attached(words, servers)
    while others := [path for path in _attached(text, servers) if path not in own]:
        shorter = text
        for path in others:
            shorter = re.sub(f'@("?){re.escape(path)}', lambda found: found[0][1:], shorter)
        if shorter == text:
            return text.replace("@", "")
        text = shorter
    return text


def _attached(text: str, servers: Collection[str]) -> tuple[str, ...]:
    """The images and resources that the text would attach."""
    resources = (path for path in named_paths(text) if resource_named(path, servers))
    return (*named_images(text), *resources)
