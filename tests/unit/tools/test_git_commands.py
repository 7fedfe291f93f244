"""Everyday commands of git write the repository by themselves, and nothing else can meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.tools.git.aftermath import changes, look
from keen_tui.tools.git.plan import plan_of
from keen_tui.tools.sandbox.base import Terms
from tests.support.jail import SANDBOXES, Jail

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

EVIL = "#!/bin/sh\ntouch {0}/src/RAN {0}/.git/RAN 2>/dev/null; exit 0\n"


class Repository:
    """A repository in a jail, with a first commit, and settings of git in the home."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.root = jail.workspace
        (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        (self.root / "src").mkdir()
        (self.root / "src/a").write_text("one\n")
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        self.evil = self.root / "src/evil.sh"
        self.evil.write_text(EVIL.format(self.root))
        self.evil.chmod(0o755)

    def git(self, *words: str) -> str:
        """Run git as the user does, outside of any sandbox."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.jail.home), "GIT_EDITOR": "true"}
        ran = subprocess.run(("git", *words), cwd=self.root, env=environ, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    @property
    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()

    def hook(self, name: str, script: str) -> None:
        path = self.root / ".git/hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def nothing_ran(self) -> bool:
        return not any((self.root / name / "RAN").exists() for name in ("src", ".git"))


@pytest.fixture(params=SANDBOXES)
def repository(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    jail = Jail(request.param, tmp_path)
    monkeypatch.setenv("HOME", str(jail.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Repository(jail)


@pytest.mark.parametrize(
    "command",
    [
        "git add -A",
        "git add src/*.py 'a b' -- -x",
        "git commit -am 'two words'",
        "git commit -m x 2>&1",
        "git commit --amend --no-edit --message=x",
        "git --no-pager commit -qm x",
        "git stash",
        "git stash push -u -m x -- src",
        "git stash pop",
        "git switch -c feat",
        "git switch -",
        "git checkout -b feat main",
        "git checkout main",
        "git branch feat",
        "git branch -d feat",
        "git tag -a v1 -m x",
        "git rm -r --cached src",
        "git mv a b",
        "git merge --no-ff feat -m x",
        "git restore --staged .",
        "git reset --soft HEAD~1",
        "git reset HEAD src/a",
        "cd src && git add . && git commit -m x; git log --oneline | head -3",
        "make || git stash",
        "echo x >> f && git add f && git commit -m y",
        "git add . && git commit -m x 2>&1",
        "git commit -F - <<'EOF' && echo x > f\ntext\nEOF",
    ],
)
def test_everyday_commands_run_as_steps(command: str) -> None:
    assert any(step.git for step in plan_of(command))


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log",
        "git push",
        "git add . && git push",
        "git -c core.pager=x commit -m x",
        "git --exec-path=. commit -m x",
        "git --git-dir=x commit -m x",
        "git -C sub commit -m x",
        "git commit -F ~/.ssh/id",
        "git commit -m x --no-verify",
        "git commit -nm x",
        "git commit -S -m x",
        "git commit --template=x",
        "git commit --trailer=x -m x",
        "git commit --amen",
        "git commit -m *",
        "git add --pathspec-from-file=x",
        "git add -p",
        "git add -f x",
        "git switch -f main",
        "git switch -C main",
        "git switch --discard-changes main",
        "git checkout -- .",
        "git checkout main -- src",
        "git checkout -f main",
        "git checkout -B main",
        "git checkout",
        "git branch -D x",
        "git branch -f main x",
        "git branch -u origin/main",
        "git tag -d v1",
        "git tag -f v1",
        "git tag -s v1",
        "git rm -f x",
        "git mv -f a b",
        "git merge -s ours x",
        "git merge --abort",
        "git merge -X theirs x",
        "git restore src/a",
        "git restore --staged --worktree src/a",
        "git reset --hard",
        "git reset --merge",
        "git stash drop",
        "git stash clear",
        "git stash show -p",
        "git clean -fd",
        "git config user.name x",
        "git worktree add x",
        "git rebase main",
        "git cherry-pick x",
        "git ci",
        "GIT_DIR=x git commit -m x",
        "env GIT_DIR=x git commit -m x",
        "export A=b; git commit -m x",
        "git add . | cat",
        "git add . > out",
        "(git add .)",
        "git add . &",
        "git add $(ls)",
        "cd .. && git add .",
        "cd ~ && git add .",
        ". ./x && git add .",
        "exec git add .",
        "/tmp/git add .",
        "git add . && git commit -m x > /dev/null",
        "git add . && git commit -m x > out",
        "echo x > f && git add f > out",
        "echo x > f && git commit -F - <<'EOF' > out\ntext\nEOF",
        "> f echo x && git add f",
        "git add . && sort < a | uniq > c",
        "git add . > x | cat",
        "git add . 2>&1 | cat > x",
        "> out git add .",
        ">out git add . && git commit -m x",
        "echo x > f; 2> out git add .",
        "git > out add .",
        "git add . 2> out",
        "git add . 2>&1 > out",
        "git add . < in",
        "git add . &> out",
        "git add . >| out",
        "git add . | cat > out",
        "echo x > .git/hooks/post-commit && git add .",
        "echo x > .git/config; git add .",
        "echo x > ./src/../.GIT/config; git add .",
        "echo x > '.git'/config; git add .",
        "make | tee log 2>> .git/info/attributes; git add .",
        "echo x > /dev/tcp/localhost/80 && git add .",
        "echo x > $f && git add .",
        "echo x > `ls` && git add .",
        "echo x > *.py && git add .",
        "echo x > ~/f && git add .",
        "echo x > >(git add .) && git add .",
        "cat < <(ls) && git add .",
        "cat <<< x > f && git add .",
        "echo > f x && git add .",
        "echo x >& f && git add .",
        "> f && git add .",
        "(echo x) > f && git add .",
        "{ echo x; git add .; } > f",
        "exec > f && git add .",
        "cd src > f && git add .",
        "echo x > f & git add f",
        "export A=b > f; git add f",
        ". ./x > f; git add f",
    ],
)
def test_what_is_more_than_everyday_runs_as_it_always_did(command: str) -> None:
    assert plan_of(command) == ()


async def test_work_is_committed_and_a_branch_made(repository: Repository) -> None:
    (repository.root / "src/b").write_text("two\n")
    result = await repository.jail('git add -A && git commit -m "Two more" && git switch -c feat; git tag v1')
    assert result.exit_code == 0, result.text
    assert "Two more" in result.text
    assert repository.subjects == ["Two more", "first"]
    assert repository.git("log", "-1", "--format=%an <%ae>") == "Ada <ada@example.org>"
    assert repository.git("branch", "--show-current") == "feat"
    assert repository.git("tag") == "v1"


async def test_what_is_undone_without_loss_is_undone(repository: Repository) -> None:
    result = await repository.jail("git add src/evil.sh && git commit -qm second && git reset --soft HEAD~1")
    assert (result.exit_code, repository.subjects) == (0, ["first"])
    assert repository.git("diff", "--cached", "--name-only") == "src/evil.sh"
    assert (await repository.jail("git restore --staged src/evil.sh")).exit_code == 0
    assert repository.git("diff", "--cached", "--name-only") == ""
    assert repository.evil.exists()


async def test_files_of_the_workspace_change_too(repository: Repository) -> None:
    (repository.root / "src/a").write_text("changed\n")
    assert (await repository.jail("git stash push -m 'for later'")).exit_code == 0
    assert (repository.root / "src/a").read_text() == "one\n"
    steps = ("git stash list", "git switch -qc feat", "git stash pop", "git commit -qam feat", "git switch -")
    for command in (*steps, "git merge feat", "git mv src/a src/b", "git rm -q --cached src/b"):
        result = await repository.jail(command)
        assert result.exit_code == 0, (command, result.text)
    assert repository.subjects == ["feat", "first"]
    assert (repository.root / "src/b").read_text() == "changed\n"


@pytest.mark.parametrize(
    ("command", "code", "subjects"),
    [
        ("false && git commit --allow-empty -m no", 1, ["first"]),
        ("false || git commit --allow-empty -m yes", 0, ["yes", "first"]),
        ("false; git commit --allow-empty -m yes", 0, ["yes", "first"]),
        ("git commit -m nothing || git commit --allow-empty -m yes", 0, ["yes", "first"]),
        ("git commit -m nothing && git commit --allow-empty -m no", 1, ["first"]),
        ("cd src && git rm -q --cached a && ls && git commit -m yes", 0, ["yes", "first"]),
        ("cd nowhere && git commit --allow-empty -m no", 1, ["first"]),
    ],
)
async def test_steps_follow_each_other_as_in_a_shell(
    repository: Repository, command: str, code: int, subjects: list[str]
) -> None:
    result = await repository.jail(command)
    assert (result.exit_code, repository.subjects) == (code, subjects), result.text


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("echo x > f && git add f", ["echo x > f", ""]),
        ("echo a && echo x > f && git add f", ["echo a", "echo x > f", ""]),
        (
            "echo a && sort < 'a b' 2>>err | uniq >c && git add c",
            ["echo a && sort < 'a b' 2>>err | uniq >c", ""],
        ),
        ("make 2> err | tee log > x || git stash", ["make 2> err | tee log > x", ""]),
        ("echo 'ä' >'Ä Q' 2>&1; git add .\nmake &> log", ["echo 'ä' >'Ä Q' 2>&1", "", "make &> log"]),
        ("git log >> f; git add f", ["git log >> f", ""]),
        ("cd src && echo x >| f && git add f", ["", "echo x >| f", ""]),
    ],
)
def test_what_is_written_into_a_file_belongs_to_the_step_before_it(command: str, texts: list[str]) -> None:
    assert [step.text * (not step.git and step.folder is None) for step in plan_of(command)] == texts


def test_a_step_of_git_has_no_redirection() -> None:
    step, other, last = plan_of("git add f 2>&1 && echo x > f && git commit -qm x 2>&1")
    assert step.git and last.git and not other.git
    assert [word.text for word in (*step.git.operands, *(step.git.paths or ()))] == ["f"]
    assert not any(sign in str((step.git, last.git)) for sign in "2>")


async def test_a_file_is_written_and_committed(repository: Repository) -> None:
    command = (
        "echo x >> new && cd src && sort -r < a > 'b c' 2>> ../err && git add -A && git commit -qm y 2>&1"
    )
    result = await repository.jail(command)
    assert (result.exit_code, repository.subjects) == (0, ["y", "first"]), result.text
    assert repository.git("show", "HEAD:new") == "x"
    assert repository.git("show", "HEAD:src/b c") == "one"


@pytest.mark.parametrize("joined", ["&&", ";"])
async def test_a_file_that_can_not_be_written_ends_its_step_only(repository: Repository, joined: str) -> None:
    result = await repository.jail(f"echo x > nowhere/f {joined} git commit --allow-empty -qm y")
    assert repository.subjects == (["first"] if joined == "&&" else ["y", "first"]), result.text


@pytest.mark.parametrize("target", ["hooks/post-commit", "config", "evil", "HEAD", "info/attributes"])
async def test_no_redirection_writes_the_repository(repository: Repository, target: str) -> None:
    (repository.root / "way").symlink_to(".git")
    file = repository.root / ".git" / target
    before = file.read_bytes() if file.exists() else None
    for through in (".git", "way"):
        command = f"echo x > {through}/{target}; git commit --allow-empty -qm y; echo x >> {through}/{target}"
        assert (await repository.jail(command)).exit_code
        assert (file.read_bytes() if file.exists() else None) == before


async def test_the_other_steps_run_in_the_ordinary_sandbox(repository: Repository) -> None:
    result = await repository.jail(
        "git add -A && src/evil.sh; touch .git/evil; git commit -m x && src/evil.sh"
    )
    assert result.exit_code == 0
    assert (repository.root / "src/RAN").exists()
    assert not (repository.root / ".git/RAN").exists()
    assert not (repository.root / ".git/evil").exists()


async def test_settings_that_the_users_own_include_count(repository: Repository) -> None:
    home = repository.jail.home
    (home / "work.inc").write_text("[user]\nname = Grace\n[core]\nexcludesFile = ~/ignored\n")
    (home / "ignored").write_text("*.log\n")
    with (home / ".gitconfig").open("a") as settings:
        settings.write(f'[includeIf "gitdir:{repository.root}/"]\npath = work.inc\n')
    (repository.root / "src/x.log").touch()
    assert (await repository.jail("git add -A && git commit -qm x")).exit_code == 0
    assert repository.git("log", "-1", "--format=%an") == "Grace"
    assert "x.log" not in repository.git("show", "--stat", "HEAD")


async def test_a_hook_before_the_commit_runs_without_the_repository_and_may_refuse(
    repository: Repository,
) -> None:
    repository.hook(
        "pre-commit", "touch src/hook .git/hook; git diff --cached --name-only; exit $(cat src/code)"
    )
    for code in ("1", "0"):
        (repository.root / "src/code").write_text(code)
        result = await repository.jail("git commit -am x")
        assert ("src/a" in result.text) == ((repository.root / "src/a").read_text() != "one\n")
        assert (result.exit_code, len(repository.subjects)) == (int(code), 2 - int(code)), result.text
        (repository.root / "src/a").write_text("changed\n")
        if code == "1":
            assert "the hook pre-commit failed, so nothing was committed" in result.text
            repository.git("add", "src/code")
    assert (repository.root / "src/hook").exists()
    assert not (repository.root / ".git/hook").exists()


async def test_hooks_behind_a_command_are_not_run_and_named(repository: Repository) -> None:
    repository.hook("post-commit", f". {repository.evil}")
    result = await repository.jail("git commit --allow-empty -m x")
    assert "these hooks were not run: post-commit" in result.text
    assert repository.nothing_ran()


@pytest.mark.parametrize("name", ["commit-msg", "prepare-commit-msg", "reference-transaction"])
async def test_a_hook_that_has_to_write_the_repository_keeps_git_in_the_ordinary_sandbox(
    repository: Repository, name: str
) -> None:
    repository.hook(name, "exit 1")
    result = await repository.jail("git commit --allow-empty -m x")
    assert f"the hook {name} of this repository has to run" in result.text
    assert repository.subjects == ["first"]


@pytest.mark.parametrize(
    "settings",
    [
        "[core]\nfsmonitor = {0}",
        "[core]\npager = {0}\n[pager]\ncommit = {0}\nadd = {0}",
        "[core]\neditor = {0}\n[sequence]\neditor = {0}",
        "[core]\nhooksPath = src/hooks",
        "[core]\nsshCommand = {0}\ngitProxy = {0}\naskPass = {0}",
        "[diff]\nexternal = {0}",
        "[alias]\nadd = !{0}\ncommit = !{0}",
        '[filter "e"]\nclean = {0}\nsmudge = {0}',
        '[filter "e"]\nprocess = {0}\nrequired = true',
        '[merge "e"]\ndriver = {0}',
        '[diff "e"]\ntextconv = {0}\ncommand = {0}',
        "[gpg]\nprogram = {0}\n[commit]\ngpgSign = true",
        "[include]\npath = {1}/src/evil.inc",
        "[include]\npath = ../src/evil.inc",
        '[includeIf "onbranch:main"]\npath = {1}/src/evil.inc',
        "[core]\nworktree = {1}/src",
        "[extensions]\nworktreeConfig = true",
        '[trailer "x"]\ncommand = {0}',
        "[credential]\nhelper = !{0}",
        "[init]\ntemplateDir = {1}/src",
    ],
)
@pytest.mark.parametrize("where", ["repository", "home"])
async def test_no_setting_makes_git_run_a_program_where_it_can_write(
    repository: Repository, settings: str, where: str
) -> None:
    root = repository.root
    (root / "src/evil.inc").write_text(f"[core]\nfsmonitor = {repository.evil}\n")
    (root / "src/hooks").mkdir()
    for name in ("post-commit", "post-index-change"):
        shutil.copy(repository.evil, root / "src/hooks" / name)
    (root / ".gitattributes").write_text("* filter=e merge=e diff=e\n")
    (root / "src/a").write_text("two\n")
    file = root / ".git/config" if where == "repository" else repository.jail.home / ".gitconfig"
    with file.open("a") as opened:
        opened.write(settings.format(repository.evil, root) + "\n")
    for command in ("git add -A && git commit -m x; git commit --amend", "git switch -c y", "git stash"):
        await repository.jail(command)
    assert not (root / ".git/RAN").exists()


async def test_what_is_left_in_the_home_of_commands_does_not_lead_git(repository: Repository) -> None:
    await repository.jail(
        f"git config --global core.fsmonitor {repository.evil}; git config --global user.name Mallory"
    )
    assert (await repository.jail("git commit --allow-empty -m x")).exit_code == 0
    assert repository.git("log", "-1", "--format=%an") == "Ada"
    assert repository.nothing_ran()


async def test_no_variable_leads_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", str(repository.evil)),
        ("GIT_EXTERNAL_DIFF", str(repository.evil)),
        ("GIT_EXEC_PATH", str(repository.root / "src")),
        ("GIT_DIR", str(repository.root / "src")),
        ("GIT_EDITOR", str(repository.evil)),
        ("EDITOR", str(repository.evil)),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repository.root)  # as the program is started
    shutil.copy(repository.evil, repository.root / "src/git")
    monkeypatch.setenv("PATH", f"{repository.root}/src:{os.environ['PATH']}")
    result = await repository.jail("git commit --allow-empty -m x && git commit --amend --allow-empty")
    assert result.exit_code == 0, result.text
    assert repository.nothing_ran()


async def test_no_secret_gets_into_the_repository(repository: Repository) -> None:
    home = repository.jail.home
    (repository.root / "src/keys").symlink_to(home / ".ssh")
    (repository.root / "src/key").symlink_to(home / ".ssh/id_ed25519")
    for command in (
        "git add -A",
        "git add src/keys/id_ed25519",
        f"git add {home}/.ssh/id_ed25519",
        f"git commit -F {home}/.ssh/id_ed25519",
        "git commit -m x",
    ):
        await repository.jail(command)
    assert "TOP SECRET" not in repository.git("log", "-p", "--all", "--format=%B")
    assert repository.git("cat-file", "-p", "HEAD:src/key").endswith(".ssh/id_ed25519"), "the link itself"


async def test_a_file_that_may_hold_keys_is_committed_by_nobody_unasked(repository: Repository) -> None:
    (repository.root / ".env").write_text("KEY=SECRET\n")
    for command in ("git add -A", "git commit -am x"):
        assert (
            ".env may hold keys or passwords, and git does not ignore it"
            in (await repository.jail(command)).text
        )
    assert (await repository.jail("git commit --allow-empty -m fine")).exit_code == 0
    (repository.root / ".git/info").mkdir(exist_ok=True)
    (repository.root / ".git/info/exclude").write_text(".env\n")
    assert (await repository.jail("git add -A && git commit -m ignored")).exit_code == 0
    assert repository.git("ls-files") == "src/a\nsrc/evil.sh"
    repository.git("add", "-f", ".env")
    repository.git("commit", "-qm", "by the person")
    (repository.root / ".env").write_text("KEY=ANOTHER\n")
    result = await repository.jail("git commit -am y")
    assert ".env may hold keys" in result.text
    assert repository.git("show", "HEAD:.env") == "KEY=SECRET"
    assert (repository.root / ".env").read_text() == "KEY=ANOTHER\n"


async def test_a_file_with_keys_that_a_step_before_made_is_not_added(repository: Repository) -> None:
    result = await repository.jail("cp src/a src/.env && git add -A")
    assert "git was not run: .env may hold keys" in result.text
    assert repository.git("ls-files") == "src/a"


async def test_a_repository_in_a_folder_is_not_followed(repository: Repository) -> None:
    for name, words in (("bare", ("--bare",)), ("nested", ())):
        folder = repository.root / "src" / name
        folder.mkdir()
        repository.git("init", "-q", *words, str(folder))
        config = folder / ("config" if words else ".git/config")
        with config.open("a") as opened:
            opened.write(f'[core]\nfsmonitor = {repository.evil}\n[filter "e"]\nclean = {repository.evil}\n')
        (folder / ".gitattributes").write_text("* filter=e\n")
        result = await repository.jail(f"cd src/{name} && git add -A && git commit -m evil")
        assert "is a repository of its own" in result.text
    for command in ("git add -A; git add -A; git commit -am x; git switch -c y", "git stash"):
        await repository.jail(command)
    assert repository.nothing_ran()


async def test_submodules_are_not_looked_into(repository: Repository) -> None:
    nested = repository.root / "src/nested"
    nested.mkdir()
    repository.git("init", "-q", str(nested))
    repository.git("-C", str(nested), "commit", "-q", "--allow-empty", "-m", "x")
    repository.git("-c", "advice.addEmbeddedRepo=false", "add", "src/nested")
    repository.git("commit", "-q", "-m", "gitlink")
    (nested / ".gitattributes").write_text("* filter=e\n")
    with (nested / ".git/config").open("a") as opened:
        opened.write(f'[filter "e"]\nclean = {repository.evil}\nsmudge = {repository.evil}\n')
    repository.git("-C", str(nested), "config", "core.fsmonitor", str(repository.evil))
    (nested / "file").touch()
    commands = ("git add -A", "git commit -am x", "git switch -c y", "git stash", "git stash -u")
    for command in commands:
        await repository.jail(command)
    assert not (repository.root / ".git/RAN").exists()


@pytest.mark.parametrize("kind", ["file", "link", "none", "commondir"])
async def test_a_repository_elsewhere_is_not_written(repository: Repository, kind: str) -> None:
    git, elsewhere = repository.root / ".git", repository.jail.outside / "elsewhere"
    shutil.copytree(git, elsewhere)
    if kind == "commondir":
        (git / "commondir").write_text(str(elsewhere))
    else:
        shutil.rmtree(git)
    if kind == "file":
        git.write_text(f"gitdir: {elsewhere}\n")
    before = sorted(elsewhere.rglob("*"))
    if kind == "link":
        git.symlink_to(elsewhere)
    else:
        result = await repository.jail("git commit --allow-empty -m x")
        assert result.exit_code
    assert sorted(elsewhere.rglob("*")) == before


def test_a_program_that_is_alone_starts_no_other(repository: Repository) -> None:
    terms = Terms(git=True, alone=True)
    assert repository.jail.ends_with("exit 3", terms) == 3
    assert repository.jail.ends_with("(exit 3); true", terms) not in (0, 3)


def test_what_makes_code_run_stays_read_only_for_git_where_the_sandbox_can_do_that(
    repository: Repository,
) -> None:
    git = repository.root / ".git"
    repository.jail.ends_with(
        "for each in config hooks/x info/x new; do echo x > .git/$each; done", Terms(git=True)
    )
    assert (git / "new").exists()
    if repository.jail.sandbox.name == "bubblewrap":
        assert (git / "config").read_text() != "x\n"
        assert not (git / "hooks/x").exists() and not (git / "info/x").exists()


def test_what_changed_in_the_repository_is_told_where_it_can_run_code(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    for name in ("config", "HEAD", "hooks/old"):
        (tmp_path / name).touch()
    before = look(tmp_path)
    for name in ("ORIG_HEAD", "index", "COMMIT_EDITMSG", "evil", "commondir", "hooks/pre-push"):
        (tmp_path / name).touch()
    (tmp_path / "config").write_text("[core]\n")
    assert changes(before, look(tmp_path)) == ("commondir", "config", "evil", "hooks/pre-push")
    assert changes(before, before) == ()


async def test_a_file_named_like_a_branch_is_not_thrown_away(repository: Repository) -> None:
    (repository.root / "src/a").write_text("not committed\n")
    result = await repository.jail("git checkout src/a")
    assert result.exit_code
    assert (repository.root / "src/a").read_text() == "not committed\n"


async def test_a_pattern_finds_no_option(repository: Repository) -> None:
    (repository.root / "-f").touch()
    result = await repository.jail("git add *")
    assert "named like an option" in result.text


async def test_a_message_from_a_here_document_is_committed_as_it_stands(repository: Repository) -> None:
    message = 'Don\'t "quote"\n\n$HOME and `x`'
    for name, begin, end in (("b", "-m \"$(cat <<'EOF'", '\n)"'), ("c", "-F - <<'EOF'", "")):
        result = await repository.jail(
            f"touch src/{name} && git add -A && git commit -q {begin}\n{message}\nEOF{end}"
        )
        assert not result.exit_code, result.text
        assert repository.git("log", "-1", "--format=%B") == message
