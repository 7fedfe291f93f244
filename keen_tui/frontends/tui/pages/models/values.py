"""The results of the screens about models."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from keen_tui.domain.models import ModelInfo, ProviderInfo


class Picked(Struct, frozen=True):
    """A model and its reasoning effort."""

    model: ModelInfo
    effort: str


class WantsKey(Struct, frozen=True):
    """The user wants to enter a key first, for this provider or for any."""

    provider: ProviderInfo | None


class KeyKept(Struct, frozen=True):
    """This provider's key is kept now; `sentence` says where."""

    provider: ProviderInfo
    sentence: str


class WantsServer(Struct, frozen=True):
    """A server is to be named by its address first; `address` is what was typed of it."""

    address: str = ""


class ServerFound(Struct, frozen=True):
    """This server answered; `sentence` says where its key is kept, if one was entered."""

    provider: ProviderInfo
    sentence: str


class FromProvider(Struct, frozen=True):
    """The user wants to choose one of this provider's models."""

    provider: ProviderInfo


Beginning = ModelInfo | FromProvider | Literal["key", "server", "demo"]
"""The choice at the first start."""
