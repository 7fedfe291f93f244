"""What the picker lists, as values: providers with their models, narrowed by what was typed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textual.fuzzy import Matcher

from keen_tui.models import ModelInfo, ProviderInfo

MORE_SHOWN = 8
"""Models of a server's own list, beyond those that are known, that are shown before something is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
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
        """What the server lists beyond the models that are known."""
        known = {model.id for model in self.provider.models}
        return tuple(model for model in self.live or () if model.id not in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A provider above its models. `hidden` models are not shown until something is typed."""

    source: Source
    hidden: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A model to choose. `typed` ones are what the user wrote, with a provider that may know it."""

    source: Source
    model: ModelInfo
    typed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWanted:
    """In place of the models of a provider whose key is not there."""

    source: Source


Line = Heading | Offer | KeyWanted


def lines_of(sources: Sequence[Source], query: str) -> list[Line]:
    """The lines of the picker from the top. With a query, those that fit it, in the order of providers."""
    query = query.strip()
    lines = [line for source in sources for line in _lines_of(source, query)]
    if query and not any(isinstance(line, Offer) for line in lines):
        return [*lines, *_as_typed(sources, query)]
    return lines


def line_key(line: Line) -> tuple[str, str]:
    """What a line is about, so that it can be found again in a changed list."""
    match line:
        case Offer(model=model):
            return model.provider, model.id
        case Heading(source=source) | KeyWanted(source=source):
            return source.provider.id, type(line).__name__


def _lines_of(source: Source, query: str) -> list[Line]:
    provider = source.provider
    if not source.usable:
        wanted = source.key_source is None and (not query or _fits(query, provider.name))
        named = [KeyWanted(source=source)] if wanted else []
        return [Heading(source=source), *named] if named or (source.note and not query) else []
    known, more = provider.models, source.more
    if query:
        fitting = [
            model for model in (*known, *more) if _fits(query, f"{provider.name} {model.title} {model.id}")
        ]
        shown, hidden = fitting, 0
    else:
        shown, hidden = [*known, *more[:MORE_SHOWN]], max(len(more) - MORE_SHOWN, 0)
    if not shown and (query or not source.note):
        return []
    return [Heading(source=source, hidden=hidden), *(Offer(source=source, model=model) for model in shown)]


def _as_typed(sources: Iterable[Source], query: str) -> list[Line]:
    """The words themselves as the name of a model, which the server may know though no list does."""
    if " " in query:
        return []
    return [
        Offer(
            source=source,
            model=ModelInfo(provider=source.provider.id, id=query, api=source.provider.api),
            typed=True,
        )
        for source in sources
        if source.usable
    ]


def _fits(query: str, text: str) -> bool:
    return all(Matcher(word).match(text) > 0 for word in query.split())


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
