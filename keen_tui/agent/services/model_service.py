"""The choice among models, for a front end: what there is, which is in use, and the switch to another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from keen_tui.agent.session import Session
from keen_tui.domain.errors import ConfigError, ReplyUnreadable, SessionRefused
from keen_tui.domain.models import FoundServer, ModelInfo, ProviderInfo
from keen_tui.providers.catalog.addresses import base_urls
from keen_tui.providers.catalog.choice import Chooser, ModelChoice, needs_no_key
from keen_tui.providers.catalog.servers import NoModelList, check_connection, find_local_servers, list_models
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Provider
from keen_tui.providers.wire.sdk_errors import host_and_port
from keen_tui.settings.credentials import FoundKey, checked_key
from keen_tui.settings.file import remember
from keen_tui.settings.schema import Settings

_REMEMBERED = ("provider", "model", "effort", "api", "base_url", "api_key_env")
"""The settings that a choice is remembered in."""
_ENTERED = "your entry"


class ModelService:
    """Knows the models, and hands the session the one that is chosen.

    Args:
        choice: the model that the session began with, None when there was none.
        environ: where the settings file is found, to remember choices in.
    """

    def __init__(
        self,
        session: Session,
        chooser: Chooser,
        settings: Settings,
        choice: ModelChoice | None,
        environ: Mapping[str, str],
    ) -> None:
        self._session = session
        self._chooser = chooser
        self._settings = settings
        self._choice = choice
        self._environ = environ
        self._servers: dict[str, ProviderInfo] = {}
        if choice and choice.provider.by_address:
            self._servers[choice.provider.id] = choice.provider
        self._of_settings = frozenset(self._servers)

    @property
    def current(self) -> ModelInfo | None:
        """The model in use, None while none is chosen."""
        return self._choice.model if self._choice else None

    @property
    def effort(self) -> str:
        """Its reasoning effort, "" for its own default."""
        return self._choice.effort if self._choice else ""

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """All providers; servers that the user named by their addresses come first."""
        return (*self._servers.values(), *self._chooser.catalog.providers.values())

    def key_source(self, provider: ProviderInfo) -> str | None:
        """Where the provider's key is, "" where none is needed, None when there is none."""
        try:
            source = self._chooser.key_source(provider)
        except ConfigError:  # it is told when the provider is chosen
            source = None
        return source or ("" if needs_no_key(provider) else None)

    async def find_servers(self) -> tuple[FoundServer, ...]:
        """The model servers that answer on this machine. Takes up to a second; never raises."""
        local = [provider for provider in self.providers if provider.local]
        return await find_local_servers(local, self._chooser.catalog)

    async def live_models(self, provider: ProviderInfo) -> tuple[ModelInfo, ...]:
        """The models that the provider's server lists now. Raises ProviderError."""
        key = self._chooser.key_for(provider)
        return await list_models(provider, key, self._chooser.catalog)

    async def find_server(self, address: str, key: str = "") -> FoundServer:
        """The server at that address with the models it lists; `providers` has it from now on. It may list
        none, or have no list (`unlisted`). `key` "" is the one that is known for the address, if any.

        Raises:
            ConfigError: that is no address, or no key.
            AuthFailed: it wants a key, or another one.
            ProviderError: it doesn't answer, or is no model server.
        """
        entered = FoundKey(value=checked_key(key.strip(), "you entered"), source=_ENTERED) if key else None
        providers = [self._chooser.server(url) for url in base_urls(address)]
        page: ReplyUnreadable | None = None
        missing: list[NoModelList] = []
        for provider in providers:
            try:
                key_of_it = entered or self._chooser.key_for(provider)
                return self._found(provider, await list_models(provider, key_of_it, self._chooser.catalog))
            except NoModelList as error:
                missing.append(error)
            except ReplyUnreadable as error:
                page = page or error
        if page:
            raise page
        asked = (url for error in missing for url in error.asked)
        return self._found(providers[-1], (), str(NoModelList(missing[0].server, *asked)))

    def _found(
        self, provider: ProviderInfo, models: tuple[ModelInfo, ...], unlisted: str = ""
    ) -> FoundServer:
        if provider.by_address:
            self._servers[provider.id] = provider
        address = host_and_port(provider.base_url)[1]
        return FoundServer(provider=provider, address=address, models=models, unlisted=unlisted)

    async def check(self, model: ModelInfo | None = None) -> str:
        """One sentence about the server of that model, or of the one in use. Raises KeenError."""
        choice = self._made(model, "") if model else self._choice
        if choice is None:
            raise SessionRefused("No model is chosen yet.")
        return await check_connection(choice.provider, choice.model, choice.key)

    def would_abandon(self, model: ModelInfo) -> bool:
        """Whether choosing this model would lose the incomplete turn. Raises KeenError without a key."""
        return self._session.would_abandon(self._provider(self._made(model, "")))

    def choose(self, model: ModelInfo, *, effort: str = "", abandon: bool = False) -> str:
        """Use this model from the next turn on and remember it; gives a sentence about that.

        Raises:
            KeenError: a turn runs, pending work would be lost, there is no key, or the choice can't be saved.
        """
        settings = self._settings_for(model, effort)
        choice = self._made(model, effort)
        self._session.switch(self._provider(choice), choice.model, abandon=abandon)
        self._choice = choice
        self._session.warm_up()
        return f"{choice.model.title} is now in use. Saved in {self._remember(settings)}."

    async def key_destination(self) -> str:
        """Where a key that is entered now will be kept: the system keyring, or the path of a file."""
        return await asyncio.to_thread(self._chooser.keys.destination)

    async def keep_key(self, provider: ProviderInfo, key: str) -> str:
        """Keep the key and say where. Raises ConfigError; the key is in no message."""
        where = await asyncio.to_thread(self._chooser.keys.save, provider.id, key)
        return f"Saved in {where}."

    def _made(self, model: ModelInfo, effort: str) -> ModelChoice:
        """The choice of that model, with what its server says of it."""
        choice = self._chooser.choice(self._settings_for(model, effort))
        return replace(choice, model=model)

    def _settings_for(self, model: ModelInfo, effort: str) -> Settings:
        if model.provider in self._of_settings:
            return self._settings._replace(base_url=model.provider, model=model.id, effort=effort)
        by_address = model.provider in self._servers
        return self._settings._replace(
            provider="" if by_address else model.provider,
            model=model.id,
            effort=effort,
            api="",
            base_url=model.provider if by_address else "",
            api_key_env="",
            context_window=0,
        )

    def _provider(self, choice: ModelChoice) -> Provider:
        settings = self._settings
        connection = choice.connection(settings.stall_seconds, searches=settings.web_search)
        return build_provider(choice.model.api, connection)

    def _remember(self, settings: Settings) -> str:
        return str(remember({name: getattr(settings, name) for name in _REMEMBERED}, self._environ))
