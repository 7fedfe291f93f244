"""A client for the conformance suite of the Model Context Protocol, which needs node 22 or newer:

    npx @modelcontextprotocol/conformance client --scenario tools_call \\
        --command ".venv/bin/python -m tests.campaigns.conformance"

`--suite auth` in place of `--scenario` runs all scenarios about signing in. The suite adds the address of its
server to the command. The client connects as a session does, signs in as the user does, and calls each tool.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx2

from keen_tui.domain.errors import ServerFailed
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.calls.question_spec import QuestionReply, QuestionSpec
from keen_tui.tools.mcp.elicitation import Asking
from keen_tui.tools.mcp.login import LoginPage, sign_in
from keen_tui.tools.mcp.server import ServerCall, ServerConnection, ServerNeeds
from keen_tui.tools.mcp.sign_ins import SignIns
from keen_tui.tools.sandbox.probe import no_sandbox
from tests.support.keyrings import no_system_keyring
from tests.support.waiting import until

_VALUES: Final[dict[str, Any]] = {"number": 2, "integer": 2, "string": "x", "boolean": True}
_MOST_SIGN_INS: Final = 4


class Client:
    """One connection to the suite's server."""

    def __init__(self, server: McpServer, folder: Path) -> None:
        self._server = server
        self._sign_ins = SignIns(folder)
        self._visits: set[asyncio.Task[None]] = set()
        needs = ServerNeeds(root=folder, sandbox=no_sandbox(), auth=self._sign_ins.auth)
        self._connection = ServerConnection(server, needs, lambda: None, print)

    async def run(self) -> None:
        """Connect and call every tool; sign in as often as the server wants it. Raises ServerFailed."""
        self._connection.start()
        try:
            for _ in range(_MOST_SIGN_INS):
                await self._connection.settled()
                if self._connection.state == "sign-in" or not await self._called_all():
                    await sign_in(self._server, self._sign_ins, self._agree, seconds=20)
                    await self._connection.restart()
                else:
                    return
            raise ServerFailed("it wants sign-ins for ever")
        finally:
            await self._connection.stop()

    async def _called_all(self) -> bool:
        """Call each tool; False if a sign-in is needed for that."""
        await self._connection.link()
        for tool in self._connection.tools:
            fields = tool.get("inputSchema", {}).get("properties", {})
            arguments = {name: _VALUES.get(str(each.get("type")), 1) for name, each in fields.items()}
            asking = Asking(self._server.name, TimeLimit(self._server.tool_timeout))
            asking.person = _default
            self._connection.calls.append(ServerCall(asking, print))
            try:
                print(await self._connection.call(str(tool["name"]), arguments, lambda *_: None))
            except ServerFailed:
                await until(lambda: self._connection.state in ("sign-in", "failed"))
                if self._connection.state != "sign-in":
                    raise
                return False
        return True

    def _agree(self, page: LoginPage) -> None:
        visit = asyncio.create_task(_visit(page.url))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)


async def _visit(url: str) -> None:
    """A person who agrees: the suite's page sends the browser back at once."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        await browser.get(url)


async def _default(spec: QuestionSpec) -> QuestionReply:
    """The last answer of a field is the server's default."""
    return QuestionReply(choice=len(spec.choices) - 1)


async def _run(url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    server = McpServer(
        name="suite",
        transport="http",
        url=url,
        oauth_client_id=context.get("client_id", ""),
        oauth_client_secret=context.get("client_secret", ""),
    )
    with no_system_keyring(), tempfile.TemporaryDirectory() as folder:
        await Client(server, Path(folder)).run()


if __name__ == "__main__":
    try:
        asyncio.run(_run(sys.argv[1]))
    except ServerFailed as error:
        sys.exit(str(error))
