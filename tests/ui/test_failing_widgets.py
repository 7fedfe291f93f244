"""A part of the screen that fails: the rest goes on, and nothing of what was known then is printed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.strip import Strip

from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.app import KeenApp, UiSettings
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from tests.support.fake_session import FakeSession
from tests.support.waiting import until


class Broken(StripWidget):
    """Fails when it is drawn."""

    def strips(self) -> Iterator[Strip]:
        raise RuntimeError("a mistake of ours")


class Whole(StripWidget):
    """Does not."""

    def strips(self) -> Iterator[Strip]:
        yield Strip.blank(self.size.width)


class Both(App[None]):
    """One of each."""

    def compose(self) -> ComposeResult:
        yield Broken(id="broken")
        yield Whole(id="whole")


async def test_a_part_that_can_not_be_drawn_says_so_and_the_rest_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Both()
    async with app.run_test(size=(60, 6)) as pilot:
        broken = app.query_one("#broken", Broken)
        broken.refresh_changed()
        await pilot.pause()
        assert "can't be drawn" in "".join(segment.text for segment in broken.render_line(0))
        assert "a mistake of ours" in caplog.text
        assert app.is_running


async def test_a_mistake_that_nobody_takes_ends_the_program_and_prints_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.CRITICAL)
    mistake = RuntimeError("a mistake of ours")

    def fail() -> None:
        raise mistake

    session = FakeSession(tmp_path)
    app = KeenApp(lambda: FrontEndSetup(session=session, controls=session), UiSettings())
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        async with app.run_test() as pilot:
            await until(lambda: app.live, moment=pilot.pause)
            app.call_later(fail)
            await until(lambda: app.failure)
    assert app.failure is mistake
    assert "".join(capsys.readouterr()) == ""
