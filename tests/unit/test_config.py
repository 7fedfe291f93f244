"""Settings: defaults < user file < environment < flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.config import Settings, is_loopback, load_settings
from keen_tui.errors import ConfigError
from keen_tui.home import home_folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"KEEN_HOME": str(tmp_path)}


def test_later_sources_win(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text('model = "file"\nbase_url = "http://file:1"\nmode = "plan"\n')
    environ["OPENAI_BASE_URL"] = "http://environment:1"
    settings = load_settings({"model": "flag"}, environ)
    assert (settings.model, settings.base_url, settings.mode) == ("flag", "http://environment:1", "plan")


def test_without_anything_the_defaults_hold(environ: dict[str, str]) -> None:
    assert load_settings({}, environ) == Settings()


def test_the_key_comes_from_the_named_variable_and_is_not_shown(environ: dict[str, str]) -> None:
    environ["MY_KEY"] = "sk-secret"
    settings = load_settings({"api_key_env": "MY_KEY"}, environ)
    assert settings.api_key == "sk-secret"
    assert "sk-secret" not in repr(settings)


@pytest.mark.parametrize("key", ["sk-\x00", "sk-ü", "sk-\n\x1b"])
def test_a_key_that_no_key_can_be_is_named_and_not_shown(environ: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as error:
        load_settings({}, environ | {"OPENAI_API_KEY": key})
    assert key not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(), "--model"),
        (Settings(model="m"), "OPENAI_API_KEY"),
        (Settings(model="m", base_url="https://example.org/v1"), "https://example.org/v1"),
        (Settings(model="m", base_url="http://localhost:11434/v1"), None),
        (Settings(model="m", api_key="k"), None),
    ],
)
def test_what_is_missing_before_a_model_can_be_asked(settings: Settings, words: str | None) -> None:
    missing = settings.missing()
    assert (missing is None) if words is None else (missing is not None and words in missing)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9:1", True),
        ("http://[::1]:1", True),
        ("http://localhost", True),
        ("http://localhost.example.org", False),
        ("https://127.0.0.1.example.org", False),
        ("https://example.org", False),
    ],
)
def test_loopback_is_this_machine_only(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_keen_home_moves_everything(tmp_path: Path) -> None:
    assert home_folder({"KEEN_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({}).name == "keen-tui"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(ConfigError, match=r"settings\.toml can't be read"):
        load_settings({}, environ)
