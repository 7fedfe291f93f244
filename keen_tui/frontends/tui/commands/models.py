"""The pages about models: first start, picker, keys, servers."""

from __future__ import annotations

from functools import partial

from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.frontends.shared.commands.models import use
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.commands.command_runner import CommandRunner
from keen_tui.frontends.tui.pages.models.values import (
    Beginning,
    FromProvider,
    KeyKept,
    Picked,
    ServerFound,
    WantsKey,
    WantsServer,
)
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class ModelPages:
    """Opens the pages about models and acts on the choice."""

    def __init__(self, view: WorkspaceView, commands: CommandRunner) -> None:
        self._view = view
        self._commands = commands
        self._picks = commands.context.setup.picks_model

    @property
    def lacks_model(self) -> bool:
        """Whether a model has to be chosen before a message can be sent."""
        return self._commands.context.lacks_model

    def begin(self) -> None:
        """If no model is chosen yet, offer the available ones. After the tour, open the picker once in any
        case."""
        models, picks = self._commands.context.setup.models, self._picks
        self._picks = False
        if models is None or models.current is not None:
            if models and picks:
                self.pick(models)
            return
        from keen_tui.frontends.tui.pages.models.start import StartScreen  # noqa: PLC0415 - not before the first paint

        page = StartScreen(self._view.look, self._view.glyphs, models, reason=self._written_before())
        self._view.open_page(page, partial(self._begun, models))

    def _written_before(self) -> str:
        """Returns the page's sentence about the text in the composer, which it hides. A number that was typed
        before the page was shown was meant for the page, so it leaves the composer; otherwise the first
        message would begin with it."""
        prompt = self._view.prompt
        if prompt.written.strip().isdecimal():
            prompt.put_away()
        return "Your message waits in the composer until you choose." if prompt.written.strip() else ""

    def pick(self, models: ModelsPort, only: str = "", sentence: str = "", words: str = "") -> None:
        """Open the model picker, with the models of one provider or of all, at first those that fit the
        words."""
        from keen_tui.frontends.tui.pages.models.picker import ModelPicker  # noqa: PLC0415 - not before the first paint

        page = ModelPicker(
            self._view.look, self._view.glyphs, models, only=only, sentence=sentence, words=words
        )
        self._view.open_page(page, partial(self._picked, models))

    def enter_key(self, models: ModelsPort, provider: ProviderInfo | None = None) -> None:
        """Ask for an API key."""
        from keen_tui.frontends.tui.pages.models.key_entry import KeyEntry  # noqa: PLC0415 - not before the first paint

        page = KeyEntry(self._view.look, self._view.glyphs, models, provider)
        self._view.open_page(page, partial(self._provider_added, models))

    def name_server(self, models: ModelsPort, address: str = "") -> None:
        """Ask for the address of a model server, or ask the server at that address."""
        from keen_tui.frontends.tui.pages.models.server_entry import ServerEntry  # noqa: PLC0415 - not before the first paint

        page = ServerEntry(self._view.look, self._view.glyphs, models, address)
        self._view.open_page(page, partial(self._provider_added, models))

    async def _begun(self, models: ModelsPort, beginning: Beginning | None) -> None:
        match beginning:
            case ModelInfo():
                await self._use(Picked(beginning, ""))
            case FromProvider(provider):
                self.pick(models, provider.id)
            case "key":
                self.enter_key(models)
            case "server":
                self.name_server(models)
            case "demo":
                self._view.app.exit("demo")

    async def _picked(self, models: ModelsPort, picked: Picked | WantsKey | WantsServer | None) -> None:
        match picked:
            case Picked():
                await self._use(picked)
            case WantsKey(provider):
                self.enter_key(models, provider)
            case WantsServer(address):
                self.name_server(models, address)
            case None:
                self.begin()

    def _provider_added(self, models: ModelsPort, added: KeyKept | ServerFound | None) -> None:
        if added:
            self.pick(models, added.provider.id, added.sentence)
        else:
            self.begin()

    async def _use(self, picked: Picked) -> None:
        await self._commands.attempt(use(self._commands.context, picked.model, picked.effort))
