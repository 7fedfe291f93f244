"""A model server that is in no catalogue: named by its address, on the screen and line by line."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.e2e.test_plain_mode import answer, ready, say
from tests.e2e.test_screen import LAST_ROW
from tests.support.terminal import TerminalProgram

HELLO = Reply([Say("Hello from the box.")])
KEY = "sk-entered-0123456789"


@contextmanager
def started(folder: Path, *flags: str) -> Iterator[TerminalProgram]:
    """The program as somebody starts it for the first time, without a key."""
    keyless = {"KEEN_HOME": str(folder), "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": ""}
    command = (sys.executable, "-P", "-m", "keen_tui", *flags)
    with TerminalProgram(command, folder=folder, environ=keyless, controls=bool(flags)) as terminal:
        yield terminal


@contextmanager
def guarded_server() -> Iterator[str]:
    """A server that lists its models to whoever has the key."""

    class Guarded(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_known = self.headers["authorization"] == f"Bearer {KEY}"
            page = {"data": [{"id": "guarded"}]} if is_known else {"error": {"message": "No key, no list"}}
            body = json.dumps(page).encode()
            self.send_response(200 if is_known else 401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def remembered(folder: Path) -> dict[str, object]:
    return tomllib.loads((folder / "settings.toml").read_text())


def test_the_first_start_takes_an_address_and_the_next_one_knows_it(tmp_path: Path) -> None:
    server = ModelServer([HELLO, HELLO], models=("big", "small"))
    with serving(server):
        with started(tmp_path) as terminal:
            terminal.wait_for_screen("Another server", "Guided demo", LAST_ROW)
            terminal.type("\x1b[B\r")
            terminal.wait_for_screen("Another model server", "esc back")
            terminal.type("127.0.0.1:1\r")
            terminal.wait_for_screen("connection refused. Is the server running?")
            address = server.base_url.removeprefix("http://").removesuffix("/v1")
            terminal.type("\x15" + address + "\r")
            terminal.wait_for_screen("answers and lists 2 models.", "small", "esc back")
            terminal.type("\r")
            terminal.wait_for_screen("big is now in use.")
            terminal.type("hi\r")
            terminal.wait_for_screen("Hello from the box.", "turn 1 done")
        assert remembered(tmp_path) == {"model": "big", "base_url": server.base_url}
        with started(tmp_path) as terminal:
            terminal.wait_for_screen("What should I do?", "ctrl+p actions")
            terminal.type("hi again\r")
            terminal.wait_for_screen("Hello from the box.", "turn 1 done")


def test_a_key_that_the_server_wants_is_asked_for_and_never_on_the_screen(tmp_path: Path) -> None:
    with guarded_server() as address, started(tmp_path) as terminal:
        terminal.wait_for_screen("Another server", LAST_ROW)
        terminal.type("\x1b")
        terminal.wait_for_screen("What should I do?", "ctrl+p actions")
        terminal.type(f"/server {address}\r")
        terminal.wait_for_screen("No key, no list. No key was sent", f"The key for {address}")
        terminal.type(f"{KEY}\r")
        terminal.wait_for_screen("Saved in", "guarded")  # the sentence may be cut behind a long path
        assert KEY.encode() not in terminal.output
        assert list(tomllib.loads((tmp_path / "keys.toml").read_text())) == [address]


def test_line_by_line_an_address_is_asked_for_and_a_key_if_need_be(tmp_path: Path) -> None:
    server = ModelServer([HELLO], models=("big", "small"))
    with guarded_server() as guarded, serving(server), started(tmp_path, "--plain") as terminal:
        terminal.wait_for("the address of another server with /server.")
        ready(terminal)
        say(
            terminal,
            f"/server {guarded}",
            "No key, no list. No key was sent",
            "\r\nKey (an empty line cancels): ",
        )
        say(terminal, KEY, "answers and lists 1 model.")
        answer(terminal, "Question: Which model?", "2")
        ready(terminal, since=bytes(terminal.output).rfind(b"Which model?"))
        assert KEY.encode() not in terminal.output
        say(terminal, "/server", "The base URL of any server", "\r\nAddress (an empty line cancels): ")
        say(terminal, server.base_url, "answers and lists 2 models.")
        answer(terminal, "Question: Which model?", "1", since=bytes(terminal.output).rfind(b"2 models"))
        terminal.wait_for("big is now in use.")
        ready(terminal, since=bytes(terminal.output).rfind(b"is now in use"))
        say(terminal, "hi", "Reply: Hello from the box.")
        say(terminal, "/server gpu-box", "The address must begin with https://")


def test_line_by_line_a_server_without_models_takes_a_name(tmp_path: Path) -> None:
    server = ModelServer([HELLO], models=())
    with serving(server), started(tmp_path, "--plain") as terminal:
        terminal.wait_for("the address of another server with /server.")
        ready(terminal)
        say(
            terminal,
            f"/server {server.base_url}",
            "answers and lists no models.",
            "Name of the model (an empty line cancels): ",
        )
        say(terminal, "qwen", "qwen is now in use.")
        say(
            terminal,
            f"/server {server.base_url}/v2",
            "/v1/v2/models (404).",
            "Name of the model (an empty line cancels): ",
        )
