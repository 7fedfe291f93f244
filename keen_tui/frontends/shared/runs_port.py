"""The run of a session, as a front end sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from keen_tui.domain.runs import RunLimits

if TYPE_CHECKING:
    from keen_tui.agent.until.progress import RunProgress


class RunsPort(Protocol):
    """Turns that go on until a check passes."""

    @property
    def progress(self) -> RunProgress:
        """How far the newest run of the session is."""

    @property
    def is_driven(self) -> bool:
        """Whether a run is on."""

    @property
    def is_left_over(self) -> bool:
        """Whether the session has a run that was broken off by the end of its program."""

    def begin(self, check: str, limits: RunLimits, task: str = "") -> None:
        """Begin a run. Raises SessionRefused."""

    def go_on(self, limits: RunLimits | None = None) -> None:
        """Go on with the run that was broken off. Raises SessionRefused: there is none."""

    def stop(self) -> bool:
        """End the run, with what it runs. False: none is on."""

    def leave(self) -> None:
        """Drive the run no longer; another program can go on with it."""

    async def caught_up(self) -> None:
        """Wait until `follow` knows everything that was published so far."""

    async def follow(self) -> None:
        """Drive the session's runs until the session is closed."""
