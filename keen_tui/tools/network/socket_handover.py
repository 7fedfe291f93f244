"""Gets a listening socket out of a command's own network before the command starts.

A starter in the sandbox opens the socket, sends it over an inherited socket and becomes the command. So no
helper program keeps running, and the command has no descriptor of ours.
"""

from __future__ import annotations

import array
import asyncio
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from keen_tui.tools.orphans.start_gate import SIGNALS_AS_EVER

PORT: Final = 31_028
"""The port of the proxy in a command's own network, which is empty when the command starts."""

ANY_PORT: Final = 0
"""A port that is free, for a network where other commands are."""

_OPENED: Final = "@KEEN-PROXY-PORT@"
"""Stands for the port in the variables of a command, until the starter knows it."""

USER: Final = "keen"
"""The name with which a command signs in to its proxy."""

_STARTER: Final = f"""\
import _socket as s, os, sys
l = s.socket(s.AF_INET, s.SOCK_STREAM)
l.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 1)
l.bind(("127.0.0.1", int(sys.argv[2])))
l.listen(128)
p = str(l.getsockname()[1])
for n, v in list(os.environ.items()):
    if {_OPENED!r} in v:
        os.environ[n] = v.replace({_OPENED!r}, p)
c = s.socket(fileno=int(sys.argv[1]))
c.sendmsg([b"x"], [(s.SOL_SOCKET, s.SCM_RIGHTS, l.fileno().to_bytes(4, sys.byteorder))])
c.close()
l.close()
{SIGNALS_AS_EVER}
os.execvp(sys.argv[3], sys.argv[3:])
"""


class NoListener(OSError):
    """The sandbox sent something other than a listening socket of its network."""


def starter(descriptor: int, port: int) -> tuple[str, ...]:
    """The argv to put before a command. `descriptor` is the socket for sending the listener."""
    return (str(python()), "-I", "-S", "-c", _STARTER, str(descriptor), str(port))


def python() -> Path:
    """The real interpreter, behind the links of virtual environments."""
    return Path(os.path.realpath(sys.executable))


def python_folders() -> tuple[Path, ...]:
    """The folders that the starter reads."""
    return (Path(os.path.realpath(sys.base_prefix)), python())


@contextmanager
def handover() -> Iterator[tuple[socket.socket, int]]:
    """Our end, and the descriptor that the sandbox inherits."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs.fileno()


async def handed_out(ours: socket.socket) -> socket.socket:
    """Wait for the listener. Raises NoListener if something else arrives."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(ours, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(ours)
    size = array.array("i").itemsize
    _, sent, flags, _ = ours.recvmsg(1, socket.CMSG_SPACE(size), socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, content in sent:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(content[: len(content) - len(content) % size])
    for number in numbers[1:]:
        os.close(number)
    if not numbers or flags & socket.MSG_CTRUNC:
        for number in numbers[:1]:
            os.close(number)
        raise NoListener("the sandbox passed out no socket")
    return _checked(numbers[0])


def _checked(descriptor: int) -> socket.socket:
    """The socket of the descriptor. Closes it and raises NoListener unless it listens on TCP."""
    try:
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        os.close(descriptor)
        raise NoListener("what the sandbox passed out isn't a socket") from error
    is_tcp = listener.family == socket.AF_INET and listener.type == socket.SOCK_STREAM
    if not is_tcp or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        listener.close()
        raise NoListener("the socket that the sandbox passed out doesn't listen on TCP")
    listener.setblocking(False)
    return listener


def proxy_environment(password: str = "") -> Mapping[str, str]:
    """The variables that tell programs about the proxy. With a `password` its port is known to the starter
    only."""
    port = _OPENED if password else PORT
    url = f"http://{f'{USER}:{password}@' if password else ''}127.0.0.1:{port}"
    local = "localhost,.localhost,127.0.0.1,127.0.0.0/8,::1,0.0.0.0"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    java = " ".join(f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort={port}" for kind in ("http", "https"))
    if password:
        java += "".join(
            f" -D{kind}.proxyUser={USER} -D{kind}.proxyPassword={password}" for kind in ("http", "https")
        )
        java += " -Djdk.http.auth.tunneling.disabledSchemes="
    return {
        **dict.fromkeys(names, url),
        "NO_PROXY": local,
        "no_proxy": local,
        "NODE_USE_ENV_PROXY": "1",
        "YARN_HTTP_PROXY": url,
        "YARN_HTTPS_PROXY": url,
        "MAVEN_OPTS": java,
        "GRADLE_OPTS": java,
    }
