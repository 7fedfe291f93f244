"""What a front end may expect of the choice among models: of the real one, and of the fake one of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.errors import ConfigError, KeenError
from keen_tui.domain.events import TurnIncomplete
from keen_tui.domain.models import ProviderInfo
from keen_tui.frontends.shared.port import ModelsPort
from tests.support.agent import Bench
from tests.support.fake_models import AT_GPU_BOX, FakeModels
from tests.support.keyrings import no_system_keyring
from tests.support.model_services import model_service

WORK = Reply([Call("write_file", {"path": "a.py", "content": "1"})])
CUT = Reply([Say("Half a sent")], broken=Break("close", after_deltas=1))
NOWHERE = "http://127.0.0.1:1/v1"


class Subject(Protocol):
    """A choice among models, and ways to bring it into a state. Nothing is chosen yet."""

    models: ModelsPort
    address: str
    """Of a server that no provider has, with the models big and small."""

    async def stop_server(self) -> None:
        """The server of the provider acme answers no more."""

    async def leave_work(self) -> None:
        """An incomplete turn waits, of the model in use."""


class Real:
    """The models of the program, with a scripted server."""

    def __init__(self, models: ModelsPort, bench: Bench, address: str) -> None:
        self.models = models
        self.address = address
        self._bench = bench

    async def stop_server(self) -> None:
        await self._bench.server.stop()

    async def leave_work(self) -> None:
        assert isinstance(await self._bench.ask("go"), TurnIncomplete)


class Fake:
    """The models of tests of the screen, told what has happened."""

    address = AT_GPU_BOX.address

    def __init__(self, models: FakeModels) -> None:
        self.models: ModelsPort = models
        self._fake = models
        models.at_address[self.address] = AT_GPU_BOX

    async def stop_server(self) -> None:
        self._fake.refusal = "Acme doesn't answer."

    async def leave_work(self) -> None:
        self._fake.loses_work = True


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[Subject]:
    with no_system_keyring():
        async with (
            model_service(folder, WORK, CUT) as (models, bench, _),
            ModelServer((), models=("big", "small")) as other,
        ):
            yield Real(models, bench, other.base_url)


@asynccontextmanager
async def fake(folder: Path) -> AsyncIterator[Subject]:
    yield Fake(FakeModels())


Open = Callable[[Path], AbstractAsyncContextManager[Subject]]


@pytest.fixture(params=[real, fake], ids=["real", "fake"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    opened: Open = request.param
    async with opened(tmp_path) as subject:
        yield subject


def acme(models: ModelsPort) -> ProviderInfo:
    return next(each for each in models.providers if each.id == "acme")


def without_key(models: ModelsPort) -> ProviderInfo:
    return next(each for each in models.providers if models.key_source(each) is None)


async def test_at_first_none_is_chosen_and_there_are_models_to_choose(subject: Subject) -> None:
    models = subject.models
    assert (models.current, models.effort) == (None, "")
    assert len(acme(models).models) == 2
    with pytest.raises(KeenError):
        await models.check()


async def test_a_chosen_model_is_in_use_with_its_effort(subject: Subject) -> None:
    models = subject.models
    first, second = acme(models).models
    said = models.choose(first, effort="low")
    assert said.startswith(f"{first.title} is now in use.")
    assert (models.current, models.effort) == (first, "low")
    assert models.choose(second).startswith(second.title)
    assert (models.current, models.effort) == (second, "")


async def test_without_its_key_a_model_is_not_chosen(subject: Subject) -> None:
    models = subject.models
    first = acme(models).models[0]
    models.choose(first)
    with pytest.raises(KeenError):
        models.choose(without_key(models).models[0])
    assert models.current == first


async def test_a_key_is_kept_where_that_was_announced_and_is_in_no_sentence(subject: Subject) -> None:
    models = subject.models
    provider = without_key(models)
    with pytest.raises(ConfigError):
        await models.keep_key(provider, "  ")
    assert models.key_source(provider) is None
    place = await models.key_destination()
    said = await models.keep_key(provider, "sk-made-up")
    assert said.startswith(f"Saved in {place}") and "sk-made-up" not in said
    assert models.key_source(provider) == place
    models.choose(provider.models[0])
    assert models.current == provider.models[0]


async def test_the_server_of_a_provider_lists_its_models_and_answers_as_long_as_it_runs(
    subject: Subject,
) -> None:
    models = subject.models
    provider = acme(models)
    models.choose(provider.models[0])
    listed = await models.live_models(provider)
    assert listed and {each.provider for each in listed} == {provider.id}
    assert "answers" in await models.check()
    assert "answers" in await models.check(provider.models[0])
    await subject.stop_server()
    with pytest.raises(KeenError):
        await models.check()
    with pytest.raises(KeenError):
        await models.live_models(provider)


async def test_a_server_is_found_by_its_address_and_is_a_provider_from_then_on(subject: Subject) -> None:
    models = subject.models
    before = models.providers
    for _ in range(2):
        found = await models.find_server(subject.address)
        assert [each.id for each in found.models] == ["big", "small"]
        assert models.providers == (found.provider, *before)
    assert found.provider.by_address
    assert models.key_source(found.provider) == ""
    models.choose(found.models[0])
    assert models.current == found.models[0]


async def test_where_no_server_is_nothing_is_found(subject: Subject) -> None:
    before = subject.models.providers
    with pytest.raises(KeenError):
        await subject.models.find_server(NOWHERE)
    assert subject.models.providers == before


async def test_servers_that_are_found_on_this_machine_belong_to_local_providers(subject: Subject) -> None:
    local = [provider for provider in subject.models.providers if provider.local]
    assert all(found.provider in local for found in await subject.models.find_servers())


async def test_work_that_waits_is_lost_by_another_model_and_only_when_that_is_said(subject: Subject) -> None:
    models = subject.models
    first, second = acme(models).models
    models.choose(first)
    assert not models.would_abandon(second)
    await subject.leave_work()
    assert (models.would_abandon(first), models.would_abandon(second)) == (False, True)
    with pytest.raises(KeenError):
        models.choose(second)
    assert models.current == first
    models.choose(second, abandon=True)
    assert models.current == second
    assert not models.would_abandon(first)
