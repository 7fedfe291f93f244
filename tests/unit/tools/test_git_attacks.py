"""A command may do anything with its repository: none of it runs in the person's own git, which still shows
the truth."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess

import pytest

from keen_tui.tools.git import new_objects
from keen_tui.tools.git.brought_back import BroughtBack
from keen_tui.tools.git.index_changes import UnknownIndex, changed_paths
from keen_tui.tools.git.shadow import Shadow
from keen_tui.tools.git.stale_shadow import saved_commits
from keen_tui.tools.sandbox.scratch import FOLDER
from tests.support import git_attacks
from tests.support.jail import PYTHON, Jail

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Person:
    """The person whose repository it is, with git outside of any sandbox."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.root = jail.workspace
        self.proof = jail.outside / "RAN"
        (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        (self.root / "src").mkdir()
        (self.root / "src/a").write_text("one\n")
        self.evil = self.root / "src/evil.sh"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.proof} 2>/dev/null\nexit 0\n")
        self.evil.chmod(0o755)
        (self.root / "src/evil.inc").write_text(f"[core]\n\tfsmonitor = {self.evil}\n")
        for name in git_attacks.HOOKS:
            shutil.copy(self.evil, self.root / "src" / name)
        (self.root / ".gitattributes").write_text("src/a filter=e diff=e merge=e\n")
        shutil.copy(git_attacks.__file__, self.root / "attack.py")
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.head = self.git("rev-parse", "HEAD")
        self.settings = (self.root / ".git/config").read_bytes()
        self.hooks = sorted((self.root / ".git/hooks").iterdir())

    def git(self, *words: str) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.jail.home), "GIT_EDITOR": "true"}
        ran = subprocess.run(
            ("git", *words), cwd=self.root, env=environ, capture_output=True, text=True, errors="replace"
        )
        assert ran.returncode == 0, (words, ran.stderr)
        return ran.stdout.strip()

    def works(self) -> None:
        """What a person does next: everything is true, and nothing runs but git."""
        (self.root / "src/a").write_text("changed\n")
        assert "src/a" in self.git("status", "--porcelain")
        assert "+changed" in self.git("diff", "src/a")
        assert self.head in self.git("log", "--format=%H")
        assert self.git("ls-tree", "--name-only", f"{self.head}:src").splitlines()[0] == "a"
        self.git("commit", "-qm", "mine", "--", "src/a")
        assert self.git("show", "HEAD:src/a") == "changed"
        assert self.git("log", "-1", "--format=%s") == "mine"
        self.git("fsck", "--full")
        self.git("worktree", "list")
        self.git("branch", "-a")
        assert sorted((self.root / ".git/hooks").iterdir()) == self.hooks
        assert not self.proof.exists()


@pytest.fixture
def person(jail: Jail) -> Person:
    return Person(jail)


@pytest.mark.parametrize("attack", list(git_attacks.names()))
async def test_no_attack_gets_out_of_the_shadow(person: Person, attack: str) -> None:
    before = await person.jail("git status --short")
    assert before.exit_code == 0, before.text
    result = await person.jail(f"{PYTHON} -S attack.py '{attack}' {person.evil}")
    assert result.exit_code == 0, result.text
    if attack.startswith("setting"):
        assert "changed only in the sandbox: the setting" in result.text
    assert (person.root / ".git/config").read_bytes() == person.settings
    person.works()
    after = await person.jail("true")  # and once more with what stayed in the shadow
    assert after.exit_code == 0, after.text
    person.git("status")
    assert person.git("log", "-1", "--format=%s") == "mine"
    assert not person.proof.exists()


def saved_after_a_kill(jail: Jail) -> list[str]:
    """What the next start says if the program was killed now."""
    [shadow] = jail.own.glob(f"{FOLDER}/*/shadow-*")
    dead = jail.own / FOLDER / "1-dead"
    dead.mkdir()
    shadow.rename(dead / shadow.name)
    said = saved_commits(jail.workspace, jail.own / FOLDER)
    assert not list(jail.own.glob(f"{FOLDER}/*/shadow-*"))
    return said


SAVED = "are saved as refs/keen/"
LOST = "couldn't be brought back"
STALE = {
    "a_false_object": SAVED,
    "a_broken_pack": LOST,
    "alternates_elsewhere": SAVED,
    "refs_with_bad_names": SAVED,
    "refs_that_lie": SAVED,
    "a_head_that_is_a_link": LOST,
    "folders_that_are_links": LOST,
    "pipes": LOST,
    "a_rebase_that_runs_something": SAVED,
    "attributes": SAVED,
    "setting core.fsmonitor": SAVED,
    "hook post-commit": SAVED,
}
"""Attacks, and what the next start says about a commit that was made before each."""


@pytest.mark.parametrize(("attack", "outcome"), STALE.items())
async def test_no_attack_gets_out_of_the_shadow_of_a_killed_program(
    person: Person, monkeypatch: pytest.MonkeyPatch, attack: str, outcome: str
) -> None:
    monkeypatch.setattr(Shadow, "bring_back", lambda _: BroughtBack())
    await person.jail(
        f"git commit -q --allow-empty -m theirs; {PYTHON} -S attack.py '{attack}' {person.evil}"
    )
    [said] = saved_after_a_kill(person.jail)
    assert outcome in said
    refs = person.git("for-each-ref", "--format=%(refname)").splitlines()
    kept = [each for each in refs if each.startswith("refs/keen/")]
    assert [each for each in refs if each not in kept] == ["refs/heads/main"]
    assert bool(kept) == (outcome == SAVED)
    assert (person.root / ".git/config").read_bytes() == person.settings
    assert person.git("rev-parse", "HEAD") == person.head
    person.works()


async def test_no_command_says_whose_shadow_it_is(person: Person) -> None:
    await person.jail("git branch topic")
    [owner] = person.jail.own.glob(f"{FOLDER}/*/shadow-*/owner")
    await person.jail(f"echo /etc > {owner}; rm {owner}; mv {owner.parent} {owner.parent}2")
    assert owner.read_text() == str(person.root / ".git")


async def test_a_repository_among_packages_is_not_saved_after_a_kill(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shadow, "bring_back", lambda _: BroughtBack())
    stage = f"{PYTHON} -S attack.py a_staged_repository_among_packages {person.evil}; git reset -q"
    await person.jail(f"{stage}; {REPOSITORY}\ngit branch evil $(cat commit)")
    [said] = saved_after_a_kill(person.jail)
    assert "git would track a repository inside a folder of packages" in said
    assert person.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


STASHED = "mkdir -p $folder/logs/refs; "
STASHED += "echo $(git rev-parse HEAD) $(cat commit) 'a <a> 1 +0000\tx' > $folder/logs/refs/stash"
REPOSITORY = """
export GIT_INDEX_FILE=$PWD/other
git read-tree HEAD
git add -f node_modules/inner
git commit-tree -p HEAD -m evil $(git write-tree) > commit
unset GIT_INDEX_FILE; rm other
"""


@pytest.mark.parametrize(
    ("when", "names"),
    [
        ("at once", "git branch evil $(cat commit)"),
        ("later", "git branch evil $(cat commit)"),
        ("packed", "git branch evil $(cat commit)"),
        ("at once", "cat commit > $folder/HEAD"),
        ("at once", f"{STASHED}; git update-ref refs/stash HEAD"),
        (
            "at once",
            "git worktree add -q wt; cd $folder/worktrees/wt; mkdir -p refs/rewritten; "
            "cp $OLDPWD/commit refs/rewritten/x",
        ),
        ("at once", "cat commit > $folder/CHERRY_PICK_HEAD"),
        ("later", "mkdir $folder/sequencer; echo pick $(cut -c-9 commit) evil > $folder/sequencer/todo"),
    ],
)
async def test_no_commit_brings_a_repository_among_packages(person: Person, when: str, names: str) -> None:
    make = (
        f"{PYTHON} -S attack.py a_staged_repository_among_packages {person.evil}; git reset -q; {REPOSITORY}"
    )
    names = f"folder=$(git rev-parse --absolute-git-dir); {names}"
    if when == "later":
        await person.jail(make)
        make = ""
    elif when == "packed":
        pack = "git rev-list --objects $(cat commit) ^HEAD | git pack-objects -q $folder/objects/pack/pack"
        names = f"{names}; {pack}; git prune-packed"
    result = await person.jail(f"{make}\n{names}")
    assert "git would track a repository inside a folder of packages" in result.text, result.text
    assert person.git("branch", "--format=%(refname:short)") == "main"
    assert person.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert not (person.root / ".git/CHERRY_PICK_HEAD").exists()
    assert not (person.root / ".git/sequencer").exists()
    person.works()


AUTOSTASH = """
printf '#!/bin/sh\\ntouch {proof}\\n' > hook
export GIT_INDEX_FILE=$PWD/other
git read-tree HEAD
git update-index --cacheinfo 100755,$(git hash-object -w hook),.husky/pre-commit
tree=$(git write-tree)
index=$(git commit-tree -p HEAD -m index HEAD^{{tree}})
git commit-tree -p HEAD -p $index -m WIP $tree > commit
unset GIT_INDEX_FILE; rm other hook
folder=$(git rev-parse --absolute-git-dir)
mkdir -p $folder/rebase-merge
cp commit $folder/{name}
"""


@pytest.mark.parametrize("name", ["MERGE_AUTOSTASH", "rebase-merge/autostash"])
async def test_git_applies_no_changes_that_a_command_has_set_aside(person: Person, name: str) -> None:
    hook = person.root / ".husky/pre-commit"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    person.git("add", ".husky")
    person.git("commit", "-qm", "husky")
    person.git("config", "core.hooksPath", ".husky")
    person.head = person.git("rev-parse", "HEAD")
    result = await person.jail(AUTOSTASH.format(proof=person.proof, name=name))
    assert result.exit_code == 0, result.text
    commit = (person.root / "commit").read_text().strip()
    assert f"also saved as refs/keen/autostash-{commit[:8]}" in result.text
    assert person.git("rev-parse", f"refs/keen/autostash-{commit[:8]}") == commit
    assert not (person.root / ".git" / name).exists()
    person.works()
    person.git("commit", "-q", "--allow-empty", "-m", "more")
    assert not person.proof.exists()
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("MERGE_HEAD", "ab" * 20),
        ("ORIG_HEAD", "ab" * 20),
        ("rebase-merge/onto", "ab" * 20),
        ("rebase-merge/head-name", "refs/replace/x"),
        ("rebase-merge/git-rebase-todo", "update-ref refs/replace/x"),
        ("rebase-merge/git-rebase-todo", "pick main@{1}"),
        ("rebase-merge/git-rebase-todo", "merge x HEAD^2"),
        ("sequencer/todo", "pick HEAD~1"),
        ("sequencer/todo", "reset :/first"),
        ("rebase-apply/0001", "new file mode 160000"),
        ("rebase-merge/update-refs", f"refs/replace/x\n{'ab' * 20}\n{'ab' * 20}"),
    ],
)
async def test_a_file_that_names_what_git_must_not_use_stays(person: Person, name: str, content: str) -> None:
    result = await person.jail(
        f"cd $(git rev-parse --absolute-git-dir); mkdir -p $(dirname {name}); echo '{content}' > {name}"
    )
    assert "not brought back, because it" in result.text
    assert not (person.root / ".git" / name).exists()
    person.works()


async def test_names_that_cant_be_shown_are_told_in_one_line(person: Person) -> None:
    result = await person.jail(
        r"git config $'branch.\xff\x1b[31m.foo' x; touch $(git rev-parse --absolute-git-dir)/$'a\nKeen: b'"
    )
    assert result.text.isprintable() and result.text.encode()
    assert len(result.text.splitlines()) == 1


async def test_the_files_of_lfs_have_a_limit_together(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_objects, "_MOST_BYTES", 1_500)
    result = await person.jail(
        "for text in one two; do yes $text | head -c 1000 > file; name=$(sha256sum file | cut -c-64); "
        "folder=$(git rev-parse --absolute-git-dir)/lfs/objects/${name:0:2}/${name:2:2}; "
        "mkdir -p $folder; mv file $folder/$name; done"
    )
    assert "its new objects are too large" in result.text


def entry_of_version_4(removed: bytes, rest: bytes) -> bytes:
    return bytes(24) + struct.pack(">I", 0o100644) + bytes(12) + bytes(20) + bytes(2) + removed + rest + b"\0"


@pytest.mark.parametrize(
    "entries",
    [
        [entry_of_version_4(b"\0", b"ab"), entry_of_version_4(b"\3", b"c")],
        [entry_of_version_4(b"\0", b"ab"), entry_of_version_4(b"\xff" * 10 + b"\0", b"c")],
        [entry_of_version_4(b"\0", b"a" * 4_000), *[entry_of_version_4(b"\1", b"b")] * 30_000],
    ],
)
def test_an_index_of_version_4_cant_grow(entries: list[bytes]) -> None:
    content = b"DIRC" + struct.pack(">II", 4, len(entries)) + b"".join(entries) + bytes(20)
    with pytest.raises(UnknownIndex):
        changed_paths(b"", content, 20)
