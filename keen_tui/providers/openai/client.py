"""The openai SDK as both of its APIs use it: created late, without retries, never redirected to another
host."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.http_provider import HttpProvider, reader_of
from keen_tui.providers.wire.lazy_packages import lazy_packages
from keen_tui.providers.wire.provider import StepRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI, RequestOptions


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
        if self._sdk is None:
            self._sdk = self._connected(self._checked_key())
        return self._sdk

    def _connected(self, key: str) -> AsyncOpenAI:
        certificates = self._certificates()
        with lazy_packages("openai"):
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

        return AsyncOpenAI(
            api_key=key or "none",  # the SDK demands one, even if none is sent
            base_url=self.connection.base_url,
            max_retries=0,
            timeout=self._timeout,
            http_client=DefaultAsyncHttpxClient(
                timeout=self._timeout,
                follow_redirects=False,  # a redirect could carry the key to another host
                trust_env=self._trusts_environment,
                verify=certificates.result(),
            ),
        )

    async def _posted(self, stack: AsyncExitStack, path: str, request: StepRequest) -> EventReader:
        """Post the request as encoded here: the SDK would validate each message and encode all of them again,
        on the event loop."""
        client, data = self._client(), await asyncio.to_thread(self.encoded, request)
        from openai import AsyncStream  # noqa: PLC0415 - once there is a client

        sending = client.post(
            path,
            content=data,
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
            options=self._key_options(),
        )
        return await reader_of(stack, sending, self.server)

    def _key_options(self) -> RequestOptions:
        """Without a key, keep the SDK from sending one."""
        from openai import Omit  # noqa: PLC0415

        options: RequestOptions = {"security": {"bearer_auth": True}}
        return options if self._key else {**options, "headers": {"Authorization": Omit()}}
