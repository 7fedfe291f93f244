"""glob_files and grep_files, over both engines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from keen_tui.errors import ToolFailure
from keen_tui.tools import search
from tests.support.tools import ToolBench

ENGINES = [
    pytest.param(False, id="python"),
    pytest.param(
        True,
        id="ripgrep",
        marks=pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed"),
    ),
]
pytestmark = pytest.mark.parametrize("use_rg", ENGINES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        ".gitignore": "*.log\nbuild/\n!keep.log\n",
        "a.py": "import os\nprint('needle')\n",
        "src/b.py": "needle = 1\nother\n",
        "src/.gitignore": "secret.txt\n",
        "src/secret.txt": "needle\n",
        "src/deep/secret.txt": "needle\n",
        "build/out.py": "needle\n",
        "x.log": "needle\n",
        "keep.log": "needle kept\n",
        ".hidden/c.py": "needle\n",
        ".git/config": "needle\n",
        "bin.dat": "needle\0\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


async def test_files_by_name(project: Path, use_rg: bool) -> None:
    bench = ToolBench(project, use_rg=use_rg)
    assert (await bench("glob_files", pattern="*.py")).text.splitlines() == [
        ".hidden/c.py",
        "a.py",
        "src/b.py",
    ]
    assert (await bench("glob_files", pattern="*.py", path="src")).text == "src/b.py"
    assert (await bench("glob_files", pattern="src/**")).text.splitlines() == ["src/.gitignore", "src/b.py"]
    assert (await bench("glob_files", pattern="*.none")).text == "no file matches"


async def test_lines_by_content(project: Path, use_rg: bool) -> None:
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="need.e")
    assert result.text.splitlines() == [
        ".hidden/c.py:1:needle",
        "a.py:2:print('needle')",
        "keep.log:1:needle kept",
        "src/b.py:1:needle = 1",
    ]
    assert result.summary == "4 matches in 4 files"


async def test_narrowed_by_path_and_glob(project: Path, use_rg: bool) -> None:
    bench = ToolBench(project, use_rg=use_rg)
    assert (await bench("grep_files", pattern="needle", path="src")).text == "src/b.py:1:needle = 1"
    assert (await bench("grep_files", pattern="needle", path="src/b.py")).text == "src/b.py:1:needle = 1"
    assert (await bench("grep_files", pattern="needle", glob="*.log")).text == "keep.log:1:needle kept"
    assert (await bench("grep_files", pattern="nowhere")).text == "no line matches"


async def test_a_bad_expression_is_an_error_result(project: Path, use_rg: bool) -> None:
    with pytest.raises(ToolFailure, match="search failed"):
        await ToolBench(project, use_rg=use_rg)("grep_files", pattern="(")


async def test_patterns_that_look_like_options_are_patterns(project: Path, use_rg: bool) -> None:
    (project / "odd.txt").write_text("--files\n")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="--files")
    assert result.text == "odd.txt:1:--files"


async def test_many_results_are_cut_and_say_so(project: Path, use_rg: bool) -> None:
    (project / "many.txt").write_text("many\n" * 1_000)
    (project / "wide.txt").write_text("many" + "x" * 100_000 + "\n")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="many")
    assert "[801 more lines match" in result.text
    assert len(result.text) < 20_000


async def test_a_catastrophic_expression_ends(
    project: Path, use_rg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TIME_LIMIT", 0.5)
    (project / "evil.txt").write_text("a" * 40 + "!\n")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="(a+)+$", glob="evil.txt")
    assert "ended by its limits" in result.text or result.text == "no line matches"
