"""A process that has imported everything and forks a life for each job: death by the thousand is cheap.

Standard input: a job a line (JSON). Standard output: what the life says, a line each, then how it ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Connection
from tests.campaigns.crash.lives import LIVES


def main() -> None:
    """Serve jobs until standard input ends."""
    connection = Connection(model="m", base_url="http://127.0.0.1:1/v1", api_key="k", key_source="KEY")
    build_provider("openai-chat", connection).load()
    for line in sys.stdin:
        job = json.loads(line)
        life = os.fork()
        if not life:
            _live(job)
        status = _ended(life, job["seconds"])
        # What the life said last may lack its end.
        _say({"killed": os.WIFSIGNALED(status), "code": os.waitstatus_to_exitcode(status)}, b"\n")


def _live(job: Mapping[str, Any]) -> None:
    try:
        asyncio.run(LIVES[job["life"]](job, _say))
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def _ended(life: int, seconds: float) -> int:
    """How it ended, by itself or after so many seconds (0: it may live as long as it likes)."""
    until = time.monotonic() + (seconds or 60.0)
    while time.monotonic() < until:
        ended, status = os.waitpid(life, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.0005)
    os.kill(life, signal.SIGKILL)
    return os.waitpid(life, 0)[1]


def _say(words: Mapping[str, Any], before: bytes = b"") -> None:
    text = before + json.dumps(words).encode() + b"\n"
    while text:
        text = text[os.write(1, text) :]


if __name__ == "__main__":
    main()
