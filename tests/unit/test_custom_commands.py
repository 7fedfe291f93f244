"""Slash commands from files: what is a command, what it sends, and what a project may bring."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from keen_tui.settings.added.custom_commands import Commands, CustomCommand, expanded, joined, read_commands
from keen_tui.settings.added.definition_files import MOST_FILES
from keen_tui.settings.additions import Additions, read_additions
from keen_tui.settings.trust import settle_trust
from keen_tui.tools.permissions.rule_check import check_rules


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def only(folder: Path) -> CustomCommand:
    (command,) = read_commands([folder], "yours").found
    return command


def command_of(text: str, name: str = "review", hint: str = "") -> CustomCommand:
    return CustomCommand(name=name, description="", hint=hint, text=text, origin="yours")


def test_a_file_is_a_command_with_what_its_front_matter_says(tmp_path: Path) -> None:
    written(tmp_path, "review.md", "---\ndescription: 'Look at it'\nhint: [file]\nm: x\n---\nReview $1.\n")
    assert only(tmp_path) == CustomCommand(
        name="review", description="Look at it", hint="[file]", text="Review $1.\n", origin="yours"
    )


def test_without_front_matter_its_first_line_describes_it(tmp_path: Path) -> None:
    written(tmp_path, "review.md", "# Review it\n\nGo through $ARGUMENTS.\n")
    assert (only(tmp_path).description, only(tmp_path).hint) == ("Review it", "[words]")


@pytest.mark.parametrize("written_so", [">-\n  Look\n  at it", "|\n  Look\n  at it\n", "'Look at\n  it'"])
def test_a_description_may_have_several_lines(tmp_path: Path, written_so: str) -> None:
    fields = f"description: {written_so}\nargument-hint: [file] | [folder]"
    written(tmp_path, "review.md", f"---\n{fields}\n---\nReview.\n")
    assert (only(tmp_path).description, only(tmp_path).hint) == ("Look at it", "[file] | [folder]")


def test_only_the_first_files_of_a_folder_are_read(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 2):
        written(tmp_path, f"c{number:03}.md", "x")
    written(tmp_path, "README.md", "These are our commands.")
    read = read_commands([tmp_path], "yours")
    assert len(read.found) == MOST_FILES
    assert read.problems == (f"Only the first 500 of 502 files in {tmp_path} are read.",)


def test_folders_make_names_with_colons(tmp_path: Path) -> None:
    written(tmp_path, "git/review.md", "x")
    written(tmp_path, "a/b/c/d.md", "too deep")
    written(tmp_path, ".hidden/e.md", "x")
    assert only(tmp_path).name == "git:review"


@pytest.mark.parametrize(
    ("text", "words", "sent"),
    [
        ("Review.", "", "Review."),
        ("Review.", "a.py b.py", "Review.\n\na.py b.py"),
        ("Review $ARGUMENTS now.", "a b", "Review a b now."),
        ("From $1 to $2.", "'a b' c", "From a b to c."),
        ("From $1 to $2.", "a", "From a to ."),
        ("It's $1.", "it's", "It's it's."),
        ("$1", "$ARGUMENTS $2", "$ARGUMENTS"),
        (r"It costs \$5 or $10, $1.", "x", "It costs $5 or $10, x."),
        ("$ARGUMENTS", "a\nb", "a\nb"),
        ("`date` $(date) !date", "", "`date` $(date) !date"),
    ],
)
def test_what_is_sent(text: str, words: str, sent: str) -> None:
    assert expanded(command_of(text), words) == sent


def test_what_nobody_sees_is_not_in_a_command(tmp_path: Path) -> None:
    written(tmp_path, "review.md", "---\ndescription: Lo\u200bok\n---\nRev\u202eiew \U000e0041.\r\n")
    assert (only(tmp_path).description, only(tmp_path).text) == ("Look", "Review .\n")


def test_built_in_names_win_then_the_users_own(tmp_path: Path) -> None:
    own = Commands(found=(command_of("x", "model"), command_of("x", "review")))
    project = Commands(found=(CustomCommand(
        name="review", description="", hint="", text="y", origin="project"
    ),))  # fmt: skip
    commands = joined(own, project, ("model",))
    assert [command.text for command in commands.found] == ["x"]
    assert commands.problems == (
        "/model is built in: your file isn't used.",
        "/review is one of your own commands: the project's file isn't used.",
    )


def test_files_that_are_none_are_told_and_stop_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    written(tmp_path, "Big Name.md", "x")
    written(tmp_path, "empty.md", "---\nhint: x\n---\n\n")
    written(tmp_path, "broken.md", "---\ndescription: [x\n---\nx")
    written(tmp_path, "large.md", "x" * 70_000)
    (tmp_path / "latin.md").write_bytes(b"\xff")
    written(tmp_path, "whole.md", "x")
    read = read_commands([tmp_path], "yours")
    assert [command.name for command in read.found] == ["whole"]
    for name, why in {
        "pipe": "isn't a regular file",
        "Big Name": "lower-case letters",
        "broken": "its front matter isn't valid YAML",
        "empty": "it has no text",
        "large": "64.0 kB",
        "latin": "isn't UTF-8",
    }.items():
        assert [why in problem for problem in read.problems if f"{name}.md" in problem] == [True]


def test_links_are_followed_for_the_user_and_not_for_a_project(tmp_path: Path) -> None:
    written(tmp_path, "elsewhere.txt", "x")
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "review.md").symlink_to(tmp_path / "elsewhere.txt")
    assert read_commands([tmp_path / "commands"], "yours").found
    assert not read_commands([tmp_path / "commands"], "project").found
    (tmp_path / "linked").symlink_to(tmp_path / "commands")
    assert read_commands([tmp_path / "linked"], "yours").found
    written(tmp_path, "commands/plain.md", "x")
    assert not read_commands([tmp_path / "linked"], "project").found


def test_a_folder_that_is_not_there_brings_nothing(tmp_path: Path) -> None:
    assert read_commands([tmp_path / "commands"], "yours") == Commands()


class Place:
    """A project with commands, and a user."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.home.mkdir()
        written(self.project, ".keen/commands/deploy.md", "Deploy it.\u001b]0;x\n")

    @property
    def environ(self) -> dict[str, str]:
        return {"KEEN_HOME": str(self.home)}

    @property
    def additions(self) -> Additions:
        return read_additions(self.project, self.environ, check_rules, ("help",), servers={}, api_keys=tuple)

    @property
    def names(self) -> list[str]:
        return [command.name for command in self.additions.commands]

    def asked(self, answer: str) -> str:
        out = io.StringIO()
        settle_trust(self.project, self.environ, io.StringIO(answer), out, check_rules)
        return out.getvalue()


def test_commands_of_a_project_are_used_once_the_user_said_so(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.names == []
    question = place.asked("y\n")
    assert "commands of its own, in .keen/commands:\n\n  /deploy   Deploy it." in question
    assert "\x1b" not in question
    assert place.names == ["deploy"]
    assert place.asked("n\n") == ""


def test_commands_that_changed_are_asked_about_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.asked("y\n")
    written(place.project, ".keen/commands/deploy.md", "Deploy it twice.\n")
    assert place.names == []
    assert "twice" in place.asked("y\n")
    written(place.project, ".keen/commands/more.md", "More.\n")
    assert place.names == []
    assert "/more" in place.asked("n\n")
    assert place.names == []


def test_commands_written_for_other_agents_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = Place(tmp_path)
    written(place.project, ".claude/commands/fix.md", "Fix it otherwise.\n")
    written(place.project, ".claude/commands/deploy.md", "Deploy it otherwise.\n")
    written(place.home, ".claude/commands/mine.md", "Mine.\n")
    written(place.home, ".claude/commands/fix.md", "---\nallowed-tools: Bash\n---\nRun !`date` in @a.py.\n")
    assert place.names == ["fix", "mine"]
    assert "commands of its own, in .keen/commands and .claude/commands:" in place.asked("y\n")
    sent = {command.name: expanded(command, "") for command in place.additions.commands}
    assert sent["fix"] == "Run !`date` in @a.py."
    assert "otherwise" not in sent["deploy"]
    assert place.additions.problems == (
        f"The command in {place.project}/.claude/commands/deploy.md isn't used: another one has the same "
        f"name, /deploy in {place.project}/.keen/commands/deploy.md.",
        "/fix is one of your own commands: the project's file isn't used.",
    )
    written(place.project, ".claude/commands/fix.md", "Something else.\n")
    assert place.names == ["fix", "mine"], "it is asked about again"


@pytest.mark.parametrize("link", [".claude", ".claude/commands"])
def test_commands_of_a_project_are_none_where_a_link_leads_elsewhere(tmp_path: Path, link: str) -> None:
    place = Place(tmp_path)
    written(tmp_path / "elsewhere", "commands/evil.md", "Not of this project.\n")
    (place.project / link).parent.mkdir(exist_ok=True)
    target = tmp_path / "elsewhere" if link == ".claude" else tmp_path / "elsewhere/commands"
    (place.project / link).symlink_to(target)
    assert "evil" not in place.asked("y\n")
    assert place.names == ["deploy"]


def test_in_the_home_folder_they_are_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "project"))
    place = Place(tmp_path)
    written(place.project, ".claude/commands/fix.md", "Fix it.\n")
    assert place.names == ["fix"]
    assert "/fix" not in place.asked("y\n")


def test_the_users_own_commands_ask_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    written(place.home, "commands/review.md", "x")
    assert place.names == ["review"]
