"""Lists models to choose from, asks for keys and servers, and helps if no model is chosen yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from keen_tui.domain.errors import AuthFailed, KeenError, SessionRefused
from keen_tui.domain.models import FoundServer, ModelInfo, ProviderInfo
from keen_tui.frontends.line.questions import CANCEL, LineQuestion
from keen_tui.frontends.shared.commands.models import use
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.shared.questions import Choice
from keen_tui.text.units import counted, tokens

if TYPE_CHECKING:
    from keen_tui.frontends.line.ui import LineUi

_MOST = 20
"""The most models in one list."""
_ABOUT_ADDRESSES = (
    "The base URL of any server that speaks Chat Completions, for example http://gpu-box:8000/v1.",
    "OPENAI_API_KEY is sent along if it is set and you entered no key for that address.",
)

ListedModel = tuple[ProviderInfo, ModelInfo]


class LineModels:
    """Each method prints and asks. Raises KeenError with a sentence if something fails."""

    def __init__(self, ui: LineUi, models: ModelsPort) -> None:
        self._ui = ui
        self._models = models

    async def welcome(self) -> None:
        """If no model is chosen: list the available ones, and say what to do."""
        models, say = self._models, self._ui.printer.say
        say("No model is chosen yet.")
        for server in await models.find_servers():
            serves = counted(len(server.models), "model")
            say(f"On this machine: {server.provider.name} at {server.address}, {serves}.")
        for provider in models.providers:
            if source := models.key_source(provider):
                say(f"Key found: {provider.name}, {source}.")
        say(
            "Choose a model with /model. Enter an API key with /key, or the address of another server with "
            "/server.",
            "keen-tui --demo --plain is the guided tour, which needs neither.",
        )

    async def choose(self, words: str = "") -> None:
        """Choose a model, at first among those that fit the words, then its effort."""
        offers = await self._offers()
        if not offers:
            raise SessionRefused(
                "Found no API key and no model server. Enter a key with /key, or an address with /server."
            )
        if model := await self._chosen(offers, words):
            await self._use(model)

    async def _use(self, model: ModelInfo) -> None:
        effort = await self._effort(model)
        if effort is not None:
            await use(self._ui.context, model, effort)

    async def name_server(self, address: str) -> None:
        """Ask the server at an address for its models, and choose one."""
        if not address:
            answer = await self._ui.put(LineQuestion(lines=_ABOUT_ADDRESSES, free="Address"))
            if answer is None:
                return
            address = answer.words
        found = await self._found(address)
        if found is None:
            return
        name = found.provider.name
        lists = counted(len(found.models), "model") if found.models else "no models"
        self._ui.printer.say(found.unlisted or f"{name} answers and lists {lists}.")
        if found.models:
            model = await self._chosen([(found.provider, model) for model in found.models])
        else:
            answer = await self._ui.put(LineQuestion(lines=(), free="Name of the model"))
            model = _named(found.provider, answer.words) if answer else None
        if model:
            await self._use(model)

    async def _found(self, address: str) -> FoundServer | None:
        """The server at the address. Asks for a key if the server wants one; None if none was given."""
        self._ui.printer.say(f"Asking {address}.")
        try:
            return await self._models.find_server(address)
        except AuthFailed as error:
            self._ui.printer.say(str(error))
        lines = (f"The key for {address}. It is not shown while you type.",)
        answer = await self._ui.put(LineQuestion(lines=lines, free="Key", hidden=True))
        if answer is None:
            return None
        found = await self._models.find_server(address, answer.words)
        self._ui.printer.say(await self._models.keep_key(found.provider, answer.words))
        return found

    async def enter_key(self) -> None:
        """Ask for an API key, which isn't shown while it is typed."""
        models = self._models
        wanted = [provider for provider in models.providers if provider.key_variables]
        choices = (Choice(id=each.id, label=each.name, consequence=_key(models, each)) for each in wanted)
        chosen = await self._ui.choice(
            LineQuestion(lines=("Question: Whose key is it?",), choices=(*choices, CANCEL))
        )
        provider = next((each for each in wanted if each.id == chosen), None)
        if provider is None:
            return
        hidden = LineQuestion(
            lines=(f"The key for {provider.name}. It is not shown while you type.",), free="Key", hidden=True
        )
        if answer := await self._ui.put(hidden):
            self._ui.printer.say(await models.keep_key(provider, answer.words), "/model chooses a model.")

    async def _offers(self) -> list[ListedModel]:
        """The usable models: of servers on this machine, and of providers with a key."""
        models, offers = self._models, []
        for server in await models.find_servers():
            offers += [(server.provider, model) for model in server.models]
        for provider in models.providers:
            if not provider.local and models.key_source(provider) is not None:
                offers += [(provider, model) for model in await self._models_of(provider)]
        return offers

    async def _models_of(self, provider: ProviderInfo) -> Sequence[ModelInfo]:
        """The known models of a provider; if there are none, those that its server lists."""
        if provider.models:
            return provider.models
        try:
            return await self._models.live_models(provider)
        except KeenError as error:
            self._ui.printer.say(f"{provider.name} can't be asked for its models: {error}")
            return ()

    async def _chosen(self, offers: Sequence[ListedModel], letters: str = "") -> ModelInfo | None:
        """Ask until one is chosen: a number chooses, letters narrow the list down."""
        while True:
            fitting = [offer for offer in offers if _fits(offer, letters)]
            if letters and not fitting:
                self._ui.printer.say(f"No model has {letters} in its name.")
                letters = ""
            found = fitting or offers
            lines = (f"Question: Which model?{f' With {letters} in its name:' if letters else ''}",)
            left_out = len(found) - _MOST
            rest = (
                (f"{counted(left_out, 'more model')} : type part of a name to find one.",)
                if left_out > 0
                else ()
            )
            answer = await self._ui.put(
                LineQuestion(
                    lines=(*rest, *lines), choices=tuple(_choices(found)), free="letters of its name"
                )
            )
            if answer is None:
                return None
            if answer.id:
                return found[int(answer.id)][1]
            letters = answer.words

    async def _effort(self, model: ModelInfo) -> str | None:
        """The chosen effort, "" for the model's default; None if the question was withdrawn."""
        if not model.efforts:
            return ""
        choices = (Choice(id=effort, label=effort) for effort in model.efforts)
        own = Choice(id="own", label="its own default")
        lines = (f"Question: How hard should {model.title} reason?",)
        chosen = await self._ui.choice(LineQuestion(lines=lines, choices=(own, *choices)))
        return None if not chosen else "" if chosen == "own" else chosen


def _choices(offers: Sequence[ListedModel]) -> Iterable[Choice]:
    for place, (provider, model) in enumerate(offers[:_MOST]):
        facts = [provider.name]
        facts += [f"{tokens(model.context_window)} tokens"] if model.context_window else []
        yield Choice(id=str(place), label=model.title, consequence=", ".join(facts))
    yield CANCEL


def _named(provider: ProviderInfo, name: str) -> ModelInfo:
    return ModelInfo(provider=provider.id, id=name, api=provider.api)


def _fits(offer: ListedModel, letters: str) -> bool:
    provider, model = offer
    name = f"{provider.name} {model.title} {model.id}".casefold()
    return all(word in name for word in letters.casefold().split())


def _key(models: ModelsPort, provider: ProviderInfo) -> str:
    source = models.key_source(provider)
    return f"there is one: {source}" if source else ""
