"""The known providers and their models: shipped files, and files of the user that override them.

Before the first paint only the file of the chosen provider is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.providers.catalog.catalog_file import build_provider, overridden, parse
from keen_tui.system.paths import text_of

_FOLDER = Path(__file__).with_name("data")
_SHIPPED = (
    "openai",
    "anthropic",
    "google",
    "xai",
    "deepseek",
    "moonshot",
    "mistral",
    "openrouter",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
)
"""The shipped files, in the order in which providers are shown and searched. Providers of the user follow."""

_DATED = re.compile(r"(.+?)[-@](?:\d{8}|\d{4}-\d{2}-\d{2})")
_ROUTED = re.compile(r"(.+):(?:free|batch|nitro|floor|online|exacto|extended)")
"""Variants of a model at OpenRouter. Their prices and limits may differ."""


class Catalog:
    """All providers and models that are known. `providers` is in the order in which they are shown."""

    def __init__(self, entries: Mapping[str, _Entry]) -> None:
        self._entries = entries
        self.providers: Mapping[str, ProviderInfo] = _Providers(entries)

    def provider(self, id: str) -> ProviderInfo | None:
        """The provider with that id, or None."""
        return self.providers.get(id)

    def model(self, provider_id: str, model_id: str) -> ModelInfo:
        """The known facts about a provider's model; for an unknown model only its id and its provider.

        A dated variant gets the values of its base model. Raises KeyError for an unknown provider.
        """
        known = self._known(provider_id, model_id)
        return known or ModelInfo(provider=provider_id, id=model_id, api=self.providers[provider_id].api)

    def find(self, model_id: str) -> ModelInfo | None:
        """The model with that id, from the first provider that has it, or None.

        "anthropic/claude-x" names provider and model, unless only a router has a model with that whole name.
        """
        provider_id, _, rest = model_id.partition("/")
        named = bool(rest) and provider_id in self._entries
        if named and (known := self._known(provider_id, rest)):
            return known
        for each in self._entries:
            if known := self._known(each, model_id):
                return known
        return self.model(provider_id, rest) if named else None

    def _known(self, provider_id: str, model_id: str) -> ModelInfo | None:
        entry = self._entries.get(provider_id)
        if entry is None:
            return None
        if known := entry.model(model_id):
            return known
        dated, routed = _DATED.fullmatch(model_id), _ROUTED.fullmatch(model_id)
        if dated and (base := entry.model(dated[1])):
            return replace(base, id=model_id, name="")
        if routed and (base := entry.model(routed[1])):
            return replace(base, id=model_id, name="", price=None, context_window=None, output_limit=None)
        return None


class _Entry:
    """A provider, built on first use. `changes` comes from the user's files."""

    def __init__(self, shipped: Path | None) -> None:
        self._shipped = shipped
        self._text: str | None = None
        self._provider: ProviderInfo | None = None
        self._changes: dict[str, Any] = {}
        self._file = str(shipped)

    def change(self, changes: Mapping[str, Any], file: Path) -> None:
        """Override it with a checked file of the user."""
        self._changes = overridden(self._changes, changes)
        self._file = str(file)
        self._provider = None

    @property
    def provider(self) -> ProviderInfo:
        """The provider. Raises ConfigError if something is missing."""
        if self._provider is None:
            table = parse(self._read(), str(self._shipped))
            self._provider = build_provider(overridden(table, self._changes), self._file)
        return self._provider

    def model(self, id: str) -> ModelInfo | None:
        """The model with exactly that id. A file that doesn't mention the id isn't parsed."""
        if id not in self._read() and id not in self._changes.get("models", ()):
            return None
        return next((each for each in self.provider.models if each.id == id), None)

    def _read(self) -> str:
        if self._text is None:
            self._text = self._shipped.read_text("utf-8") if self._shipped else ""
        return self._text


class _Providers(Mapping[str, ProviderInfo]):
    def __init__(self, entries: Mapping[str, _Entry]) -> None:
        self._entries = entries

    def __getitem__(self, id: str) -> ProviderInfo:
        return self._entries[id].provider

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def load_catalog(user_folder: Path | None) -> Catalog:
    """The shipped catalogue, overridden by the user's files.

    Each *.toml in `user_folder` adds a provider. If its id (or file name) is that of a known provider, it
    replaces single fields of that provider and of its models.

    Raises:
        ConfigError: a file of the user is wrong; the message names the file, the key, and what to do.
    """
    entries = {id: _Entry(_FOLDER / f"{id}.toml") for id in _SHIPPED}
    for path in sorted(user_folder.glob("*.toml")) if user_folder else ():
        changes = {"id": path.stem} | parse(_text_of(path), str(path))
        entry = entries.setdefault(changes["id"], _Entry(None))
        entry.change(changes, path)
        _ = entry.provider  # reports missing fields now
    return Catalog(entries)


def _text_of(path: Path) -> str:
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8 text"
        raise ConfigError(f"{path} can't be read: {reason}. Fix it, or remove it from the folder.") from error
