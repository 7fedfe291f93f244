"""What `keen-tui --help` says."""

from __future__ import annotations

import re
import shlex

import pytest

from keen_tui.settings.flags import BELONGS, parsed, parser
from keen_tui.settings.line_flags import flag_groups
from keen_tui.settings.subcommands import SUBJECTS


@pytest.fixture
def text() -> str:
    return parser().format_help()


def test_it_fits_into_eighty_columns(text: str) -> None:
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_every_flag_and_every_command_is_in_it(text: str) -> None:
    flags = {name for group in flag_groups() for flag in group.flags for name in flag.names}
    assert flags <= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    assert all(f"keen-tui {command}" in text for command in SUBJECTS)


def test_what_it_shows_can_be_typed(text: str) -> None:
    """The examples on top and the commands, as far as they stand in one line."""
    shown = [line.strip() for line in text.split("Model\n")[0].splitlines() if line.startswith("  ")]
    typed = [re.split(r" {2,}", line)[0].partition("keen-tui")[2] for line in shown if "keen-tui" in line]
    assert len(typed) > 8
    for words in typed:
        parsed(shlex.split(re.sub(r"[\[\]]", "", words)))


def test_values_that_a_flag_may_have_are_named(text: str) -> None:
    for flag in (flag for group in flag_groups() for flag in group.flags):
        for value in flag.options.get("choices", ()):
            assert str(value) in text, f"{flag.usage}: {value}"


def test_flags_that_belong_to_a_command_exist() -> None:
    names = {name for group in flag_groups() for flag in group.flags for name in flag.names}
    assert {f"--{name.replace('_', '-')}" for name in BELONGS} <= names
