"""The profile for macOS, as text: later rules beat earlier ones."""

from __future__ import annotations

from pathlib import Path

from keen_tui.tools.sandbox.policy import Policy, policy_for
from keen_tui.tools.sandbox.seatbelt import PROGRAM, Seatbelt, profile

WORK, HOME = Path("/Users/u/shop"), Path("/Users/u")
OWN = HOME / "Library/Application Support/keen-tui"


def policy(workspace: Path = WORK) -> Policy:
    return policy_for(workspace, HOME, (OWN,), {"PATH": "/usr/bin:/opt/homebrew/bin"})


def rule_of_writes(text: str) -> str:
    [line] = [line for line in text.splitlines() if line.startswith("(allow file-write* (subpath")]
    return line


def test_all_is_denied_that_is_not_allowed_and_the_network_is_not() -> None:
    text = profile(policy(), Path("/private/tmp/scratch"))
    assert text.startswith("(version 1)\n(deny default)\n")
    assert "network" not in text
    assert text.count("(") == text.count(")")


def test_only_the_workspace_and_the_throwaway_home_are_written() -> None:
    text = profile(policy(), Path("/private/tmp/scratch"))
    assert (
        rule_of_writes(text)
        == '(allow file-write* (subpath "/Users/u/shop") (subpath "/private/tmp/scratch"))'
    )
    assert '(subpath "/Users/u")' not in text


def test_what_is_protected_and_hidden_is_denied_behind_what_is_allowed() -> None:
    lines = profile(policy(), Path("/private/tmp/scratch")).splitlines()
    protected = next(number for number, line in enumerate(lines) if line.startswith("(deny file-write* "))
    hidden = next(number for number, line in enumerate(lines) if line.startswith("(deny file-read* "))
    assert lines.index(rule_of_writes("\n".join(lines))) < protected < hidden
    assert '"/Users/u/shop/.git"' in lines[protected]
    assert '"/Users/u/shop/.keen"' in lines[protected]
    assert f'"{OWN}"' in lines[hidden]


def test_no_name_of_a_folder_ends_its_text() -> None:
    evil = Path('/Users/u/a")(allow default)("\\')
    text = profile(policy(evil), Path("/private/tmp/scratch"))
    assert '(subpath "/Users/u/a\\")(allow default)(\\"\\\\")' in text


def test_a_command_runs_in_it_with_a_home_that_is_thrown_away() -> None:
    with Seatbelt(policy()).wrap(("/bin/sh", "-c", "x"), {"HOME": "/Users/u", "A": "b"}) as launch:
        assert launch.argv[:2] == (PROGRAM, "-p")
        assert launch.argv[3:] == ("/bin/sh", "-c", "x")
        scratch = Path(launch.environ["HOME"])
        assert scratch.is_dir()
    assert not scratch.exists()
