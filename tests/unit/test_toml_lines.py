"""Where a setting stands in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.settings.toml_lines import line_of, place_of

TEXT = """\
# retry = "commented"
model = "m"

[ keys ]  # mine
retry = "ctrl+y"
"find" = ["f4"]

[memory]
policy = "summary"
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("model", 2),
        ("keys", 4),
        ("keys.retry", 5),
        ("keys.find", 6),
        ("memory.policy", 9),
        ("policy", 0),
        ("keys.stop", 0),
    ],
)
def test_a_setting_is_found_in_its_table(name: str, line: int) -> None:
    assert line_of(TEXT, name) == line


def test_a_dotted_name_is_found_too() -> None:
    assert line_of('a = 1\nkeys . retry = "x"', "keys.retry") == 2


def test_what_cannot_be_found_is_told_without_a_line(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    assert place_of(file, "model") == str(file)
    file.write_text(TEXT)
    assert place_of(file, "model") == f"{file}, line 2"
    assert place_of(file, "mode") == str(file)
