"""The lines of the model picker as values: providers with their models, filtered by the typed text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from textual.fuzzy import Matcher

from keen_tui.domain.models import ModelInfo, ProviderInfo

ANOTHER_SERVER = "another server"
"""The label of the line that opens the entry of an address."""

MORE_SHOWN = 8
"""Models of a server's own list, beyond those that are known, that are shown before something is typed."""


class Source(Struct, frozen=True, kw_only=True):
    """One provider in the picker.

    `key_source` is as `ModelsPort.key_source` says; `live` what its server lists, None while that is not
    known; `note` one dim sentence, for example that it is being asked, or why it could not be.
    """

    provider: ProviderInfo
    key_source: str | None
    live: tuple[ModelInfo, ...] | None = None
    note: str = ""

    @property
    def usable(self) -> bool:
        """Whether its models can be chosen: a key is there or none is needed, and a local server runs."""
        return self.key_source is not None and not (self.provider.local and not self.live)

    @property
    def more(self) -> tuple[ModelInfo, ...]:
        """The models that the server lists and the catalog doesn't have."""
        known = {model.id for model in self.provider.models}
        return tuple(model for model in self.live or () if model.id not in known)


class ProviderHeading(Struct, frozen=True, kw_only=True):
    """A provider above its models. `hidden` models are not shown until something is typed."""

    source: Source
    hidden: int = 0


class Offer(Struct, frozen=True, kw_only=True):
    """A model to choose. `typed` ones are what the user wrote, with a provider that may know it."""

    source: Source
    model: ModelInfo
    typed: bool = False


class KeyWanted(Struct, frozen=True, kw_only=True):
    """In place of the models of a provider whose key is not there."""

    source: Source


class ServerWanted(Struct, frozen=True, kw_only=True):
    """Leads to the entry of a server's address; `address` is what was typed of it."""

    address: str = ""


OfferLine = ProviderHeading | Offer | KeyWanted | ServerWanted


def lines_of(sources: Sequence[Source], query: str, *, others: bool = True) -> list[OfferLine]:
    """The lines of the picker from the top. With a query, those that fit it, in the order of providers.
    `others`: a server that is none of these can be named."""
    query = query.strip()
    if others and "://" in query:
        return [ServerWanted(address=query)]
    search = _Search(query, sources) if query else None
    lines = [line for source in sources for line in _lines_of(source, search)]
    typed = _as_typed(sources, query, lines) if search else []
    leads_on = others and any(words.startswith(query.casefold()) for words in (ANOTHER_SERVER, "server"))
    return [*lines, *([ServerWanted()] if leads_on else []), *typed]


def line_key(line: OfferLine) -> tuple[str, str]:
    """Returns a key for a line, by which it is found again in a changed list."""
    match line:
        case Offer(model=model):
            return model.provider, model.id
        case ProviderHeading(source=source) | KeyWanted(source=source):
            return source.provider.id, type(line).__name__
        case ServerWanted():
            return "", type(line).__name__


class _Search:
    """A search by the typed words. A word that some text contains is looked for as a whole, any other one
    letter by letter: `opus` doesn't find Sonnet, `rdrnr` finds Roadrunner."""

    def __init__(self, query: str, sources: Sequence[Source]) -> None:
        texts = [text.casefold() for source in sources for text in _texts(source)]
        words = query.casefold().split()
        self._whole = [word for word in words if any(word in text for text in texts)]
        self._scattered = [Matcher(word) for word in words if word not in self._whole]

    def finds(self, *texts: str) -> bool:
        """Whether each word stands in one of the texts."""
        return all(any(word in text.casefold() for text in texts) for word in self._whole) and all(
            any(matcher.match(text) > 0 for text in texts) for matcher in self._scattered
        )


def _lines_of(source: Source, search: _Search | None) -> list[OfferLine]:
    if not source.usable:
        return _lines_of_unusable(source, search)
    known, more = source.provider.models, source.more
    shown, hidden = [*known, *more[:MORE_SHOWN]], max(len(more) - MORE_SHOWN, 0)
    if search:
        name, hidden = source.provider.name, 0
        shown = [model for model in (*known, *more) if search.finds(name, model.title, model.id)]
    if not shown and (search or not source.note):
        return []
    return [
        ProviderHeading(source=source, hidden=hidden),
        *(Offer(source=source, model=model) for model in shown),
    ]


def _lines_of_unusable(source: Source, search: _Search | None) -> list[OfferLine]:
    """A provider whose key is missing, found by its models too; or a server with something to say."""
    if source.key_source is None:
        name, models = source.provider.name, source.provider.models
        found = (
            not search
            or search.finds(name)
            or any(search.finds(name, model.title, model.id) for model in models)
        )
        return [ProviderHeading(source=source), KeyWanted(source=source)] if found else []
    return [ProviderHeading(source=source)] if source.note and not search else []


def _texts(source: Source) -> Iterable[str]:
    yield source.provider.name
    for model in (*source.provider.models, *source.more):
        yield from (model.title, model.id)


def _as_typed(sources: Iterable[Source], name: str, found: Sequence[OfferLine]) -> list[OfferLine]:
    """The words themselves as the name of a model, which a server may know though no list has it."""
    offered = {line_key(line) for line in found if isinstance(line, Offer)}
    if " " in name or (offered and not _looks_like_a_name(name)):
        return []
    return [
        Offer(
            source=source,
            model=ModelInfo(provider=source.provider.id, id=name, api=source.provider.api),
            typed=True,
        )
        for source in sources
        if source.usable and (source.provider.id, name) not in offered
    ]


def _looks_like_a_name(text: str) -> bool:
    """Whether it is more than a word to search with: `gpt-9`, `qwen3:30b`, `vendor/model`."""
    return any(sign.isdigit() or sign in "-/:" for sign in text)


def next_effort(model: ModelInfo, effort: str, step: int) -> str:
    """The effort `step` further among those of the model; "" (its own default) stands first."""
    efforts = ("", *model.efforts)
    place = efforts.index(effort) if effort in efforts else 0
    return efforts[min(max(place + step, 0), len(efforts) - 1)]


def sources_of(
    providers: Iterable[ProviderInfo],
    key_sources: Mapping[str, str | None],
    live: Mapping[str, tuple[ModelInfo, ...]],
    notes: Mapping[str, str],
) -> list[Source]:
    """The providers as sources: usable ones first, each group in the catalogue's order."""
    sources = [
        Source(
            provider=provider,
            key_source=key_sources[provider.id],
            live=live.get(provider.id),
            note=notes.get(provider.id, ""),
        )
        for provider in providers
    ]
    return sorted(sources, key=lambda source: not source.usable)
