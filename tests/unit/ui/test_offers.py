"""What the model picker lists."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.models import ModelInfo
from keen_tui.frontends.tui.pages.models.offers import (
    MORE_SHOWN,
    KeyWanted,
    Offer,
    OfferLine,
    ProviderHeading,
    ServerWanted,
    Source,
    lines_of,
    next_effort,
    sources_of,
)
from tests.support.fake_models import ABSENT, ACME, COYOTE, LOCAL, model

OPUS = model("acme", "claude-opus-5", "Claude Opus 5")
SONNET = model("acme", "anthropic/claude-sonnet-5", "Claude Sonnet 5")
HOST = replace(ACME, models=(SONNET, OPUS))


def with_key(provider: object = HOST, *live: ModelInfo) -> Source:
    return Source(provider=provider, key_source="ACME_API_KEY", live=live)  # type: ignore[arg-type]


def drawn(lines: list[OfferLine]) -> list[str]:
    """`# Acme`, `claude-opus-5`, `+ typed-name acme`, `? coyote` for a missing key."""
    names = []
    for line in lines:
        match line:
            case ProviderHeading(source=source):
                names.append(f"# {source.provider.name}")
            case KeyWanted(source=source):
                names.append(f"? {source.provider.id}")
            case Offer(model=model, typed=typed):
                names.append(f"+ {model.id} {model.provider}" if typed else model.id)
    return names


def test_a_word_that_stands_in_a_name_finds_that_name_only() -> None:
    assert drawn(lines_of([with_key()], "opus")) == ["# Acme", "claude-opus-5"]


def test_letters_that_stand_nowhere_whole_are_found_scattered() -> None:
    assert drawn(lines_of([with_key()], "cldops")) == ["# Acme", "claude-opus-5"]


def test_each_word_must_be_found_but_in_any_of_the_names() -> None:
    assert drawn(lines_of([with_key()], "acme sonnet")) == ["# Acme", "anthropic/claude-sonnet-5"]
    assert drawn(lines_of([with_key()], "opus sonnet")) == []


def test_a_name_that_nothing_fits_can_be_used_with_each_provider_that_can_be() -> None:
    sources = [with_key(), Source(provider=COYOTE, key_source=None), Source(provider=ABSENT, key_source="")]
    assert drawn(lines_of(sources, "zzz")) == ["+ zzz acme"]


def test_a_full_name_can_be_used_although_a_longer_one_holds_it() -> None:
    assert drawn(lines_of([with_key()], "opus-5")) == ["# Acme", "claude-opus-5", "+ opus-5 acme"]
    assert drawn(lines_of([with_key()], "claude-opus-5")) == ["# Acme", "claude-opus-5"]


def test_a_provider_without_a_key_is_found_by_its_models() -> None:
    lines = lines_of([with_key(), Source(provider=COYOTE, key_source=None)], "trap")
    assert drawn(lines) == ["# Coyote", "? coyote", "+ trap acme"]


def test_long_lists_of_servers_are_cut_until_something_is_typed() -> None:
    source = with_key(HOST, *(model("acme", f"vendor/{number}") for number in range(20)))
    heading, *offers, last = lines_of([source], "")
    assert isinstance(last, ServerWanted)
    assert isinstance(heading, ProviderHeading) and heading.hidden == 20 - MORE_SHOWN
    assert len(offers) == 2 + MORE_SHOWN
    assert len([name for name in drawn(lines_of([source], "vendor")) if name.startswith("vendor")]) == 20


def test_a_model_that_is_known_and_listed_is_there_once() -> None:
    assert drawn(lines_of([with_key(HOST, OPUS)], "")) == [
        "# Acme",
        "anthropic/claude-sonnet-5",
        "claude-opus-5",
    ]


def test_a_server_with_something_to_say_is_named_though_it_has_no_model() -> None:
    silent = Source(provider=LOCAL, key_source="", live=(), note="has no model yet")
    assert drawn(lines_of([silent], "")) == ["# Ollama"]
    assert drawn(lines_of([replace(silent, note="")], "")) == []


def test_providers_that_can_be_used_come_first() -> None:
    sources = sources_of((COYOTE, ACME), {"coyote": None, "acme": "ACME_API_KEY"}, {}, {})
    assert [source.provider.id for source in sources] == ["acme", "coyote"]


def test_the_effort_moves_within_those_of_the_model_from_its_default() -> None:
    roadrunner, mini = ACME.models
    assert next_effort(roadrunner, "", -1) == ""
    assert next_effort(roadrunner, "", 1) == "low"
    assert next_effort(roadrunner, "high", 1) == "high"
    assert next_effort(roadrunner, "unknown", 1) == "low"
    assert next_effort(mini, "", 1) == ""


@pytest.mark.parametrize(
    ("query", "address"),
    [("", ""), ("serv", ""), ("another", ""), ("http://gpu-box:8000", "http://gpu-box:8000")],
)
def test_another_server_can_be_named(query: str, address: str) -> None:
    assert ServerWanted(address=address) in lines_of([with_key(HOST)], query)
    assert ServerWanted(address=address) not in lines_of([with_key(HOST)], query, others=False)


def test_a_search_for_a_model_offers_no_other_server() -> None:
    assert not any(isinstance(line, ServerWanted) for line in lines_of([with_key(HOST)], "opus"))
