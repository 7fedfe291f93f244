"""The choice among models with everything real: catalogue, keys, settings file, session, server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.errors import (
    AuthFailed,
    ConfigError,
    ConnectionFailed,
    ModelMissing,
    ReplyUnreadable,
    RequestRefused,
    SessionRefused,
)
from keen_tui.domain.events import ModelChanged, TurnDone, TurnIncomplete
from keen_tui.domain.models import ModelInfo
from keen_tui.settings.config import load_settings
from keen_tui.wiring.parts import build_chooser
from tests.support.keyrings import no_system_keyring
from tests.support.model_services import model, model_service
from tests.support.page_server import Page, serving

WORK = Reply([Call("write_file", {"path": "a.py", "content": "1"})])
CUT = Reply([Say("Half a sent")], broken=Break("close", after_deltas=1))
DONE = Reply([Say("Done.")])


@pytest.fixture
def no_ring() -> Iterator[None]:
    with no_system_keyring():
        yield


async def test_a_choice_answers_and_is_remembered(tmp_path: Path) -> None:
    async with model_service(tmp_path, DONE) as (models, bench, environ):
        assert models.current is None
        said = models.choose(model(models, "m2"), effort="high")
        assert "settings.toml" in said
        changed = await bench.log.wait_for(ModelChanged)
        assert (changed.model, changed.effort) == ("m2", "high")
        assert isinstance(await bench.ask("hi"), TurnDone)
        (request,) = bench.server.requests
        assert (request.path, request.headers["x-api-key"]) == ("/v1/messages", "sk-acme")
        assert request.body["output_config"] == {"effort": "high"}
        settings = load_settings({}, environ)
        assert (settings.provider, settings.model, settings.effort) == ("acme", "m2", "high")
        assert "sk-acme" not in (tmp_path / "home" / "settings.toml").read_text()
        now = models.current
        assert now is not None and (now.id, models.effort) == ("m2", "high")


@pytest.mark.usefixtures("no_ring")
async def test_a_key_that_is_missing_is_said_and_one_that_is_entered_is_used(tmp_path: Path) -> None:
    async with model_service(tmp_path, DONE, key="") as (models, bench, _):
        acme = next(provider for provider in models.providers if provider.id == "acme")
        assert models.key_source(acme) == "", "on this machine none is needed"
        where = await models.keep_key(acme, "sk-entered")
        assert "keys.toml" in where and "sk-entered" not in where
        assert models.key_source(acme) == str(tmp_path / "home" / "keys.toml")
        models.choose(model(models, "m1"))
        await bench.ask("hi")
        assert bench.server.requests[0].headers["authorization"] == "Bearer sk-entered"
        openai = next(provider for provider in models.providers if provider.id == "openai")
        assert models.key_source(openai) is None
        with pytest.raises(ModelMissing, match="OPENAI_API_KEY"):
            models.choose(openai.models[0])
        assert models.current == model(models, "m1"), "a refused choice changes nothing"


async def test_servers_are_asked_for_their_lists_and_for_a_sign_of_life(tmp_path: Path) -> None:
    async with model_service(tmp_path, provider="acme", model="m1") as (models, bench, _):
        acme = next(provider for provider in models.providers if provider.id == "acme")
        listed = await models.live_models(acme)
        assert [each.id for each in listed] == ["m1", "m3"]
        assert listed[0].context_window == 1_000, "what is known of it stays known"
        assert "answers" in await models.check()
        await bench.server.stop()
        with pytest.raises(ConnectionFailed, match="Is the server running"):
            await models.check()


async def test_pending_work_is_lost_only_when_that_is_said(tmp_path: Path) -> None:
    async with model_service(tmp_path, WORK, CUT, DONE, provider="acme", model="m1") as (models, bench, _):
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        assert not models.would_abandon(model(models, "m1"))
        assert models.would_abandon(model(models, "m2"))
        with pytest.raises(SessionRefused):
            models.choose(model(models, "m2"))
        assert models.current == model(models, "m1")
        models.choose(model(models, "m2"), abandon=True)
        assert isinstance(await bench.ask("next"), TurnDone)
        assert "(turn abandoned)" in bench.messages()[1].text
        bench.assert_valid_requests()


async def test_an_effort_alone_is_changed_without_losing_work(tmp_path: Path) -> None:
    async with model_service(tmp_path, WORK, CUT, DONE, provider="acme", model="m2") as (models, bench, _):
        await bench.ask("go")
        models.choose(model(models, "m2"), effort="low")
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.server.requests[-1].body["output_config"] == {"effort": "low"}
        bench.assert_valid_requests()


async def test_a_base_url_of_ones_own_is_a_provider_of_its_own(tmp_path: Path) -> None:
    async with model_service(tmp_path, DONE, base_url="{url}", model="m1") as (models, bench, environ):
        custom = models.providers[0]
        assert custom.by_address and custom.base_url == bench.server.base_url
        other = ModelInfo(provider=custom.id, id="m3", api="openai-chat")
        models.choose(other)
        await bench.ask("hi")
        assert bench.server.requests[0].body["model"] == "m3"
        settings = load_settings({}, environ)
        assert (settings.model, settings.base_url) == ("m3", bench.server.base_url)


async def test_a_server_found_by_its_address_answers_and_is_remembered(tmp_path: Path) -> None:
    async with (
        model_service(tmp_path, provider="acme", model="m2", api_key_env="ACME_KEY") as (
            models,
            bench,
            environ,
        ),
        ModelServer([DONE], models=("big", "small")) as other,
    ):
        found = await models.find_server(other.base_url.removesuffix("/v1").removeprefix("http://"))
        assert found.provider.base_url == other.base_url, "where /models is missing, /v1/models is asked"
        assert [each.id for each in found.models] == ["big", "small"]
        assert found.provider in models.providers
        assert models.key_source(found.provider) == ""
        assert "answers" in await models.check(found.models[0])
        models.choose(found.models[0])
        assert models.current == found.models[0]
        assert isinstance(await bench.ask("hi"), TurnDone)
        request = other.requests[-1]
        assert request.body["model"] == "big" and not bench.server.requests
        assert "authorization" not in request.headers
        settings = load_settings({}, environ)
        assert (settings.provider, settings.api_key_env) == ("", "")
        assert (settings.model, settings.base_url) == ("big", other.base_url)
        again = build_chooser(environ).choice(settings)
        assert (again.provider.base_url, again.model.api) == (other.base_url, "openai-chat")
        models.choose(model(models, "m1"))
        settings = load_settings({}, environ)
        assert (settings.provider, settings.base_url) == ("acme", "")
        assert found.provider in models.providers, "it can be chosen again"


async def test_the_address_of_a_provider_in_the_catalogue_is_that_provider(tmp_path: Path) -> None:
    async with model_service(tmp_path, DONE) as (models, bench, _):
        found = await models.find_server(bench.server.base_url)
        assert found.provider.id == "acme" and found.models[0].context_window == 1_000
        assert len([each for each in models.providers if each.base_url == bench.server.base_url]) == 1


async def test_two_servers_by_address_are_not_mixed_up(tmp_path: Path) -> None:
    async with (
        ModelServer([DONE], models=("one",)) as first,
        model_service(tmp_path, base_url=first.base_url, model="one", api="openai-chat") as (
            models,
            bench,
            environ,
        ),
        ModelServer([DONE], models=("two",)) as second,
    ):
        in_use = models.current
        assert in_use is not None
        found = await models.find_server(second.base_url)
        assert [each.base_url for each in models.providers[:2]] == [first.base_url, second.base_url]
        models.choose(in_use, effort="high")
        await bench.ask("hi")
        assert first.requests and not second.requests
        models.choose(found.models[0])
        await bench.ask("hi")
        assert second.requests
        assert load_settings({}, environ).base_url == second.base_url


@pytest.mark.usefixtures("no_ring")
async def test_a_key_for_an_address_is_sent_there_and_kept_for_there(tmp_path: Path) -> None:
    pages = {"/v1/models": Page({"data": [{"id": "m"}]})}
    async with (
        model_service(tmp_path) as (models, _, environ),
        serving(pages) as server,
        serving(pages) as other,
    ):
        environ["OPENAI_API_KEY"] = "sk-openai"
        await models.find_server(f"{server.url}/v1")
        found = await models.find_server(f"{server.url}/v1", " sk-entered ")
        assert "keys.toml" in await models.keep_key(found.provider, "sk-entered")
        await models.live_models(found.provider)
        await models.find_server(f"{other.url}/v1")
        sent = [headers["authorization"] for _, headers in server.asked]
        assert sent == ["Bearer sk-openai", "Bearer sk-entered", "Bearer sk-entered"]
        assert other.asked[0][1]["authorization"] == "Bearer sk-openai", "it goes to no other address"


@pytest.mark.parametrize(
    ("pages", "listed"),
    [
        ({"/v1/models": Page({"data": [{"id": "m"}]})}, ["m"]),
        ({"/models": Page({"data": [{"id": "m"}]})}, ["m"]),
        ({"/models": Page("<html>"), "/v1/models": Page({"data": [{"id": "m"}]})}, ["m"]),
        ({"/v1/models": Page({"data": []})}, []),
        ({}, []),
    ],
)
async def test_a_server_is_found_without_v1_and_without_models(
    tmp_path: Path, pages: dict[str, Page], listed: list[str]
) -> None:
    async with model_service(tmp_path) as (models, _, _), serving(pages) as server:
        found = await models.find_server(server.url)
        assert [each.id for each in found.models] == listed
        named = ModelInfo(provider=found.provider.id, id="typed", api=found.provider.api)
        models.choose(named)
        assert models.current == named


@pytest.mark.parametrize(
    ("path", "asked", "advised"),
    [
        ("/v2", ["/v2/models"], True),
        ("/api", ["/api/models", "/api/v1/models"], True),
        ("", ["/models", "/v1/models"], False),
        ("/v1", ["/v1/models"], False),
    ],
)
async def test_a_server_without_a_list_is_told_with_what_was_asked(
    tmp_path: Path, path: str, asked: list[str], advised: bool
) -> None:
    async with model_service(tmp_path) as (models, _, _), serving({}) as server:
        found = await models.find_server(server.url + path)
    where = " or ".join(f"{server.url}{each} (404)" for each in asked)
    said = f"{found.address} has no list of models at {where}."
    assert found.unlisted == said + " The address of most servers ends in /v1." * advised


@pytest.mark.parametrize(
    ("pages", "error", "words"),
    [
        ({"/models": Page({"error": {"message": "Who are you?"}}, 401)}, AuthFailed, "No key was sent"),
        ({"/models": Page("<html>a wiki</html>")}, ReplyUnreadable, "not with a list of models"),
        ({"/models": Page("", 302, {"location": "https://else.example/"})}, RequestRefused, "else.example"),
    ],
)
async def test_what_is_no_model_server_is_told_and_not_added(
    tmp_path: Path, pages: dict[str, Page], error: type[Exception], words: str
) -> None:
    async with model_service(tmp_path) as (models, _, _), serving(pages) as server:
        before = models.providers
        with pytest.raises(error, match=words):
            await models.find_server(server.url)
        assert models.providers == before


async def test_an_address_without_a_server_is_told(tmp_path: Path) -> None:
    async with model_service(tmp_path) as (models, _, _):
        with pytest.raises(ConnectionFailed, match=r"connection refused\. Is the server running"):
            await models.find_server("http://127.0.0.1:1/v1")
        with pytest.raises(ConfigError, match="must begin with"):
            await models.find_server("gpu-box")
        with pytest.raises(ConfigError, match="copy it again"):
            await models.find_server("http://127.0.0.1:1/v1", "two words")
