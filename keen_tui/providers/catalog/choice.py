"""From settings to a usable model: its provider, its server and the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.choices import Api
from keen_tui.domain.errors import ConfigError, ModelMissing
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.providers.catalog.catalog import Catalog
from keen_tui.providers.wire.provider import Connection
from keen_tui.settings.config import URL_VARIABLES, is_loopback
from keen_tui.settings.credentials import FoundKey, Keys, checked_key
from keen_tui.settings.schema import Settings
from keen_tui.text.nearest import either


class ModelChoice(Struct, frozen=True, kw_only=True):
    """A model to use. `model.api` is the protocol, `provider.base_url` the server; `key` is None if there is
    none."""

    provider: ProviderInfo
    model: ModelInfo
    effort: str = ""
    key: FoundKey | None = None

    def connection(self, stall_seconds: float, *, searches: bool = False) -> Connection:
        """The connection for this model; see `Connection` for what is given."""
        return Connection(
            model=self.model.id,
            base_url=self.provider.base_url,
            api_key=self.key.value if self.key else "",
            key_source=self.key.source if self.key else " or ".join(self.provider.key_variables),
            effort=self.effort,
            output_limit=self.model.output_limit,
            reasons=self.model.reasons,
            takes_images=self.model.takes_images,
            stall_seconds=stall_seconds,
            searches=searches,
        )


class Chooser:
    """Chooses models from the settings, the catalogue, the environment and the saved keys."""

    def __init__(self, catalog: Catalog, keys: Keys, environ: Mapping[str, str]) -> None:
        self.catalog = catalog
        self.keys = keys
        self._environ = environ

    def choice(self, settings: Settings, key: FoundKey | None = None) -> ModelChoice:
        """The model that the settings name. `key` is its key if that was given, None to look for one.

        Raises:
            ModelMissing: no model is named, or its key is missing; the message says what to do.
            ConfigError: the provider is unknown.
        """
        if not settings.model:
            raise ModelMissing(
                "No model is chosen. Choose one in the program, or name one with --model NAME "
                '(or model = "NAME" in the settings file).'
            )
        provider = self.provider(settings)
        model = self._model(settings, provider)
        key = key or self._key(settings, provider)
        if key is None and not needs_no_key(provider):
            raise ModelMissing(_no_key(settings, provider))
        if settings.effort and model.efforts and settings.effort not in model.efforts:
            raise ConfigError(
                f"{model.title} doesn't support effort {settings.effort!r}; choose {either(model.efforts)}."
            )
        return ModelChoice(provider=provider, model=model, effort=settings.effort, key=key)

    def provider(self, settings: Settings) -> ProviderInfo:
        """The provider of the model in the settings, at the base URL in the settings.

        Raises ConfigError if the settings name an unknown provider.
        """
        known = self._known_provider(settings)
        variable = URL_VARIABLES.get(known.id, "")
        url = settings.base_url or self._environ.get(variable, "") or known.base_url
        if url.rstrip("/") == known.base_url.rstrip("/"):
            return known
        if settings.provider or known.api != "openai-responses":
            return replace(known, base_url=url, api=settings.api or known.api)
        return _by_address(known, url, settings.api)

    def server(self, base_url: str) -> ProviderInfo:
        """The provider with that base URL, from the catalogue if it has one, else a server named by its
        address."""
        providers = self.catalog.providers
        known = (each for each in providers.values() if each.base_url.rstrip("/") == base_url)
        return next(known, None) or _by_address(providers["openai"], base_url, "")

    def key_for(self, provider: ProviderInfo) -> FoundKey | None:
        """The provider's key. A key that was entered is sent only to the address that it was entered for.

        Raises ConfigError if the text that was found can't be a key.
        """
        return self.keys.find(provider) if self.key_source(provider) else None

    def key_source(self, provider: ProviderInfo) -> str | None:
        """Where that key is, in words, or None if there is none. Asks no keyring. Raises ConfigError."""
        source = self.keys.where(provider)
        known = self.catalog.provider(provider.id)
        moved = not provider.by_address and (known is None or known.base_url != provider.base_url)
        return None if moved and source not in provider.key_variables else source

    def _known_provider(self, settings: Settings) -> ProviderInfo:
        if settings.provider:
            provider = self.catalog.provider(settings.provider)
            if provider is None:
                known = ", ".join(self.catalog.providers)
                raise ConfigError(f"Unknown provider {settings.provider!r}. The providers are: {known}.")
            return provider
        found = None if settings.base_url or settings.api else self.catalog.find(settings.model)
        family = found.provider if found else "anthropic" if settings.api == "anthropic" else "openai"
        return self.catalog.providers[family]

    def _model(self, settings: Settings, provider: ProviderInfo) -> ModelInfo:
        name = settings.model
        if not settings.provider and not settings.base_url:
            name = name.removeprefix(f"{provider.id}/")
        if provider.by_address:
            model = ModelInfo(provider=provider.id, id=name, api=provider.api)
        else:
            model = self.catalog.model(provider.id, name)
            if provider.base_url != self.catalog.providers[provider.id].base_url:
                model = replace(model, api=provider.api, price=None)
        if settings.api:
            model = replace(model, api=settings.api)
        return replace(model, context_window=settings.context_window or model.context_window)

    def _key(self, settings: Settings, provider: ProviderInfo) -> FoundKey | None:
        variable = settings.api_key_env
        if not variable:
            return self.key_for(provider)
        value = self._environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"The environment variable {variable}, named by api_key_env, is not set.")
        return FoundKey(value=checked_key(value, f"in {variable}"), source=variable)


def needs_no_key(provider: ProviderInfo) -> bool:
    """Whether the provider works without a key. A server named by its address says so itself if it wants
    one."""
    return not provider.key_variables or provider.by_address or is_loopback(provider.base_url)


def _no_key(settings: Settings, provider: ProviderInfo) -> str:
    variables = " or ".join((settings.api_key_env,) if settings.api_key_env else provider.key_variables)
    return f"No API key for {provider.name}: set {variables}, or enter it in the program (/key)."


def _by_address(openai: ProviderInfo, url: str, api: Api | Literal[""]) -> ProviderInfo:
    """A server that isn't in the catalogue. It gets OpenAI's key but is seldom OpenAI, and nearly all other
    servers speak Chat Completions."""
    url = url.rstrip("/")
    return replace(openai, id=url, name=_host(url), base_url=url, api=api or "openai-chat", models=())


def _host(url: str) -> str:
    return urlsplit(url).netloc or url
