"""The words that a mistyped one may have meant."""

from __future__ import annotations

import pytest

from keen_tui.settings.flags import parser
from keen_tui.settings.subcommands import SUBJECTS
from keen_tui.text.nearest import did_you_mean, nearest

COMMANDS = tuple(SUBJECTS)
FLAGS = tuple(parser().flags())
MODES = ("ask", "auto-edit", "plan", "auto")
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
POLICIES = ("summary", "in-band", "full-trace")
SLASH = (
    "/model",
    "/memory",
    "/settings",
    "/tasks",
    "/agents",
    "/usage",
    "/history",
    "/undo",
    "/exit",
    "/edit",
)


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("sesions", COMMANDS, "sessions"),
        ("session", COMMANDS, "sessions"),
        ("exprot", COMMANDS, "export"),
        ("rewiev", COMMANDS, "review"),
        ("mpc", COMMANDS, "mcp"),
        ("work-tree", COMMANDS, "worktrees"),
        ("eval-all", COMMANDS, "eval"),
        ("--modle", FLAGS, "--model"),
        ("--resme", FLAGS, "--resume"),
        ("--outptu", FLAGS, "--output"),
        ("--base_url", FLAGS, "--base-url"),
        ("--apikey", FLAGS, "--api-key-env"),
        ("--sandox", FLAGS, "--no-sandbox"),
        ("--json-output", FLAGS, "--output"),
        ("--hlep", FLAGS, "--help"),
        ("--versoin", FLAGS, "--version"),
        ("/memroy", SLASH, "/memory"),
        ("/mem", SLASH, "/memory"),
        ("/undoo", SLASH, "/undo"),
        ("autoedit", MODES, "auto-edit"),
        ("edit", MODES, "auto-edit"),
        ("auot", MODES, "auto"),
        ("aks", MODES, "ask"),
        ("hihg", EFFORTS, "high"),
        ("med", EFFORTS, "medium"),
        ("Full", POLICIES, "full-trace"),
    ],
)
def test_a_mistyped_word_finds_the_one_that_was_meant(word: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(word, known) == [meant]


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("login", COMMANDS),
        ("run", COMMANDS),
        ("chat", COMMANDS),
        ("update", COMMANDS),
        ("stats", COMMANDS),
        ("--verbose", FLAGS),
        ("--debug", FLAGS),
        ("--yolo", FLAGS),
        ("--cwd", FLAGS),
        ("--stall-seconds", FLAGS),
        ("-x", FLAGS),
        ("/stats", SLASH),
        ("/bug", SLASH),
        ("/doctor", SLASH),
        ("/q", SLASH),
        ("default", MODES),
        ("huge", EFFORTS),
        ("everything", POLICIES),
        ("", POLICIES),
    ],
)
def test_a_word_like_no_other_finds_nothing(word: str, known: tuple[str, ...]) -> None:
    assert nearest(word, known, 3) == []


def test_several_words_are_one_question() -> None:
    assert did_you_mean("--modle", FLAGS, 3) == " Did you mean --model or --mode?"
    assert did_you_mean("xyz", FLAGS) == ""
