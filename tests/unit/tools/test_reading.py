"""read_file, paths, and arguments that models send."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolCall
from keen_tui.tools.files.workspace import Workspace
from tests.support.tools import ToolBench


async def test_lines_come_with_numbers_and_say_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\r\nb\nc\n", newline="")
    result = await ToolBench(tmp_path)("read_file", path="f", offset=2, limit=1)
    assert result.text == "2\tb\n[lines 2 to 2 of 3; continue with offset 3]"
    assert result.summary == "1 line"


async def test_long_files_and_lines_are_cut_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(("x" * 5_000 + "\n") * 100)
    result = await ToolBench(tmp_path)("read_file", path="f")
    assert len(result.text) < 80_000
    assert "[3000 characters left out]" in result.text
    assert "continue with offset" in result.text


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "empty"), (b"caf\xe9", "caf\ufffd"), (b"\xef\xbb\xbfhi", "1\thi")]
)
async def test_odd_text_can_be_read(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "f").write_bytes(content)
    assert words in (await ToolBench(tmp_path)("read_file", path="f")).text


async def test_binary_huge_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"a\0b")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(5_000_000_000)
    for path, words in (("b", "binary"), ("huge", "5,000,000,000 bytes"), ("no", "does not exist")):
        with pytest.raises(ToolFailure, match=words):
            await ToolBench(tmp_path)("read_file", path=path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/random", "/dev/tty"])
async def test_devices_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ToolFailure, match="a device"):
        await ToolBench(tmp_path)("read_file", path=path)


async def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        with pytest.raises(ToolFailure, match="a socket"):
            await ToolBench(tmp_path)("read_file", path="s")


async def test_lines_end_where_editors_say(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("a\x0cb\u2028c\x85\rd\n".encode())
    result = await ToolBench(tmp_path)("read_file", path="f")
    assert result.text == "1\ta\x0cb\u2028c\x85\n2\td"


async def test_what_is_not_utf8_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9")
    assert "[bytes that aren't UTF-8" in (await ToolBench(tmp_path)("read_file", path="f")).text


@pytest.mark.parametrize(
    ("raw", "name", "inside"),
    [
        ("src/a.py", "src/a.py", True),
        ("./src/../src/a.py", "src/a.py", True),
        (".", ".", True),
        ("../x", "../x", False),
        ("link/a.py", "../outside/a.py", False),
    ],
)
def test_paths_are_resolved_before_they_are_judged(tmp_path: Path, raw: str, name: str, inside: bool) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    place = Workspace(root).place(raw)
    assert (place.name, place.inside) == (name, inside)


@pytest.mark.parametrize("raw", ["/etc/hosts", "//etc/hosts", "~/x", "/proc/self/root/etc/hosts"])
def test_absolute_and_home_paths_are_outside(tmp_path: Path, raw: str) -> None:
    assert not Workspace(tmp_path).place(raw).inside


def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    assert not Workspace(tmp_path / "root").place(str(tmp_path / "root2")).inside


BAD_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {}, "needs the argument 'path'"),
    ("read_file", {"path": 7}, "must be a string"),
    ("read_file", {"path": None}, "needs the argument"),
    ("read_file", {"path": "f", "lines": 3}, "no argument 'lines'"),
    ("read_file", {"path": "f", "limit": True}, "whole number"),
    ("read_file", {"path": "f", "offset": 0}, "count from 1"),
    ("read_file", {"path": ""}, "isn't a path"),
    ("read_file", {"path": "a\0b"}, "isn't a path"),
    ("read_file", {"path": "f", "offset": "--5"}, "whole number"),
    ("write_file", {"path": "a/" * 3_000, "content": ""}, "too long"),
    ("write_file", {"path": "a" * 300, "content": ""}, "(?i)name too long"),
    ("write_file", {"path": "f", "content": "\ud800"}, "surrogate"),
    ("bash", {"command": " "}, "empty"),
    ("bash", {"command": "true", "timeout": 0}, "timeout"),
    ("glob_files", {"pattern": "*", "path": "no-such"}, "no-such"),
    ("grep_files", {"pattern": ""}, "empty"),
    ("", {}, "there is no tool"),
    ("nö\x1b[31m", {}, "read_file"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), BAD_ARGUMENTS)
async def test_wrong_arguments_are_named(
    tmp_path: Path, name: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolFailure, match=words) as failure:
        await ToolBench(tmp_path)(name, **arguments)
    assert "\x1b" not in str(failure.value)


async def test_numbers_may_come_as_text(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    result = await ToolBench(tmp_path)("read_file", path="f", offset="2", limit=1.0)
    assert result.text == "2\tb"


@pytest.mark.parametrize("garbage", [{}, {"path": 1}, {"command": None}, {"x": object()}])
def test_the_target_of_a_call_never_fails(tmp_path: Path, garbage: dict[str, Any]) -> None:
    toolbox = ToolBench(tmp_path).toolbox
    for spec in toolbox.specs:
        assert isinstance(toolbox.target(ToolCall(id="1", name=spec.name, arguments=garbage)), str)


async def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can read everything")
    (tmp_path / "f").write_text("x")
    (tmp_path / "f").chmod(0)
    with pytest.raises(ToolFailure, match="Permission denied"):
        await ToolBench(tmp_path)("read_file", path="f")


async def test_a_part_of_a_file_of_a_million_lines_costs_little_memory(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{number}\n" for number in range(1, 1_000_001)))
    bench = ToolBench(tmp_path)
    tracemalloc.start()
    try:
        result = await bench("read_file", path="long.txt", offset=999_999)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.text == "999999\t999999\n1000000\t1000000"
    assert peak < 30_000_000


async def test_one_line_of_a_whole_file_is_cut(tmp_path: Path) -> None:
    (tmp_path / "line.json").write_text("日" * 1_000_000 + "\nlast")
    result = await ToolBench(tmp_path)("read_file", path="line.json")
    assert result.text == f"1\t{'日' * 2_000}[998000 characters left out]\n2\tlast"
