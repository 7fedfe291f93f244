"""What is asked of model servers, and what is made of their answers."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.demo.model_server import ModelServer
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import (
    AuthFailed,
    ConnectionFailed,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
)
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.providers.catalog import servers
from keen_tui.providers.catalog.catalog import load_catalog
from keen_tui.providers.catalog.servers import check_connection, find_local_servers, list_models
from keen_tui.settings.credentials import FoundKey
from tests.support.page_server import Page, serving

CATALOG = load_catalog(None)
KEY = FoundKey(value="sk-verysecretkey0123456789", source="TEST_KEY")


def provider(url: str, *, id: str = "custom", api: Api = "openai-chat") -> ProviderInfo:
    return ProviderInfo(id=id, name="Test", api=api, base_url=url, key_variables=("TEST_KEY",))


def listing(*models: dict[str, Any], **more: Any) -> Page:
    return Page({"object": "list", "data": list(models), **more})


async def listed(*models: dict[str, Any]) -> tuple[ModelInfo, ...]:
    async with serving({"/v1/models": listing(*models)}) as server:
        return await list_models(provider(f"{server.url}/v1"), KEY, CATALOG)


async def refusal(page: Page) -> ProviderError:
    async with serving({"/v1/models": page}) as server:
        with pytest.raises(ProviderError) as caught:
            await list_models(provider(f"{server.url}/v1"), KEY, CATALOG)
    assert KEY.value not in str(caught.value)
    return caught.value


async def test_the_scripted_server_lists_its_models_in_every_api() -> None:
    async with ModelServer([], models=["one", "two"]) as server:
        for api in ("openai-chat", "openai-responses", "anthropic"):
            models = await list_models(provider(server.base_url, api=api), None, CATALOG)
            assert [(model.id, model.api) for model in models] == [("one", api), ("two", api)]


async def test_each_api_sends_the_key_in_its_own_header_and_without_one_none() -> None:
    async with serving({"/v1/models": listing(), "/v1/models?limit=1000": listing()}) as server:
        await list_models(provider(f"{server.url}/v1"), KEY, CATALOG)
        await list_models(provider(server.url, api="anthropic"), KEY, CATALOG)
        await list_models(provider(f"{server.url}/v1"), None, CATALOG)
    (_, bearer), (_, anthropic), (_, without) = server.asked
    assert bearer["authorization"] == f"Bearer {KEY.value}"
    assert anthropic["x-api-key"] == KEY.value and anthropic["anthropic-version"]
    assert not {"authorization", "x-api-key"} & without.keys()


@pytest.mark.parametrize(
    ("told", "window"),
    [
        ({"context_length": 1000}, 1000),
        ({"max_model_len": 2000}, 2000),
        ({"meta": {"n_ctx": 3000, "n_ctx_train": 9000}}, 3000),
        ({"meta": {"n_ctx_train": 9000}}, None),
        ({"max_context_length": 4000}, 4000),
        ({"state": "not-loaded", "max_context_length": 9000}, None),
        ({"state": "loaded", "loaded_context_length": 5000, "max_context_length": 9000}, 5000),
        ({"context_length": -1}, None),
        ({"context_length": "many"}, None),
        ({}, None),
    ],
)
async def test_the_context_window_is_what_the_server_gives_the_model(
    told: dict[str, Any], window: int | None
) -> None:
    (model,) = await listed({"id": "m"} | told)
    assert model.context_window == window


async def test_what_the_catalogue_knows_fills_the_gaps_and_comes_first() -> None:
    async with serving({"/v1/models": listing({"id": "gpt-99"}, {"id": "gpt-6.1-sol"})}) as server:
        openai = replace(CATALOG.providers["openai"], base_url=f"{server.url}/v1")
        known, new = await list_models(openai, None, CATALOG)
    assert (known.id, new.id) == ("gpt-6.1-sol", "gpt-99")
    assert known.price and known.name == "GPT-6.1 Sol"
    assert new.price is None and new.context_window is None and new.api == "openai-responses"


async def test_efforts_names_and_prices_are_taken_from_servers_that_tell_them() -> None:
    grok, claude, routed = await listed(
        {"id": "grok-9", "capabilities": {"reasoning_effort": ["high", "low"]}},
        {
            "id": "claude-9",
            "display_name": "Claude 9",
            "max_input_tokens": 500,
            "max_tokens": 50,
            "capabilities": {
                "effort": {"supported": True, "low": {"supported": True}, "max": {"supported": False}}
            },
        },
        {
            "id": "a/b",
            "supported_parameters": ["tools"],
            "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000002"},
        },
    )
    assert grok.efforts == ("low", "high") and grok.reasons
    assert (claude.name, claude.efforts, claude.context_window, claude.output_limit) == (
        "Claude 9",
        ("low",),
        500,
        50,
    )
    assert routed.price and (routed.price.input, routed.price.output, routed.price.cached_input) == (
        2,
        10,
        0.2,
    )


async def test_a_price_that_is_not_the_whole_price_is_not_taken() -> None:
    pricing = {"prompt": "0.000002", "completion": "0.00001"}
    tiered, auto, broken = await listed(
        {"id": "a", "pricing": pricing | {"overrides": [{"min_prompt_tokens": 200000}]}},
        {"id": "b", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "c", "pricing": {"prompt": "free", "completion": None}},
    )
    assert tiered.price is None and auto.price is None and broken.price is None


async def test_what_does_not_chat_or_can_not_be_shown_as_it_is_is_left_out() -> None:
    models = await listed(
        {"id": "models/gemini-x"},
        {"id": "text-embedding-3"},
        {"id": "whisper-1"},
        {"id": "m-ocr", "capabilities": {"completion_chat": False}},
        {"id": "local", "type": "embeddings"},
        {"id": "no/tools", "supported_parameters": ["temperature"]},
        {"id": "evil\x1b[2J"},
        {"id": "two words"},
        {"id": "x" * 500},
        {"id": 7},
        {"id": "gemini-x"},
    )
    assert [model.id for model in models] == ["gemini-x"]


async def test_names_can_not_drive_the_terminal() -> None:
    (model,) = await listed({"id": "m", "name": "\x1b]0;owned\x07Nice\u202e"})
    assert model.name == "Nice<U+202E>"


async def test_all_pages_are_read_but_not_for_ever() -> None:
    first, second = "/v1/models?limit=1000", "/v1/models?limit=1000&after_id=a"
    pages = {
        first: listing({"id": "a"}, has_more=True, last_id="a"),
        second: listing({"id": "b"}, has_more=False, last_id="b"),
    }
    async with serving(pages) as server:
        models = await list_models(provider(server.url, api="anthropic"), KEY, CATALOG)
    assert [model.id for model in models] == ["a", "b"]
    endless = {first: pages[first], second: listing({"id": "b"}, has_more=True, last_id="a")}
    async with serving(endless) as server:
        await list_models(provider(server.url, api="anthropic"), KEY, CATALOG)
    assert len(server.asked) == 2


async def test_a_refused_key_is_told_by_where_it_came_from() -> None:
    error = await refusal(Page({"error": {"message": f"Incorrect API key {KEY.value}"}}, 401))
    assert isinstance(error, AuthFailed) and "The key came from TEST_KEY." in str(error)


async def test_a_redirect_is_told_and_not_followed() -> None:
    async with serving({"/v1/models": listing({"id": "m"})}) as elsewhere:
        target = f"{elsewhere.url}/v1/models"
        error = await refusal(Page("", 302, {"location": target}))
    assert isinstance(error, RequestRefused) and target in str(error)
    assert not elsewhere.asked


@pytest.mark.parametrize("body", ["<html>hello</html>", "[1", {"hello": 1}, "null", "7", {"data": "x"}])
async def test_what_is_no_list_of_models_is_told(body: object) -> None:
    error = await refusal(Page(body))
    assert isinstance(error, ReplyUnreadable) and "/v1/models" in str(error)


async def test_a_list_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "BODY_LIMIT", 1000)
    error = await refusal(listing({"id": "m" * 2000}))
    assert isinstance(error, ReplyUnreadable) and "an endless list" in str(error)


async def test_a_server_that_is_not_there_or_silent_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: refused
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConnectionFailed, match=rf"{address}: connection refused\. Is the server"):
            await list_models(provider(f"http://{address}/v1"), None, CATALOG)
    monkeypatch.setattr(servers, "LIST_SECONDS", 0.2)
    async with serving(None) as server:
        with pytest.raises(ConnectionFailed, match=r"no answer within 0\.2 s"):
            await list_models(provider(f"{server.url}/v1"), None, CATALOG)


async def test_a_proxy_of_the_environment_is_not_asked_about_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert len(await listed({"id": "m"})) == 1


async def test_local_servers_are_found_by_their_lists_and_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "PROBE_SECONDS", 10.0)  # none of these keeps it waiting
    empty = {"/v1/models": Page({"object": "list", "data": None})}  # Ollama before the first download
    page = {"/v1/models": Page("<html>a wiki</html>")}
    async with (
        ModelServer([], models=["llama"]) as full,
        serving(empty) as bare,
        serving(page) as wiki,
    ):
        addresses = [full.base_url, f"{bare.url}/v1", f"{wiki.url}/v1", "http://127.0.0.1:1/v1"]
        asked = [provider(url, id=f"local{n}") for n, url in enumerate(addresses)]
        found = await find_local_servers(asked, CATALOG)
    assert [server.provider for server in found] == asked[:2]
    assert [[model.id for model in server.models] for server in found] == [["llama"], []]
    assert found[0].address == full.base_url.removeprefix("http://").removesuffix("/v1")


async def test_a_local_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "PROBE_SECONDS", 0.1)
    async with serving(None) as silent:
        assert await find_local_servers([provider(f"{silent.url}/v1")], CATALOG) == ()
    assert all("authorization" not in headers for _, headers in silent.asked)


async def test_the_check_says_whether_the_server_has_the_model() -> None:
    async with ModelServer([], models=["one"]) as server:
        own = provider(server.base_url)
        has = await check_connection(own, ModelInfo(provider="custom", id="one", api="openai-chat"), KEY)
        lacks = await check_connection(own, ModelInfo(provider="custom", id="two", api="openai-chat"), KEY)
    assert has.startswith("Test answers in ") and has.endswith(" and has one.")
    assert "two is not in its list of 1 models" in lacks


async def test_the_check_of_a_server_without_a_list_succeeds_and_says_so() -> None:
    async with serving({}) as server:
        model = ModelInfo(provider="custom", id="one", api="openai-chat")
        assert "doesn't list its models" in await check_connection(provider(f"{server.url}/v1"), model, KEY)
