"""The part of the workspace that is about models: first start, picker, keys, the switch."""

from __future__ import annotations

from keen_tui.domain.errors import KeenError
from keen_tui.domain.models import ModelInfo, ProviderInfo
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
from keen_tui.frontends.tui.workspace.stage import Stage


class ModelActions(Stage):
    """Opens the screens about models and does what was chosen there. Imported late: none is on the way to
    the first paint."""

    _wanted: Picked | None = None

    @property
    def lacks_model(self) -> bool:
        """Whether a model has to be chosen before anything can be said."""
        return self.models is not None and self.models.current is None

    def begin(self, reason: str = "") -> None:
        """Offer what there is to begin with, where no model is chosen yet."""
        if self.models is None or not self.lacks_model:
            return
        from keen_tui.frontends.tui.pages.models.start import StartScreen  # noqa: PLC0415 - not before the first paint

        look, glyphs = self.status.look, self.status.glyphs
        self.app.push_screen(StartScreen(look, glyphs, self.models, reason=reason), self._begun)

    def action_models(self) -> None:
        """Open the model picker."""
        self._pick("")

    def action_enter_key(self) -> None:
        """Ask for an API key."""
        self._enter_key(None)

    def action_name_server(self, address: str = "") -> None:
        """Ask for the address of a model server, or ask the server at that address."""
        if self.models is None:
            self.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.server_entry import ServerEntry  # noqa: PLC0415 - not before the first paint

        look, glyphs = self.status.look, self.status.glyphs
        self.app.push_screen(ServerEntry(look, glyphs, self.models, address), self._provider_added)

    def action_check_connection(self) -> None:
        """Ask the model's server for a sign of life."""
        if self.models is None:
            self.say(_ONE_MODEL)
            return
        self.run_worker(tell_check(self.models, self.say), name="check", exclusive=True, group="check")

    def answer_switch(self, choice: str) -> None:
        """The answer to whether the incomplete turn shall be abandoned for another model."""
        self.close_question()
        wanted, self._wanted = self._wanted, None
        if choice == "switch" and wanted:
            self._choose(wanted, abandon=True)
        elif choice == "retry":
            self.retry()

    def _begun(self, beginning: Beginning | None) -> None:
        match beginning:
            case ModelInfo():
                self._switch(Picked(beginning, ""))
            case FromProvider(provider):
                self._pick(provider.id)
            case "key":
                self._enter_key(None)
            case "server":
                self.action_name_server()
            case "demo":
                self.app.exit("demo")

    def _pick(self, only: str, sentence: str = "") -> None:
        if self.models is None:
            self.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.picker import ModelPicker  # noqa: PLC0415 - not before the first paint

        look, glyphs = self.status.look, self.status.glyphs
        picker = ModelPicker(look, glyphs, self.models, only=only, sentence=sentence)
        self.app.push_screen(picker, self._picked)

    def _picked(self, picked: Picked | WantsKey | WantsServer | None) -> None:
        match picked:
            case Picked():
                self._switch(picked)
            case WantsKey(provider):
                self._enter_key(provider)
            case WantsServer(address):
                self.action_name_server(address)
            case None:
                self.begin()

    def _enter_key(self, provider: ProviderInfo | None) -> None:
        if self.models is None:
            self.say(_ONE_MODEL)
            return
        from keen_tui.frontends.tui.pages.models.key_entry import KeyEntry  # noqa: PLC0415 - not before the first paint

        look, glyphs = self.status.look, self.status.glyphs
        self.app.push_screen(KeyEntry(look, glyphs, self.models, provider), self._provider_added)

    def _provider_added(self, added: KeyKept | ServerFound | None) -> None:
        if added:
            self._pick(added.provider.id, added.sentence)
        else:
            self.begin()

    def _switch(self, picked: Picked) -> None:
        """Choose the model; where that would lose work, ask first (turn.md rule 8)."""
        pending = self.session.pending
        try:
            loses = self.models is not None and self.models.would_abandon(picked.model)
        except KeenError as error:
            self.say(str(error))
            return
        if pending and loses and not self.session.running:
            self._wanted = picked
            self.ask(switch_question(pending, picked.model.title))
        else:
            self._choose(picked, abandon=False)

    def _choose(self, picked: Picked, *, abandon: bool) -> None:
        if self.models is not None:
            try:
                self.say(self.models.choose(picked.model, effort=picked.effort, abandon=abandon))
            except KeenError as error:
                self.say(str(error))


_ONE_MODEL = "There is no other model to choose here."
