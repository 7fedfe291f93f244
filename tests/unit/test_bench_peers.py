"""What the comparison with other programs makes of screens, requests and processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from keen_tui.demo.script import RecordedRequest
from tests.bench import process_tree
from tests.bench.answering import AnsweringTerminal, answers, screens
from tests.bench.peer_driving import END, first_sights, last_words, longest, numbered
from tests.bench.peer_figures import Figures, markdown, write
from tests.bench.peer_programs import OTHERS, Known
from tests.bench.programs import Place
from tests.bench.streaming import DELTA_SIZE

ASKS = r"""
import os, tty
tty.setraw(0)
os.write(1, b"\x1b[")
os.read(0, 1)
os.write(1, b"6n")
os.write(1, os.read(0, 100).replace(b"\x1b", b"ESC"))
"""

BURNS = "import time\nwhile time.process_time() < 0.3: pass"
STARTS = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]])"


def figures() -> Figures:
    found = Figures("start", "s", "a bare app")
    found.reference.extend([0.5, 0.5])
    for value in (1.0, 1.5, 9.0):
        found.add("Keen TUI 1", value)
    return found


def request(body: object) -> RecordedRequest:
    raw = json.dumps(body).encode()
    return RecordedRequest("/v1/responses", {}, json.loads(raw), raw)


def test_the_terminal_answers_what_programs_ask_it_at_the_start() -> None:
    assert answers(b"\x1b[6n")[0] == b"\x1b[1;1R"
    assert answers(b"\x1b[?u\x1b[c")[0] == b"\x1b[?62;22c"
    assert answers(b"\x1b]11;?\x1b\\")[0] == b"\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\"
    assert answers(b"\x1b[?2026$p\x1b[?2048$p")[0] == b"\x1b[?2026;2$y\x1b[?2048;0$y"


def test_the_terminal_leaves_half_a_question_for_the_next_piece() -> None:
    assert answers(b"words \x1b[6n and \x1b[") == (b"\x1b[1;1R", 10)
    assert answers(b"\x1b]11;") == (b"", 0)


def test_a_program_gets_its_answer_even_if_it_asks_in_two_pieces(tmp_path: Path) -> None:
    with AnsweringTerminal((sys.executable, "-c", ASKS), tmp_path, {}) as program:
        program.wait_for("\x1b[")
        program.type("x")
        program.wait_for("ESC[1;1R")
        assert program.takes_keys
        assert program.times[-1][1] == len(program.output)


def test_screens_are_those_after_each_piece() -> None:
    output = b"Section 0001\x1b[<1u\x1b[1;9H\x1b[31m0002"
    shown = list(screens(output, [(1.0, 12), (2.0, 15), (3.0, len(output))]))
    assert [screen.split("\n")[0].rstrip() for _, screen in shown] == ["Section 0001"] * 2 + ["Section 0002"]
    assert first_sights(shown) == {1: 1.0, 2: 3.0}


def test_a_numbered_text_has_so_many_deltas_and_ends_with_its_last_word() -> None:
    text = numbered(200)
    assert len(text) == 200 * DELTA_SIZE
    assert text.startswith("## Section 0001\n")
    assert "## Section 0005\n" in text
    assert text.endswith(f"\n\n{END}")


def test_the_longest_gap() -> None:
    assert longest([1.0, 1.5, 4.0, 4.2]) == pytest.approx(2.5)
    assert longest([1.0]) == 0


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "go"}]},
        {"input": [{"type": "other"}, {"role": "user", "content": [{"type": "input_text", "text": "go"}]}]},
    ],
)
def test_the_last_words_of_a_request_in_each_api(body: object) -> None:
    assert last_words(request(body)) == "go"


def test_a_request_without_messages_has_no_last_words() -> None:
    assert last_words(request({})) == ""
    assert last_words(request({"input": [{"type": "other"}]})) == ""


def test_the_table_has_a_column_for_each_program_and_the_medians() -> None:
    idle = Figures("idle", "% CPU")
    idle.add("Other 2", 3.0)
    assert markdown([figures(), idle]).splitlines() == [
        "| what | Keen TUI 1 | Other 2 | against |",
        "|---|---:|---:|---|",
        "| start | 3x (1.5 s) |  | a bare app (0.5 s) |",
        "| idle |  | 3 % CPU |  |",
    ]


def test_every_measurement_is_written(tmp_path: Path) -> None:
    write([figures()], tmp_path)
    (record,) = json.loads((tmp_path / "peers.json").read_text())
    assert record["values"] == {"Keen TUI 1": [1.0, 1.5, 9.0]}
    assert (tmp_path / "peers.md").read_text().startswith("| what |")


def test_a_row_names_the_program_and_its_version() -> None:
    (row,) = figures().rows()
    assert (row.what, row.value, row.reference) == ("Keen TUI 1: start", 1.5, 0.5)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.executable)
class TestOtherPrograms:
    def test_one_that_is_not_there_is_left_out(
        self, other: Known, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv(other.variable, raising=False)
        assert other.found() is None

    def test_a_variable_that_names_nothing_is_an_error(
        self, other: Known, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv(other.variable, str(tmp_path / "missing"))
        with pytest.raises(FileNotFoundError, match=f"{other.variable} names .*missing"):
            other.found()

    def test_its_version_is_in_its_name_and_its_home_holds_its_configuration(
        self, other: Known, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        program = tmp_path / "program"
        program.write_text("#!/bin/sh\necho some program 1.22.3\n")
        program.chmod(0o755)
        monkeypatch.setenv(other.variable, str(program))
        where = Place(tmp_path)
        where.home.mkdir()
        found = other.found()
        assert found is not None
        assert found.name == f"{other.name} 1.22.3"
        assert found.command(where, "http://127.0.0.1:1/v1")[0] == str(program)
        configuration = (where.home / "config.toml").read_text()
        assert "http://127.0.0.1:1/v1" in json.dumps(tomllib.loads(configuration))


def test_a_tree_of_processes_is_counted_and_ended_as_a_whole() -> None:
    burns = f"{BURNS}\nprint('burnt', flush=True)\ntime.sleep(20)\nprint('survived')"
    with subprocess.Popen((sys.executable, "-c", STARTS, burns), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"burnt\n"
        assert len(process_tree.members(parent.pid)) == 2
        assert process_tree.cpu(parent.pid) > 0.3
        assert process_tree.memory(parent.pid) > 5
        process_tree.end(parent.pid)
        assert parent.stdout.read() == b""


def test_children_that_have_ended_still_count() -> None:
    argv = (sys.executable, "-c", f"{STARTS}\nprint('done', flush=True)\ninput()", BURNS)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"done\n"
        assert process_tree.members(parent.pid) == [parent.pid]
        assert process_tree.cpu(parent.pid) > 0.3
        process_tree.end(parent.pid)
