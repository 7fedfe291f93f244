"""Which word at the cursor can be completed."""

from __future__ import annotations

import pytest

from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.tui.widgets.completing import Wanted, file_completions, fitting_commands, wanted


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("/mo", 3, Wanted("command", 0, 3, "mo")),
        ("/", 1, Wanted("command", 0, 1, "")),
        ("/git:re", 7, Wanted("command", 0, 7, "git:re")),
        ("/model x", 8, None),
        ("/usr/bin", 8, None),
        ("see /mo", 7, None),
        ("@", 1, Wanted("file", 0, 1, "")),
        ("read @src/ca now", 12, Wanted("file", 5, 12, "src/ca")),
        ("read @src/ca now", 10, Wanted("file", 5, 10, "src/")),
        ('(@"my file', 10, Wanted("file", 1, 10, "my file")),
        ('@"my file" ', 11, None),
        ("me@example.org", 14, None),
        ("@done ", 6, None),
        ("plain", 5, None),
    ],
)
def test_the_word_at_the_cursor(line: str, column: int, expected: Wanted | None) -> None:
    assert wanted(line, column, is_first=True) == expected


def test_a_slash_in_a_later_line_is_no_command() -> None:
    assert wanted("/mo", 3, is_first=False) is None


def test_names_that_begin_with_the_letters_come_first() -> None:
    labels = [offer.label.split()[0] for offer in fitting_commands("re", SlashCommands().offered)]
    begins = [label.startswith("/re") for label in labels]
    assert begins == sorted(begins, reverse=True) and {"/retry", "/resume", "/rename"} <= set(labels)


def test_without_letters_the_commands_that_people_need_first_come_first_and_none_is_missing() -> None:
    offered = SlashCommands().offered
    labels = [offer.name for offer in fitting_commands("", offered)]
    assert labels[:9] == [
        "/model", "/new", "/resume", "/compact", "/diff", "/undo", "/context", "/review", "/help"
    ]  # fmt: skip
    rest = [f"/{command.names[0]}" for command in offered if f"/{command.names[0]}" not in labels[:9]]
    assert labels[9:] == rest


def test_with_letters_the_order_is_that_of_the_registry() -> None:
    labels = [offer.name for offer in fitting_commands("re", SlashCommands().offered)]
    assert labels.index("/retry") < labels.index("/resume") < labels.index("/review")


def test_paths_with_blanks_are_quoted_and_folders_stay_open() -> None:
    texts = [offer.text for offer in file_completions(["a.py", "my file.py", "src/", "my docs/"])]
    assert texts == ["@a.py ", '@"my file.py" ', "@src/", '@"my docs/']
