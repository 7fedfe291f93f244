"""The catalogue: what is shipped, what the user lays over it, how a name is found in it."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.models import ModelInfo, Price, cost_of
from keen_tui.providers.catalog import catalog as catalog_module
from keen_tui.providers.catalog.catalog import Catalog, load_catalog

SHIPPED = sorted(Path(catalog_module.__file__).with_name("data").glob("*.toml"))
CATALOG = load_catalog(None)
MODELS = [model for provider in CATALOG.providers.values() for model in provider.models]


def with_file(folder: Path, text: str, name: str = "mine.toml") -> Catalog:
    (folder / name).write_text(text)
    return load_catalog(folder)


def test_every_shipped_file_is_a_provider_of_that_name() -> None:
    assert {file.stem for file in SHIPPED} == set(CATALOG.providers)
    assert all(provider.id == name for name, provider in CATALOG.providers.items())


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_what_is_said_of_models_names_its_source_and_its_date(file: Path) -> None:
    table = tomllib.loads(file.read_text())
    if table.get("models"):
        assert table["source"] and isinstance(table["retrieved"], date)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.provider}:{model.id}")
def test_shipped_values_fit_each_other(model: ModelInfo) -> None:
    if model.output_limit and model.context_window:
        assert model.output_limit < model.context_window
    if model.price:
        assert 0 < model.price.input <= model.price.output
        assert model.price.cached_input is None or model.price.cached_input < model.price.input
        if model.price.long:
            assert model.price.long.input > model.price.input and model.price.long_above >= 100_000
    if model.efforts:
        known = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
        assert model.reasons and list(model.efforts) == sorted(model.efforts, key=known.index)


def test_only_servers_on_this_machine_want_no_key() -> None:
    for provider in CATALOG.providers.values():
        assert provider.local == (not provider.key_variables) == ("//localhost:" in provider.base_url)
        assert provider.local or provider.base_url.startswith("https://")


def test_an_unknown_model_is_spoken_to_as_its_provider_is_and_nothing_else_is_known_of_it() -> None:
    unknown = CATALOG.model("anthropic", "claude-of-tomorrow")
    assert unknown == ModelInfo(provider="anthropic", id="claude-of-tomorrow", api="anthropic")
    assert unknown.price is None and unknown.context_window is None


@pytest.mark.parametrize(
    ("provider", "dated", "base"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("openai", "gpt-5.5-2026-04-23", "gpt-5.5"),
    ],
)
def test_a_dated_variant_has_the_values_of_its_base(provider: str, dated: str, base: str) -> None:
    variant, known = CATALOG.model(provider, dated), CATALOG.model(provider, base)
    assert (variant.id, variant.title) == (dated, dated)
    assert (variant.price, variant.context_window) == (known.price, known.context_window)
    assert known.price is not None


@pytest.mark.parametrize("name", ["gpt-5.5-turbo", "gpt-5.5-2026", "gpt-5.50", "gpt-5"])
def test_a_name_that_only_looks_alike_is_unknown(name: str) -> None:
    assert CATALOG.model("openai", name).price is None
    assert CATALOG.find(name) is None


@pytest.mark.parametrize("route", ["free", "nitro", "online"])
def test_another_route_to_a_model_has_neither_its_price_nor_its_window(route: str) -> None:
    base = CATALOG.model("openrouter", "anthropic/claude-opus-5.5")
    routed = CATALOG.model("openrouter", f"anthropic/claude-opus-5.5:{route}")
    assert base.price and base.context_window
    assert routed.price is None and routed.context_window is None and routed.reasons == base.reasons


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("claude-opus-5-5", ("anthropic", "claude-opus-5-5")),
        ("anthropic/claude-opus-5-5", ("anthropic", "claude-opus-5-5")),
        ("anthropic/claude-opus-5.5", ("openrouter", "anthropic/claude-opus-5.5")),
        ("openrouter/anthropic/claude-opus-5.5", ("openrouter", "anthropic/claude-opus-5.5")),
        ("openai/gpt-6-luna", ("openai", "gpt-6-luna")),
        ("anthropic/claude-of-tomorrow", ("anthropic", "claude-of-tomorrow")),
        ("ollama/qwen3:8b", ("ollama", "qwen3:8b")),
        ("nobody/has-this", None),
        ("has-this", None),
        ("openai/", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_its_name_with_whoever_has_it(name: str, found: tuple[str, str] | None) -> None:
    model = CATALOG.find(name)
    assert (model and (model.provider, model.id)) == found


def test_the_user_adds_a_provider_with_models(tmp_path: Path) -> None:
    catalog = with_file(
        tmp_path,
        """
        name = "My own"
        api = "openai-chat"
        base_url = "https://models.example/v1"
        key_variables = ["MY_KEY"]
        [models.big]
        context_window = 1000
        price = { input = 1, output = 2, long = { above = 500, input = 3, output = 4 } }
        """,
    )
    mine = catalog.providers["mine"]
    assert (mine.name, mine.key_variables) == ("My own", ("MY_KEY",))
    long = Price(input=3, output=4)
    expected = Price(input=1, output=2, long_above=500, long=long)
    assert catalog.find("big") == ModelInfo(
        provider="mine", id="big", api="openai-chat", context_window=1000, price=expected
    )
    assert list(catalog.providers)[-1] == "mine"


def test_the_user_replaces_single_fields_of_shipped_ones(tmp_path: Path) -> None:
    catalog = with_file(
        tmp_path,
        """
        base_url = "https://proxy.example"
        [models.claude-opus-5-5]
        context_window = 200_000
        [models.claude-mine]
        api = "openai-chat"
        """,
        "anthropic.toml",
    )
    shipped, changed = CATALOG.providers["anthropic"], catalog.providers["anthropic"]
    assert changed.base_url == "https://proxy.example"
    assert (changed.name, changed.key_variables) == (shipped.name, shipped.key_variables)
    before, after = (
        CATALOG.model("anthropic", "claude-opus-5-5"),
        catalog.model("anthropic", "claude-opus-5-5"),
    )
    assert after.context_window == 200_000 != before.context_window
    assert (after.price, after.efforts) == (before.price, before.efforts)
    assert catalog.model("anthropic", "claude-mine").api == "openai-chat"
    assert len(changed.models) == len(shipped.models) + 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("api = ", "isn't valid TOML"),
        ('api = "openai-chat"', "base_url is missing"),
        ('base_url = "https://a.example"', "api is missing"),
        ('api = "telnet"', "api must be one of openai-chat"),
        ('base_url = "models.example"', "base_url must be an http"),
        ('base_url = "https://me:secret@models.example"', "base_url must be an http"),
        ("colour = 1", "unknown key colour"),
        ('key_variables = ["sk-verysecret"]', "key_variables must be a list of names"),
        ("[models]\nm = 1", "models.m must be a table"),
        ("[models.m]\ncontext_window = -5", "models.m.context_window must be a whole number above 0"),
        ("[models.m]\ncontext_window = true", "models.m.context_window must be a whole number above 0"),
        ('[models.m]\nefforts = "low"', "models.m.efforts must be a list"),
        ("[models.m]\nprice = { input = 1 }", "models.m.price.output is missing"),
        ("[models.m]\nprice = { input = -1, output = 2 }", "models.m.price.input must be dollars"),
        ("[models.m]\nprice = { input = nan, output = 2 }", "models.m.price.input must be dollars"),
        (
            "[models.m]\nprice = { input = 1, output = 2, long = { input = 3, output = 4 } }",
            "models.m.price.long.above is missing",
        ),
    ],
)
def test_a_file_that_is_wrong_is_named_with_the_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_file(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}") and told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(ConfigError, match=r"mine\.toml can't be read"):
        load_catalog(tmp_path)


def test_a_folder_that_is_not_there_adds_nothing(tmp_path: Path) -> None:
    assert list(load_catalog(tmp_path / "none").providers) == list(CATALOG.providers)


def test_a_long_input_is_paid_for_at_its_own_price_and_whole() -> None:
    price = Price(input=1, output=10, long_above=1000, long=Price(input=2, output=20))
    assert cost_of(TokenUsage(input_tokens=1000, output_tokens=100), price) == pytest.approx(0.002)
    assert cost_of(TokenUsage(input_tokens=1001, output_tokens=100), price) == pytest.approx(0.004002)
