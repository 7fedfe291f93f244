"""What a broker does for commands under Landlock, and what it can't be brought to do."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from keen_tui.tools.sandbox import workspace_grants
from keen_tui.tools.sandbox.base import Terms
from keen_tui.tools.sandbox.broker import file_operations
from keen_tui.tools.sandbox.broker.listener import Listener, Notification
from keen_tui.tools.sandbox.broker.workspace_paths import ClosedPaths, Ground, NotOurs, folded
from keen_tui.tools.sandbox.policy import ALWAYS_PROTECTED, PROTECTED_IF_THERE
from tests.support import file_calls
from tests.support.jail import PYTHON, Jail

RACE = """
import ctypes, os, sys, threading
libc = ctypes.CDLL(None)
libc.open.argtypes = (ctypes.c_char_p, ctypes.c_int, ctypes.c_int)
def racing(*deeds):
    stop = []
    def again(deed):
        while not stop:
            try: deed()
            except OSError: pass
    others = [threading.Thread(target=again, args=(deed,)) for deed in deeds[1:]]
    for each in others: each.start()
    for _ in range(400):
        try: deeds[0]()
        except OSError: pass
    stop.append(1)
    for each in others: each.join()
"""


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    return Jail("landlock", tmp_path)


def _descriptors() -> set[str]:
    return {each.name for each in Path("/proc/self/fd").iterdir()}


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("mkdir build && echo a > build/a && cp build/a build/b", {"build", "build/a", "build/b"}),
        ("echo a > file && sed -i s/a/b/ file && grep b file", {"file"}),
        ("echo a > file && mv file other && ln other hard && ln -s other soft", {"other", "hard", "soft"}),
        ("mkdir -p a/b/c && mv a/b old/ && rm -r a && rmdir old/b/c", {"old", "old/b"}),
        (
            "echo a > old/x && mv old/x . && mv old new && mkdir old && echo b > new/y",
            {"x", "old", "new", "new/y"},
        ),
        ("f=$(mktemp) && mv $f . && mkdir d && cd d && touch ../here", {"d", "here"}),
        ("umask 077 && touch file && truncate -s 5 file && [ $(stat -c %a%s file) = 6005 ]", {"file"}),
        ("echo 'echo made' > run && chmod +x run && [ $(./run) = made ]", {"run"}),
        ("touch -- '-a b' $'two\\nlines' && rm -- '-a b'", {"two\nlines"}),
    ],
)  # fmt: skip
async def test_a_command_works_in_the_top_folder(jail: Jail, command: str, made: set[str]) -> None:
    (jail.workspace / "old").mkdir()
    result = await jail(command)
    assert (result.exit_code, result.text) == (0, "(no output)") or "grep" in command, result.text
    found = {name for name in names_in(jail.workspace) if not name.startswith("tmp.")}
    assert found - {"old"} == made - {"old"}


async def test_git_makes_a_repository_below(jail: Jail) -> None:
    result = await jail("git -c init.defaultBranch=main init -q below && cd below && git status")
    assert result.exit_code == 0, result.text
    assert (await jail("git init")).exit_code != 0
    assert names_in(jail.workspace)[0] == "below"


def test_calls_end_as_the_kernel_ends_them(jail: Jail, tmp_path: Path) -> None:
    program = Path(file_calls.__file__).read_text()
    plain = tmp_path / "plain"
    plain.mkdir()
    for folder in (plain, jail.workspace):
        (folder / "old").mkdir()
        (folder / "said").mkdir()
        (folder / "program.py").write_text(program)
    command = f"{PYTHON} -S program.py > said/said"
    subprocess.run(command, shell=True, cwd=plain, check=True)
    assert jail.ends_with(command, Terms()) == 0
    assert (jail.workspace / "said/said").read_text() == (plain / "said/said").read_text()


@pytest.mark.parametrize(
    "name", [*ALWAYS_PROTECTED, *PROTECTED_IF_THERE, ".Git", ".KEEN", ".gi\u200ct", ".git."]
)
async def test_a_missing_protected_name_is_not_made(jail: Jail, name: str) -> None:
    (jail.workspace / "old").mkdir()
    (jail.workspace / "old" / name).mkdir()
    (jail.workspace / "old/file").write_text("evil\n")
    before = names_in(jail.workspace)
    result = await jail(
        f"mkdir '{name}'; echo evil > '{name}'; ln -s old '{name}'; ln old/file '{name}'; "
        f"cp old/file '{name}'; "
        f"mv old/'{name}' .; mv -T old '{name}'; mkdir new && mv new '{name}'; rmdir new; "
        f"ln -s '{name}' link; echo evil > link; mkdir link/; truncate -s 3 link; rm link"
    )
    assert names_in(jail.workspace) == before, result.text


@pytest.mark.parametrize("name", [".git", "AGENTS.md", "AGENTS.MD"])
async def test_what_is_protected_is_not_reached_by_another_name(jail: Jail, name: str) -> None:
    protected = jail.workspace / ".git"
    (protected / "hooks").mkdir(parents=True)
    (protected / "config").write_text("before\n")
    (jail.workspace / "AGENTS.md").write_text("before\n")
    before = names_in(jail.workspace)
    script = (
        "import os, sys, ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "name = sys.argv[1]\n"
        "def tried(deed, *arguments, **named):\n"
        "    try: deed(*arguments, **named)\n"
        "    except OSError: pass\n"
        "os.mkdir('new'); os.mkdir('new/.git'); open('new/config', 'w').write('evil')\n"
        "tried(os.rename, name, 'aside'); tried(os.link, name, 'aside'); tried(os.unlink, name)\n"
        "tried(os.link, name + '/config', 'aside'); tried(os.rename, name + '/config', 'aside')\n"
        "tried(os.rename, 'new/.git', name); tried(os.replace, 'new/config', name + '/config')\n"
        "tried(os.rename, 'new/config', name); tried(os.truncate, name, 0)\n"
        "tried(os.rmdir, name + '/hooks')\n"
        "libc.renameat2(-100, b'new', -100, name.encode(), 2)\n"
        "libc.renameat2(-100, name.encode(), -100, b'new', 2)\n"
        "for flags in (os.O_WRONLY, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREAT):\n"
        "    for path in (name, name + '/config', './' + name, 'new/../' + name, os.getcwd() + '/' + name):\n"
        "        tried(lambda: os.write(os.open(path, flags), b'evil'))\n"
        "for target in (name, name + '/config', '../' + os.path.basename(os.getcwd()) + '/' + name):\n"
        "    os.symlink(target, 'link'); tried(lambda: open('link', 'w').write('evil'))\n"
        "    tried(os.truncate, 'link', 0); os.unlink('link')\n"
        "for folder in ('.', 'new'):\n"
        "    try: unnamed = os.open(folder, os.O_TMPFILE | os.O_WRONLY)\n"
        "    except OSError: continue\n"
        "    for target in (name + '/config', name + '/hooks/x'):\n"
        "        libc.linkat(unnamed, b'', -100, target.encode(), 0x1000)\n"
        "        libc.linkat(-100, f'/proc/self/fd/{unnamed}'.encode(), -100, target.encode(), 0x400)\n"
        "import shutil; shutil.rmtree('new')\n"
    )  # fmt: skip
    result = await jail.python(script, name)
    assert result.exit_code == 0, result.text
    (jail.workspace / "probe_program.py").unlink()
    assert names_in(jail.workspace) == before
    assert (protected / "config").read_text() == (jail.workspace / "AGENTS.md").read_text() == "before\n"


RACES: Mapping[str, str] = {
    "memory changed after the check": (
        "name = ctypes.create_string_buffer(b'aaaa/config')\n"
        "def swap(): name[0:4] = b'.git'; name[0:4] = b'aaaa'\n"
        "os.mkdir('aaaa')\n"
        "def deed():\n"
        "    descriptor = libc.open(ctypes.cast(name, ctypes.c_char_p), os.O_WRONLY | os.O_CREAT, 0o666)\n"
        "    if descriptor >= 0: os.write(descriptor, b'evil'); os.close(descriptor)\n"
        "racing(deed, swap, swap)\n"
    ),
    "a link in place of a folder": (
        "os.mkdir('a'); os.symlink('.git', 'b')\n"
        "def swap(): libc.renameat2(-100, b'a', -100, b'b', 2)\n"
        "def deed():\n"
        "    open('a/config', 'w').write('evil')\n"
        "racing(deed, swap, lambda: os.unlink('a/config'), lambda: os.rename('a/config', 'a/hooks'))\n"
    ),
    "a link in place of a file": (
        "open('a', 'w').close(); os.symlink('.git/config', 'b')\n"
        "def swap(): libc.renameat2(-100, b'a', -100, b'b', 2)\n"
        "def deed():\n"
        "    open('a', 'w').write('evil'); os.truncate('a', 0)\n"
        "racing(deed, swap)\n"
    ),
    "a link that leads out": (
        "os.mkdir('a'); os.symlink(sys.argv[1], 'b')\n"
        "def swap(): libc.renameat2(-100, b'a', -100, b'b', 2)\n"
        "def deed():\n"
        "    open('a/file', 'w').write('evil'); os.rename('a/file', 'a/other'); os.mkdir('a/made')\n"
        "racing(deed, swap)\n"
    ),
    "a folder moved away while something is made in it": (
        "os.makedirs('a/b/c')\n"
        "def swap(): os.rename('a/b', 'old/b'); os.rename('old/b', 'a/b')\n"
        "def deed():\n"
        "    open('a/b/c/../../../.git/config', 'w').write('evil')\n"
        "racing(deed, swap, lambda: open('a/b/c/.git', 'w').write('evil'))\n"
    ),
    "the current folder of another thread": (
        "os.mkdir('a'); os.mkdir('a/.git')\n"
        "def swap(): os.chdir('a'); os.chdir('..')\n"
        "racing(lambda: open('.git/config', 'w').write('evil'), swap)\n"
    ),
}


@pytest.mark.parametrize("race", RACES)
async def test_no_race_leads_the_broker_astray(jail: Jail, race: str) -> None:
    protected = jail.workspace / ".git"
    protected.mkdir()
    (protected / "config").write_text("before\n")
    (jail.workspace / "old").mkdir()
    result = await jail.python(RACE + RACES[race], str(jail.outside))
    assert result.exit_code == 0, result.text
    assert names_in(protected) == ["config"]
    assert (protected / "config").read_text() == "before\n"
    assert names_in(jail.outside) == ["file"]
    assert (jail.outside / "file").read_text() == "before\n"


class Opening:
    """A call to open the file `a/b` for writing, with something done just before the broker does it."""

    renameat2 = 0

    def __init__(self, workspace: Path, meanwhile: Callable[[], None]) -> None:
        self.ground = Ground(ClosedPaths(workspace, (workspace / ".git",)))
        self._path = f"{workspace}/a/b"
        self.make_sure = meanwhile

    def number(self, place: int) -> int:
        return os.O_WRONLY | os.O_TRUNC

    size = number

    def text(self, place: int) -> str:
        return self._path

    def path(self, folder: int | None, place: int) -> str:
        return self._path

    def unmasked(self, mode: int) -> int:
        return mode


@pytest.mark.parametrize("swapped", ["a", "a/b"])
def test_what_is_swapped_for_a_link_just_before_is_not_followed(tmp_path: Path, swapped: str) -> None:
    for folder in (".git", "a"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "b").write_text("before\n")

    def meanwhile() -> None:
        (tmp_path / swapped).rename(tmp_path / "aside")
        (tmp_path / swapped).symlink_to(tmp_path / ".git" / swapped.partition("/")[2])

    asked = Opening(tmp_path, meanwhile)
    try:
        opened = file_operations.DEEDS["openat"](asked)
        assert isinstance(opened, file_operations.Opened) and swapped == "a"
        os.close(opened.descriptor)
        assert (tmp_path / "aside/b").read_text() == ""
    except OSError as error:
        assert error.errno == errno.ELOOP and swapped == "a/b"
    finally:
        asked.ground.close()
    assert (tmp_path / ".git/b").read_text() == "before\n"


async def test_nothing_is_made_to_run_as_its_owner(jail: Jail) -> None:
    result = await jail.python(
        "import os, stat\n"
        "for name, deed in (\n"
        "    ('open', lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755)),\n"
        "    ('group', lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o2755)),\n"
        "    ('unnamed', lambda: os.open('old', os.O_TMPFILE | os.O_WRONLY, 0o4755)),\n"
        "    ('mknod', lambda: os.mknod('made', stat.S_IFREG | 0o4755)),\n"
        "):\n"
        "    try: deed(); print(name, 'LEAK')\n"
        "    except PermissionError: pass\n"
        "os.close(os.open('without', os.O_WRONLY | os.O_CREAT, 0o755))\n"
        "os.open('without', os.O_RDONLY, 0o4755)\n"
    )
    assert (result.exit_code, result.text) == (0, "(no output)")


async def test_nothing_is_left_of_a_broker(jail: Jail) -> None:
    await jail("true")
    before = _descriptors()
    for command in ("mkdir a; rmdir a", "touch b; (sleep 1000 &)", "ulimit -u 0; kill -9 $$"):
        await jail(command)
        with jail.sandbox.wrap(("true",), {}):
            pass  # never started
    assert [each.name for each in threading.enumerate() if "broker" in each.name] == []
    assert _descriptors() == before


async def test_what_goes_wrong_in_the_broker_is_refused(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(asked: file_operations.SystemCall) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(file_operations, "DEEDS", {**file_operations.DEEDS, "mkdirat": fails})
    monkeypatch.setattr(
        "keen_tui.tools.sandbox.broker.broker.DEEDS", {**file_operations.DEEDS, "mkdirat": fails}
    )
    result = await jail("mkdir a || touch b")
    assert "Permission denied" in result.text
    assert names_in(jail.workspace) == ["b"]


async def test_nobody_waits_for_a_broker_that_is_gone(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[Notification] = []
    receive = Listener.receive

    def fails(listener: Listener) -> Notification:
        received.append(receive(listener))
        raise RuntimeError("a bug")

    monkeypatch.setattr(Listener, "receive", fails)
    result = await jail("mkdir a; touch b; true")
    assert "Function not implemented" in result.text
    assert len(received) == 1
    assert names_in(jail.workspace) == []


def test_a_command_that_may_not_write_has_no_broker(jail: Jail) -> None:
    for terms, brokers in ((Terms(), 1), (Terms(writes=False), 0)):
        with jail.sandbox.wrap(("true",), {}, terms):
            assert len([each for each in threading.enumerate() if "broker" in each.name]) == brokers


async def test_beside_what_is_hidden_there_is_work(jail: Jail) -> None:
    (jail.workspace / "secret").write_text("TOP SECRET\n")
    (jail.workspace / "old").mkdir()
    jail.hide(jail.workspace / "secret")
    result = await jail(
        "echo a > new && cat new && mkdir d && cp new d/ && cat d/new && ls d && cat old/../new; "
        "ln -s secret link; cat link; cat d/../secret; cp secret d; ln secret d/x; mv secret d; cat d/*"
    )
    assert "TOP SECRET" not in result.text
    assert result.text.splitlines()[:4] == ["a", "a", "new", "a"]
    assert (jail.workspace / "secret").read_text() == "TOP SECRET\n"


async def test_what_is_protected_stays_so_with_a_hidden_file_in_it(jail: Jail) -> None:
    secret = jail.workspace / ".vscode/sub/secret"
    secret.parent.mkdir(parents=True)
    secret.write_text("TOP SECRET\n")
    (jail.workspace / ".vscode/other").mkdir()
    jail.hide(secret)
    result = await jail(
        "cat .vscode/sub/secret; for each in sub other .; do echo evil > .vscode/$each/x; done"
    )
    assert "TOP SECRET" not in result.text
    assert names_in(jail.workspace / ".vscode") == ["other", "sub", "sub/secret"]


def test_of_very_many_folders_all_can_be_used(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_grants, "MOST_ENTRIES", 2)
    for number in range(6):
        (jail.workspace / f"folder{number}").mkdir()
    command = (
        "for each in folder*; do mkdir $each/a && echo x > $each/a/b && mv $each/a/b $each/c || exit 1; done"
    )
    assert jail.ends_with(command, Terms()) == 0
    assert len(names_in(jail.workspace)) == 6 * 3


def test_folders_are_listed_anew_when_one_was_made(jail: Jail) -> None:
    with jail.sandbox.wrap(("true",), {}):
        pass
    for command in ("mkdir a", "echo x > a/b", "mv a c && mkdir a", "echo x > a/b; echo y > c/b"):
        assert jail.ends_with(command, Terms()) == 0
    assert names_in(jail.workspace) == ["a", "a/b", "c", "c/b"]


def test_names_are_compared_as_the_laxest_file_system_does() -> None:
    for name in (".GIT", ".git.", ".git ", ".g\u200cit", ".gi\u200dt", ".\ufeffgit", ".\uff47it"):
        assert folded(name) == ".git", ascii(name)
    assert folded(".gitignore") != folded(".git") != folded("git")
    assert folded("密码") != folded("文件")


def test_no_path_of_a_process_is_followed(tmp_path: Path) -> None:
    ground = Ground(ClosedPaths(tmp_path, ()))
    try:
        for path in (f"/proc/self/root{tmp_path}/x", "/dev/fd/0", "/etc/x", f"{tmp_path}", f"{tmp_path}x/y"):
            with pytest.raises(NotOurs):
                ground.place(path)
        with ground.place(f"{tmp_path}/x") as place:
            assert place.name == "x" and not place.found
    finally:
        ground.close()
