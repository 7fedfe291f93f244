"""What the screens about models are dismissed with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keen_tui.models import ModelInfo, ProviderInfo


@dataclass(frozen=True, slots=True)
class Picked:
    """A model and how hard it shall reason."""

    model: ModelInfo
    effort: str


@dataclass(frozen=True, slots=True)
class WantsKey:
    """A key shall be entered first, for this provider or for any."""

    provider: ProviderInfo | None


@dataclass(frozen=True, slots=True)
class KeyKept:
    """This provider's key is kept now; `sentence` says where."""

    provider: ProviderInfo
    sentence: str


@dataclass(frozen=True, slots=True)
class FromProvider:
    """One of this provider's models shall be chosen."""

    provider: ProviderInfo


Beginning = ModelInfo | FromProvider | Literal["key", "demo"]
"""What the first start leads to."""
