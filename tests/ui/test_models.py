"""Choosing a model: the first start, the picker, entering a key, the switch with work pending."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.errors import AuthFailed
from keen_tui.domain.models import FoundServer, ModelInfo
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.app import KeenApp
from keen_tui.memory.pending import PendingState, PendingTrace
from tests.support.fake_models import ACME, AT_GPU_BOX, COYOTE, GPU_BOX, LOCAL, FakeModels, model
from tests.support.fake_session import FakeSession
from tests.support.waiting import LIMIT
from tests.support.workspace import Driver, workspace

SECRET = "sk-verysecret"


@asynccontextmanager
async def first_start(folder: Path, models: FakeModels, *typed: str) -> AsyncIterator[Driver]:
    """The program without a model. These keys are typed before anything is prepared."""
    session, go_on = FakeSession(folder), threading.Event()

    def prepared() -> FrontEndSetup:
        assert go_on.wait(LIMIT)
        return FrontEndSetup(session=session, controls=session, models=models)

    app = KeenApp(prepared)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, session, pilot)
        try:
            await driver.press(*typed)
        finally:
            go_on.set()
        await driver.until(lambda: app.live)
        yield driver


async def opened_picker(driver: Driver) -> None:
    await driver.press("f2")
    await driver.until_shown("Choose a model")
    await driver.until_shown("gpt-oss:20b")
    await driver.until_shown("roadrunner-3-preview")


async def test_the_picker_opens_by_key_slash_command_and_says_what_is_in_use(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.effort = "high"
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        assert driver.shows("now Roadrunner 2  high")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.type("/model")
        await driver.press("enter")
        await driver.until_shown("Choose a model")
        assert driver.written == ""


async def test_a_model_is_found_by_a_few_letters_and_chosen_with_its_effort(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[1])
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.type("rdrn 2")
        await driver.until(lambda: not driver.shows("gpt-oss"))
        await driver.press("right", "right", "enter")
        await driver.until_shown("Roadrunner 2 is now in use.")
        assert ("choose", "roadrunner-2", "medium", False) in models.calls


async def test_keys_typed_fast_reach_the_search_before_enter_takes(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.press(*"qwen", "enter")
        await driver.until(lambda: ("choose", "qwen3-coder", "", False) in models.calls)


async def test_what_no_list_knows_can_be_used_by_its_name(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.type("zz-top-9")
        await driver.until_shown("use zz-top-9 with Acme")
        assert driver.shows("use zz-top-9 with Ollama")
        assert not driver.shows("with Coyote"), "there is no key for it"
        await driver.press("down", "enter")
        await driver.until(lambda: ("choose", "zz-top-9", "", False) in models.calls)
        assert models.current is not None and models.current.provider == "ollama"


async def test_lists_that_come_late_move_nothing_under_the_cursor(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.found.clear()
    models.providers = (LOCAL, ACME, COYOTE)
    async with workspace(tmp_path, models=models, size=(120, 18)) as driver:
        await driver.press("f2")
        await driver.until_shown("roadrunner-3-preview")
        await driver.press("down", "down")
        row = driver.row_with("roadrunner-3-preview")
        models.found.set()
        await driver.until_shown("above")
        assert driver.row_with("roadrunner-3-preview") == row
        await driver.press("enter")
        await driver.until(lambda: ("choose", "roadrunner-3-preview", "", False) in models.calls)


async def test_a_list_that_fails_is_one_sentence_and_the_known_models_stay(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.refusal = "api.acme.example: no such key (401)."
    async with workspace(tmp_path, models=models) as driver:
        await driver.press("f2")
        await driver.until_shown("no such key (401)")
        assert driver.shows("Roadrunner 2 mini")
        await driver.press("ctrl+t")
        await driver.pilot.pause()
        await driver.press("enter")
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert driver.shows("no such key (401)"), "what refuses the choice is said"


async def test_the_connection_is_tested_in_the_picker_and_by_command(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.press("ctrl+t")
        await driver.until_shown("Acme answers in 0.3 s")
        await driver.press("down", "ctrl+t")
        await driver.until(lambda: ("check", "roadrunner-2-mini") in models.calls)
        await driver.press("escape")
        await driver.type("/check")
        await driver.press("enter")
        await driver.until_shown("Acme answers in 0.3 s")


async def test_a_server_that_takes_its_time_is_told_by_the_second_until_esc(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.answered.clear()
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.press("ctrl+t")
        await driver.until_shown("asking Acme   0 s")
        await driver.until_shown("asking Acme   1 s")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen and not models.open_checks)


async def test_what_is_being_asked_is_said_and_no_name_is_called_unknown_before(tmp_path: Path) -> None:
    models = FakeModels(None)
    async with workspace(tmp_path, models=models) as driver:
        await driver.until_shown("localhost:11434")
        models.found.clear()
        await driver.press("1")
        await driver.until_shown("looking for servers on this machine")
        assert driver.shows("Choose a model   Ollama")
        assert not driver.shows("No model")
        models.found.set()
        await driver.until_shown("qwen3-coder")
        await driver.until(lambda: not driver.shows("looking for servers"))


async def test_a_local_server_without_a_model_says_so(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.servers = (FoundServer(provider=LOCAL, address="localhost:11434", models=()),)
    async with workspace(tmp_path, models=models) as driver:
        await driver.press("f2")
        await driver.until_shown("it is running, but has no model yet")


async def test_the_model_in_use_is_chosen_once_its_server_tells_of_it(tmp_path: Path) -> None:
    models = FakeModels(model("ollama", "qwen3-coder"))
    models.found.clear()
    async with workspace(tmp_path, models=models) as driver:
        await driver.press("f2")
        await driver.until_shown("roadrunner-3-preview")
        models.found.set()
        await driver.until_shown("● qwen3-coder")
        await driver.press("enter")
        await driver.until(lambda: ("choose", "qwen3-coder", "", False) in models.calls)


async def test_models_out_of_view_are_counted(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.live["acme"] = tuple(model("acme", f"other-{number}") for number in range(8))
    async with workspace(tmp_path, models=models, size=(80, 18)) as driver:
        await driver.press("f2")
        await driver.until_shown("↓ 7 below")
        await driver.press("pagedown", "pagedown")
        await driver.until_shown("above")
        assert not driver.shows("below")


async def test_a_missing_key_is_entered_and_never_drawn(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.live["coyote"] = COYOTE.models
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.type("coyote")
        await driver.until_shown("no key in COYOTE_API_KEY")
        await driver.press("enter")
        await driver.until_shown("The key for Coyote")
        await driver.until_shown("It is saved in the system keyring.")
        await driver.type(SECRET)
        assert not driver.shows(SECRET)
        assert SECRET not in driver.app.export_screenshot()
        await driver.press("enter")
        await driver.until_shown("Trap 1")
        await driver.until_shown("Saved in the system keyring. Coyote answers and lists 1 model.")
        assert models.kept == {"coyote": SECRET}
        await driver.press("escape", "up")
        assert driver.written == "", "the key is in no history"


async def test_a_key_that_its_server_refuses_is_known_at_once(tmp_path: Path) -> None:
    models = FakeModels(None, keys={})
    models.key_place = str(Path.home() / "keys.toml")
    async with workspace(tmp_path, models=models) as driver:
        await driver.until_shown("saved in ~/keys.toml")
        await driver.press("2")
        await driver.press("enter")
        await driver.until_shown("It is saved in ~/keys.toml, which only you can read.")
        models.refusal = "Acme: the key is wrong."
        await driver.type(SECRET)
        await driver.press("enter")
        await driver.until_shown(f"Saved in {models.key_place}. Acme: the key is wrong.")


async def test_an_empty_key_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with workspace(tmp_path, models=FakeModels(ACME.models[0])) as driver:
        await driver.type("/key")
        await driver.press("enter")
        await driver.until_shown("Whose key do you want to enter?")
        await driver.press("enter")
        await driver.until_shown("The key for Acme")
        await driver.press("enter")
        await driver.until_shown("The key is empty.")


async def test_the_providers_with_a_key_fit_above_the_foot(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.providers = tuple(
        replace(ACME, name=f"Provider {number}", key_variables=(f"KEY_{number}",)) for number in range(12)
    )
    async with workspace(tmp_path, models=models, size=(60, 12)) as driver:
        await driver.type("/key")
        await driver.press("enter")
        await driver.until_shown("Provider 7")
        assert not driver.shows("Provider 8")
        foot = driver.row_with("enter choose")
        assert driver.row_with("Provider 7") < foot == 11
        await driver.press(*["down"] * 11)
        await driver.until_shown("› Provider 11")
        assert driver.row_with("Provider 11") < driver.row_with("enter choose")
        assert not driver.shows("Provider 3")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12), (40, 10)])
async def test_the_field_for_a_key_is_in_view_with_what_went_wrong(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    models = FakeModels(ACME.models[0])
    models.key_place = str(Path.home() / ".config" / "keen-tui" / "keys.toml")
    models.providers = (replace(ACME, base_url=f"https://acme.example/{'long-path/' * 3}v1"),)
    async with workspace(tmp_path, models=models, size=size) as driver:
        await driver.type("/key")
        await driver.press("enter")
        await driver.until_shown("Whose key do you want to enter?")
        await driver.press("enter")
        await driver.until_shown("The key for Acme")
        await driver.press("enter")
        await driver.until_shown("The key is empty.")
        field, said = driver.row_with("paste or type the key"), driver.row_with("The key is empty.")
        assert field < said < driver.row_with("enter save it") < size[1]
        if size[0] > 40:
            assert driver.shows("logged.")


@pytest.mark.parametrize("columns", [80, 60])
async def test_the_keys_of_the_first_start_are_named_whole(tmp_path: Path, columns: int) -> None:
    async with workspace(tmp_path, models=FakeModels(None), size=(columns, 12)) as driver:
        await driver.until_shown("esc skip   ctrl+d quit")
        assert driver.shows("keen 0.") is (columns == 80)


@pytest.mark.parametrize("columns", [80, 60])
async def test_what_a_server_answers_is_whole_in_the_list_of_models(tmp_path: Path, columns: int) -> None:
    models = FakeModels(ACME.models[0])
    models.refusal = (
        "Acme can't be reached at all: the name is not known. Check the network and the last word."
    )
    async with workspace(tmp_path, models=models, size=(columns, 12)) as driver:
        await driver.press("f2")
        await driver.until_shown("the last word.")
        assert driver.shows("$20 out") and not driver.shows("$20 out…")


async def test_what_a_server_answers_late_is_in_view_above_the_first_choice(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0], keys={})
    models.providers = (GPU_BOX, *models.providers)
    models.refusal = f"{GPU_BOX.name} has no list of models at {GPU_BOX.id}/models (404). Here is the end."
    async with workspace(tmp_path, models=models, size=(80, 24)) as driver:
        await driver.press("f2")
        await driver.until_shown("Here is the end.")
        await driver.until_shown("qwen3-coder")
        await driver.until_shown(f"{GPU_BOX.name}   {GPU_BOX.id}")
        assert driver.shows("▌   no key in ACME_API_KEY; enter one")


async def test_the_first_start_offers_what_is_there(tmp_path: Path) -> None:
    models = FakeModels(None)
    async with workspace(tmp_path, models=models) as driver:
        await driver.until_shown("localhost:11434")
        for words in (
            "Choose a model to begin",
            "2 models",
            "vLLM",
            "not running",
            "ACME_API_KEY",
            "Guided demo",
        ):
            assert driver.shows(words)
        await driver.press("1")
        await driver.until_shown("qwen3-coder")
        assert not driver.shows("Roadrunner"), "only the models of that server"
        await driver.press("down", "enter")
        await driver.until(lambda: ("choose", "gpt-oss:20b", "", False) in models.calls)
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_the_first_start_leads_to_the_tour(tmp_path: Path) -> None:
    async with workspace(tmp_path, models=FakeModels(None, keys={})) as driver:
        await driver.until_shown("localhost:11434")
        await driver.press("down", "down", "down", "enter")
        await driver.until(lambda: driver.app.return_value == "demo")


def with_gpu_box(current: ModelInfo | None = None) -> FakeModels:
    models = FakeModels(current, keys={})
    models.at_address = {GPU_BOX.base_url: AT_GPU_BOX}
    models.live[GPU_BOX.id] = AT_GPU_BOX.models
    return models


async def test_the_first_start_takes_a_server_by_its_address(tmp_path: Path) -> None:
    models = with_gpu_box()
    async with workspace(tmp_path, models=models) as driver:
        await driver.until_shown("localhost:11434")
        await driver.press("3")
        await driver.until_shown("Another model server")
        assert driver.shows("OPENAI_API_KEY is sent along if it is set")
        await driver.type(GPU_BOX.base_url)
        await driver.press("enter")
        await driver.until_shown("Choose a model   gpu-box:8000")
        await driver.until_shown("gpu-box:8000 answers and lists 2 models.")
        assert ("find_server", GPU_BOX.base_url, "") in models.calls
        await driver.press("enter")
        await driver.until(lambda: ("choose", "big", "", False) in models.calls)


async def test_an_address_typed_into_the_picker_is_asked_at_once(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    models.keys = {"acme": "ACME_API_KEY"}
    async with workspace(tmp_path, models=models) as driver:
        await opened_picker(driver)
        await driver.press("pagedown", "pagedown", "enter")
        await driver.until_shown("Another model server")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await opened_picker(driver)
        await driver.type(GPU_BOX.base_url)
        await driver.until_shown(f"use the server at {GPU_BOX.base_url}")
        assert not driver.shows("with Acme")
        await driver.press("enter")
        await driver.until_shown("gpu-box:8000 answers and lists 2 models.")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.press("f2")
        await driver.until_shown(f"gpu-box:8000   {GPU_BOX.base_url}")


async def test_a_server_is_named_by_command(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    async with workspace(tmp_path, models=models) as driver:
        await driver.type(f"/server {GPU_BOX.base_url}")
        await driver.press("enter")
        await driver.until_shown("gpu-box:8000 answers and lists 2 models.")


async def test_what_is_wrong_with_an_address_is_said_and_goes_when_it_is_changed(tmp_path: Path) -> None:
    async with workspace(tmp_path, models=with_gpu_box(ACME.models[0])) as driver:
        await driver.type("/server")
        await driver.press("enter")
        await driver.until_shown("Another model server")
        await driver.type("gpu-boy")
        await driver.press("enter")
        await driver.until_shown("There is no server.")
        await driver.press("backspace")
        await driver.until(lambda: not driver.shows("There is no server."))
        assert driver.shows("gpu-bo")


async def test_a_server_that_wants_a_key_gets_one_that_is_never_drawn(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    models.at_address = {GPU_BOX.base_url: AuthFailed("gpu-box: who are you? (401)."), SECRET: AT_GPU_BOX}
    async with workspace(tmp_path, models=models) as driver:
        await driver.type(f"/server {GPU_BOX.base_url}")
        await driver.press("enter")
        await driver.until_shown("gpu-box: who are you? (401).")
        await driver.until_shown(f"The key for {GPU_BOX.base_url}")
        assert driver.shows("It is saved in the system keyring.")
        assert driver.shows("It is sent to this address only")
        assert driver.shows("With http:// it is sent unencrypted.")
        await driver.type(SECRET)
        assert SECRET not in driver.app.export_screenshot()
        await driver.press("enter")
        await driver.until_shown("Saved in the system keyring. gpu-box:8000 answers and lists 2 models.")
        assert models.kept == {GPU_BOX.id: SECRET}
        assert SECRET not in driver.app.export_screenshot()


async def test_address_and_key_are_entered_as_fast_as_one_can(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    models.at_address = {SECRET: AT_GPU_BOX}
    async with workspace(tmp_path, models=models) as driver:
        await driver.type("/server")
        await driver.press("enter")
        await driver.until_shown("Another model server")
        keys = [*GPU_BOX.base_url, "tab", *SECRET, "tab", "end", "x", "backspace", "tab", "enter"]
        await driver.pilot.press(*keys)
        await driver.until_shown("gpu-box:8000 answers and lists 2 models.")
        assert ("find_server", GPU_BOX.base_url, SECRET) in models.calls


async def test_an_address_that_is_changed_while_it_is_asked_is_forgotten(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    models.answered.clear()
    async with workspace(tmp_path, models=models) as driver:
        await driver.type(f"/server {GPU_BOX.base_url}")
        await driver.press("enter")
        await driver.until_shown(f"asking {GPU_BOX.base_url}   1 s")
        await driver.press("x")
        await driver.until(lambda: not driver.shows("asking"))
        models.answered.set()
        await driver.pilot.pause()
        assert driver.shows("Another model server") and driver.shows(f"{GPU_BOX.base_url}x")
        await driver.press("tab", "escape")
        await driver.until_shown("Another model server")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_a_server_without_a_list_takes_a_name(tmp_path: Path) -> None:
    models = with_gpu_box(ACME.models[0])
    models.live[GPU_BOX.id] = ()
    async with workspace(tmp_path, models=models) as driver:
        await driver.type(f"/server {GPU_BOX.base_url}")
        await driver.press("enter")
        await driver.until_shown("gpu-box:8000 answers, but lists no models. Type the name of one.")
        await driver.type("qwen")
        await driver.until_shown("use qwen with gpu-box:8000")
        await driver.press("enter")
        await driver.until(lambda: ("choose", "qwen", "", False) in models.calls)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_a_wrong_path_is_explained_and_can_be_mended_or_a_model_named(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    models, advice = with_gpu_box(ACME.models[0]), "No list at /v2 (404). Most end in /v1."
    wrong = replace(GPU_BOX, id="http://gpu-box:8000/v2", base_url="http://gpu-box:8000/v2")
    models.at_address[wrong.id] = FoundServer(
        provider=wrong, address="gpu-box:8000", models=(), unlisted=advice
    )
    async with workspace(tmp_path, models=models, size=size) as driver:
        await driver.type(f"/server {wrong.id}")
        await driver.press("enter")
        await driver.until_shown(advice)
        await driver.until_shown("enter name a model")
        await driver.press("enter")
        await driver.until_shown("gpu-box:8000 answers, but lists no models.")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.type(f"/server {wrong.id}")
        await driver.press("enter")
        await driver.until_shown("enter name a model")
        await driver.press("backspace", "1")
        await driver.until_shown("enter connect")
        assert not driver.shows(advice)
        await driver.press("enter")
        await driver.until_shown("gpu-box:8000 answers and lists 2 models.")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12), (40, 10)])
async def test_the_field_for_the_address_is_in_view_with_what_went_wrong(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, models=with_gpu_box(ACME.models[0]), size=size) as driver:
        await driver.type("/server http://gpu-boy")
        await driver.press("enter")
        await driver.until_shown("There is no server.")
        assert driver.shows("http://gpu-boy") and driver.shows("esc back")


async def test_without_a_model_a_message_waits_in_the_composer(tmp_path: Path) -> None:
    models = FakeModels(None)
    async with workspace(tmp_path, models=models) as driver:
        await driver.until_shown("localhost:11434")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.type("hi there")
        await driver.press("enter")
        await driver.until_shown("Your message waits in the composer")
        await driver.press("1", "enter")
        await driver.until(lambda: models.current is not None)
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert driver.written == "hi there"
        await driver.press("enter")
        await driver.until(lambda: ("submit", "hi there") in driver.session.calls)


@pytest.mark.parametrize("typed", [("2",), ("2", "enter")], ids=" ".join)
async def test_a_number_typed_before_the_first_page_is_there_goes_to_nobody(
    tmp_path: Path, typed: tuple[str, ...]
) -> None:
    models = FakeModels(None)
    async with first_start(tmp_path, models, *typed) as driver:
        await driver.until_shown("Choose a model to begin")
        assert not driver.shows("waits in the composer")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert (driver.written, models.current) == ("", None)
        await driver.press("up")
        assert driver.written == "2"


async def test_a_message_typed_before_the_first_page_is_there_waits_and_the_page_says_so(
    tmp_path: Path,
) -> None:
    async with first_start(tmp_path, FakeModels(None), *"2fast") as driver:
        await driver.until_shown("Your message waits in the composer until you choose.")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert driver.written == "2fast"


async def test_a_switch_that_loses_work_asks_first(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[0])
    models.loses_work = True
    async with workspace(tmp_path, models=models) as driver:
        driver.session.pending = PendingState(traces=(PendingTrace(1, ({"role": "user"},)),), calls=2)
        await opened_picker(driver)
        await driver.press("down", "enter")
        await driver.until_shown("Switch to Roadrunner 2 mini?")
        assert not any(call[0] == "choose" for call in models.calls)
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("3", "enter")
        await driver.until(lambda: ("choose", "roadrunner-2-mini", "", True) in models.calls)
        models.loses_work = True
        await opened_picker(driver)
        await driver.press("up", "enter")
        await driver.until_shown("Switch to")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("2", "enter")
        await driver.until(lambda: ("retry",) in driver.session.calls)


async def test_an_unknown_command_stays_in_the_composer_and_a_path_is_a_message(tmp_path: Path) -> None:
    async with workspace(tmp_path, models=FakeModels(ACME.models[0])) as driver:
        await driver.type("/modle")
        await driver.press("enter")
        await driver.until_shown("There is no command /modle. Did you mean /model?")
        assert driver.written == "/modle"
        driver.screen.prompt.write("/usr/bin")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "/usr/bin") in driver.session.calls)


async def test_slash_commands_run_actions(tmp_path: Path) -> None:
    async with workspace(tmp_path, models=FakeModels(ACME.models[0])) as driver:
        await driver.type("/RETRY")
        await driver.press("enter")
        await driver.until(lambda: ("retry",) in driver.session.calls)
        await driver.type("/help")
        await driver.press("enter")
        await driver.until_shown("Everywhere, also while you type")
        assert driver.shows("ctrl+r, /retry")


async def test_the_tour_has_no_picker(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("f2")
        await driver.until_shown("There is no other model to choose here.")


async def test_it_fits_small_terminals(tmp_path: Path) -> None:
    for size in ((80, 24), (40, 10), (200, 60)):
        async with workspace(tmp_path, models=FakeModels(None), size=size) as driver:
            await driver.until_shown("Ollama")
            assert driver.shows("Guided demo")
            await driver.press("1")
            await driver.until_shown("qwen3-coder")


@pytest.mark.parametrize("columns", [120, 80, 62])
async def test_the_keys_of_the_picker_are_named_up_to_the_last(tmp_path: Path, columns: int) -> None:
    async with workspace(tmp_path, models=FakeModels(ACME.models[0]), size=(columns, 24)) as driver:
        await driver.press("f2")
        await driver.until_shown("type to find a model")
        await driver.until_shown("esc back")


async def test_a_model_that_is_named_is_used_at_once_and_part_of_a_name_is_looked_for(tmp_path: Path) -> None:
    models = FakeModels(ACME.models[1])
    async with workspace(tmp_path, models=models) as driver:
        await driver.type("/model Roadrunner-2")
        await driver.press("enter")
        await driver.until(lambda: ("choose", "roadrunner-2", "", False) in models.calls)
        await driver.type("/model gpt-oss")
        await driver.press("enter")
        await driver.until_shown("gpt-oss:20b")
        assert not driver.shows("qwen3-coder")
