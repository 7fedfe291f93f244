"""The MCP servers, in lines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Protocol

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion
from keen_tui.frontends.shared.pages import McpPage
from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.shared.server_words import PASTE_WORDS, facts, page_words, state_words
from keen_tui.frontends.shared.servers_port import OpenSignIn
from keen_tui.text.sanitize import clean

_LONGEST = 200


class LineAsker(Protocol):
    """Prints lines and asks questions."""

    @property
    def printer(self) -> LinePrinter:
        """Prints."""

    async def put(self, question: LineQuestion) -> LineAnswer | None:
        """The person's answer; None if the question was withdrawn."""


def servers_in_lines(page: McpPage) -> Iterator[str]:
    """All servers, a line each; or one with its tools and its log."""
    servers = page.port.servers()
    chosen = next((server for server in servers if server.name == page.name), None)
    if chosen:
        yield from _whole(chosen)
        return
    yield (
        "MCP servers. /mcp NAME shows the tools and the log of one; /mcp restart NAME restarts it, "
        "/mcp login NAME signs in to it."
    )
    for server in servers:
        yield f"{server.name}: {state_words(server)}."


def _whole(server: ServerReport) -> Iterator[str]:
    yield f"{server.name}: {state_words(server)}."
    yield from (f"{fact}." for fact in facts(server))
    for tool in server.tools:
        unused = "" if tool.is_used else ", not used"
        yield f"Tool {tool.name}{unused}: {tool.description[:_LONGEST]}"
    yield "Its log:" if server.log else "It has logged nothing."
    yield from server.log


async def sign_in_by_lines(ui: LineAsker, sign_in: OpenSignIn) -> None:
    """Show the page where the user signs in, and wait until that is done, here or in the browser. Raises
    SessionRefused: it failed."""
    ui.printer.say(page_words(sign_in), clean(sign_in.url))
    ended = asyncio.create_task(sign_in.ended())
    asking = asyncio.create_task(_ask_for_address(ui, sign_in))
    try:
        done, _ = await asyncio.wait((ended, asking), return_when=asyncio.FIRST_COMPLETED)
        if asking in done:
            asking.result()
        asking.cancel()
        ui.printer.say(await ended)
    finally:
        asking.cancel()
        ended.cancel()
        sign_in.cancel()


async def _ask_for_address(ui: LineAsker, sign_in: OpenSignIn) -> None:
    """Ask for the address that the browser was sent to, until it is the right one; without an answer the
    sign-in is given up."""
    lines: tuple[str, ...] = (PASTE_WORDS,)
    while answer := await ui.put(
        LineQuestion(lines=lines, choices=(Choice(id="cancel", label="cancel"),), free="the address")
    ):
        if answer.id == "cancel":
            break
        try:
            sign_in.paste(answer.words)
        except SessionRefused as refused:
            lines = (str(refused),)
        else:
            return
    sign_in.cancel()
