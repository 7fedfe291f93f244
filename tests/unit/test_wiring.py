"""What is built from the settings."""

from __future__ import annotations

from pathlib import Path

from keen_tui.settings.schema import Settings
from keen_tui.wiring.parts import key_variables

OWN = """\
id = "mine"
name = "Mine"
base_url = "https://mine.example/v1"
api = "openai-chat"
key_variables = ["MINE_SECRET"]
"""


def test_variables_of_keys_are_those_of_the_catalogue_and_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "mine.toml").write_text(OWN)
    names = key_variables(Settings(api_key_env="WORK_KEY"), {"KEEN_HOME": str(tmp_path)})
    assert {"MINE_SECRET", "WORK_KEY", "GEMINI_API_KEY"} <= set(names)
