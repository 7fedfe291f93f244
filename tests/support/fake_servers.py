"""MCP servers that only say what they are, and what they are told to do."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.servers import PromptArgument, ServerPrompt, ServerReport, ServerToolReport

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
        reason="the server wants you to sign in",
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


class FakeServers:
    """Holds reports, and notes what was done."""

    def __init__(self, *reports: ServerReport) -> None:
        self.reports = list(reports or SERVERS)
        self.answers = asyncio.Event()
        """Set when prompts are filled in."""
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

    async def restart(self, name: str) -> str:
        return self._note("restart", name)

    async def stop(self, name: str) -> str:
        at = next((at for at, each in enumerate(self.reports) if each.name == name), None)
        if at is not None:
            self.reports[at] = replace(self.reports[at], state="stopped", tools=())
        return self._note("stop", name)

    async def login(self, name: str) -> str:
        return self._note("login", name)

    def _note(self, verb: str, name: str) -> str:
        if name not in (report.name for report in self.reports):
            raise SessionRefused(f"There is no MCP server {name}.")
        self.done.append(f"{verb} {name}")
        return f"The server {name}: {verb}."
