"""`keen-tui mcp`: servers in the settings, and signing in to them."""

from __future__ import annotations

import asyncio
import re
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.mcp import PROGRAMS
from tests.support.oauth_server import SignInServer, sign_in_server
from tests.support.program import Program, Run
from tests.support.waiting import LIMIT

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
async def place() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


async def mcp(program: Program, *words: str) -> Run:
    return await program.run("mcp", *words, **NO_KEYRING)


def written(program: Program) -> str:
    return (program.home / "settings.toml").read_text()


async def test_what_is_added_is_written_among_what_is_there_and_removed_again(program: Program) -> None:
    text = '# mine\nmodel = "m"  # for now\n\n[mcp_servers.old]\n# keep\ncommand = "old"\n[keys]\n# none\n'
    (program.home / "settings.toml").write_text(text)
    words = (
        "add",
        "files",
        "-e",
        "LEVEL=a=b",
        "--sandbox",
        "--cwd",
        "/srv",
        "--",
        "npx",
        "-y",
        "--url",
        "x y",
    )
    run = await mcp(program, *words)
    assert (run.code, run.err) == (0, "")
    assert run.out == f"Added files to {program.home}/settings.toml.\n"
    assert tomllib.loads(written(program))["mcp_servers"]["files"] == {
        "command": "npx",
        "args": ["-y", "--url", "x y"],
        "env": {"LEVEL": "a=b"},
        "cwd": "/srv",
        "sandbox": True,
    }
    assert all(line in written(program) for line in text.splitlines())
    run = await mcp(program, "remove", "files")
    assert run.out == f"Removed files from {program.home}/settings.toml.\n"
    assert tomllib.loads(written(program)) == tomllib.loads(text)
    assert all(line in written(program) for line in text.splitlines())


async def test_an_address_is_added_in_either_way(program: Program) -> None:
    await mcp(program, "add", "a", "--url", "https://a.example/mcp", "-H", "X-Key: ${KEY}")
    await mcp(program, "add", "-t", "sse", "b", "https://b.example/sse")
    assert tomllib.loads(written(program))["mcp_servers"] == {
        "a": {"url": "https://a.example/mcp", "headers": {"X-Key": "${KEY}"}},
        "b": {"type": "sse", "url": "https://b.example/sse"},
    }


async def test_a_secret_that_is_written_out_is_pointed_at_and_not_repeated(program: Program) -> None:
    run = await mcp(
        program, "add", "a", "--url", "https://a.example", "--header", "Authorization: Bearer s3cret"
    )
    assert "The value of Authorization is readable in that file." in run.out
    assert "s3cret" not in run.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "add|list|remove|login|logout"),
        (("ad", "x"), "not 'ad'. Did you mean add?"),
        (("add",), "needs NAME"),
        (("add", "a"), "Name a command or an address"),
        (("add", "a", "--url", "https://x", "--", "y"), "Name a command or an address"),
        (("add", "a", "--env", "B", "--", "y"), "--env must be NAME=VALUE"),
        (("add", "a b", "--", "y"), "the MCP server 'a b' needs another name"),
        (("add", "a", "--url", "ftp://x"), "mcp_servers.a.url must begin with http"),
        (("add", "a", "--url", "https://x", "--env", "B=c"), "env is only for servers with a command"),
        (("add", "old", "--", "y"), "has an MCP server old already"),
        (("remove", "b"), "has no MCP server b"),
        (("login", "old"), "old is a program: only servers with an address have a sign-in"),
        (("logout", "b"), "There is no MCP server b here"),
        (("list", "--", "x"), "takes nothing after --"),
    ],
)
async def test_what_cannot_be_done_is_told_and_changes_nothing(
    program: Program, words: tuple[str, ...], says: str
) -> None:
    (program.home / "settings.toml").write_text(text := '[mcp_servers.old]\ncommand = "old"\n')
    run = await mcp(program, *words)
    assert run.code == 2
    assert says in run.err and run.err.count("\n") == 1
    assert written(program) == text


async def test_a_server_that_is_wrong_can_be_removed(program: Program) -> None:
    (program.home / "settings.toml").write_text('[mcp_servers.bad]\ncomand = "x"\n[mcp_servers.b]\nurl = 3\n')
    assert (await mcp(program, "remove", "bad")).code == 0
    assert tomllib.loads(written(program)) == {"mcp_servers": {"b": {"url": 3}}}


async def test_help_needs_no_settings(program: Program) -> None:
    (program.home / "settings.toml").write_text("model = ")
    run = await mcp(program, "--help")
    assert run.code == 0
    assert "keen-tui mcp login NAME" in run.out
    assert max(map(len, run.out.splitlines())) <= 80


async def begun(program: Program, place: SignInServer) -> tuple[asyncio.subprocess.Process, str, str]:
    """A sign-in that waits for the browser: the process, the address, and what it said before."""
    await mcp(program, "add", "notes", "--url", place.url)
    process = await program.start("mcp", "login", "notes", stdin=asyncio.subprocess.PIPE, **NO_KEYRING)
    assert process.stdout
    said = (await process.stdout.readuntil(b"press enter.\n")).decode()
    address = re.search(r"^http\S+$", said, re.MULTILINE)
    assert address
    return process, address[0], said


async def ended(process: asyncio.subprocess.Process) -> Run:
    async with asyncio.timeout(LIMIT * 2):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())


async def test_each_server_is_tried(program: Program, place: SignInServer) -> None:
    assert (await mcp(program, "list")).out.startswith("No MCP servers.")
    talks = str(PROGRAMS / "talkative.py")
    await mcp(program, "add", "talk", "--", sys.executable, talks)
    await mcp(program, "add", "gone", "--", "no-such-program", "${HOME:-x}")
    await mcp(program, "add", "odd", "--url", "https://odd.example/${NOT_SET}")
    await mcp(program, "add", "notes", "--url", place.url)
    (program.workspace / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "x"}}}')
    run = await mcp(program, "list")
    talk, gone, reason, notes, advice = run.out.splitlines()
    assert run.code == 0
    assert re.fullmatch(rf"talk    ready, \d+ tools   {re.escape(f'{sys.executable} {talks}')}", talk)
    assert gone.split()[:3] == ["gone", "failed", "no-such-program"]
    assert "isn't on your PATH" in reason
    assert notes.split() == ["notes", "needs", "a", "sign-in", place.url]
    assert advice.strip() == "sign in with keen-tui mcp login notes"
    assert "you haven't trusted this folder yet" in run.err
    assert "The MCP server odd isn't used: url names ${NOT_SET}" in run.err


async def test_a_sign_in_by_the_browser_and_a_sign_out(program: Program, place: SignInServer) -> None:
    process, address, said = await begun(program, place)
    assert said.startswith("Open this address in your browser:\n")
    place.browser(address)
    run = await ended(process)
    file = program.home / "sign-ins.toml"
    kept = file.read_text()
    assert run.out == f"Signed in to notes. The sign-in is kept in {file}, which only you can read.\n"
    assert (run.code, run.err) == (0, "")
    assert not any(token in run.out + said for token in (*place.accounts.access, *place.accounts.refresh))
    assert any(token in kept for token in place.accounts.access)
    assert "ready, 1 tool" in (await mcp(program, "list")).out
    assert (await mcp(program, "logout", "notes")).out == "Signed out of notes.\n"
    assert "access-" not in file.read_text()
    assert (await mcp(program, "logout", "notes")).out == "You weren't signed in to notes.\n"


async def test_a_sign_in_by_pasting_and_a_removal(program: Program, place: SignInServer) -> None:
    process, address, _ = await begun(program, place)
    assert process.stdin and process.stdout
    process.stdin.write(b"http://127.0.0.1/callback?code=1&state=other\n")
    assert b"The address must begin with http://127.0.0.1:" in await process.stdout.readline()
    process.stdin.write((await place.page_after(address)).encode() + b"\n")
    assert (await ended(process)).out.startswith("Signed in to notes.")
    assert "Its sign-in is deleted, too." in (await mcp(program, "remove", "notes")).out


async def test_a_refusal_is_one_sentence(program: Program, place: SignInServer) -> None:
    place.accounts.refuses = True
    process, address, _ = await begun(program, place)
    place.browser(address)
    run = await ended(process)
    assert run.code == 1
    assert run.err == "keen-tui: You aren't signed in to notes: the sign-in was refused: not today.\n"


async def test_without_the_package_servers_can_be_added_and_the_rest_says_what_to_install(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')")
    without = NO_KEYRING | {"PYTHONPATH": str(tmp_path)}
    assert (await program.run("mcp", "add", "a", "--url", "https://a.example", **without)).code == 0
    run = await program.run("mcp", "list", **without)
    assert (run.code, run.err) == (0, "")
    assert "the package mcp isn't installed: install Keen with its extra mcp" in run.out
    run = await program.run("mcp", "login", "a", **without)
    assert run.code == 2
    assert run.err == (
        "keen-tui: You can't sign in: the package mcp isn't installed: install Keen with its extra mcp.\n"
    )
    assert (await program.run("mcp", "logout", "a", **without)).code == 0
    assert (await program.run("mcp", "remove", "a", **without)).code == 0
