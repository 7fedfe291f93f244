"""A fetched page as text: HTML as Markdown, everything else unchanged, all without hidden characters."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.domain.errors import ToolFailure
from keen_tui.system.child_environment import child_environment
from keen_tui.text.disguise import without_hidden
from keen_tui.text.sanitize import clean
from keen_tui.tools.web.fetching import FetchedPage

_PROGRAM: Final = Path(__file__).with_name("to_markdown.py")
_LONGEST_TITLE: Final = 200
_MANY_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}\n")
"""More empty lines in a row than code has."""


class PageText(Struct, frozen=True, kw_only=True):
    """The text of a page, and its title if it has one."""

    text: str
    title: str = ""


async def page_text(page: FetchedPage, seconds: float) -> PageText:
    """The text of a page. HTML may take that many seconds.

    Raises:
        ToolFailure: it isn't text, or can't be turned into some.
    """
    if page.type.is_html(page.content):
        found = await _converted(page, seconds)
        title = clean(without_hidden(found.title)[0]).strip()
        text = await asyncio.to_thread(safe_text, found.text)
        return PageText(text=_MANY_LINES.sub("\n\n\n", text).strip("\n"), title=title[:_LONGEST_TITLE])
    decoded = page.type.text(page.content)
    if decoded is None:
        raise ToolFailure(f"{page.address} is a binary file: web_fetch reads text only.")
    return PageText(text=await asyncio.to_thread(safe_text, decoded))


def safe_text(text: str) -> str:
    """Text of a page without hidden characters, and without anything that acts on a terminal."""
    return clean(without_hidden(text)[0], newlines=True, tabs=True)


async def _converted(page: FetchedPage, seconds: float) -> PageText:
    """HTML as Markdown, by a program of its own, which is ended when its time is up."""
    too_much = ToolFailure(f"{page.address} is too large or too complex to turn into text.")
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        os.fspath(_PROGRAM),
        page.type.charset,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env=child_environment(os.environ),
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            said, _ = await program.communicate(page.content)
    except TimeoutError as error:
        raise too_much from error
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    try:
        return msgspec.json.decode(said, type=PageText)
    except msgspec.DecodeError as error:
        raise too_much from error
