"""The MCP servers of a session as front ends see them."""

from __future__ import annotations

from typing import Protocol

from keen_tui.domain.servers import ServerPrompt, ServerReport, ServerResource


class OpenSignIn(Protocol):
    """A sign-in to an MCP server that waits for the user. Whoever got it calls `ended` or `cancel`."""

    @property
    def name(self) -> str:
        """The name of the server."""

    @property
    def url(self) -> str:
        """The page where the user signs in."""

    @property
    def is_in_browser(self) -> bool:
        """Whether a browser of this machine was told to open the page."""

    def paste(self, address: str) -> None:
        """Take the address that the browser was sent to afterwards. Raises SessionRefused if it belongs to
        something else; another one can be pasted then."""

    async def ended(self) -> str:
        """Wait until the user has signed in; returns a sentence, and the server starts again. Raises
        SessionRefused: the sign-in failed."""

    def cancel(self) -> None:
        """Give the sign-in up; `ended` raises SessionRefused then."""


class ServersPort(Protocol):
    """The MCP servers of the session."""

    def servers(self) -> tuple[ServerReport, ...]:
        """All servers, in the order of the settings: at least one, and always the same ones."""

    async def restart(self, name: str) -> str:
        """Start that server again; returns a sentence. Raises SessionRefused: there is none of that name."""

    async def stop(self, name: str) -> str:
        """Stop that server; returns a sentence. Raises SessionRefused: there is none of that name."""

    async def login(self, name: str) -> OpenSignIn:
        """Begin a sign-in to that server. Returns it once the server has named its page for that, and gives
        up another one that is still open.

        Raises:
            SessionRefused: there is none of that name, it is a program, or it offers no sign-in.
        """

    def prompts(self) -> tuple[ServerPrompt, ...]:
        """The prompts of the servers that are ready."""

    async def prompt(self, command: str, words: str) -> str:
        """The text that is sent for a prompt's command. Raises SessionRefused with a sentence."""

    def with_resources(self) -> tuple[str, ...]:
        """The names of the servers that have resources, and of those that are starting. Cheap: asked for
        every letter."""

    async def resources(self, name: str) -> tuple[ServerResource, ...]:
        """The resources that a server lists, in its order; none if it isn't running. Waits for the server, up
        to 30 seconds. Never raises."""
