"""From settings to a model that can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.errors import ConfigError, ModelMissing
from keen_tui.providers.catalog.catalog import Catalog, load_catalog
from keen_tui.providers.catalog.choice import Chooser, ModelChoice
from keen_tui.settings.credentials import Keys
from keen_tui.settings.schema import Settings

CATALOG = """
id = "acme"
name = "Acme"
api = "openai-chat"
base_url = "https://api.acme.example/v1"
key_variables = ["ACME_API_KEY"]

[models."roadrunner-1"]
name = "Roadrunner 1"
api = "anthropic"
context_window = 100_000
output_limit = 8_000
price = { input = 1, output = 2 }
reasons = true
efforts = ["low", "high"]
"""
KEYS = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "ACME_API_KEY": "c"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "acme.toml").write_text(CATALOG)
    return load_catalog(tmp_path)


def choice(
    catalog: Catalog, folder: Path, environ: dict[str, str] | None = None, **settings: Any
) -> ModelChoice:
    environ = KEYS if environ is None else environ
    return Chooser(catalog, Keys(environ, folder), environ).choice(Settings(**settings))


def sketch(made: ModelChoice) -> tuple[str, str, str, str | None]:
    return made.provider.id, made.model.api, made.provider.base_url, made.key.source if made.key else None


OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
LOCAL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"model": "nobody-knows"}, ("openai", "openai-responses", OPENAI, "OPENAI_API_KEY")),
        ({"model": "x", "api": "openai-chat"}, ("openai", "openai-chat", OPENAI, "OPENAI_API_KEY")),
        ({"model": "x", "api": "anthropic"}, ("anthropic", "anthropic", ANTHROPIC, "ANTHROPIC_API_KEY")),
        ({"model": "claude-opus-5"}, ("anthropic", "anthropic", ANTHROPIC, "ANTHROPIC_API_KEY")),
        ({"model": "anthropic/new"}, ("anthropic", "anthropic", ANTHROPIC, "ANTHROPIC_API_KEY")),
        (
            {"provider": "acme", "model": "roadrunner-1"},
            ("acme", "anthropic", "https://api.acme.example/v1", "ACME_API_KEY"),
        ),
        ({"model": "x", "base_url": LOCAL}, (LOCAL, "openai-chat", LOCAL, "OPENAI_API_KEY")),
        (
            {"model": "x", "base_url": LOCAL, "api": "openai-responses"},
            (LOCAL, "openai-responses", LOCAL, "OPENAI_API_KEY"),
        ),
        (
            {"model": "x", "base_url": LOCAL, "api": "anthropic"},
            ("anthropic", "anthropic", LOCAL, "ANTHROPIC_API_KEY"),
        ),
        ({"model": "x", "base_url": OPENAI + "/"}, ("openai", "openai-responses", OPENAI, "OPENAI_API_KEY")),
        ({"model": "x", "provider": "ollama"}, ("ollama", "openai-chat", "http://localhost:11434/v1", None)),
    ],
)
def test_what_settings_lead_to(
    catalog: Catalog, tmp_path: Path, settings: dict[str, Any], made: tuple[str, ...]
) -> None:
    assert sketch(choice(catalog, tmp_path, **settings)) == made


def test_the_catalogue_says_what_the_model_is_like(catalog: Catalog, tmp_path: Path) -> None:
    made = choice(catalog, tmp_path, provider="acme", model="roadrunner-1", effort="high")
    connection = made.connection(30.0)
    assert (connection.model, connection.effort, connection.output_limit) == ("roadrunner-1", "high", 8_000)
    assert made.model.context_window == 100_000
    assert made.model.price is not None
    wider = choice(catalog, tmp_path, provider="acme", model="roadrunner-1", context_window=7)
    assert wider.model.context_window == 7


def test_prices_hold_only_where_they_were_read_for(catalog: Catalog, tmp_path: Path) -> None:
    made = choice(catalog, tmp_path, provider="acme", model="roadrunner-1", base_url=LOCAL)
    assert made.model.price is None


def test_an_effort_that_the_model_has_not_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="low or high"):
        choice(catalog, tmp_path, provider="acme", model="roadrunner-1", effort="huge")
    assert choice(catalog, tmp_path, model="unknown", effort="huge").effort == "huge"


def test_an_unknown_provider_is_named_with_those_that_are_known(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="acme"):
        choice(catalog, tmp_path, provider="acne", model="x")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "--model"),
        ({"model": "x"}, "OPENAI_API_KEY"),
        ({"model": "x", "provider": "acme"}, "ACME_API_KEY"),
    ],
)
def test_what_is_missing_is_said(
    catalog: Catalog, tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelMissing, match=words):
        choice(catalog, tmp_path, {}, **settings)


@pytest.mark.parametrize("url", [LOCAL, "https://else.example/v1"])
def test_a_server_by_its_address_may_need_no_key(catalog: Catalog, tmp_path: Path, url: str) -> None:
    assert choice(catalog, tmp_path, {}, model="x", base_url=url).key is None


def test_a_key_for_an_address_goes_before_the_variable_and_only_there(
    catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "keys.toml").write_text('"https://else.example/v1" = "sk-entered"\nopenai = "sk-openai"\n')
    there = choice(catalog, tmp_path, model="x", base_url="https://else.example/v1/")
    assert there.key is not None and there.key.value == "sk-entered"
    other = choice(catalog, tmp_path, model="x", base_url="https://other.example/v1")
    assert other.key is not None and other.key.source == "OPENAI_API_KEY"
    assert choice(catalog, tmp_path, {}, model="x", base_url="https://other.example/v1").key is None


def test_the_named_variable_holds_the_key_or_it_is_said(catalog: Catalog, tmp_path: Path) -> None:
    made = choice(catalog, tmp_path, {"MINE": " k "}, model="x", api_key_env="MINE")
    assert made.key is not None and (made.key.value, made.key.source) == ("k", "MINE")
    assert "'k'" not in repr(made)
    with pytest.raises(ConfigError, match="MINE"):
        choice(catalog, tmp_path, {}, model="x", api_key_env="MINE")


def test_kept_keys_go_to_no_other_address(catalog: Catalog, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text('acme = "kept"\nopenai = "kept"\n')
    keys.chmod(0o600)
    assert choice(catalog, tmp_path, {}, provider="acme", model="x").key is not None
    elsewhere = {"model": "x", "base_url": "https://else.example/v1"}
    with pytest.raises(ModelMissing):
        choice(catalog, tmp_path, {}, provider="acme", **elsewhere)
    assert choice(catalog, tmp_path, {}, **elsewhere).key is None


def test_anthropics_own_variable_moves_its_base_url(catalog: Catalog, tmp_path: Path) -> None:
    made = choice(catalog, tmp_path, KEYS | {"ANTHROPIC_BASE_URL": LOCAL}, model="claude-opus-5")
    assert made.provider.base_url == LOCAL
