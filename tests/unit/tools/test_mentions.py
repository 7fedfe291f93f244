"""Commands as rules see them: every character is read, and none ends the program."""

from __future__ import annotations

import subprocess
import sys

import pytest

from keen_tui.tools.shell.grammar import simple_commands
from keen_tui.tools.shell.mentions import mentioned_commands

_MENTION_ALL = """
from keen_tui.tools.shell.mentions import mentioned_commands

for point in (0xE0100, 0x10FFFF, 0xFFFFF, 0x1F600, 0x3000, 0x2028, 0xE9):
    for form in ("{%s", "${%s", "a{%s}", "{1..%s}", "${#%s", "$%s", "<<%s", "a[%s]=", "%s=", "((%s"):
        mentioned_commands(form % chr(point))
"""


_PROGRAMS = 8
"""Whether a look behind a table ends a program depends on what lies there, which is chance."""


def test_no_character_of_a_command_ends_the_program() -> None:
    command = [sys.executable, "-c", _MENTION_ALL]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(_PROGRAMS)]
    ends = [(program.communicate()[1], program.returncode) for program in programs]
    assert ends == [("", 0)] * _PROGRAMS


@pytest.mark.parametrize("word", ["'été'", "'漢字 Q'", '"ΩQx41q"', "QUERY", "'QQ'", "Qx41q"])
def test_words_come_out_as_they_went_in(word: str) -> None:
    [command] = simple_commands(f"cat {word}")
    assert command.words == ("cat", word.strip("'\""))


@pytest.mark.parametrize("command", ["find -exec", "find . -exec ''", "xargs", "sudo", "find . -ok \\;"])
def test_a_runner_without_anything_to_run_mentions_only_itself(command: str) -> None:
    assert all(mentioned_commands(command))


def test_what_is_no_blank_to_bash_parts_no_words() -> None:
    assert ("rm\u2028-rf",) in mentioned_commands("rm\u2028-rf")
    assert ("rm", "-rf", "é😀Q") in mentioned_commands("sudo rm -rf é😀Q")
