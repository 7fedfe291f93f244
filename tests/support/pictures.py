"""`make pictures`: the pictures of the README, taken from the real program while the tour plays in it."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from keen_tui.config import Settings
from keen_tui.demo.play import tour_session
from keen_tui.demo.tour import FIRST_PROMPT
from keen_tui.ui.app import KeenApp, UiSettings
from keen_tui.ui.port import Workplace

PATIENCE = 60.0
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


async def take(folder: Path, theme: str = "keen-dark") -> None:
    """Play the first turn of the tour and write approval.svg, incomplete.svg and context.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    with tour_session(Settings(), pace=4) as session:
        app = KeenApp(lambda: Workplace(session=session), UiSettings(theme=theme))
        async with app.run_test(size=(120, 36)) as pilot:
            await _until(app, pilot, lambda: app.live)
            app.suggest(FIRST_PROMPT)
            await pilot.press("enter")
            await _answer(app, pilot, "bash")
            await _until(app, pilot, lambda: app.workspace.state.approval is not None)
            await pilot.pause(1.0)
            _write(app, folder / "approval.svg")
            await _answer(app, pilot, "edit_file")
            await _until(app, pilot, lambda: app.workspace.state.pending is not None)
            await pilot.pause(1.0)
            _write(app, folder / "incomplete.svg")
            app.workspace.run("context")
            await _until(app, pilot, lambda: app.screen is not app.workspace)
            await pilot.pause(1.0)
            _write(app, folder / "context.svg")
            await session.close()


async def _answer(app: KeenApp, pilot: Pilot[str | None], tool: str) -> None:
    def asked() -> bool:
        approval = app.workspace.state.approval
        return approval is not None and approval.name == tool

    await _until(app, pilot, asked)
    await pilot.pause(0.6)  # the question ignores keys at first
    await pilot.press("1")
    await _until(app, pilot, lambda: not asked())


async def _until(app: KeenApp, pilot: Pilot[str | None], holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("the tour hangs")
        await pilot.pause(0.02)


def _write(app: KeenApp, file: Path) -> None:
    """Save the screen without the web fonts that Textual names: a picture needs no network."""
    picture = _FONT_FACES.sub("", app.export_screenshot(title="keen-tui"))
    fonts = '"JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace'
    file.write_text(re.sub(r"font-family: (Fira Code|arial)[^;]*;", f"font-family: {fonts};", picture))


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")))
