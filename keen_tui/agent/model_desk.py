"""The choice among models, for a front end: what there is, which is in use, and the switch to another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from keen_tui.agent.session import Session
from keen_tui.config import Settings
from keen_tui.errors import ConfigError, SessionRefused
from keen_tui.models import FoundServer, ModelInfo, ProviderInfo
from keen_tui.providers.base import Provider
from keen_tui.providers.choice import CUSTOM, Choice, Chooser, needs_no_key
from keen_tui.providers.registry import build_provider
from keen_tui.providers.servers import check_connection, find_local_servers, list_models
from keen_tui.settings_file import remember


class ModelDesk:
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
        choice: Choice | None,
        environ: Mapping[str, str],
    ) -> None:
        self._session = session
        self._chooser = chooser
        self._settings = settings
        self._choice = choice
        self._environ = environ

    @property
    def current(self) -> ModelInfo | None:
        """The model in use, None while none is chosen."""
        return self._choice.model if self._choice else None

    @property
    def effort(self) -> str:
        """How hard it shall reason, "" for its own default."""
        return self._choice.effort if self._choice else ""

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """All providers; the one behind a base URL of the user's own comes first."""
        known = tuple(self._chooser.catalog.providers.values())
        if self._choice and self._choice.provider.id == CUSTOM:
            return (self._choice.provider, *known)
        return known

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
            KeenError: a turn runs, pending work would be lost unasked, no key, or it can't be remembered.
        """
        choice = self._made(model, effort)
        self._session.switch(self._provider(choice), choice.model, abandon=abandon)
        self._choice = choice
        self._session.warm_up()
        return f"{choice.model.title} answers from now on. Remembered in {self._remember(choice)}."

    async def key_destination(self) -> str:
        """Where a key that is entered now will be kept: the system keyring, or the path of a file."""
        return await asyncio.to_thread(self._chooser.keys.destination)

    async def keep_key(self, provider: ProviderInfo, key: str) -> str:
        """Keep the key and say where. Raises ConfigError; the key is in no message."""
        where = await asyncio.to_thread(self._chooser.keys.save, provider.id, key)
        return f"Kept in {where}."

    def _made(self, model: ModelInfo, effort: str) -> Choice:
        """The choice of that model, with what its server says of it."""
        choice = self._chooser.choice(self._settings_for(model, effort))
        return replace(choice, model=model)

    def _settings_for(self, model: ModelInfo, effort: str) -> Settings:
        if model.provider == CUSTOM:
            return replace(self._settings, model=model.id, effort=effort)
        return replace(
            self._settings,
            provider=model.provider,
            model=model.id,
            effort=effort,
            api="",
            base_url="",
            api_key_env="",
            context_window=0,
        )

    def _provider(self, choice: Choice) -> Provider:
        return build_provider(choice.model.api, choice.connection(self._settings.stall_seconds))

    def _remember(self, choice: Choice) -> str:
        changes = {"model": choice.model.id, "effort": choice.effort}
        if choice.provider.id != CUSTOM:
            changes |= {"provider": choice.provider.id, "api": "", "base_url": "", "api_key_env": ""}
        return str(remember(changes, self._environ))
