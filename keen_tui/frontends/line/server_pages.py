"""The sign-in to an MCP server, in lines."""

from __future__ import annotations

import asyncio
from typing import Protocol

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion
from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.shared.server_words import PASTE_WORDS, page_words
from keen_tui.frontends.shared.servers_port import OpenSignIn
from keen_tui.text.sanitize import clean


class LineAsker(Protocol):
    """Prints lines and asks questions."""

    @property
    def printer(self) -> LinePrinter:
        """Prints."""

    async def put(self, question: LineQuestion) -> LineAnswer | None:
        """The person's answer; None if the question was withdrawn."""


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
