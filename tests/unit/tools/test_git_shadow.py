"""What commands do in the shadow of a repository comes back, whoever else works there meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from functools import partial

import pytest

from keen_tui.tools.git.brought_back import BroughtBack
from keen_tui.tools.git.kept_files import committed
from keen_tui.tools.git.new_objects import NewObjects
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.shadow import Shadow
from keen_tui.tools.sandbox.base import Terms
from tests.support.jail import Jail
from tests.support.waiting import until
from tests.unit.tools.test_git_attacks import saved_after_a_kill
from tests.unit.tools.test_git_forms import Repository

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

WAITS = "touch waits; until test -e go; do sleep 0.02; done; "
"""The beginning of a command that goes on once the person has done something."""


@pytest.fixture
def repository(jail: Jail) -> Repository:
    (jail.workspace / ".gitignore").write_text("waits\ngo\n")
    return Repository(jail, jail.workspace, hook=False)


async def beside(repository: Repository, command: str, *person: tuple[str, ...]) -> str:
    """The output of a command during which the person runs these git commands."""
    running = asyncio.create_task(repository.jail(WAITS + command))
    await until(lambda: (repository.top / "waits").exists())
    for words in person:
        repository.git(*words)
    (repository.top / "go").touch()
    result = await running
    assert result.exit_code == 0, result.text
    return result.text


async def test_a_branch_that_both_have_moved_stays_and_the_other_commit_gets_a_name(
    repository: Repository,
) -> None:
    said = await beside(
        repository,
        "git commit -q --allow-empty -m theirs && git rev-parse HEAD",
        ("commit", "-q", "--allow-empty", "-m", "mine"),
    )
    theirs = said.split()[0]
    name = f"refs/keen/main-{theirs[:8]}"
    assert f"main also changed outside the sandbox; the command's version is saved as {name}" in said
    assert repository.subject() == "mine"
    assert repository.git("rev-parse", name) == theirs
    assert (await repository.jail("git log -1 --format=%s")).text.strip() == "mine"


async def test_other_branches_and_tags_of_both_are_there(repository: Repository) -> None:
    await beside(repository, "git tag theirs; git branch b", ("tag", "mine"), ("branch", "c"))
    assert repository.git("tag").split() == ["mine", "theirs"]
    assert (await repository.jail("git branch --format='%(refname:short)'")).text.split() == [
        "b",
        "c",
        "main",
    ]


async def test_what_both_have_staged_is_staged(repository: Repository) -> None:
    for name in "abc":
        (repository.top / name).write_text(name)
    said = await beside(repository, "git add a c; echo more >> c; git add c", ("add", "b"))
    assert "staged" not in said
    assert repository.git("diff", "--cached", "--name-only").split() == ["a", "b", "c"]


async def test_a_file_that_both_have_staged_stays_as_the_person_staged_it(repository: Repository) -> None:
    (repository.top / "b").write_text("mine")
    said = await beside(repository, "sleep 0.1; echo theirs > b; git add b", ("add", "b"))
    assert "also staged outside the sandbox, so Keen kept those versions: b" in said
    assert repository.git("show", ":b") == "mine"


async def test_a_stash_of_each_is_kept(repository: Repository) -> None:
    await beside(repository, "echo 2 > src/a; git stash -q", ("stash", "push", "-qm", "mine"))
    assert "mine" in repository.git("stash", "list")
    assert repository.git("for-each-ref", "--format=%(refname)", "refs/keen").startswith("refs/keen/stash-")


async def test_stashes_come_and_go(repository: Repository) -> None:
    for number in "12":
        (repository.top / "src/a").write_text(number)
        await repository.jail(f"git stash push -qm n{number}")
    assert [row[-2:] for row in repository.git("stash", "list").splitlines()] == ["n2", "n1"]
    await repository.jail("git stash drop -q 'stash@{1}'")
    assert [row[-2:] for row in repository.git("stash", "list").splitlines()] == ["n2"]
    await repository.jail("git stash pop -q")
    assert repository.git("stash", "list") == ""
    assert (repository.top / "src/a").read_text() == "2"


async def test_the_reflog_is_that_of_the_command(repository: Repository) -> None:
    await repository.jail("git commit -qam two; git commit -q --amend -m three; git switch -qc feat")
    inside = (await repository.jail("git reflog; git reflog show main")).text.strip()
    assert "\n".join((repository.git("reflog"), repository.git("reflog", "show", "main"))) == inside
    assert "commit (amend): three" in inside


async def test_a_rebase_that_stops_is_continued_in_the_next_command_or_outside(
    repository: Repository,
) -> None:
    await repository.jail("git switch -qc feat; echo feat > src/a; git commit -qam feat; git switch -q main")
    await repository.jail("echo main > src/a; git commit -qam main; git switch -q feat")
    result = await repository.jail("git rebase main")
    assert result.exit_code == 1
    assert "rebase in progress" in repository.git("status")
    assert repository.git("diff", "--name-only", "--diff-filter=U") == "src/a"
    result = await repository.jail("echo both > src/a; git add src/a; git rebase --continue")
    assert result.exit_code == 0, result.text
    assert repository.git("log", "--format=%s").split() == ["feat", "main", "first"]
    assert "rebase" not in repository.git("status")


@pytest.mark.parametrize("end", ["inside", "outside"])
async def test_a_rebase_with_an_autostash_ends_inside_or_outside(repository: Repository, end: str) -> None:
    (repository.top / "own").write_text("one\n")
    repository.git("add", "own")
    repository.git("commit", "-qm", "own")
    await repository.jail("git switch -qc feat; echo feat > src/a; git commit -qam feat; git switch -q main")
    await repository.jail("echo main > src/a; git commit -qam main; git switch -q feat; echo two > own")
    result = await repository.jail("git rebase --autostash main")
    assert "also saved as refs/keen/autostash-" in result.text
    saved = repository.git("for-each-ref", "--format=%(refname)", "refs/keen")
    assert repository.git("show", f"{saved}:own") == "two"
    assert "rebase in progress" in repository.git("status")
    if end == "inside":
        await repository.jail("echo both > src/a; git add src/a; git rebase --continue")
        assert (repository.top / "own").read_text() == "two\n"
    else:
        repository.git("rebase", "--abort")
        again = await repository.jail("git commit -qam own; git rebase main; git rebase --abort")
        assert "could not apply" in again.text, again.text
    for status in ((await repository.jail("git status")).text, repository.git("status")):
        assert "rebase" not in status


@pytest.mark.parametrize(("old", "new"), [("feat/x", "feat"), ("feat", "feat/x")])
async def test_a_branch_is_renamed_to_a_path_above_or_below_its_own(
    repository: Repository, old: str, new: str
) -> None:
    repository.git("branch", old)
    result = await repository.jail(f"git branch -m {old} {new}; git commit -qam second; touch n; git add n")
    assert result.text == "(no output)"
    await repository.jail("touch x")
    assert repository.git("branch", "--format=%(refname:short)").split() == [new, "main"]
    assert repository.subject() == "second"
    assert repository.git("status", "--short") == "A  n\n?? x"


async def test_a_branch_in_the_way_of_the_persons_gets_another_name(repository: Repository) -> None:
    said = await beside(repository, "git branch a; git config user.name Grace", ("branch", "a/b"))
    assert "refs/heads/a wasn't updated" in said
    assert repository.git("config", "user.name") == "Grace"
    result = await repository.jail("git commit -qam second; git branch --format='%(refname)'")
    assert result.text.split() == ["refs/heads/a/b", "refs/heads/main"]
    assert repository.subject() == "second"


async def test_a_folder_of_a_work_tree_that_can_not_be_written_holds_up_nothing_else(
    repository: Repository,
) -> None:
    result = await repository.jail("git worktree add -q wt; git commit -qam second; chmod 555 wt")
    assert repository.subject() == "second"
    if os.geteuid():
        assert "the work tree wt can't be written" in result.text
        assert not (repository.top / ".git/worktrees").exists()
    (repository.top / "wt").chmod(0o755)


async def test_a_path_in_the_way_of_one_that_the_person_has_staged_is_not_staged(
    repository: Repository,
) -> None:
    (repository.top / "b").touch()
    stage = "git update-index --add --cacheinfo 100644,$(git hash-object -w src/a),b/c"
    said = await beside(repository, stage, ("add", "b"))
    assert "also staged outside the sandbox, so Keen kept those versions: b/c" in said
    assert repository.git("diff", "--cached", "--name-only") == "b"


async def test_what_a_full_disk_holds_up_comes_back_once_there_is_room(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: NewObjects) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(NewObjects, "bring_back", full)
        result = await repository.jail("git commit -qam second")
        assert "(No space left on device); Keen tries again with the next command" in result.text
        await repository.jail("touch x")
        assert repository.subject() == "first"
    await repository.jail("touch y")
    assert repository.subject() == "second"


async def test_a_setting_that_runs_programs_stays_in_the_shadow_for_later_commands(
    repository: Repository,
) -> None:
    result = await repository.jail("git config core.pager evil; git config user.name Grace")
    assert "changed only in the sandbox: the setting core.pager" in result.text
    assert repository.git("config", "user.name") == "Grace"
    result = await repository.jail("git config core.pager")
    assert result.text.splitlines()[0] == "evil"
    assert "only in the sandbox" not in result.text


async def test_remotes_and_branches_are_set_up(repository: Repository) -> None:
    await repository.jail(
        "git remote add origin https://example.org/x.git; git branch feat; git branch -u main feat"
    )
    assert repository.git("remote", "get-url", "origin") == "https://example.org/x.git"
    assert repository.git("rev-parse", "--abbrev-ref", "feat@{upstream}") == "main"
    await repository.jail("git branch -D feat; git remote remove origin")
    assert "feat" not in repository.git("config", "--list")
    assert repository.git("remote") == ""


@pytest.mark.parametrize(
    "command",
    [
        "git config remote.origin.url {evil}",
        "git config remote.origin.pushurl {evil}",
        "git remote remove origin; git remote add origin {evil}",
        "git remote add evil {evil}; git config branch.main.remote evil",
        "git config remote.src.url /nowhere; git config branch.more.remote src",
    ],
)
async def test_a_command_never_turns_the_persons_pushes_elsewhere(
    repository: Repository, command: str
) -> None:
    repository.git("remote", "add", "origin", "https://example.org/x.git")
    repository.git("config", "branch.main.remote", "origin")
    for words in (*command.format(evil="https://example.org/evil.git").split("; "), "rm -rf .git/HEAD"):
        await repository.jail(words)  # the last one spoils the shadow: the next is a new one
    await repository.jail("git config user.name Grace")
    for words in command.format(evil="https://example.org/evil.git").split("; "):
        await repository.jail(words)
    settings = repository.git("config", "--local", "--list").splitlines()
    assert not [each for each in settings if each.startswith(("branch.main.remote=evil", "branch.more"))]
    remotes = {each for each in settings if each.startswith("remote.origin.")}
    assert remotes <= {
        "remote.origin.url=https://example.org/x.git",
        "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*",
    }


async def test_very_many_values_of_settings_stay(repository: Repository) -> None:
    result = await repository.jail('for n in $(seq 200); do echo "[user]\nname = $n"; done >> .git/config')
    assert result.exit_code or "changed only in the sandbox: the setting user.name" in result.text
    assert repository.git("config", "user.name") == "Ada"


async def test_a_work_tree_made_by_a_command_works_outside(repository: Repository) -> None:
    result = await repository.jail("git worktree add -q trees/feat -b feat")
    assert result.exit_code == 0, result.text
    tree = repository.top / "trees/feat"
    (tree / "src/a").write_text("there\n")
    repository.git("commit", "-qam", "there", folder=tree)
    assert repository.subject(tree) == "there"
    result = await repository.jail(
        "cd trees/feat && git log -1 --format=%s && git commit -q --allow-empty -m more"
    )
    assert result.text.strip() == "there"
    assert repository.subject(tree) == "more"
    await repository.jail("rm -rf trees; git worktree prune")
    assert len(repository.git("worktree", "list").splitlines()) == 1


async def test_a_repository_is_made_where_there_is_none(jail: Jail) -> None:
    if jail.sandbox.objects_of_git is None:
        pytest.skip("this sandbox can't mount a folder for a repository that isn't there yet")
    (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    assert (await jail("git status 2>&1; true")).text.startswith("fatal: not a git repository")
    assert list(jail.workspace.iterdir()) == []
    result = await jail(
        "git init -qb trunk && echo x > a && git add a && git commit -qm first && git config core.pager evil"
        " && mkdir -p .git/hooks && echo evil > .git/hooks/post-commit && chmod +x .git/hooks/post-commit"
        " && chmod 555 .git"
    )
    assert result.exit_code == 0, result.text
    assert "changed only in the sandbox: hooks/post-commit, the setting core.pager" in result.text
    git = jail.workspace / ".git"
    assert "evil" not in (git / "config").read_text()
    assert not (git / "hooks/post-commit").exists()
    assert (git / "HEAD").read_text() == "ref: refs/heads/trunk\n"
    result = await jail("git log --format='%s %an'; git status -s")
    assert result.text.strip() == "first Ada"
    result = await jail("chmod 755 .git; git commit -q --allow-empty -m second")
    assert "second" in (git / "logs/HEAD").read_text()


async def test_a_command_that_began_without_a_repository_never_writes_one(jail: Jail) -> None:
    waiting = asyncio.create_task(jail(f"{WAITS} mkdir -p .git/hooks; echo evil > .git/hooks/x"))
    await until(lambda: (jail.workspace / "waits").exists())
    repository = Repository(jail, jail.workspace, hook=False)
    (jail.workspace / "go").touch()
    await waiting
    assert repository.subject() == "first"
    assert not (jail.workspace / ".git/hooks/x").exists()


@pytest.mark.parametrize(
    "damage", ["mkfifo .git/x", "rm .git/packed-refs", "> .git/packed-refs", "rm -r .git/*"]
)
async def test_a_damaged_shadow_costs_the_repository_nothing(repository: Repository, damage: str) -> None:
    repository.git("branch", "precious")
    at = damage.replace(".git", "$(git rev-parse --absolute-git-dir)")
    result = await repository.jail(f"git commit -q --allow-empty -m lost; {at}; true")
    assert repository.git("branch", "--format=%(refname:short)").split() == ["main", "precious"]
    if "x" not in damage:
        assert "Keen can't use the command's copy of the repository" in result.text
    assert (await repository.jail("git commit -qam two")).exit_code == 0
    assert repository.subject() == "two"


async def test_a_hidden_file_is_neither_staged_nor_changed(repository: Repository) -> None:
    (repository.top / ".env").write_text("KEY=1\n")
    (repository.top / "src/.env").write_text("KEY=2\n")
    repository.git("add", "-f", "src/.env")
    repository.git("commit", "-qm", "key", "src/.env")
    (repository.top / "src/.env").write_text("KEY=3\n")
    result = await repository.jail("git add -A; git commit -qam all; git status --short")
    assert result.exit_code == 0, result.text
    assert repository.git("show", "HEAD:src/.env") == "KEY=2"
    assert ".env" not in repository.git("ls-tree", "--name-only", "HEAD").split()
    assert repository.git("status", "--short").splitlines() == ["M src/.env", "?? .env"]


async def test_the_users_settings_hold_without_what_is_secret(repository: Repository) -> None:
    home = repository.jail.home
    (home / "work.inc").write_text("[user]\nname = Grace\n[core]\nexcludesFile = ~/ignored\n")
    (home / "ignored").write_text("*.log\n")
    (home / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.org\n[alias]\nci = commit\n[core]\nsplitIndex = true\n"
        '[url "https://name:TOPSECRET@example.org/"]\ninsteadOf = https://example.org/\n'
        '[http]\nextraHeader = "Authorization: TOPSECRET"\n[credential]\nhelper = store\n'
        f'[includeIf "gitdir:{repository.top}/"]\npath = work.inc\n'
    )
    (repository.top / "x.log").touch()
    result = await repository.jail("git config --list; cat $GIT_CONFIG_SYSTEM; git add -A && git ci -qm x")
    assert result.exit_code == 0, result.text
    assert "TOPSECRET" not in result.text
    assert "credential" not in result.text
    assert "splitindex" not in result.text
    assert repository.git("log", "-1", "--format=%an") == "Grace"
    assert "x.log" not in repository.git("show", "--stat", "HEAD")
    await repository.jail("git config --global user.name Eve")
    assert "Eve" not in (home / ".gitconfig").read_text()
    assert (await repository.jail("git config user.name")).text.strip() == "Eve"


async def test_what_a_command_in_the_background_did_is_told_by_the_next_that_ends(
    repository: Repository,
) -> None:
    command = "git commit -q --allow-empty -m theirs; touch go2; until test -e end; do sleep 0.02; done"
    running = asyncio.create_task(repository.jail(WAITS + command))
    await until(lambda: (repository.top / "waits").exists())
    repository.git("commit", "-q", "--allow-empty", "-m", "mine")
    (repository.top / "go").touch()
    await until(lambda: (repository.top / "go2").exists())
    other = await repository.jail("touch x")
    (repository.top / "end").touch()
    assert "main also changed outside the sandbox" in other.text
    assert "main also changed" not in (await running).text


async def test_what_came_back_before_a_kill_is_not_saved_again(repository: Repository) -> None:
    await repository.jail("git commit -qam second; git branch topic; git stash list")
    repository.git("commit", "-q", "--amend", "-m", "mine")
    repository.git("branch", "-D", "topic")
    assert saved_after_a_kill(repository.jail) == []
    assert repository.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


async def test_commits_in_a_repository_that_a_command_has_made_are_saved_after_a_kill(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    if jail.sandbox.objects_of_git is None:
        pytest.skip("this sandbox can't mount a folder for a repository that isn't there yet")
    (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    await jail("git init -qb trunk")
    monkeypatch.setattr(Shadow, "bring_back", lambda _: BroughtBack())
    await jail("git commit -q --allow-empty -m first")
    [said] = saved_after_a_kill(jail)
    assert "refs/keen/trunk-" in said


async def test_what_git_has_set_aside_is_saved_after_a_kill(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shadow, "bring_back", lambda _: BroughtBack())
    await repository.jail("git stash push -qm one; echo 2 > src/a; git stash push -qm two")
    [said] = saved_after_a_kill(repository.jail)
    refs = repository.git("for-each-ref", "--format=%(refname)", "refs/keen").splitlines()
    assert len(refs) == 2 and all(name in said for name in refs)
    assert {repository.git("show", f"{name}:src/a") for name in refs} == {"changed", "2"}


@pytest.mark.parametrize(
    "words",
    [("update-index", "--split-index"), ("sparse-checkout", "set", "--cone", "--sparse-index", "src")],
)
async def test_a_repository_with_an_unknown_index_is_read_only(
    repository: Repository, words: tuple[str, ...]
) -> None:
    (repository.top / "other/deep").mkdir(parents=True)
    (repository.top / "other/deep/b").touch()
    repository.git("add", "other")
    repository.git("commit", "-qam", "more")
    repository.git(*words)
    (repository.top / "src/a").write_text("new\n")
    result = await repository.jail("git commit -qam x")
    assert result.exit_code, result.text
    assert repository.subject() == "more"
    assert repository.git("status", "--short") == "M src/a"
    assert not list(repository.jail.own.glob("**/shadow-*"))


def test_a_folder_with_very_many_files_never_counts_as_committed(repository: Repository) -> None:
    folder = repository.top / "many"
    folder.mkdir()
    for number in range(501):
        (folder / f"{number:03}").touch()
    repository.git("add", "many")
    repository.git("commit", "-qm", "many")
    ran = partial(OwnGit().output, repository.top)
    tips = [repository.git("rev-parse", "HEAD")]
    assert committed(ran, repository.top, tips, 20, [folder / "000", folder]) == [folder / "000"]


async def test_nothing_is_done_for_a_command_that_leaves_the_repository_alone(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    await repository.jail("touch y; git log")
    ran: list[object] = []
    monkeypatch.setattr(OwnGit, "tried", lambda *words, **_: ran.append(words))
    await repository.jail("git status; git log; echo x > y")
    assert ran == []


async def test_a_command_that_only_reads_finds_the_repository_and_can_not_write_it(
    repository: Repository,
) -> None:
    commands = {"git log": 0, "git -c user.name=x commit --allow-empty -m x": 128, "touch .git/x": 1}
    for command, code in commands.items():
        assert repository.jail.ends_with(command, Terms(writes=False)) == code, command
