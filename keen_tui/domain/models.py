"""What is known of models and their providers. Plain values: every layer may read them."""

from __future__ import annotations

from msgspec import Struct

from keen_tui.domain.choices import Api
from keen_tui.domain.messages import TokenUsage

_MILLION = 1_000_000


class Identity(Struct, frozen=True, kw_only=True):
    """What pending state belongs to (turn.md rule 8): API, base URL and model together."""

    api: Api
    base_url: str
    model: str


class Price(Struct, frozen=True, kw_only=True):
    """Prices in US dollars per million tokens. None if the source names no price.

    `cached_input` is for input read from the prompt cache, `cache_write` for input written to it. `long` are
    the prices of all tokens of a call that has more than `long_above` input tokens.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    long_above: int = 0
    long: Price | None = None


class ModelInfo(Struct, frozen=True, kw_only=True):
    """One model of one provider. None means unknown, never a guess.

    `context_window` and `output_limit` are tokens; `efforts` are the reasoning efforts it takes, weakest
    first; `api` is its protocol; `takes_images` says whether messages may contain images.
    """

    provider: str
    id: str
    api: Api
    name: str = ""
    context_window: int | None = None
    output_limit: int | None = None
    price: Price | None = None
    reasons: bool | None = None
    efforts: tuple[str, ...] = ()
    takes_images: bool | None = None

    @property
    def title(self) -> str:
        """The name for people."""
        return self.name or self.id


class ProviderInfo(Struct, frozen=True, kw_only=True):
    """A provider of models. `key_variables` are the environment variables that may hold its key, best first;
    none for servers that need no key. `local` servers run on this machine. The id of a server that isn't in
    the catalogue is its base URL."""

    id: str
    name: str
    api: Api
    base_url: str
    key_variables: tuple[str, ...] = ()
    local: bool = False
    models: tuple[ModelInfo, ...] = ()

    @property
    def by_address(self) -> bool:
        """Whether the user named this server by its address."""
        return self.id == self.base_url


class FoundServer(Struct, frozen=True, kw_only=True):
    """A model server that answered: its address ("localhost:11434") and what it serves. If it has no list of
    models, `unlisted` is a sentence with what was asked, and what to try."""

    provider: ProviderInfo
    address: str
    models: tuple[ModelInfo, ...]
    unlisted: str = ""


def cost_of(tokens: TokenUsage, price: Price | None) -> float | None:
    """US dollars for one model call, or None if the price or the counts aren't known."""
    if price is None or tokens.input_tokens is None or tokens.output_tokens is None:
        return None
    if price.long and tokens.input_tokens > price.long_above:
        price = price.long
    cached, written = tokens.cached_tokens or 0, tokens.cache_write_tokens or 0
    if (cached and price.cached_input is None) or (written and price.cache_write is None):
        return None
    fresh = max(tokens.input_tokens - cached - written, 0)
    dollars = fresh * price.input + tokens.output_tokens * price.output
    dollars += cached * (price.cached_input or 0.0) + written * (price.cache_write or 0.0)
    return dollars / _MILLION
