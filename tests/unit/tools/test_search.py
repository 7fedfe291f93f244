"""glob_files and grep_files, over both engines."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.search.search import Searcher
from tests.support.tools import ToolBench
from tests.support.waiting import LIMIT

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


async def test_an_expression_without_end_is_ended(project: Path, use_rg: bool) -> None:
    (project / "evil.txt").write_text("a" * 60 + "!\n")
    workspace = Workspace(project)
    searcher = Searcher(workspace, shutil.which("rg") if use_rg else None, time_limit=1)
    matches = await searcher.lines(workspace.place("."), "needle|(a+)+$", None, 10)
    assert matches.complete is use_rg, "ripgrep has no such expressions"
    assert [match.path for match in matches.first[:2]] == [".hidden/c.py", "a.py"], "what was found is kept"


async def test_braces_and_negation_in_globs(project: Path, use_rg: bool) -> None:
    bench = ToolBench(project, use_rg=use_rg)
    both = ["keep.log:1:needle kept", "src/b.py:1:needle = 1"]
    found = await bench("grep_files", pattern="needle", glob="{src/*.py,*.log}")
    assert found.text.splitlines() == both
    found = await bench("grep_files", pattern="^needle( kept| =)", glob="!*.txt")
    assert found.text.splitlines() == both
    assert (await bench("glob_files", pattern="**/{a,b}.{py,ts}")).text.splitlines() == ["a.py", "src/b.py"]


async def test_an_ignored_folder_or_file_can_be_named(project: Path, use_rg: bool) -> None:
    bench = ToolBench(project, use_rg=use_rg)
    assert (await bench("glob_files", pattern="*.py", path="build")).text == "build/out.py"
    assert (await bench("grep_files", pattern="needle", path="build")).text == "build/out.py:1:needle"
    assert (await bench("grep_files", pattern="needle", path="x.log")).text == "x.log:1:needle"
    assert (await bench("glob_files", pattern="*.txt", path="src/deep")).text == "no file matches"


async def test_a_repository_inside_has_rules_of_its_own(project: Path, use_rg: bool) -> None:
    inner = project / "vendor"
    (inner / ".git").mkdir(parents=True)
    (inner / "kept.log").write_text("needle\n")
    result = await ToolBench(project, use_rg=use_rg)("glob_files", pattern="*.log")
    assert result.text.splitlines() == ["keep.log", "vendor/kept.log"]


async def test_a_workspace_inside_a_repository_obeys_its_rules(project: Path, use_rg: bool) -> None:
    (project / "src/x.log").write_text("needle\n")
    bench = ToolBench(project / "src", use_rg=use_rg)
    assert (await bench("glob_files", pattern="*")).text.splitlines() == [".gitignore", "b.py"]


async def test_folders_above_a_plain_workspace_have_no_say(tmp_path: Path, use_rg: bool) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("needle\n")
    assert (await ToolBench(folder, use_rg=use_rg)("glob_files", pattern="*.py")).text == "a.py"


async def test_odd_characters_stay_in_their_line(project: Path, use_rg: bool) -> None:
    (project / "odd\nname.txt").write_text("form\x0cfeed odd\r\n\u2028odd\x85\n")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="odd")
    assert [line.split(":")[:2] for line in result.text.splitlines()] == [
        ["odd name.txt", "1"],
        ["odd name.txt", "2"],
    ]
    assert "\x0c" not in result.text


async def test_names_that_are_no_utf8_are_shown_with_marks(project: Path, use_rg: bool) -> None:
    try:
        (project / os.fsdecode(b"caf\xe9.md")).write_text("here\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    bench = ToolBench(project, use_rg=use_rg)
    assert (await bench("glob_files", pattern="*.md")).text == "caf\ufffd.md"
    assert (await bench("grep_files", pattern="here")).text == "caf\ufffd.md:1:here"


async def test_links_are_not_followed(project: Path, use_rg: bool) -> None:
    (project / "src/loop").symlink_to(project)
    (project / "src/link.md").symlink_to(project / "a.py")
    assert (await ToolBench(project, use_rg=use_rg)("glob_files", pattern="*.md")).text == "no file matches"


async def test_settings_of_the_project_do_not_reach_the_engine(
    project: Path, use_rg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "rc").write_text("--files-without-match\n")
    (project / "src/pathspec.py").write_text("open('ran', 'w')\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(project / "rc"))
    monkeypatch.setenv("PYTHONPATH", ".")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="needle", path="src/b.py")
    assert result.text == "src/b.py:1:needle = 1"
    assert not (project / "src/ran").exists()


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("glob_files", {"pattern": "a.py", "path": "a.py"}, "a.py is a file"),
        ("glob_files", {"pattern": ""}, "pattern is empty"),
        ("glob_files", {"pattern": "{a,b}" * 20}, "more than 200"),
        ("grep_files", {"pattern": "x", "path": "gone"}, "gone does not exist"),
        ("grep_files", {"pattern": "x", "path": "y" * 300}, "can't be accessed"),
        ("grep_files", {"pattern": "x", "glob": "\0"}, "NUL"),
    ],
)
async def test_what_can_not_be_searched_is_named(
    project: Path, use_rg: bool, name: str, arguments: dict[str, str], words: str
) -> None:
    with pytest.raises(ToolFailure, match=words):
        await ToolBench(project, use_rg=use_rg)(name, **arguments)


async def test_a_search_that_is_cancelled_leaves_no_process(project: Path, use_rg: bool) -> None:
    if not use_rg:
        pytest.skip("there is no way to see from outside that it has begun")
    pipe = project / "src/deep/.gitignore"
    os.mkfifo(pipe)
    searching = asyncio.create_task(ToolBench(project)("grep_files", pattern="needle"))
    async with asyncio.timeout(LIMIT):
        with await asyncio.to_thread(pipe.open, "wb", buffering=0) as writer:
            searching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await searching
            with pytest.raises(BrokenPipeError):
                writer.write(b"x")


async def test_a_pipe_in_the_place_of_rules_does_not_block(project: Path, use_rg: bool) -> None:
    if use_rg:
        pytest.skip("ripgrep waits for it, and is ended by the time limit")
    os.mkfifo(project / "src/deep/.gitignore")
    result = await ToolBench(project, use_rg=use_rg)("grep_files", pattern="needle", path="src/deep")
    assert result.text == "no line matches"


async def test_files_that_may_hold_keys_are_not_searched_unless_they_are_named(
    tmp_path: Path, use_rg: bool
) -> None:
    for name in (".env", "deploy/prod.pem", "app.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("token = 1\n")
    bench = ToolBench(tmp_path, use_rg=use_rg)
    found = await bench("grep_files", pattern="token")
    assert found.text.splitlines()[0] == "app.py:1:token = 1"
    assert found.text.count("token") == 1
    assert "not searched: .env, deploy/prod.pem" in found.text
    assert (await bench("grep_files", pattern="token", path=".env")).text == ".env:1:token = 1"


async def test_lines_of_a_text(tmp_path: Path, use_rg: bool) -> None:
    searcher = Searcher(Workspace(tmp_path), shutil.which("rg") if use_rg else None)
    text = "one\nneedle \udc00\r\n./needle\0:7\n\nneedle " + "x" * 1_000
    found = await searcher.lines_of_text(text, "^(\\./)?needle", 2)
    assert [(match.number, match.line) for match in found.first] == [(2, "needle ?"), (3, "./needle\0:7")]
    assert (found.lines, found.complete) == (3, True)
    assert (await searcher.lines_of_text("", "x", 2)).lines == 0
    with pytest.raises(ToolFailure, match="the search failed"):
        await searcher.lines_of_text(text, "(", 2)


async def test_a_large_text_that_matches_early_or_never(tmp_path: Path, use_rg: bool) -> None:
    searcher = Searcher(Workspace(tmp_path), shutil.which("rg") if use_rg else None)
    text = "a line of some length\n" * 200_000
    assert (await searcher.lines_of_text(text, "^nothing", 2)).lines == 0
    found = await searcher.lines_of_text(text, "line", 2)
    assert len(found.first) == 2 and found.lines > 2


async def test_a_catastrophic_pattern_ends_with_the_time_limit(tmp_path: Path, use_rg: bool) -> None:
    rg = shutil.which("rg") if use_rg else None
    searcher = Searcher(Workspace(tmp_path), rg, time_limit=1.0)
    text = f"needle\n{'a' * 200}!\n"
    async with asyncio.timeout(LIMIT):
        found = await searcher.lines_of_text(text, "^(a|a?)+$|needle", 2)
    assert [match.line for match in found.first] == ["needle"]
    assert found.complete == use_rg
