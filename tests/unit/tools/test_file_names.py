"""Files found by a few letters of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.system.executables import find_program
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.search.file_names import FileNames
from keen_tui.tools.search.search import Searcher

FILES = (
    "README.md",
    "src/cart.py",
    "src/shop/cart_view.py",
    "src/shop/Discount.py",
    "tests/test_cart.py",
    "tests/unit/test_money.py",
    "build/cart.py",
    "docs/carting.md",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


def names(folder: Path, rg: str | None = None) -> FileNames:
    return FileNames(Searcher(Workspace(folder), rg))


async def found(files: FileNames, letters: str, most: int = 50) -> list[str]:
    answers = [list(paths) async for paths in files.matching(letters, most)]
    return answers[-1]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("cart", ["src/cart.py", "docs/carting.md", "src/shop/cart_view.py", "tests/test_cart.py"]),
        ("cart.py", ["src/cart.py", "tests/test_cart.py", "src/shop/cart_view.py"]),
        ("CART_V", ["src/shop/cart_view.py"]),
        ("disc", ["src/shop/Discount.py"]),
        ("src/ca", ["src/cart.py", "src/shop/cart_view.py"]),
        ("tmon", ["tests/unit/test_money.py"]),
        ("", ["docs/", "src/", "tests/", ".gitignore", "README.md"]),
        ("src/", ["src/shop/", "src/cart.py"]),
        ("build", []),
    ],
)
async def test_the_best_come_first_and_what_git_ignores_does_not_come(
    folder: Path, letters: str, expected: list[str]
) -> None:
    assert await found(names(folder), letters) == expected


async def test_both_engines_find_the_same(folder: Path) -> None:
    rg = find_program("rg")
    if rg is None:
        pytest.skip("no ripgrep here")
    for letters in ("cart", "", "tmon"):
        assert await found(names(folder, rg), letters) == await found(names(folder), letters)


async def test_no_more_than_asked_for(folder: Path) -> None:
    assert await found(names(folder), "cart", 1) == ["src/cart.py"]


async def test_names_with_every_kind_of_letter_are_found(tmp_path: Path) -> None:
    for name in ("İstanbul.txt", "two\nlines.txt", "a[b](c)*.txt", "日本語.md"):
        (tmp_path / name).touch()
    files = names(tmp_path)
    assert await found(files, "stan") == ["İstanbul.txt"]
    assert await found(files, "[b]") == ["a[b](c)*.txt"]
    assert await found(files, "本") == ["日本語.md"]
    assert "two\nlines.txt" not in await found(files, "lines"), "it can't be written in a message"
