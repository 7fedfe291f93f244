"""After the first incomplete turn one row offers to keep such turns on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from keen_tui.domain.events import PendingKept
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.settings.offers import Offers
from keen_tui.settings.service import SettingsService
from keen_tui.tools.permissions.rule_check import check_rules
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.workspace import Driver, workspace

OFFER = "f6 keeps incomplete turns on disk, so they outlive Keen"


@asynccontextmanager
async def broken_off(
    folder: Path, history: FakeHistory, *, size: tuple[int, int] = (120, 40), **keys: tuple[str, ...]
) -> AsyncIterator[Driver]:
    """A workspace in which a turn has just broken off."""
    service = SettingsService({"words": []}, {"KEEN_HOME": str(folder)}, folder, check_rules)
    settings = UiSettings(keys=keys)
    async with workspace(
        folder, saved_settings=service, history=history, offers=Offers(folder / "offers.json"),
        settings=settings, size=size,
    ) as driver:  # fmt: skip
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await driver.play(story.incomplete(1))
        await driver.until_shown("pending: 4 calls")
        yield driver


def saved(folder: Path) -> str:
    file = folder / "settings.toml"
    return file.read_text() if file.exists() else ""


def told(history: FakeHistory, wanted: tuple[object, ...]) -> bool:
    return history.calls[-1:] == [wanted]


async def test_a_yes_is_written_and_takes_effect_at_once(tmp_path: Path) -> None:
    history = FakeHistory()
    async with broken_off(tmp_path, history) as driver:
        await driver.until_shown(OFFER)
        await driver.until_shown("in memory")
        await driver.press("f6")
        await driver.until(lambda: ("keep pending", True) in history.calls)
        assert "[pending]" in saved(tmp_path) and "durable = true" in saved(tmp_path)
        await driver.play(PendingKept(durable=True))
        await driver.until_shown("Incomplete turns are kept on disk from now on.")
        await driver.until(lambda: not driver.shows("f6 keeps"))
        await driver.until_shown("18.2 kB, on disk")


async def test_it_takes_no_other_key_and_goes_when_the_turn_continues(tmp_path: Path) -> None:
    async with broken_off(tmp_path, FakeHistory()) as driver:
        await driver.until_shown(OFFER)
        await driver.type("yes no 1")
        assert driver.written == "yes no 1"
        await driver.play(story.started(1, None, attempt=2, recovering=1))
        await driver.until(lambda: not driver.shows("f6 keeps"))
        await driver.play(story.incomplete(1, attempt=2))
        await driver.until_shown("Turn incomplete")
        assert not driver.shows("f6 keeps"), "it is offered once"


async def test_it_is_offered_once_and_never_again(tmp_path: Path) -> None:
    async with broken_off(tmp_path, FakeHistory()) as driver:
        await driver.until_shown(OFFER)
    async with broken_off(tmp_path, FakeHistory()) as driver:
        await driver.pilot.pause()
        assert not driver.shows("f6 keeps")


async def test_whoever_has_decided_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[pending]\ndurable = false\n")
    async with broken_off(tmp_path, FakeHistory()) as driver:
        await driver.pilot.pause()
        assert not driver.shows("f6 keeps")
        await driver.until(lambda: not any(worker.group == "offer" for worker in driver.app.workers))
    assert not (tmp_path / "offers.json").exists()


async def test_the_slash_command_decides_either_way(tmp_path: Path) -> None:
    history = FakeHistory()
    async with broken_off(tmp_path, history) as driver:
        for words, value in (("on", True), ("off", False)):
            await driver.type(f"/durable {words}")
            await driver.press("enter")
            wanted = ("keep pending", value)
            await driver.until(partial(told, history, wanted))
            assert f"durable = {str(value).lower()}" in saved(tmp_path)
        await driver.type("/durable maybe")
        await driver.press("enter")
        await driver.until_shown("Write /durable on or /durable off.")
        assert driver.written == "/durable maybe"


async def test_the_row_names_the_key_in_use_or_the_command(tmp_path: Path) -> None:
    async with broken_off(tmp_path, FakeHistory(), keep_on_disk=("f10",)) as driver:
        await driver.until_shown("f10 keeps incomplete turns on disk")


async def test_it_is_one_row_in_a_small_terminal(tmp_path: Path) -> None:
    async with broken_off(tmp_path, FakeHistory(), size=(60, 12)) as driver:
        await driver.until_shown("f6 keeps incomplete turns on disk")
        assert sum("outlive" in row or "f6 keeps" in row for row in driver.rows()) == 1
