"""The openai SDK as both of its APIs use it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.http_provider import HttpProvider, reader_of
from keen_tui.providers.wire.key_headers import only_key
from keen_tui.providers.wire.lazy_packages import lazy_packages
from keen_tui.providers.wire.provider import StepRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIProvider(HttpProvider):
    """A provider that uses the openai SDK."""

    _sdk: AsyncOpenAI | None = None

    async def close(self) -> None:
        """Close connections. A later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    def _client(self) -> AsyncOpenAI:
        if isinstance(self._lender, OpenAIProvider):
            return self._lender._client()
        if self._sdk is not None:
            return self._sdk
        self._check_key()
        certificates = self._certificates()
        with lazy_packages("openai"):
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

        self._sdk = AsyncOpenAI(
            api_key="none",  # the SDK demands one; each request has its own headers instead
            base_url=self.connection.base_url,
            max_retries=0,  # Keen's own are shown, and can be stopped
            timeout=self._timeout,
            http_client=DefaultAsyncHttpxClient(
                timeout=self._timeout,
                follow_redirects=False,  # a redirect could carry the key to another host
                trust_env=self._trusts_environment,
                verify=certificates.result(),
            ),
        )
        return self._sdk

    async def _posted(self, stack: AsyncExitStack, path: str, request: StepRequest) -> EventReader:
        """Post the request as encoded here: the SDK would validate each message and encode all of them again,
        on the event loop."""
        client, data = self._client(), await asyncio.to_thread(self.encoded, request)
        from openai import AsyncStream, Omit  # noqa: PLC0415 - once there is a client

        sending = client.post(
            path,
            content=data,
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
            options={"headers": only_key(self.api, self.connection.base_url, self._key, Omit())},
        )
        return await reader_of(stack, sending, self.server)
