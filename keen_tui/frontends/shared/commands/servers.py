"""The command about MCP servers: shows them with their tools and logs, signs in to them, restarts and
stops them."""

from __future__ import annotations

from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept
from keen_tui.frontends.shared.server_words import asking

NO_SERVERS = "No MCP servers are configured. keen-tui mcp add adds one; docs/guide/mcp.md explains how."


async def mcp(context: CommandContext, words: str) -> None:
    """Show all servers, or one; sign in to one, restart or stop it."""
    from keen_tui.frontends.shared.pages import McpPage, SignInPage

    port = kept(context.setup.servers, NO_SERVERS)
    verb, _, name = words.partition(" ")
    name = name.strip()
    if verb in ("login", "restart", "stop") and not name:
        raise WordsRefused(f"Name the server: /mcp {verb} NAME.")
    if verb == "login":
        context.ui.say(asking(name))
        sign_in = await port.login(name)
        context.ui.say("")
        await context.ui.show(SignInPage(sign_in))
        return
    if verb in ("restart", "stop"):
        context.ui.say(await (port.restart(name) if verb == "restart" else port.stop(name)))
        return
    if words and words not in (report.name for report in port.servers()):
        raise WordsRefused(f"There is no MCP server {words}. /mcp lists the servers.")
    await context.ui.show(McpPage(port, words))


MCP = Command(
    id="mcp",
    keys=(),
    label="MCP servers",
    slash=("mcp",),
    takes="[NAME|login NAME|restart NAME|stop NAME]",
    help="shows the MCP servers with their tools and logs; signs in to one, restarts or stops it",
    does=mcp,
)
COMMANDS = (MCP,)
