"""What reviews are made of in tests: findings, and scripts that report them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, RecordedRequest, Reply, Say
from tests.support.program import Program, Run


def finding(file: str = "a.txt", line: int = 1, priority: str = "P1", **more: Any) -> dict[str, Any]:
    """A finding as a model reports it."""
    return {
        "priority": priority,
        "title": "The line is wrong",
        "reason": "It says two where it should say one.",
        "file": file,
        "first_line": line,
        "last_line": line,
        "confidence": 0.9,
        **more,
    }


def reporting(*findings: dict[str, Any], summary: str = "One line changed.") -> list[Reply]:
    """A model that reports these findings and ends its turn."""
    call = Call("report_findings", {"findings": list(findings), "summary": summary})
    return [Reply([call]), Reply([Say("Done.")])]


class Reviewer(Program):
    """The program in a repository; `requests` are those of the last review."""

    requests: Sequence[RecordedRequest] = ()

    async def review(self, script: Sequence[Answer], *flags: str, **environ: str) -> Run:
        async with ModelServer(script) as server:
            given = ("review", "--base-url", server.base_url, "--model", "scripted", *flags)
            run = await self.run(*given, **environ)
            self.requests = tuple(server.requests)
            return run

    @property
    def message(self) -> str:
        """The message of the first request."""
        messages: list[dict[str, Any]] = self.requests[0].body["messages"]
        return str(messages[-1]["content"])

    @property
    def system(self) -> str:
        """The system prompt of the first request."""
        return str(self.requests[0].body["messages"][0]["content"])
