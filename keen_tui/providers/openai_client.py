"""The openai SDK as both of its APIs use it: made late, never retrying, never led to another host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keen_tui.providers.http_provider import HttpProvider

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"


class OpenAIProvider(HttpProvider):
    """A provider that speaks through the openai SDK."""

    _sdk: AsyncOpenAI | None = None

    async def close(self) -> None:
        """Close connections. A later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

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

    @staticmethod
    def _unchecked(body: dict[str, Any], name: str) -> dict[str, Any]:
        """The body as arguments that have the SDK send the list `name` as it is.

        The SDK would take each message apart by its types: half a second in a long session, in which no key
        is answered.
        """
        return body | {name: [], "extra_body": {name: body[name]}}

    def _without_key(self) -> dict[str, Any]:
        """Options that keep the SDK from sending a key where there is none."""
        from openai import Omit  # noqa: PLC0415

        return {} if self._key else {"extra_headers": {"Authorization": Omit()}}
