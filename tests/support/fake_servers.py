"""MCP servers that only say what they are, and what they are told to do."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.servers import (
    PromptArgument,
    ServerPrompt,
    ServerReport,
    ServerResource,
    ServerToolReport,
)

SERVERS = (
    ServerReport(
        name="github",
        state="ready",
        reason="",
        place="npx github-server",
        origin="project",
        tools=(
            ServerToolReport(name="mcp__github__create_issue", description="Creates an issue."),
            ServerToolReport(name="mcp__github__delete_repo", description="Deletes all.", is_used=False),
        ),
        prompts=2,
        log=("started", "info: logged in"),
        version="github 1.0",
        protocol="2025-11-25",
    ),
    ServerReport(
        name="files", state="failed", reason="the program npx isn't there", place="npx f", origin="yours"
    ),
    ServerReport(
        name="docs",
        state="sign-in",
        reason="the sign-in has ended",
        place="https://d",
        origin="yours",
    ),
)


REVIEW = ServerPrompt(
    command="mcp:github:review",
    name="review",
    description="Asks for a review.",
    arguments=(PromptArgument(name="code", is_required=True),),
)


PAGE = f"https://accounts.example/authorize?{'&'.join(f'parameter_{number}=value' for number in range(20))}"


RIGHT = "http://127.0.0.1:8/callback?code=1&state=2"
"""The address that the browser is sent to."""


class FakeSignIn:
    """A sign-in that takes one address, and notes whether it was given up."""

    def __init__(self, name: str, done: list[str]) -> None:
        self.name = name
        self.url = PAGE
        self.is_in_browser = False
        self._done = done
        self._end: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def paste(self, address: str) -> None:
        if address != RIGHT:
            raise SessionRefused("That address belongs to another sign-in.")
        self.come_back()

    def come_back(self) -> None:
        """The browser comes back here."""
        self._end.set_result(f"Signed in to {self.name}. The server starts again.")

    def fail(self) -> None:
        """The user refuses on the page."""
        self._end.set_exception(SessionRefused(f"You aren't signed in to {self.name}: refused."))

    async def ended(self) -> str:
        try:
            return await asyncio.shield(self._end)
        except asyncio.CancelledError:
            if self._end.cancelled():
                raise SessionRefused(f"The sign-in to {self.name} was cancelled.") from None
            raise

    def cancel(self) -> None:
        if self._end.cancel():
            self._done.append(f"cancel {self.name}")


RESOURCES = (
    ServerResource(uri="issues://1", title="The cart rounds wrongly"),
    ServerResource(uri="readme://main", title="README"),
    ServerResource(uri="wiki://A page.", title="A page"),
)


class FakeServers:
    """Holds reports, and notes what was done."""

    def __init__(self, *reports: ServerReport) -> None:
        self.reports = list(reports or SERVERS)
        self.answers = asyncio.Event()
        """Set when prompts are filled in."""
        self.sign_in: FakeSignIn | None = None
        self.lists = asyncio.Event()
        """Set when resources are listed."""
        self.lists.set()
        self.done: list[str] = []

    def servers(self) -> tuple[ServerReport, ...]:
        return tuple(self.reports)

    def prompts(self) -> tuple[ServerPrompt, ...]:
        is_ready = self.reports[0].state == "ready"
        return (REVIEW,) if is_ready else ()

    async def prompt(self, command: str, words: str) -> str:
        await self.answers.wait()
        if not words:
            raise SessionRefused(f"/{command} needs code.")
        return f"Review {words}"

    def with_resources(self) -> tuple[str, ...]:
        return ("github",) if self.reports[0].state == "ready" else ()

    async def resources(self, name: str) -> tuple[ServerResource, ...]:
        await self.lists.wait()
        return RESOURCES

    async def restart(self, name: str) -> str:
        return self._note("restart", name)

    async def stop(self, name: str) -> str:
        at = next((at for at, each in enumerate(self.reports) if each.name == name), None)
        if at is not None:
            self.reports[at] = replace(self.reports[at], state="stopped", tools=())
        return self._note("stop", name)

    async def login(self, name: str) -> FakeSignIn:
        self._note("login", name)
        if name != "docs":
            raise SessionRefused(f"{name} is a program: only servers with an address have a sign-in.")
        self.sign_in = FakeSignIn(name, self.done)
        return self.sign_in

    def _note(self, verb: str, name: str) -> str:
        if name not in (report.name for report in self.reports):
            raise SessionRefused(f"There is no MCP server {name}.")
        self.done.append(f"{verb} {name}")
        return f"The server {name}: {verb}."
