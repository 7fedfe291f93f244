"""The table of all settings, and the file that is made from it."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.config import flat, load_settings
from keen_tui.settings.default_file import default_text
from keen_tui.settings.file import remember, write_defaults
from keen_tui.settings.schema import ABOUT, Settings, name_in_file
from keen_tui.settings.service import SettingsService
from keen_tui.settings.toml_lines import uncommented
from keen_tui.tools.permissions.rule_check import check_rules


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"KEEN_HOME": str(tmp_path)}


def service(tmp_path: Path, environ: dict[str, str], **given: object) -> SettingsService:
    return SettingsService({"words": [], **given}, environ, tmp_path / "project", check_rules)


def test_every_setting_is_explained_and_has_its_place() -> None:
    assert list(ABOUT) == list(Settings._fields)
    groups = [about.group for about in ABOUT.values()]
    assert len(set(groups)) == len(list(groupby(groups))), "the settings of a group stand together"


def test_the_default_file_sets_nothing_and_holds_every_setting_with_its_default(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    file, is_new = write_defaults(environ)
    assert is_new
    assert load_settings({}, environ) == Settings()
    text = file.read_text()
    for name in ABOUT:
        if not ABOUT[name].example:
            assert uncommented(text, name_in_file(name)) != text
            text = uncommented(text, name_in_file(name))
    file.write_text(text)
    assert load_settings({}, environ) == Settings()
    assert set(flat(tomllib.loads(text), "")) == set(ABOUT)


def test_a_settings_file_that_is_there_stays_as_it_is(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text("# mine\n")
    assert write_defaults(environ) == (tmp_path / "settings.toml", False)
    assert (tmp_path / "settings.toml").read_text() == "# mine\n"


def test_what_is_set_takes_the_place_of_its_comment(tmp_path: Path, environ: dict[str, str]) -> None:
    file, _ = write_defaults(environ)
    remember({"theme": "keen-light", "memory_policy": "in-band", "sandbox": False}, environ)
    before, after = default_text().splitlines(), file.read_text().splitlines()
    assert len(before) == len(after)
    assert [line for line in after if line not in before] == [
        "sandbox = false",
        'theme = "keen-light"',
        'policy = "in-band"',
    ]


def test_a_table_is_made_where_there_is_none(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text('[permissions]\ndeny = ["bash(curl)"]\n')
    remember({"memory_policy": "in-band", "model": "m"}, environ)
    settings = load_settings({}, environ)
    assert (settings.memory_policy, settings.model) == ("in-band", "m")
    assert settings.permissions_deny == ("bash(curl)",)
    remember({"memory_policy": None, "pending_durable": None}, environ)
    assert load_settings({}, environ).memory_policy == "summary"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ('theme = "x"\n# [memory]\n# policy = "summary"\n', {"memory_policy": "in-band"}),
        ("# theme = dark one for the evening\n", {"theme": "keen-light"}),
        ('[keys]\nretry = "f5"\n# [x]\n# model = "old"\n', {"model": "new"}),
        ('effort = """\n# model = "old"\n"""\n', {"model": "new"}),
    ],
)
def test_comments_of_the_users_own_stay_comments_and_the_file_stays_right(
    tmp_path: Path, environ: dict[str, str], text: str, changes: dict[str, Any]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    before = load_settings({}, environ)
    remember(changes, environ)
    assert load_settings({}, environ) == before._replace(**changes)
    assert [line for line in text.splitlines() if line not in file.read_text().splitlines()] == []


def test_a_file_that_would_be_wrong_is_not_written(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text('mode = "wild"\n')
    with pytest.raises(ConfigError, match="line 1: mode must be one of ask"):
        remember({"model": "m"}, environ)
    assert (tmp_path / "settings.toml").read_text() == 'mode = "wild"\n'


def test_a_table_that_is_none_is_told_of(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text("memory = 3\n")
    with pytest.raises(ConfigError, match="can't be changed"):
        remember({"memory_policy": "in-band"}, environ)


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_who_may_read_the_file_stays_as_it_is(tmp_path: Path, environ: dict[str, str], mode: int) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('model = "m"\n')
    file.chmod(mode)
    remember({"model": "other"}, environ)
    assert file.stat().st_mode & 0o777 == mode


def test_each_value_says_where_it_comes_from(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "settings.toml").write_text('mode = "plan"\ntheme = "keen-light"\nmodel = "m"\n')
    environ["OPENAI_BASE_URL"] = "http://localhost:1"
    settings = {each.name: each for each in service(tmp_path, environ, model="other").all()}
    assert (settings["mode"].value, settings["mode"].source) == ("plan", "settings file")
    assert (settings["model"].value, settings["model"].source) == ("other", "command line")
    assert settings["base_url"].source == "OPENAI_BASE_URL"
    assert (settings["max_steps"].value, settings["max_steps"].source) == ("100", "")
    assert settings["sandbox"].choices == ("false", "true")


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("max_steps", "7", 7),
        ("stall_seconds", "2.5", 2.5),
        ("sandbox", "false", False),
        ("memory.policy", "in-band", "in-band"),
        ("theme", "", ""),
    ],
)
def test_a_change_is_written_and_holds(
    tmp_path: Path, environ: dict[str, str], name: str, text: str, holds: object
) -> None:
    settings = service(tmp_path, environ)
    assert settings.change(name, text) == holds
    assert settings.value(name) == holds


@pytest.mark.parametrize("text", ["auto", ""])
def test_a_change_of_the_file_does_not_overrule_the_command_line(
    tmp_path: Path, environ: dict[str, str], text: str
) -> None:
    assert service(tmp_path, environ, mode="plan").change("mode", text) == "plan"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("max_steps", "many", "max_steps must be a whole number above 0"),
        ("max_steps", "-1", "max_steps must be a whole number above 0"),
        ("stall_seconds", "soon", "must be a number of seconds"),
        ("base_url", "localhost", "must begin with http:// or https:// and name a host, such as http"),
        ("mode", "wild", "mode must be one of ask"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    tmp_path: Path, environ: dict[str, str], name: str, text: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        service(tmp_path, environ).change(name, text)
    assert not (tmp_path / "settings.toml").exists()


def test_the_line_of_a_setting_is_found_also_where_it_is_commented_out(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    settings = service(tmp_path, environ)
    assert settings.line("memory.policy") == 0
    lines = settings.prepare_file().read_text().splitlines()
    assert lines[settings.line("memory.policy") - 1] == '# policy = "summary"'
