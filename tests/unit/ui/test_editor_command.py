"""Which editor, and how it is told the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.ui.editor import EditorFailed, editor_command

FILE = Path("/shop/cart.py")


@pytest.mark.parametrize(
    ("environ", "line", "expected"),
    [
        ({"EDITOR": "vim"}, 0, ["vim", "/shop/cart.py"]),
        ({"EDITOR": "vim", "VISUAL": "/bin/nvim -p"}, 12, ["/bin/nvim", "-p", "+12", "/shop/cart.py"]),
        ({"EDITOR": "nano", "VISUAL": " "}, 3, ["nano", "+3", "/shop/cart.py"]),
        ({"EDITOR": "code --wait"}, 7, ["code", "--wait", "--goto", "/shop/cart.py:7"]),
        ({"EDITOR": "hx"}, 7, ["hx", "/shop/cart.py:7"]),
        ({"EDITOR": "unheard-of"}, 7, ["unheard-of", "/shop/cart.py"]),
    ],
)
def test_the_editor_that_is_set_is_told_the_line_in_its_own_way(
    environ: dict[str, str], line: int, expected: list[str]
) -> None:
    assert editor_command(environ, FILE, line) == expected


def test_none_is_taken_from_the_folder_that_is_worked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nano").write_text("#!/bin/sh\n")
    (tmp_path / "nano").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", f":{tmp_path / 'nothing'}", ""):
        with pytest.raises(EditorFailed, match="Set EDITOR"):
            editor_command({"PATH": path}, FILE)


def test_without_one_that_is_set_a_usual_one_is_taken(tmp_path: Path) -> None:
    (tmp_path / "vi").write_text("#!/bin/sh\n")
    (tmp_path / "vi").chmod(0o755)
    assert editor_command({"PATH": str(tmp_path)}, FILE) == [str(tmp_path / "vi"), str(FILE)]
    with pytest.raises(EditorFailed, match="Set EDITOR"):
        editor_command({"PATH": str(tmp_path / "nothing")}, FILE)
