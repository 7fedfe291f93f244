"""What commands change, against what git says of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from keen_tui.domain.facts.command_unwatched import CommandUnwatched
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.file_changes import FileChange
from keen_tui.tools.work_tree import tree
from keen_tui.tools.work_tree.watch import CommandChanges, CommandWatch

COMMANDS = {
    "an edit in place": "sed -i s/line/LINE/ src/a1.py",
    "an edit through the open file": "printf 'more\\n' >> src/a1.py",
    "a formatter that changes every file": "for f in src/*.py; do sed -i 's/^/  /' $f; done",
    "a formatter that changes nothing": "for f in src/*.py; do cp $f t; cat t > $f; rm t; done",
    "git mv": "git mv src/a1.py src/z1.py",
    "mv": "mv src/a1.py src/z1.py",
    "mv of a folder": "mv src lib",
    "mv over a file": "mv src/a1.py src/a2.py",
    "rm": "rm src/a1.py",
    "rm of a folder": "rm -r src/deep",
    "git rm": "git rm -q src/a1.py",
    "a generated folder": "mkdir -p gen/more; for i in 1 2; do echo > gen/$i.c; echo > gen/more/$i.c; done",
    "an ignored folder": "mkdir build; echo 1 > build/x; echo 1 > src/y.log",
    "a file in an ignored folder that git tracks": "echo more >> kept.out/tracked",
    "chmod": "chmod +x src/a1.py",
    "chmod back": "chmod -x run.sh",
    "touch": "touch src/a1.py src/a2.py",
    "the same bytes in a new file": "cp src/a1.py t; mv t src/a1.py",
    "changed and changed back": "sed -i s/line/LINE/ src/a1.py; sed -i s/LINE/line/ src/a1.py",
    "made and removed": "echo 1 > t; rm t",
    "a symlink": "ln -s src/a1.py link2",
    "another target": "ln -sfn src/a2.py link",
    "a file in the place of a link": "rm link; echo 1 > link",
    "a folder in the place of a file": "rm src/a1.py; mkdir src/a1.py; echo 1 > src/a1.py/inside",
    "a line break in the name": "printf 1 > $'new\nline'",
    "a name that isn't UTF-8": "printf 1 > $'caf\\xe9'",
    "a name with spaces and quotes": "printf 1 > 'a \"b\" c,d'",
    "other ignore rules": "echo '*.tmp' > .gitignore; echo 1 > x.tmp; echo 1 > x.log",
    "git checkout of a branch": "git checkout -q other",
    "git stash": "echo 1 >> src/a1.py; git stash -q",
    "a merge conflict": "git merge -q other; git merge -q third",
    "a large file": "head -c 3000000 /dev/zero > big",
    "a pipe and a socket": "mkfifo pipe",
    "an untracked file": "echo more >> loose.txt",
    "nothing": "cat src/*.py > /dev/null",
}
SHELL = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | {
    f"GIT_{who}_{what}": "someone" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def run(folder: Path, command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **SHELL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return os.fsdecode(done.stdout)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a branch, ignored files, a link, a submodule and an untracked file."""
    folder = tmp_path_factory.mktemp("template")
    sub = folder / "origin"
    sub.mkdir()
    run(sub, "git init -q; echo 1 > one; git add .; git commit -qm one")
    repository = folder / "repository"
    repository.mkdir()
    run(
        repository,
        "git init -q -b main; mkdir -p src/deep kept.out; ln -s src/a1.py link;"
        "printf '#!/bin/sh\n' > run.sh; chmod +x run.sh;"
        "for i in 1 2 3; do echo line $i > src/a$i.py; echo $i > src/deep/d$i; done;"
        "printf '*.log\nbuild/\nkept.out/\n' > .gitignore; echo 1 > kept.out/tracked; echo 1 > old.log;"
        "git add . ; git add -f kept.out/tracked;"
        "git -c protocol.file.allow=always submodule --quiet add ../origin sub; git commit -qm first;"
        "git checkout -q -b other; echo other > src/a1.py; echo new > src/new.py; git rm -q src/a2.py;"
        "git add .; git commit -qm other; git checkout -q -b third main; echo third > src/a1.py;"
        "git commit -qam third; git checkout -q main; echo 1 > loose.txt",
    )
    return folder


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "all", symlinks=True)
    project = tmp_path / "all" / "repository"
    run(project, "git status; cd sub; git status")
    return project


@pytest.fixture
def watch(project: Path, tmp_path: Path) -> Iterator[CommandWatch]:
    yield CommandWatch(project, tmp_path / "scratch", None, tuple)


def watched(watch: CommandWatch, project: Path, command: str) -> CommandChanges:
    watch.begin()
    run(project, command)
    return watch.end(keeps=False)


def paths(changes: CommandChanges) -> list[str]:
    return [fact.path for fact in changes.facts if isinstance(fact, FileChanged)]


def tree_of(project: Path) -> dict[str, str]:
    """What git would store of each file that it doesn't ignore, in the repository and its submodule."""
    found = {}
    for folder in ("", "sub/", "nested/"):
        place = project / folder
        if not (place / ".git").exists():
            continue
        listed = run(place, "git ls-files -z --cached --others --exclude-standard | sort -zu")
        for name in filter(None, listed.split("\0")):
            path = place / name
            if path.is_symlink():
                found[folder + name] = f"link {path.readlink()}"
            elif path.is_file():
                mode = "x" if path.stat().st_mode & 0o100 else "-"
                found[folder + name] = f"{mode} {path.read_bytes()!r}"
    return found


@pytest.mark.parametrize("asked", [0, tree.MOST_ASKED], ids=["as the system says", "all are asked"])
@pytest.mark.parametrize("what", COMMANDS)
def test_the_facts_are_what_git_sees(
    what: str, asked: int, watch: CommandWatch, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MOST_ASKED", asked)
    watch.begin()
    before = tree_of(project)
    changes = watched(watch, project, COMMANDS[what])
    after = tree_of(project)
    expected = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    expected -= {"old.log"}  # no longer ignored, but nobody changed it
    assert paths(changes) == sorted(os.fsencode(name).decode("utf-8", "replace") for name in expected)
    kinds = {
        name: "created" if name not in before else "changed" if name in after else "deleted"
        for name in expected
    }
    assert [file.change for file in changes.shown] == [kinds[name] for name in sorted(kinds)]


@pytest.mark.parametrize("what", ["rm", "mv", "an edit in place", "an untracked file", "chmod"])
def test_git_status_names_the_same_files(what: str, watch: CommandWatch, project: Path) -> None:
    run(project, "git add -A; git commit -qm all")
    changes = watched(watch, project, COMMANDS[what])
    status = run(project, "git -c status.renames=false status --porcelain --untracked-files=all")
    assert paths(changes) == sorted(line[3:] for line in status.splitlines())


def test_files_of_a_submodule_and_of_a_nested_repository_count(watch: CommandWatch, project: Path) -> None:
    assert paths(watched(watch, project, "echo 2 >> sub/one; echo 1 > sub/two")) == ["sub/one", "sub/two"]
    made = "mkdir nested; cd nested; git init -q; echo '*.txt' > .gitignore; echo 1 > a.txt; echo 1 > b.c"
    assert paths(watched(watch, project, made)) == ["nested/.gitignore", "nested/b.c"]
    assert paths(watched(watch, project, "echo 2 > nested/a.txt; echo 2 > nested/b.c")) == ["nested/b.c"]


def test_what_changed_between_two_commands_belongs_to_none(watch: CommandWatch, project: Path) -> None:
    watched(watch, project, "true")
    (project / "src" / "a1.py").write_text("by the editor\n")
    (project / "made.py").write_text("by the editor\n")
    (project / "src" / "a2.py").unlink()
    assert paths(watched(watch, project, "echo 1 > other.py")) == ["other.py"]


def test_what_another_program_changes_meanwhile_is_better_listed_than_lost(
    watch: CommandWatch, project: Path
) -> None:
    watch.begin()
    (project / "src" / "a1.py").write_text("by the editor\n")
    run(project, "echo 1 > src/a2.py")
    assert paths(watch.end(keeps=False)) == ["src/a1.py", "src/a2.py"]


def test_the_content_before_is_what_it_was_right_before_the_command(project: Path, tmp_path: Path) -> None:
    backup = Noting()
    watch = CommandWatch(project, tmp_path / "scratch", backup, tuple)
    watch.begin()
    (project / "src" / "a1.py").write_text("by the editor\n")
    watch.begin()
    run(project, "sed -i s/by/after/ src/a1.py; echo 2 > src/a2.py; rm loose.txt")
    watch.end(keeps=True)
    assert [(change.name, change.before.content, change.after.content) for change in backup.changes] == [
        ("loose.txt", b"1\n", None),
        ("src/a1.py", b"by the editor\n", b"after the editor\n"),
        ("src/a2.py", b"line 2\n", b"2\n"),
    ]


def test_content_that_git_packed_away_is_found(project: Path, tmp_path: Path) -> None:
    backup = Noting()
    run(project, "git gc -q --prune=now")
    watch = CommandWatch(project, tmp_path / "scratch", backup, tuple)
    watch.begin()
    run(project, "rm src/deep/d2; git add -A; git commit -qm gone")
    watch.end(keeps=True)
    assert [change.before.content for change in backup.changes] == [b"2\n"]


def test_a_file_that_git_converts_is_copied_and_not_taken_from_git(project: Path, tmp_path: Path) -> None:
    backup = Noting()
    run(project, "echo '*.dos eol=crlf' > .gitattributes; printf 'a\\r\\nb\\r\\n' > x.dos")
    run(project, "git add -A; git commit -qm dos; git status")
    watch = CommandWatch(project, tmp_path / "scratch", backup, tuple)
    watch.begin()
    run(project, "rm x.dos")
    watch.end(keeps=True)
    assert [change.before.content for change in backup.changes] == [b"a\r\nb\r\n"]


def test_a_large_file_that_git_has_is_compared_by_its_hash(project: Path, tmp_path: Path) -> None:
    run(project, "head -c 3000000 /dev/zero > big; git add big; git commit -qm big; git status")
    watch = CommandWatch(project, tmp_path / "scratch", None, tuple)
    assert paths(watched(watch, project, "touch big")) == []
    assert paths(watched(watch, project, "printf 1 | dd of=big conv=notrunc bs=1 seek=9")) == ["big"]


def test_without_git_the_ignore_rules_and_package_folders_count(tmp_path: Path) -> None:
    project = tmp_path / "plain"
    project.mkdir()
    (project / ".gitignore").write_text("out/\n")
    watch = CommandWatch(project, tmp_path / "scratch", None, tuple)
    command = "mkdir out node_modules src; touch out/a node_modules/b src/c; echo 1 > src/d"
    assert paths(watched(watch, project, command)) == ["src/c", "src/d"]


def test_the_first_files_of_an_empty_folder_count(tmp_path: Path) -> None:
    project = tmp_path / "plain"
    project.mkdir()
    watch = CommandWatch(project, tmp_path / "scratch", None, tuple)
    assert paths(watched(watch, project, "mkdir src; echo 1 > src/a; echo 1 > b")) == ["b", "src/a"]
    assert paths(watched(watch, project, "rm -r src b")) == ["b", "src/a"]
    assert paths(watched(watch, project, "echo 1 > c")) == ["c"]


def test_a_workspace_inside_a_repository_counts_its_own_files(project: Path, tmp_path: Path) -> None:
    watch = CommandWatch(project / "src", tmp_path / "scratch", None, tuple)
    changes = watched(watch, project, "echo 1 >> src/a1.py; echo 1 > src/x.log; echo 1 > top.py")
    assert paths(changes) == ["a1.py"]


def test_a_broken_index_is_no_reason_to_miss_anything(watch: CommandWatch, project: Path) -> None:
    (project / ".git" / "index").write_bytes(b"DIRC" + b"\xff" * 60)
    assert paths(watched(watch, project, "rm src/a1.py; echo 1 > x")) == ["src/a1.py", "x"]


def test_a_tree_that_is_too_large_is_said_once_and_remembered(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MOST_FOLDERS", 2)
    watch = CommandWatch(project, tmp_path / "scratch", None, tuple)
    first, second = watched(watch, project, "echo 1 > x"), watched(watch, project, "echo 1 > y")
    assert first.facts == second.facts == (CommandUnwatched(),)
    assert first.notice.startswith("This folder has too many files")
    assert second.notice == ""


def test_keys_and_secret_files_stay_out_of_what_is_shown(project: Path, tmp_path: Path) -> None:
    watch = CommandWatch(project, tmp_path / "scratch", None, lambda: ["sk-verysecretkey"])
    changes = watched(watch, project, "echo k=sk-verysecretkey > config.py; echo A=1 > .env")
    secret, config = changes.shown
    assert (secret.path, secret.diff, secret.note) == (".env", None, "it may hold keys or passwords")
    assert config.diff
    assert "sk-verysecretkey" not in str(config)


def test_many_files_are_counted_and_those_shown_are_bounded(watch: CommandWatch, project: Path) -> None:
    changes = watched(watch, project, "for i in $(seq 100); do seq 50 > many_$i.txt; done")
    assert len(changes.facts) == 100
    assert (len(changes.shown), changes.more) == (50, 50)
    assert sum(sum(map(len, file.diff.hunks)) for file in changes.shown if file.diff) <= 600


class Noting:
    """A backup that takes down what it is told."""

    def __init__(self) -> None:
        self.changes: list[FileChange] = []

    def note_changes(self, changes: Sequence[FileChange]) -> None:
        self.changes += changes

    def keep(self, *_: object) -> None:
        raise AssertionError("nothing is kept before a command")

    def withdraw(self, path: Path) -> None:
        raise AssertionError("nothing is withdrawn")

    def new_output_file(self) -> Path | None:
        return None

    def is_output(self, path: Path) -> bool:
        return False


def test_a_command_that_makes_the_first_file_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    watch = CommandWatch(folder, tmp_path / "scratch", None, tuple)
    for command, changed in (("echo 1 > a", "a"), ("rm a", "a"), ("echo 2 > b", "b")):
        watch.begin()
        run(folder, command)
        assert watch.end(keeps=True).facts == (FileChanged(path=changed, by_command=True),)
