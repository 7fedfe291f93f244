"""Signing in to an MCP server, line by line."""

from __future__ import annotations

import asyncio
import io

import pytest

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.line.pages import sign_in_by_lines
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from tests.support.fake_servers import PAGE, RIGHT, FakeSignIn
from tests.support.waiting import until


class Asker:
    """The lines that were printed, and the question that is open."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.printer = LinePrinter(self.out)
        self.questions = OpenQuestions(self.printer, lambda: None)

    async def put(self, question: LineQuestion) -> LineAnswer | None:
        return await self.questions.ask(question)

    async def answer(self, line: str) -> None:
        """Answer once a question is open that wasn't answered yet."""
        await until(self.is_asked)
        assert self.questions.take(line)

    def is_asked(self) -> bool:
        """Whether a question is open."""
        return self.questions.asked is not None

    @property
    def said(self) -> list[str]:
        return self.out.getvalue().splitlines()


async def test_a_wrong_address_is_refused_and_the_right_one_signs_in() -> None:
    ui, done = Asker(), list[str]()
    signing = asyncio.create_task(sign_in_by_lines(ui, FakeSignIn("docs", done)))
    await ui.answer("https://evil.example/?code=1")
    await until(lambda: "That address belongs to another sign-in." in ui.said)
    assert "evil" not in ui.out.getvalue()
    await ui.answer(RIGHT)
    await signing
    assert ui.said[:2] == ["Open this address in your browser:", PAGE]
    assert ui.said[-1] == "Signed in to docs. The server starts again."
    assert done == []


async def test_the_browser_ends_the_question_and_so_does_a_failure() -> None:
    ui = Asker()
    sign_in = FakeSignIn("docs", [])
    signing = asyncio.create_task(sign_in_by_lines(ui, sign_in))
    await until(ui.is_asked)
    sign_in.come_back()
    await signing
    assert ui.questions.asked is None
    sign_in = FakeSignIn("docs", [])
    signing = asyncio.create_task(sign_in_by_lines(ui, sign_in))
    await until(ui.is_asked)
    sign_in.fail()
    with pytest.raises(SessionRefused, match="refused"):
        await signing
    assert ui.questions.asked is None


async def test_cancel_and_a_withdrawn_question_give_the_sign_in_up() -> None:
    for withdraws in (False, True):
        ui, done = Asker(), list[str]()
        signing = asyncio.create_task(sign_in_by_lines(ui, FakeSignIn("docs", done)))
        await until(ui.is_asked)
        if withdraws:
            ui.questions.withdraw()
        else:
            await ui.answer("1")
        with pytest.raises(SessionRefused, match="The sign-in to docs was cancelled"):
            await signing
        assert done == ["cancel docs"]
