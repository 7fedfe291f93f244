"""Files with names of secrets, which commands in a sandbox don't get to read."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.domain.messages import ToolResult
from keen_tui.system.named_entries import NamedEntries
from keen_tui.tools.access.sensitive import entry_kinds
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.calls.tool import PreparedCall, Run
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.sandbox.base import ORDINARY, Terms
from keen_tui.tools.sandbox.policy import policy_for
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from keen_tui.tools.sandbox.secret_files import SecretFiles
from tests.support.jail import Jail

READ = """
import os
for folder, _, names in os.walk('.'):
    for name in names:
        try:
            text = open(os.path.join(folder, name)).read()
        except OSError:
            text = ''
        if 'TOP' + ' SECRET' in text:
            print('LEAK', folder, name)
print('looked')
"""


def put(folder: Path, name: str, text: str = "TOP SECRET\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def git(folder: Path, *words: str) -> None:
    done = ("git", "-c", "user.name=u", "-c", "user.email=u@example.org", *words)
    subprocess.run(done, cwd=folder, check=True, capture_output=True)


async def test_code_reads_no_file_with_the_name_of_a_secret(jail: Jail) -> None:
    for name in (".env", "config/prod.env", "a/b/server.key", ".aws/credentials", "deep/.kube/config"):
        put(jail.workspace, name)
    put(jail.workspace, "a/b/plain.txt", "to be seen\n")
    result = await jail.python(READ)
    assert "LEAK" not in result.text
    assert result.text.splitlines()[-1] == "looked"
    assert "to be seen" in (await jail("cat a/b/plain.txt")).text


async def test_a_secret_that_appears_later_is_hidden_too(jail: Jail) -> None:
    await jail("true")
    put(jail.workspace, "late/er/.env")
    assert "LEAK" not in (await jail.python(READ)).text
    (jail.workspace / "late/er/.env").rename(jail.workspace / "id_rsa")
    assert "LEAK" not in (await jail.python(READ)).text


async def test_no_new_name_makes_a_secret_readable(jail: Jail) -> None:
    secret = put(jail.workspace, "sub/er/.env")
    put(jail.workspace, "other/x", "")
    (jail.workspace / "node_modules").mkdir()
    (jail.workspace / "link.env").symlink_to("sub/er/.env")
    await jail(
        "ln sub/er/.env other/a; ln sub/er/.env sub/er/a; mv sub/er/.env sub/er/b; mv sub/er/.env other/b; "
        "cp link.env other/c; mv sub/er node_modules/er; mv sub node_modules/; mv sub/er sub/node_modules; "
        "tar c sub | cat > other/d; echo evil > sub/er/.env; rm -f sub/er/.env"
    )
    assert "LEAK" not in (await jail.python(READ)).text
    assert secret.read_text() == "TOP SECRET\n"


async def test_protected_names_stay_so_where_secrets_lie_in_them(jail: Jail) -> None:
    put(jail.workspace, ".vscode/.env")
    put(jail.workspace, ".vscode/tasks.json", "before\n")
    put(jail.workspace, "tools/python/keen.py", "before\n")
    put(jail.workspace, "tools/python/x/server.key")
    jail.protect(jail.workspace / "tools/python")
    await jail(
        "echo evil > .vscode/tasks.json; echo evil > tools/python/keen.py; mv .vscode gone; mv tools t"
    )
    assert (jail.workspace / ".vscode/tasks.json").read_text() == "before\n"
    assert (jail.workspace / "tools/python/keen.py").read_text() == "before\n"
    assert "LEAK" not in (await jail.python(READ)).text


def test_a_read_only_command_reads_no_secret_and_writes_nothing_beside_it(jail: Jail) -> None:
    put(jail.workspace, "sub/.env")
    read_only = Terms(writes=False)
    assert jail.ends_with("grep -rqs SECRET .", read_only) != 0
    assert jail.ends_with("echo x > sub/new", read_only) != 0
    assert sorted(each.name for each in (jail.workspace / "sub").iterdir()) == [".env"]


def test_what_is_revealed_is_read(jail: Jail) -> None:
    put(jail.workspace, "sub/.env")
    put(jail.workspace, "sub/.env.local")
    shown = Terms(reveals=(jail.workspace / "sub/.env",))
    assert jail.ends_with("grep -q SECRET sub/.env", shown) == 0
    assert jail.ends_with("grep -q SECRET sub/.env.local", shown) != 0
    assert jail.ends_with("grep -q SECRET sub/.env.local", Terms(reveals=(jail.workspace,))) == 0


def hidden_in(folder: Path, terms: Terms = ORDINARY) -> list[str]:
    files = SecretFiles(policy_for(folder, folder.parent / "home", (), os.environ))
    return sorted(path.relative_to(folder).as_posix() for path in files.hidden(terms))


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("more", ["", "skip"], ids=["", "long entries"])
def test_a_file_that_is_as_git_has_it_stays_readable(tmp_path: Path, more: str) -> None:
    work = tmp_path / "work"
    for name in ("tests/server.key", "x/tests/server.key", "other.pem", ".env"):
        put(work, name)
    git(work, "init", "-q")
    git(work, "add", "tests/server.key", "other.pem", ".env")
    if more:
        git(work, "update-index", "--skip-worktree", ".env", "tests/server.key")
    assert hidden_in(work) == ["x/tests/server.key"]
    put(work, ".env", "a real TOP SECRET in place of a sample\n")
    assert hidden_in(work) == [".env", "x/tests/server.key"]
    all_of_them = hidden_in(work, Terms(hides_tracked=True))
    assert all_of_them == [".env", "other.pem", "tests/server.key", "x/tests/server.key"]


def test_what_was_downloaded_is_not_looked_through(tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work, ".venv/lib/python3.11/site-packages/certifi/cacert.pem")
    put(work, ".venv/.env")
    assert hidden_in(work) == [".venv/.env"]


def test_no_time_that_is_set_back_hides_a_change(tmp_path: Path) -> None:
    put(tmp_path, "a/x")
    entries = NamedEntries(tmp_path, entry_kinds)
    assert not entries.look()
    long_ago = (1, 1)
    for name in ("a/.env", "a/.env.local"):
        put(tmp_path, name)
        os.utime(tmp_path / "a", ns=long_ago)
        assert str(tmp_path / name) in entries.look()
    shutil.rmtree(tmp_path / "a")
    assert not entries.look()
    (tmp_path / "a").symlink_to("/etc")
    assert not entries.look()


async def prepared(jail: Jail, command: str) -> PreparedCall:
    bash = Bash(Workspace(jail.workspace), SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox)))
    return await bash.prepare({"command": command})


async def ended(run: Run) -> ToolResult:
    return await run(lambda *_: None)


@pytest.mark.parametrize(
    "command", ["cat .env config/.env.local", "cat config/.env* .e*", "sh -c 'cat .env config/.env.local'"]
)
async def test_a_yes_shows_the_secrets_that_the_command_names(jail: Jail, command: str) -> None:
    for name in (".env", "config/.env.local", "other.env"):
        put(jail.workspace, name, f"TOP SECRET of {name}\n")
    call = await prepared(jail, command)
    assert call.after_yes
    seen = (await ended(call.after_yes)).text
    assert "of .env" in seen and "of config/.env.local" in seen and "other" not in seen
    unseen = await ended(call.run)
    assert "TOP SECRET" not in unseen.text
    assert "may hold keys or passwords, so this command could not read it" in unseen.text


async def test_a_command_that_fails_of_a_hidden_file_is_offered_outside(jail: Jail) -> None:
    put(jail.workspace, "tests/server.key")
    call = await prepared(
        jail, "f=tests/server; cat $f.key; grep -q SECRET $f.key || { echo no key in $f.key; exit 1; }"
    )
    assert call.outside
    assert "keys or passwords" in call.outside.reason(await ended(call.run))


async def test_nothing_is_said_of_hidden_files_that_do_not_matter(jail: Jail) -> None:
    put(jail.workspace, ".env")
    put(jail.workspace, ".env.example", "sample\n")
    for command in ("ls -a; true", "cat .env.example; echo copy .env.example to .env.new; exit 3"):
        assert "may hold" not in (await ended((await prepared(jail, command)).run)).text


async def test_a_search_in_the_sandbox_need_not_ask_for_secrets_it_cannot_read(jail: Jail) -> None:
    put(jail.workspace, "src/.env")
    put(jail.workspace, "src/app.py", "SECRET = 1\n")
    call = await prepared(jail, "grep -rs SECRET src")
    assert call.access.reads_only and not call.access.insists
    assert (await ended(call.run)).text.startswith("src/app.py:SECRET = 1")


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
async def test_no_name_in_the_index_makes_a_secret_readable(jail: Jail) -> None:
    """A name that holds what an entry holds: a hash, the length of a name, and the name."""
    secret = put(jail.workspace, ".env")
    git(jail.workspace, "init", "-q")
    content = secret.read_bytes()
    digest = hashlib.sha1(b"blob %d\0%b" % (len(content), content)).digest()
    assert not {0, 9, 10, 47} & set(digest)
    (jail.workspace / os.fsdecode(digest + b"\x10\x04.env")).touch()
    git(jail.workspace, "add", "-A", ".", ":!.env")
    assert "LEAK" not in (await jail.python(READ)).text
