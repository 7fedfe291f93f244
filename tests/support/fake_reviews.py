"""Reviews that end when a test says so."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.review import Finding, ReviewReport, ReviewScope, ReviewWish, SkippedFile

FINDINGS = (
    Finding(
        priority="P1",
        title="The discount is applied twice",
        reason="total() subtracts it already.",
        file="src/cart.py",
        first_line=3,
        last_line=4,
        confidence=0.9,
        suggestion="Leave it to total().",
    ),
    Finding(
        priority="P3",
        title="The name says nothing",
        reason="x is the price.",
        file="src/money.py",
        first_line=7,
        last_line=7,
        confidence=0.5,
    ),
)
RUNNING = ReviewReport(
    scope=ReviewScope(kind="base", title="feature compared with main", name="main"),
    root="/nowhere",
    files=("src/cart.py", "src/money.py"),
    left_out=(SkippedFile("poetry.lock", "a lock file"),),
    session_id="20261124-120000-abcdef",
    model="scripted",
    calls=2,
    newest_call="read src/cart.py",
)
DONE = replace(RUNNING, state="done", findings=FINDINGS, summary="It adds vouchers.")


class FakeReviews:
    """`wishes` are those that were begun; `root` is where the files are."""

    def __init__(self, root: str = "/nowhere") -> None:
        self.newest: ReviewReport | None = None
        self.wishes: list[ReviewWish] = []
        self._root = root
        self._over = asyncio.Event()

    @property
    def running(self) -> bool:
        return self.newest is not None and self.newest.state == "running"

    async def begin(self, wish: ReviewWish) -> None:
        if wish.name == "nowhere":
            raise ConfigError("There is no branch or commit 'nowhere' here.")
        self.wishes.append(wish)
        self.newest = replace(RUNNING, root=self._root)

    async def ended(self) -> None:
        if self.running:
            await self._over.wait()

    def stop(self) -> None:
        self.end(replace(RUNNING, state="incomplete", detail="You stopped it."))

    def end(self, report: ReviewReport = DONE) -> None:
        self.newest = replace(report, root=self._root)
        self._over.set()
