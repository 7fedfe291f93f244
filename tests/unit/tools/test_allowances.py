"""Commands that are allowed for good, each in one workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.tools.access.access import CommandPart
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.permissions.permissions import Allowed, judge
from keen_tui.tools.shell.patterns import CommandPattern, worth_saving

NPM_TEST = CommandPattern(words=("npm", "test"), more=True)


def offered(command: str, folder: Path) -> list[str]:
    return [str(each) for each in judge("ask", judged(command, Workspace(folder)), Allowed()).saves]


@pytest.mark.parametrize(
    ("command", "saves"),
    [
        ("npm test", ["npm test *"]),
        ("npm test -- --watch", ["npm test *"]),
        ("npm run lint --fix", ["npm run lint *"]),
        ("npm run", ["npm run"]),
        ("npm install left-pad", ["npm install left-pad"]),
        ("pytest -q tests/unit", ["pytest *"]),
        ("make test", ["make test *"]),
        ("make", ["make"]),
        ("uv run pytest -q", ["uv run pytest *"]),
        ("uv run python x.py", ["uv run python x.py"]),
        ("uv run python3.12 x.py", ["uv run python3.12 x.py"]),
        ("bun run bash x", ["bun run bash x"]),
        ("git diff --output=x", ["git diff --output=x"]),
        ("make -f other.mk", ["make -f other.mk"]),
        ("cargo build --release", ["cargo build *"]),
        ("python x.py", ["python x.py"]),
        ("rm -rf build", []),  # what deletes is asked about each time
        ("git push", ["git push"]),
        ("curl example.org", ["curl example.org"]),
        ("echo 'a  b' && touch 'a  b'", ["touch 'a  b'"]),
        ("npm test && cargo test", ["npm test *", "cargo test *"]),
        ("npm test | tail -3", ["npm test *"]),
        ("touch a; touch b; touch c; touch d", []),
        ("touch a > b", []),
        ("X=1 npm test", []),
        ("npm test $(x)", []),
    ],
)
def test_what_can_be_allowed_for_good(tmp_path: Path, command: str, saves: list[str]) -> None:
    assert offered(command, tmp_path) == saves


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("terraform plan -out x", "terraform plan *"),
        ("cmake -S . -B out", "cmake *"),
        ("rustc -o hello main.rs", "rustc *"),
        ("bin/rails test", None),
        ("./build.sh all", None),
        ("tsx build.ts", None),
        ("sudo make", None),
        ("env make", None),
        ("xargs make", None),
        ("bash build.sh", None),
        ("python3.11 build.py", None),
        ("find . -name x -exec y", None),
        ("awk -f build.awk", None),
        ("ssh host ls", None),
        ("git push origin", None),
        ("cp a b", None),
        ("docker run x", None),
    ],
)
def test_a_command_is_allowed_by_how_it_begins_where_that_says_enough(
    command: str, pattern: str | None
) -> None:
    part = CommandPart(words=tuple(command.split()), concern="it may write")
    (saved,) = worth_saving([part])
    assert str(saved) == (pattern or command)


def test_it_is_kept_for_this_workspace_alone_and_only_for_its_reader(tmp_path: Path) -> None:
    here, there, file = tmp_path / "here", tmp_path / "there", tmp_path / "home" / "allowances.json"
    here.mkdir()
    there.mkdir()
    Allowances(file, here).add([NPM_TEST])
    Allowances(file, there).add([CommandPattern(words=("make",))])
    assert Allowances(file, here).commands == (NPM_TEST,)
    assert file.stat().st_mode & 0o777 == 0o600
    allowances = Allowances(file, there)
    assert allowances.commands == (CommandPattern(words=("make",)),)
    allowances.remove(CommandPattern(words=("make",)))
    assert Allowances(file, there).commands == ()
    assert Allowances(file, here).commands == (NPM_TEST,)


def test_another_folder_in_its_place_has_none_of_it(tmp_path: Path) -> None:
    here, file = tmp_path / "here", tmp_path / "allowances.json"
    here.mkdir()
    Allowances(file, here).add([NPM_TEST])
    here.rename(tmp_path / "before")
    here.mkdir()
    assert Allowances(file, here).commands == ()


def test_a_file_that_is_damaged_allows_nothing_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "allowances.json"
    file.write_text('{"x": 1}')
    with pytest.raises(ConfigError, match=r"allowances\.json"):
        Allowances(file, tmp_path)
    assert file.read_text() == '{"x": 1}'


def test_what_is_saved_is_a_command_word_for_word(tmp_path: Path) -> None:
    saved = judge("ask", judged("touch 'a b'", Workspace(tmp_path)), Allowed()).saves

    def again(command: str) -> str:
        return judge("ask", judged(command, Workspace(tmp_path)), Allowed(saved=saved)).decision

    assert again('touch "a b"') == "allow"
    assert again("touch a b") == "ask"
    assert again("touch 'a b' c") == "ask"
    assert again("touch 'a b' && touch 'a b'") == "allow"
    assert again("touch 'a b' && rm x") == "ask"


@pytest.mark.parametrize("command", ["touch *", "touch '*'", "touch a?", "npm test && touch *"])
def test_a_command_with_a_star_is_not_offered_for_good(tmp_path: Path, command: str) -> None:
    assert offered(command, tmp_path) == []
