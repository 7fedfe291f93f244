"""The commands about models: first start, picker, keys, the switch."""

from __future__ import annotations

from keen_tui.domain.errors import KeenError
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.pages.models.checking import tell_check
from keen_tui.frontends.tui.pages.models.values import (
    Beginning,
    FromProvider,
    KeyKept,
    Picked,
    ServerFound,
    WantsKey,
    WantsServer,
)
from keen_tui.frontends.tui.questions.confirm import switch_question
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_ONE_MODEL = "There is no other model to choose here."


class ModelPages:
    """Opens the pages about models and does what was chosen there. Imported late: none is on the way to the
    first paint."""

    def __init__(self, view: WorkspaceView, models: ModelsPort | None) -> None:
        self._view = view
        self._models = models

    @property
    def lacks_model(self) -> bool:
        """Whether a model has to be chosen before anything can be said."""
        return self._models is not None and self._models.current is None

    def begin(self, reason: str = "") -> None:
        """Offer what there is to begin with, where no model is chosen yet."""
        if self._models is None or not self.lacks_model:
            return
        from keen_tui.frontends.tui.pages.models.start import StartScreen  # noqa: PLC0415 - not before the first paint

        page = StartScreen(self._view.look, self._view.glyphs, self._models, reason=reason)
        self._view.open_page(page, self._begun)

    def choose(self) -> None:
        """Open the model picker."""
        self._pick("")

    def enter_key(self, provider: ProviderInfo | None = None) -> None:
        """Ask for an API key."""
        if self._models is None:
            self._view.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.key_entry import KeyEntry  # noqa: PLC0415 - not before the first paint

        page = KeyEntry(self._view.look, self._view.glyphs, self._models, provider)
        self._view.open_page(page, self._provider_added)

    def name_server(self, address: str = "") -> None:
        """Ask for the address of a model server, or ask the server at that address."""
        if self._models is None:
            self._view.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.server_entry import ServerEntry  # noqa: PLC0415 - not before the first paint

        page = ServerEntry(self._view.look, self._view.glyphs, self._models, address)
        self._view.open_page(page, self._provider_added)

    def check_connection(self) -> None:
        """Ask the model's server for a sign of life."""
        if self._models is None:
            self._view.say(_ONE_MODEL)
        else:
            self._view.work(tell_check(self._models, self._view.say), "check", instead=True)

    async def _begun(self, beginning: Beginning | None) -> None:
        match beginning:
            case ModelInfo():
                await self._view.start(self._switch(Picked(beginning, "")))
            case FromProvider(provider):
                self._pick(provider.id)
            case "key":
                self.enter_key()
            case "server":
                self.name_server()
            case "demo":
                self._view.app.exit("demo")

    def _pick(self, only: str, sentence: str = "") -> None:
        if self._models is None:
            self._view.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.picker import ModelPicker  # noqa: PLC0415 - not before the first paint

        page = ModelPicker(self._view.look, self._view.glyphs, self._models, only=only, sentence=sentence)
        self._view.open_page(page, self._picked)

    async def _picked(self, picked: Picked | WantsKey | WantsServer | None) -> None:
        match picked:
            case Picked():
                await self._view.start(self._switch(picked))
            case WantsKey(provider):
                self.enter_key(provider)
            case WantsServer(address):
                self.name_server(address)
            case None:
                self.begin()

    def _provider_added(self, added: KeyKept | ServerFound | None) -> None:
        if added:
            self._pick(added.provider.id, added.sentence)
        else:
            self.begin()

    async def _switch(self, picked: Picked) -> None:
        """Choose the model; where that would lose work, ask first (turn.md rule 8)."""
        view = self._view
        pending = view.session.pending
        try:
            loses = self._models is not None and self._models.would_abandon(picked.model)
        except KeenError as error:
            view.say(str(error))
            return
        if not (pending and loses and not view.session.running):
            self._use(picked, abandon=False)
            return
        choice = await view.ask(switch_question(pending, picked.model.title))
        if choice == "switch":
            self._use(picked, abandon=True)
        elif choice == "retry":
            view.attempt(lambda: view.controls.retry())

    def _use(self, picked: Picked, *, abandon: bool) -> None:
        if self._models is not None:
            try:
                self._view.say(self._models.choose(picked.model, effort=picked.effort, abandon=abandon))
            except KeenError as error:
                self._view.say(str(error))
