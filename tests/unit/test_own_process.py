"""Other programs of the user don't read the memory of this one."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

IS_DUMPABLE = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"


def printed(program: str) -> list[str]:
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_memory_is_closed_and_that_of_commands_is_not() -> None:
    program = (
        "import subprocess, sys\n"
        "from keen_tui.system.own_process import close_memory\n"
        f"{IS_DUMPABLE}\nclose_memory()\n{IS_DUMPABLE}\n"
        f"sys.stdout.flush()\nsubprocess.run((sys.executable, '-c', {IS_DUMPABLE!r}), check=True)\n"
    )
    assert printed(program) == ["1", "0", "1"]


@pytest.mark.parametrize("flags", [["-p", "hi"], ["--plain"]])
def test_the_program_closes_its_memory(flags: list[str]) -> None:
    program = (
        "import sys\nfrom keen_tui import cli\n"
        f"def run(given, talks):\n    {IS_DUMPABLE}\n    return 0\n"
        f"cli.run = run\nsys.argv[1:] = {flags!r}\n"
        "from keen_tui.__main__ import main\nmain()\n"
    )
    assert printed(program)[-1:] == ["0"]


def test_the_locale_is_known_although_proc_is_closed() -> None:
    program = (
        "import os\nfrom keen_tui.system.own_process import close_memory\nclose_memory()\n"
        "from keen_tui.frontends.tui.look.locales import locale_of\n"
        "if os.geteuid() == 0:\n    os.setgid(65534); os.setuid(65534)\n"
        "print(repr(locale_of({'LC_CTYPE': 'C.UTF-8'})))\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, env={"PATH": "/usr/bin"}, check=True
    )
    assert done.stdout.strip() == "''", "python itself set LC_CTYPE"
