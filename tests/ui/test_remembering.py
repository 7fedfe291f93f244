"""What was written comes back: by the arrow keys, by a search, after a crash."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keen_tui.domain.events import MessageTakenBack
from keen_tui.domain.reports import Earlier
from tests.support.fake_writing import FakePrompts
from tests.support.workspace import workspace

EARLIER = Earlier(here=("mend the cart", "add a test\nfor money"), elsewhere=("write a poem about money",))


async def test_the_arrow_keys_lead_into_earlier_sessions(tmp_path: Path) -> None:
    prompts = FakePrompts(EARLIER)
    async with workspace(tmp_path, prompts=prompts) as driver:
        await driver.until(lambda: len(driver.screen.prompt.sent) == 2)
        await driver.type("new")
        await driver.press("enter")
        await driver.until(lambda: prompts.kept == ["new"])
        await driver.press("up", "up")
        assert driver.written == "add a test\nfor money"


async def test_a_search_finds_messages_of_all_folders_and_writes_the_chosen_one(tmp_path: Path) -> None:
    async with workspace(tmp_path, prompts=FakePrompts(EARLIER)) as driver:
        await driver.until(lambda: len(driver.screen.prompt.sent) == 2)
        await driver.type("draft")
        await driver.press("ctrl+up")
        await driver.until_shown("No earlier message contains these words.")
        for _ in "draft":
            await driver.press("backspace")
        await driver.type("MONEY")
        await driver.until_shown("› add a test")
        assert driver.shows("  write a poem about money")
        assert driver.shows("1 more line")
        assert not driver.shows("mend the cart")
        await driver.press("down", "enter")
        await driver.until(lambda: driver.written == "write a poem about money")
        assert not driver.screen.completions.is_open
        assert driver.session.calls[-1][0] != "submit"


async def test_escape_gives_the_draft_back(tmp_path: Path) -> None:
    async with workspace(tmp_path, prompts=FakePrompts(EARLIER)) as driver:
        await driver.until(lambda: len(driver.screen.prompt.sent) == 2)
        await driver.type("cart")
        await driver.press("ctrl+up")
        await driver.until_shown("› mend the cart")
        await driver.type("x")
        await driver.until_shown("No earlier message contains these words.")
        await driver.press("enter")
        assert driver.written == "cartx", "while nothing is found nothing is sent"
        await driver.press("escape")
        assert driver.written == "cart"


async def test_the_draft_is_kept_while_it_is_written_and_in_the_end(tmp_path: Path) -> None:
    prompts = FakePrompts(Earlier())
    async with workspace(tmp_path, prompts=prompts) as driver:
        await driver.type("half a thought")
        await driver.until(lambda: "half a thought" in prompts.drafts)
        await driver.press("ctrl+j")
        await driver.type("more")
        driver.app.keep_draft()
    assert prompts.drafts[-1] == "half a thought\nmore"


async def test_what_was_not_sent_is_back_at_the_next_start(tmp_path: Path) -> None:
    earlier = Earlier(here=("old",), drafts=("lost long ago", "lost just now"))
    async with workspace(tmp_path, prompts=FakePrompts(earlier)) as driver:
        await driver.until(lambda: driver.written == "lost just now")
        assert driver.shows("Your unsent message is back.")
        await driver.press("up")
        assert driver.written == "lost long ago", "an older one is the newest of the history"


async def test_a_draft_never_gets_into_what_is_being_written_already(tmp_path: Path) -> None:
    class SlowPrompts(FakePrompts):
        may_answer = asyncio.Event()

        async def earlier(self) -> Earlier:
            await self.may_answer.wait()
            return await super().earlier()

    prompts = SlowPrompts(Earlier(here=("old",), drafts=("lost just now",)))
    async with workspace(tmp_path, prompts=prompts) as driver:
        await driver.type("hi")
        prompts.may_answer.set()
        await driver.until_shown("Your unsent message from last time is kept")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "hi") in driver.session.calls)
        driver.app.keep_draft()
        assert prompts.drafts[-1] == "lost just now", "it outlives this start, too"
        await driver.press("up", "up")
        assert driver.written == "lost just now"
        await driver.press("enter")
        await driver.until(lambda: ("submit", "lost just now") in driver.session.calls)
        driver.app.keep_draft()
        assert prompts.drafts[-1] == ""


async def test_a_draft_that_an_earlier_message_replaces_can_be_had_again(tmp_path: Path) -> None:
    async with workspace(tmp_path, prompts=FakePrompts(EARLIER)) as driver:
        await driver.until(lambda: len(driver.screen.prompt.sent) == 2)
        await driver.type("cart")
        await driver.press("ctrl+up")
        await driver.until_shown("› mend the cart")
        await driver.press("enter")
        await driver.until(lambda: driver.written == "mend the cart")
        await driver.press("up")
        assert driver.written == "cart"


@pytest.mark.parametrize("text", ["!rm -rf build", "/undo"])
async def test_a_message_that_comes_back_is_no_command(tmp_path: Path, text: str) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(MessageTakenBack(turn=1, text=text))
        await driver.until(lambda: driver.written == f" {text}")
        await driver.press("enter")
        await driver.until(lambda: driver.session.calls[-1] == ("submit", f" {text}"))
