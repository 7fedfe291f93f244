"""Which editor, and how it is told the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.frontends.tui.terminal.external_editor import EditorFailed, editor_command

FILE = Path("/shop/cart.py")


def installed(file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("environ", "line", "expected"),
    [
        ({"EDITOR": "vim"}, 0, ["bin/vim", "/shop/cart.py"]),
        ({"EDITOR": "vim", "VISUAL": "/bin/nvim -p"}, 12, ["/bin/nvim", "-p", "+12", "/shop/cart.py"]),
        ({"EDITOR": "nano", "VISUAL": " "}, 3, ["bin/nano", "+3", "/shop/cart.py"]),
        ({"EDITOR": "code --wait"}, 7, ["bin/code", "--wait", "--goto", "/shop/cart.py:7"]),
        ({"EDITOR": "hx"}, 7, ["bin/hx", "/shop/cart.py:7"]),
        ({"EDITOR": "unheard-of"}, 7, ["bin/unheard-of", "/shop/cart.py"]),
    ],
)
def test_the_editor_that_is_set_is_told_the_line_in_its_own_way(
    tmp_path: Path, environ: dict[str, str], line: int, expected: list[str]
) -> None:
    for name in ("vim", "nano", "code", "hx", "unheard-of"):
        installed(tmp_path / "bin" / name)
    command = editor_command(environ | {"PATH": str(tmp_path / "bin")}, FILE, line)
    assert [word.removeprefix(f"{tmp_path}/") for word in command] == expected


def test_none_is_taken_from_the_folder_that_is_worked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "nano")
    monkeypatch.chdir(tmp_path)
    for path in (".", f":{tmp_path / 'nothing'}", "", str(tmp_path)):
        with pytest.raises(EditorFailed, match="Set EDITOR"):
            editor_command({"PATH": path}, FILE)
        with pytest.raises(EditorFailed, match="nano can't be started"):
            editor_command({"PATH": path, "EDITOR": "nano -w"}, FILE)


def test_without_one_that_is_set_a_usual_one_is_taken(tmp_path: Path) -> None:
    installed(tmp_path / "vi")
    assert editor_command({"PATH": str(tmp_path)}, FILE) == [str(tmp_path / "vi"), str(FILE)]
    with pytest.raises(EditorFailed, match="Set EDITOR"):
        editor_command({"PATH": str(tmp_path / "nothing")}, FILE)
