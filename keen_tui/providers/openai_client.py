"""The openai SDK as both of its APIs use it: made late, never retrying, never led to another host."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from keen_tui.errors import RequestRefused
from keen_tui.providers.base import StepRequest
from keen_tui.providers.event_reader import EventReader
from keen_tui.providers.http_provider import HttpProvider

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"


class OpenAIProvider(HttpProvider):
    """A provider that speaks through the openai SDK.

    Some servers refuse options, so each API names those it can do without: a server that refused one is
    asked without it from then on.
    """

    _sdk: AsyncOpenAI | None = None
    _options: set[str]

    async def close(self) -> None:
        """Close connections. A later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    @abstractmethod
    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        """Send the request with the options that are left."""

    def _refused(self, refusal: str) -> set[str]:
        """The options that the words of a refusal are about."""
        return {name for name in self._options if name in refusal}

    async def _open(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        """Send the request, again without an option that the server says it does not take."""
        while True:
            try:
                return await self._send(stack, request)
            except Exception as error:
                refusal = self._errors.translated(error, in_body=False)
                refused = self._options & self._refused(str(refusal))
                if not (isinstance(refusal, RequestRefused) and refused):
                    raise
                self._options -= refused

    async def _reader(
        self, stack: AsyncExitStack, sending: AbstractAsyncContextManager[AsyncAPIResponse[Any]]
    ) -> EventReader:
        response = await stack.enter_async_context(sending)
        return EventReader(response.iter_bytes(), response.headers.get("content-type", ""), self.server)

    def _client(self) -> AsyncOpenAI:
        if self._sdk is None:
            self._sdk = self._connected(self._checked_key())
        return self._sdk

    def _connected(self, key: str) -> AsyncOpenAI:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

        return AsyncOpenAI(
            api_key=key or "none",  # the SDK wants one, even when none is sent
            base_url=self.connection.base_url,
            max_retries=0,
            timeout=self._timeout,
            http_client=DefaultAsyncHttpxClient(
                timeout=self._timeout,
                follow_redirects=False,  # a redirect could carry the key to another host
                trust_env=self._trusts_environment,
            ),
        )

    def _without_key(self) -> dict[str, Any]:
        """Options that keep the SDK from sending a key where there is none."""
        from openai import Omit  # noqa: PLC0415

        return {} if self._key else {"extra_headers": {"Authorization": Omit()}}
