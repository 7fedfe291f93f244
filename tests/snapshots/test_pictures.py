"""The screens that matter, as pictures: what changes on one of them is seen before it is shipped.

`make snapshots` takes them anew: look at each that changed.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field

from keen_tui.domain.display import CommandDisplay, PartDisplay
from keen_tui.domain.events import (
    ApprovalRequested,
    ModelChanged,
    QueueChanged,
    SandboxFound,
    Steered,
    TurnError,
)
from keen_tui.frontends.tui.app import UiSettings
from tests.support import story
from tests.support.fake_writing import FakeFiles
from tests.support.svg import picture
from tests.support.waiting import until
from tests.support.workspace import Driver, workspace

PICTURES = Path(__file__).parent / "pictures"
MODEL = ModelChanged(model="qwen3-coder", server="ollama", effort="", context_window=200_000)
WIDE, NARROW = (120, 36), (80, 24)
LOOKS = 6
"""As many pictures in a row that are the same mean that the screen rests."""

PROJECT = ("src/cart.py", "src/cashier/", "tests/test_cart.py", "docs/cart and checkout.md")

Play = Callable[[Driver], Awaitable[None]]


async def past(driver: Driver) -> None:
    await driver.play(MODEL, SandboxFound(name="bubblewrap"), *story.three_turns())


async def running(driver: Driver) -> None:
    driver.session.running = True
    await driver.play(MODEL, SandboxFound(name="bubblewrap"), *story.three_turns(), *story.discount_turn())
    await driver.play(*story.edit(4, "d4"), *story.running_bash())


async def incomplete(driver: Driver) -> None:
    await driver.play(MODEL, SandboxFound(name="bubblewrap"), *story.three_turns(), *story.discount_turn())
    await driver.play(*story.edit(4, "d4"), story.incomplete(4))
    await driver.until(lambda: driver.screen.transcript.viewport.key_chip_visible)


async def failed(driver: Driver) -> None:
    await past(driver)
    end = TurnError(turn=4, attempt=1, reason="auth", detail="ollama refused the key (401).", seconds=0.4)
    await driver.play(story.started(4, "and the docs?"), end)


async def panels(driver: Driver) -> None:
    await running(driver)
    await driver.press("ctrl+b")


async def scrolled(driver: Driver) -> None:
    await incomplete(driver)
    await driver.press("tab", "up", "up", "up", "up", "up", "up")


async def edit_asked(driver: Driver) -> None:
    driver.session.running = True
    await driver.play(MODEL, story.started(1, "go"), story.tool_started(1, "c", "edit_file", "src/cart.py"))
    await driver.play(story.approval(1, "c", grant="allow all edits in this workspace for this session"))
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def command_asked(driver: Driver) -> None:
    driver.session.running = True
    command = "rm -rf build && pytest -q \u202egpj.exe"
    parts = (
        PartDisplay(text="rm -rf build", note="it deletes files", loses=True),
        PartDisplay(text="pytest -q \u202egpj.exe", note="pytest can change files"),
    )
    question = ApprovalRequested(
        turn=1, id="c", name="bash", arguments={}, target=command, question="Run this command?",
        why="of rm -rf build: it deletes files", grant=None, is_risky=True,
        display=CommandDisplay(command=command, output="", exit_code=None, parts=parts),
    )  # fmt: skip
    await driver.play(MODEL, story.started(1, "go"), story.tool_started(1, "c", "bash", command), question)
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def words_typed(driver: Driver) -> None:
    await driver.type("use 2 spa")
    await edit_asked(driver)
    await driver.type("ces please")
    await driver.press("enter")


async def waiting(driver: Driver) -> None:
    await running(driver)
    await driver.play(
        Steered(turn=4, step=2, text="Mind the rounding rules in docs/money.md."),
        QueueChanged(texts=("then write the changelog", "and tag it"), steered=("keep the old name too",)),
    )


async def details(driver: Driver) -> None:
    await past(driver)
    await driver.press("ctrl+o")


async def commands(driver: Driver) -> None:
    await past(driver)
    await driver.type("/me")
    await driver.until_shown("› /memory")


async def files(driver: Driver) -> None:
    await past(driver)
    await driver.type("look at @ca")
    await driver.until_shown("› src/cart.py")


async def found(driver: Driver) -> None:
    await past(driver)
    await driver.press("ctrl+f")
    await driver.type("total")
    await driver.until_shown("of")


async def palette(driver: Driver) -> None:
    await past(driver)
    await driver.press("ctrl+p")
    await driver.until_shown("type letters of an action")
    await driver.type("sess")
    await driver.until(lambda: not driver.shows("Stop the turn"))


async def help_page(driver: Driver) -> None:
    await driver.press("f1")
    await driver.until(lambda: driver.app.screen is not driver.screen)


async def permissions(driver: Driver) -> None:
    driver.screen.run("permissions")
    await driver.until(lambda: driver.screen.question_pane.question is not None)
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def themes(driver: Driver) -> None:
    await past(driver)
    driver.screen.run("theme")
    await driver.until_shown("keen-contrast")


class Scene(Struct, frozen=True, kw_only=True):
    """What is played, in which look and size."""

    play: Play
    size: tuple[int, int] = WIDE
    theme: str = "keen-dark"
    glyphs: str = ""
    options: dict[str, Any] = field(default_factory=dict)


async def nothing(driver: Driver) -> None:
    """The beginning."""


SCENES = {
    "welcome": Scene(play=nothing),
    "welcome-narrow": Scene(play=nothing, size=NARROW),
    "past": Scene(play=past),
    "running": Scene(play=running),
    "running-narrow": Scene(play=running, size=NARROW),
    "panels-narrow": Scene(play=panels, size=NARROW),
    "details": Scene(play=details),
    "incomplete": Scene(play=incomplete),
    "incomplete-narrow": Scene(play=incomplete, size=NARROW),
    "incomplete-light": Scene(play=incomplete, theme="keen-light"),
    "incomplete-contrast": Scene(play=incomplete, theme="keen-contrast"),
    "incomplete-safe": Scene(play=incomplete, theme="keen-safe"),
    "incomplete-ansi16": Scene(play=incomplete, theme="keen-ansi16", glyphs="ascii"),
    "scrolled": Scene(play=scrolled, size=NARROW),
    "failed": Scene(play=failed),
    "approve-edit": Scene(play=edit_asked),
    "approve-command": Scene(play=command_asked, size=NARROW),
    "approve-small": Scene(play=command_asked, size=(60, 12)),
    "approve-smallest": Scene(play=command_asked, size=(40, 10)),
    "approve-words": Scene(play=words_typed, size=NARROW),
    "waiting-messages": Scene(play=waiting),
    "commands": Scene(play=commands),
    "files": Scene(play=files, size=NARROW, options={"files": FakeFiles(PROJECT)}),
    "found": Scene(play=found),
    "help": Scene(play=help_page),
    "palette": Scene(play=palette),
    "palette-narrow": Scene(play=palette, size=NARROW),
    "permissions": Scene(play=permissions, size=NARROW),
    "themes": Scene(play=themes),
}


@pytest.mark.parametrize("name", SCENES)
async def test_the_screen_looks_as_it_did(tmp_path: Path, name: str) -> None:
    scene, file = SCENES[name], PICTURES / f"{name}.svg"
    folder = tmp_path / "shopcart"
    folder.mkdir()
    settings = UiSettings(theme=scene.theme, glyphs=scene.glyphs or "unicode", reduced_motion=True)
    async with workspace(
        folder, size=scene.size, settings=settings, clock=lambda: 100.0, **scene.options
    ) as driver:
        await scene.play(driver)
        if os.environ.get("KEEN_SNAPSHOTS") == "take":
            file.write_text(await settled(driver))
        same = await settles_as(driver, file.read_text())
    assert same, f"{file.name} differs: `make snapshots` takes it anew; look at it"


async def settles_as(driver: Driver, wanted: str) -> bool:
    """Whether it stops changing as that picture, on a busy machine perhaps after a rest on the way."""
    seen: list[str] = []
    try:
        await until(lambda: rests(seen) and seen[-1] == wanted, moment=lambda: look(driver, seen))
    except TimeoutError:
        return False
    return True


async def settled(driver: Driver) -> str:
    """The picture once it has stopped changing."""
    seen: list[str] = []
    await until(lambda: rests(seen), moment=lambda: look(driver, seen))
    return seen[-1]


async def look(driver: Driver, seen: list[str]) -> None:
    """Take one more picture."""
    await driver.pilot.pause(0.05)
    seen[:] = [*seen[1 - LOOKS :], picture(driver.app)]


def rests(seen: Sequence[str]) -> bool:
    """Whether the newest pictures are all the same."""
    return len(seen) == LOOKS and len(set(seen)) == 1
