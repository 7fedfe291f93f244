"""Skills as they are read: what counts as one, what is told of it, and what the user's trust covers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.frontend_setup import additions_here
from keen_tui.settings.added.agents import BUILT_IN
from keen_tui.settings.added.skill_folders import MOST_FILES, own_folders
from keen_tui.settings.added.skills import (
    Skill,
    SkillProblem,
    files_beside,
    load_skill,
    read_skills,
    with_arguments,
)
from keen_tui.settings.additions import Additions, read_additions
from keen_tui.settings.project import Trust, read_project
from keen_tui.settings.schema import Settings
from keen_tui.system.paths import own_skill_places
from keen_tui.tools.permissions.rule_check import check_rules

PDF = "---\nname: pdf\ndescription: Fills PDF forms.\n---\n\n# PDF\n\nRead forms.md first.\n"


def write(folder: Path, text: str | bytes = PDF, name: str = "SKILL.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    content = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("KEEN_HOME", str(folder / "keen"))
    return folder


def read_here(folder: Path) -> Additions:
    return read_additions(folder, os.environ, check_rules, ("help", "new"), servers={}, api_keys=lambda: ())


def own(home: Path) -> Additions:
    project = home.parent / "work"
    project.mkdir(exist_ok=True)
    return read_here(project)


def only(home: Path) -> Skill:
    (skill,) = own(home).skills
    return skill


def test_a_skill_is_read_from_each_place_of_the_home(home: Path) -> None:
    for number, place in enumerate(("keen/skills", ".agents/skills", ".claude/skills")):
        write(home / place / f"s{number}", PDF.replace("name: pdf", f"name: s{number}"))
    read = own(home)
    assert read.problems == ()
    assert [(skill.name, skill.where) for skill in read.skills] == [
        ("s0", "your settings folder"), ("s1", "~/.agents/skills"), ("s2", "~/.claude/skills"),
    ]  # fmt: skip
    assert load_skill(read.skills[0]) == "# PDF\n\nRead forms.md first."


def front(*fields: str, body: str = "Do it.\n") -> str:
    return "\n".join(("---", *fields, "---", body))


# Each was given to `skills-ref validate` 0.1.1 in a folder `pdf`, too: "good" where it found nothing.
CASES = [
    ("good", PDF),
    ("good", front("name: pdf", "description: >", "  Two", "  lines.", "license: MIT")),
    ("good", front("name: pdf", "description: d", "metadata:", "  version: 1.0", "  author: me")),
    ("good", front("name: pdf", "description: d", "allowed-tools: Bash(git:*) Read", "compatibility: git")),
    ("good", front('name: "pdf"', "description: 'Use it when: always'")),
    ("good", front("name: pdf", "description: yes")),
    ("told", front("name: docx", "description: d")),
    ("told", front("name: PDF", "description: d")),
    ("told", front("name: pdf--x", "description: d")),
    ("told", front("name: -pdf", "description: d")),
    ("told", front("name: pdf_x", "description: d")),
    ("told", front(f"name: {'x' * 65}", "description: d")),
    ("told", front("description: d")),
    ("told", front("name: pdf")),
    ("told", front("name: pdf", "description:")),
    ("told", front("name: pdf", f"description: {'d' * 1025}")),
    ("told", front("name: pdf", "description: d", f"compatibility: {'c' * 501}")),
    ("told", front("name: pdf", "description: d", "compatibility:", "  os: linux")),
    ("told", front("name: pdf", "description: Use it when: always")),
    ("refused", "# PDF\n"),
    ("refused", "---\nname: pdf\ndescription: d\n"),
    ("refused", front("name: pdf", "description: [unclosed")),
    ("refused", front("- name", "- description")),
    ("refused", front("name: pdf", "name: pdf", "description: d")),
    ("refused", front("just words")),
]
"""What the reference finds nothing in, what it refuses and Keen uses with a remark, and what both refuse."""


@pytest.mark.parametrize(("verdict", "text"), CASES)
def test_what_the_reference_refuses_is_refused_or_told(home: Path, verdict: str, text: str) -> None:
    write(home / ".claude/skills/pdf", text)
    read = own(home)
    assert ("refused" if read.problems else "told" if read.skills[0].remarks else "good") == verdict
    assert len(read.skills) + len(read.problems) == 1


CLAUDE_ONLY = [
    "argument-hint: [file]", "disable-model-invocation: true", "user-invocable: false", "model: opus",
    "context: fork", "hooks:\n  PreToolUse:\n    - matcher: Bash", "allowed-tools:\n  - Read\n  - Bash",
]  # fmt: skip


@pytest.mark.parametrize("field", CLAUDE_ONLY)
def test_the_fields_of_claude_code_are_taken_without_complaint(home: Path, field: str) -> None:
    write(home / ".claude/skills/pdf", front("name: pdf", "description: d", field))
    skill = only(home)
    assert (skill.remarks, own(home).problems) == ((), ())
    assert skill.hint == ("[file]" if "hint" in field else "")
    assert (skill.for_model, skill.for_person) == ("disable" not in field, "user-inv" not in field)


def test_a_hint_in_several_brackets_is_a_text(home: Path) -> None:
    write(home / ".claude/skills/pdf", front("name: pdf", "description: d", "argument-hint: [in] | [out]"))
    assert only(home).hint == "[in] | [out]"


def test_a_name_in_another_form_is_brought_into_the_usual_one(home: Path) -> None:
    write(home / ".claude/skills/pdf", front("name: PDF Processing", "description: d"))
    skill = only(home)
    assert skill.name == "pdf-processing"
    assert [remark.split(";")[0] for remark in skill.remarks] == [
        "its name isn't that of its folder, pdf",
        "its name may have only lower-case letters, digits and single hyphens, at most 64",
    ]


def test_hidden_and_acting_characters_are_gone(home: Path) -> None:
    text = front("name: pdf", r'description: "a\e[31mb\u202ec"', body="x\u200by\U000e0041z\n")
    write(home / ".claude/skills/pdf", text)
    skill = only(home)
    assert "\x1b" not in skill.description
    assert "\u202e" not in skill.description
    assert load_skill(skill) == "xyz"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda folder: write(folder, b"---\nname: pdf\ndescription: \xff\n---\n"), "UTF-8"),
        (lambda folder: write(folder, PDF + "x" * 400_000), "larger than 400 kB"),
        (lambda folder: os.mkfifo(write(folder, name="x.md") / "SKILL.md"), "regular file"),
        (lambda folder: (write(folder, name="x.md") / "SKILL.md").symlink_to("/etc/hostname"), "outside"),
        (lambda folder: write(folder, f"---\nname: pdf\ndescription: {'[' * 9000}\n---\n"), "nests too deep"),
        (lambda folder: write(folder, "---\n" + "a: b\n" * 5000 + "---\n"), "characters"),
    ],
)
def test_a_broken_skill_is_told_and_nothing_else_is_lost(home: Path, make: object, why: str) -> None:
    assert callable(make)
    make(home / ".claude/skills/broken")
    write(home / ".claude/skills/pdf")
    read = own(home)
    assert [skill.name for skill in read.skills] == ["pdf"]
    (problem,) = read.problems
    assert problem.startswith("The skill in ~/.claude/skills/broken isn't used: ")
    assert why in problem


def test_aliases_multiply_nothing(home: Path) -> None:
    rows = [f"x{number}: [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 9)]
    anchored = [row.replace(": [", f": &a{number} [") for number, row in enumerate(rows, 1)]
    write(home / ".claude/skills/pdf", front("name: pdf", "description: d", "x0: &a0 [lol]", *anchored))
    assert only(home).name == "pdf"


def test_folders_without_a_skill_and_hidden_ones_are_passed_over(home: Path) -> None:
    write(home / ".claude/skills/notes", name="README.md")
    write(home / ".claude/skills/.trash")
    write(home / ".claude/skills", name="README.md")
    write(home / ".claude/skills/small", PDF.replace("pdf", "small"), name="skill.md")
    read = own(home)
    assert ([skill.name for skill in read.skills], read.problems) == (["small"], ())


def test_of_two_with_one_name_the_first_place_counts_and_a_link_is_no_second_one(home: Path) -> None:
    write(home / ".agents/skills/pdf")
    (home / ".claude").mkdir()
    (home / ".claude/skills").symlink_to("../.agents/skills")
    assert (only(home).where, own(home).problems) == ("~/.agents/skills", ())
    write(home / "keen/skills/pdf", PDF.replace("Fills", "Signs"))
    read = own(home)
    assert [skill.description for skill in read.skills] == ["Signs PDF forms."]
    assert read.problems == (
        "The skill in ~/.agents/skills/pdf isn't used: another one has the same name, pdf in your settings "
        "folder/pdf.",
    )


def test_of_two_in_one_folder_the_other_is_named(home: Path) -> None:
    write(home / ".claude/skills/forms", front("name: pdf", "description: d"))
    write(home / ".claude/skills/pdf")
    assert own(home).problems == (
        "The skill in ~/.claude/skills/pdf isn't used: another one has the same name, pdf in "
        "~/.claude/skills/forms.",
    )


def test_a_link_to_the_home_folder_is_no_skill(home: Path) -> None:
    write(home)
    (home / ".claude/skills").mkdir(parents=True)
    (home / ".claude/skills/all").symlink_to(home)
    (problem,) = own(home).problems
    assert "more than a skill" in problem


def test_slash_commands_and_skills_share_their_names(home: Path) -> None:
    for name in ("help", "review"):
        write(home / ".claude/skills" / name, PDF.replace("name: pdf", f"name: {name}"))
    write(home / "keen/commands", "Review it.", name="review.md")
    read = own(home)
    assert read.commands == ()
    assert [(skill.name, skill.for_person) for skill in read.skills] == [("help", False), ("review", True)]
    assert read.problems == (
        "/review is one of your own skills: your file isn't used.",
        "/help is built in: only the model can use the skill help.",
    )


# Of a project.


@pytest.fixture
def project(home: Path) -> Path:
    folder = home.parent / "work"
    folder.mkdir()
    return folder


def say_yes(project: Path) -> None:
    brought = read_project(project, check_rules)
    assert brought
    Trust(os.environ).say(project, brought, trusted=True)


@pytest.mark.parametrize("place", [".keen/skills", ".agents/skills", ".claude/skills"])
def test_the_skills_of_a_project_wait_for_trust(home: Path, project: Path, place: str) -> None:
    write(project / place / "pdf")
    assert own(home).skills == ()
    brought = read_project(project, check_rules)
    assert brought
    (kind,) = (kind for kind in brought.kinds if kind.rows)
    assert kind.title == f"skills of its own, in {place}"
    assert kind.rows == (f"  pdf   1 file, 77 B, in {place}",)
    say_yes(project)
    assert [(skill.name, skill.where) for skill in own(home).skills] == [("pdf", place)]


def _add(folder: Path) -> None:
    (folder / "scripts/new.py").write_text("print(1)")


def _change(folder: Path) -> None:
    file = folder / "scripts/fill.py"
    status = file.stat()
    file.write_text("print(3)")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def _make_runnable(folder: Path) -> None:
    (folder / "scripts/fill.py").chmod(0o755)


def _link(folder: Path) -> None:
    (folder / "notes.md").unlink()
    (folder / "notes.md").symlink_to("/etc/hostname")


def _rename(folder: Path) -> None:
    (folder / "notes.md").rename(folder / "other.md")


@pytest.mark.parametrize("change", [_add, _change, _make_runnable, _link, _rename])
def test_trust_ends_when_anything_in_the_folder_changes(home: Path, project: Path, change: object) -> None:
    folder = write(project / ".claude/skills/pdf")
    write(folder / "scripts", "print(2)", name="fill.py")
    write(folder, "notes", name="notes.md")
    say_yes(project)
    skill = only(home)
    assert load_skill(skill)
    assert callable(change)
    change(folder)
    assert own(home).skills == (), "nothing is used before the user is asked again"
    with pytest.raises(SkillProblem, match="changed since you trusted it"):
        load_skill(skill)


def test_a_link_out_of_the_project_is_never_used(home: Path, project: Path) -> None:
    write(home / "elsewhere/pdf")
    (project / ".claude/skills").mkdir(parents=True)
    (project / ".claude/skills/pdf").symlink_to(home / "elsewhere/pdf")
    assert read_project(project, check_rules) is None
    write(project / ".claude/skills/docx", PDF.replace("pdf", "docx"))
    say_yes(project)
    read = own(home)
    assert [skill.name for skill in read.skills] == ["docx"]
    assert "outside the project" in read.problems[0]


def test_all_skills_of_a_large_collection_are_found(home: Path) -> None:
    for number in range(250):
        write(home / f".claude/skills/s{number}", PDF.replace("name: pdf", f"name: s{number}"))
    assert {skill.name for skill in own(home).skills} == {f"s{number}" for number in range(250)}


def test_a_notice_at_the_start_says_how_many_the_model_sees(home: Path) -> None:
    for number in range(250):
        text = PDF.replace("name: pdf", f"name: s{number}").replace("forms.", "forms. " * 20)
        write(home / f".claude/skills/s{number}", text)
    (notice,) = additions_here(Settings(), os.environ, home.parent).problems
    assert re.fullmatch(r"The model can use 250 skills: it sees \d+ and can search for the others\.", notice)


def test_too_many_files_are_not_used(home: Path, project: Path) -> None:
    folder = write(project / ".claude/skills/large")
    for number in range(MOST_FILES):
        (folder / str(number)).touch()
    write(project / ".claude/skills/pdf")
    say_yes(project)
    read = own(home)
    assert [skill.name for skill in read.skills] == ["pdf"]
    assert f"may have {MOST_FILES:,} files and 32 MB together" in read.problems[0]


def test_skills_with_the_same_problem_are_named_in_one_sentence(home: Path) -> None:
    for number in range(30):
        write(home / f".claude/skills/s{number:02}", "no front matter")
    (problem,) = own(home).problems
    assert problem == (
        "30 skills in ~/.claude/skills aren't used (s00, s01, s02, s03, s04 and 25 more). The reason for "
        "each: it has no front matter: its first line must be ---."
    )


def test_the_user_s_own_skill_goes_before_the_project_s(home: Path, project: Path) -> None:
    write(home / ".claude/skills/pdf")
    write(project / ".claude/skills/pdf", PDF.replace("Fills", "Steals"))
    say_yes(project)
    read = own(home)
    assert [(skill.origin, skill.description) for skill in read.skills] == [("yours", "Fills PDF forms.")]
    assert read.problems == (
        "The project's skill pdf isn't used: you have one of that name in ~/.claude/skills.",
    )


def test_in_the_home_folder_skills_are_the_user_s_own(home: Path) -> None:
    write(home / ".claude/skills/pdf")
    assert read_project(home, check_rules) is None
    read = read_here(home)
    assert [skill.origin for skill in read.skills] == ["yours"]


# What a skill becomes when it is used.

SKILL = Skill(
    name="pdf", description="d", folder=Path("/skills/pdf"), file="SKILL.md", where="here", origin="yours"
)


@pytest.mark.parametrize(
    ("text", "words", "filled"),
    [
        ("Do $ARGUMENTS now.", "a b", "Do a b now."),
        ("Do $ARGUMENTS now.", "", "Do  now."),
        ("Do it.", "a b", "Do it.\n\nARGUMENTS: a b"),
        ("Do it.", "", "Do it."),
        ("$ARGUMENTS[1] then $ARGUMENTS[0], $ARGUMENTS[7]", "'a x' b", "b then a x, "),
        ("awk '{print $1}' $ARGUMENTS", "f", "awk '{print $1}' f"),
    ],
)
def test_arguments_stand_where_the_text_wants_them(text: str, words: str, filled: str) -> None:
    assert with_arguments(text, words, SKILL) == filled


def test_numbers_are_arguments_in_a_skill_that_says_so() -> None:
    assert with_arguments("$0 and $1, $10", "a b", replace(SKILL, takes_numbers=True)) == "a and b, $10"


def test_files_beside_are_listed(home: Path) -> None:
    folder = write(home / ".claude/skills/pdf")
    write(folder / "scripts", "x", name="fill.py")
    write(folder / "scripts/__pycache__", "x", name="fill.pyc")
    write(folder, "x", name="a\x1b[31mb.md")
    write(folder, "x", name=".hidden")
    skill = only(home)
    assert files_beside(skill, 10) == (["ab.md", "scripts/fill.py"], True)
    assert files_beside(skill, 1) == (["ab.md"], False)


def test_nothing_is_read_where_there_is_no_skill(home: Path) -> None:
    assert read_skills(own_folders(own_skill_places(os.environ))).found == ()
    assert own(home) == Additions(agents=BUILT_IN)


_PROBE = """
import os, sys
from pathlib import Path
from keen_tui import frontend_setup
from keen_tui.settings.schema import Settings
from keen_tui.tools.toolbox import build_toolbox
read = frontend_setup.additions_here(Settings(), os.environ)
build_toolbox(Path.cwd(), additions=read)
print(len(read.skills), *sorted({"yaml", "keen_tui.settings.added.skills"} & set(sys.modules)))
"""


def _started(folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", _PROBE], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_nothing_of_skills_is_loaded_where_there_are_none(home: Path, project: Path) -> None:
    assert _started(project) == "0"
    write(home / ".claude/skills/pdf")
    assert _started(project) == "1 keen_tui.settings.added.skills yaml", "the probe notices"


def test_the_digest_of_a_project_needs_no_yaml(home: Path, project: Path) -> None:
    write(project / ".claude/skills/pdf")
    assert _started(project) == "0"
