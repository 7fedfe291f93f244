"""A program that was told to end ends, whatever it waits for."""

from __future__ import annotations

import subprocess
import sys

from tests.support.waiting import LIMIT

_HANGS = """
import threading
from keen_tui.system.last_resort import end_at_last
end_at_last(0.1)
threading.Thread(target=threading.Event().wait).start()
threading.Event().wait()
"""


def test_a_process_that_hangs_is_ended() -> None:
    assert subprocess.run([sys.executable, "-c", _HANGS], check=False, timeout=LIMIT).returncode == 1


def test_a_process_that_is_done_does_not_wait_for_that() -> None:
    done = "from keen_tui.system.last_resort import end_at_last\nend_at_last(3600)"
    assert subprocess.run([sys.executable, "-c", done], check=False, timeout=LIMIT).returncode == 0
