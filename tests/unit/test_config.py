"""Settings: defaults < user file < environment < flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.config import is_loopback, load_settings
from keen_tui.settings.file import remember
from keen_tui.settings.schema import Settings
from keen_tui.system.paths import home_folder


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


def test_hosts_of_the_command_line_are_allowed_beside_those_of_the_file(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    settings = load_settings({"allow_net": ["a.example", "*.b.example"], "allow_web": ["*"]}, environ)
    assert settings.permissions_allow[-3:] == ("net(a.example)", "net(*.b.example)", "web(*)")
    assert settings.network == "ask"


def test_each_provider_has_its_own_variable_for_the_base_url(environ: dict[str, str]) -> None:
    environ |= {"OPENAI_BASE_URL": "http://openai:1", "ANTHROPIC_BASE_URL": "http://anthropic:1"}
    assert load_settings({}, environ).base_url == "http://openai:1"
    assert load_settings({"api": "anthropic"}, environ).base_url == "http://anthropic:1"
    assert load_settings({"provider": "anthropic"}, environ).base_url == "http://anthropic:1"
    assert load_settings({"provider": "deepseek"}, environ).base_url == ""
    assert load_settings({"base_url": "http://flag:1"}, environ).base_url == "http://flag:1"


def test_what_is_remembered_is_written_among_what_the_user_wrote(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('# mine\nmodel = "old"  # for now\nbase_url = "http://old:1"\nmode = "plan"\n')
    assert remember({"model": "new", "effort": "high", "base_url": "", "api": ""}, environ) == file
    assert file.read_text() == '# mine\nmodel = "new"  # for now\nmode = "plan"\neffort = "high"\n'
    assert load_settings({}, environ) == Settings(model="new", effort="high", mode="plan")


def test_what_is_remembered_makes_the_file_and_keeps_a_link(tmp_path: Path) -> None:
    remember({"model": "m"}, {"KEEN_HOME": str(tmp_path / "new")})
    assert (tmp_path / "new" / "settings.toml").read_text() == 'model = "m"\n'
    (tmp_path / "settings.toml").symlink_to(tmp_path / "new" / "settings.toml")
    remember({"model": "n"}, {"KEEN_HOME": str(tmp_path)})
    assert (tmp_path / "settings.toml").is_symlink()
    assert (tmp_path / "new" / "settings.toml").read_text() == 'model = "n"\n'


def test_a_file_that_is_wrong_is_never_written_over(tmp_path: Path, environ: dict[str, str]) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("model = ")
    with pytest.raises(ConfigError, match="isn't valid TOML"):
        remember({"model": "m"}, environ)
    assert file.read_text() == "model = "


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


def test_keys_are_a_text_or_a_list_each(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text('[keys]\nretry = "ctrl+y"\nfind = ["f4", "f5"]\nstop = ""\n')
    assert load_settings({}, environ).keys == {"retry": ("ctrl+y",), "find": ("f4", "f5"), "stop": ("",)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('model = "m"\nmodee = "ask"', "line 2: unknown setting 'modee'"),
        ('[memory]\npolicy = "all"', "line 2: memory.policy must be one of"),
        ("[keys]\n\nretry = 3", "line 3: keys.retry must be a key in quotes, or a list of them, not 3"),
        ("keys = 3", "keys must be a table"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_its_line(
    tmp_path: Path, environ: dict[str, str], text: str, says: str
) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ConfigError) as wrong:
        load_settings({}, environ)
    assert says in str(wrong.value)
