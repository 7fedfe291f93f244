"""The profile for macOS, as text: later rules beat earlier ones."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from keen_tui.tools.sandbox.base import Terms
from keen_tui.tools.sandbox.policy import Policy, policy_for
from keen_tui.tools.sandbox.scratch import Folders
from keen_tui.tools.sandbox.seatbelt import PROGRAM, Seatbelt, profile

WORK, HOME = Path("/Users/u/shop"), Path("/Users/u")
OWN = HOME / "Library/Application Support/keen-tui"
FOLDERS = Folders(home=OWN / "scratch/1/home", temporary=OWN / "scratch/1/tmp")


def policy(workspace: Path = WORK) -> Policy:
    return policy_for(workspace, HOME, (OWN,), {"PATH": "/usr/bin:/opt/homebrew/bin"})


def place_of(text: str, beginning: str) -> int:
    """The place of the one rule that begins so."""
    [place] = [place for place, line in enumerate(text.splitlines()) if line.startswith(f"({beginning}")]
    return place


def test_all_is_denied_that_is_not_allowed_and_the_network_is_not() -> None:
    text = profile(policy(), FOLDERS)
    assert text.startswith("(version 1)\n(deny default)\n")
    assert "network" not in text
    assert text.count("(") == text.count(")")


def test_only_the_workspace_and_the_folders_of_the_commands_are_written() -> None:
    lines = profile(policy(), FOLDERS).splitlines()
    written = [line for line in lines if "allow" in line and "file-write*" in line and "/dev" not in line]
    assert written == [
        '(allow file-write* (subpath "/Users/u/shop"))',
        "(allow file-read* file-test-existence file-map-executable file-write* "
        f'(subpath "{FOLDERS.home}") (subpath "{FOLDERS.temporary}"))',
    ]
    assert '(subpath "/Users/u")' not in "".join(lines)


def test_a_workspace_that_is_only_read_is_not_written() -> None:
    assert '(allow file-write* (subpath "/Users/u/shop"))' not in profile(
        policy(), FOLDERS, Terms(writes=False)
    )


def test_what_is_protected_and_hidden_is_denied_behind_what_is_allowed() -> None:
    text = profile(policy(), FOLDERS)
    protected, hidden = place_of(text, "deny file-write* "), place_of(text, "deny file-read* ")
    own = place_of(text, "allow file-read* file-test-existence file-map-executable file-write* ")
    assert place_of(text, "allow file-write* (subpath") < protected < hidden < own
    lines = text.splitlines()
    assert '"/Users/u/shop/.git"' in lines[protected]
    assert '"/Users/u/shop/.keen"' in lines[protected]
    assert f'"{OWN}"' in lines[hidden], "the folders of the commands lie in there"


def test_no_name_of_a_folder_ends_its_text() -> None:
    evil = Path('/Users/u/a")(allow default)("\\')
    text = profile(policy(evil), FOLDERS)
    assert '(subpath "/Users/u/a\\")(allow default)(\\"\\\\")' in text


def test_a_command_runs_in_it_with_a_home_of_its_own(tmp_path: Path) -> None:
    seatbelt = Seatbelt(replace(policy(), scratch=tmp_path))
    with seatbelt.wrap(("/bin/sh", "-c", "x"), {"HOME": "/Users/u", "A": "b"}) as launch:
        assert launch.argv[:2] == (PROGRAM, "-p")
        assert launch.argv[3:] == ("/bin/sh", "-c", "x")
        home = Path(launch.environ["HOME"])
        assert home.is_dir() and home.is_relative_to(tmp_path)
    assert home.is_dir(), "it lasts"
    with seatbelt.wrap(("/bin/sh", "-c", "x"), {}, Terms(writes=False)) as launch:
        once = Path(launch.environ["HOME"])
        assert once.is_dir() and once != home
    assert not once.exists()
