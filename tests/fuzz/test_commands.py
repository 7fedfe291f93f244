"""What holds a harmful part asks; what runs unasked writes nothing and shows nothing it should not (R9)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.shell.readers import READERS
from tests.fuzz.budget import examples
from tests.unit.tools.test_shell import ASKS, READS, lines

SECRET = "this-must-not-be-read"
HARMLESS = lines(READS)
HARMFUL = [command for command in lines(ASKS) if not command.startswith("|") and command[-1] not in "|&\\"]
"""Those that are a whole command: a half one may be harmless with its other half."""
_JOINTS = st.sampled_from([" && ", " || ", "; ", " | ", "\n", " &&\n", ";", "|", "\n\n", " ;\t", "&&", " & "])
_WRAPPINGS = st.sampled_from(
    lines("""
{}
({})
{{ {}; }}
! {}
time {}
if {}; then true; fi
while {}; do {}; done
f() {{ {}; }}; f
echo $({})
echo `{}`
A=1 {}
{} 2>&1
{} > /dev/null
""")
)


@contextmanager
def project() -> Iterator[Workspace]:
    """A workspace with a few files, keys among them, and something beside it."""
    with tempfile.TemporaryDirectory() as folder:
        root, outside = Path(folder) / "work", Path(folder) / "outside"
        for each in (root / "src", root / "secrets", outside):
            each.mkdir(parents=True)
        for name in ("README.md", "src/app.py", "src/other.py", "a file.txt", "-x"):
            (root / name).write_text("def main():\n    return 1\n")
        for file in (root / ".env", root / "secrets" / "id_rsa", outside / "passwd"):
            file.write_text(f"{SECRET}\n")
        (root / "link-inside").symlink_to(root / "README.md")
        (root / "link-to-key").symlink_to(root / "secrets" / "id_rsa")
        (root / "link-outside").symlink_to(outside / "passwd")
        (root / "folder-outside").symlink_to(outside)
        yield Workspace(root)


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with project() as made:
        yield made


def runs_unasked(command: str, workspace: Workspace) -> bool:
    access = judged(command, workspace)
    assert access.reads_only is not bool(access.concern)
    return not access.concern


@st.composite
def compounds(draw: st.DrawFn) -> str:
    """Harmless commands with a harmful one among them, joined in any way."""
    parts = draw(st.lists(st.sampled_from(HARMLESS), max_size=3))
    parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(HARMFUL)))
    text = ""
    for part in parts:
        wrapping = draw(_WRAPPINGS)
        text += (draw(_JOINTS) if text else "") + wrapping.format(*[part] * wrapping.count("{}"))
    return text


@examples(200, 20_000)
@given(command=compounds())
def test_a_compound_with_a_harmful_part_asks(workspace: Workspace, command: str) -> None:
    assert not runs_unasked(command, workspace)


_SHELL = st.sampled_from(
    [*"'\"`(){}|&;><\\$*~#!=-a/ \n\0\x1b\u202e\u00a0é", "ls", "cat", "rm", "$(", "<<E", "..", "[[", "]]"]
)


@examples(300, 50_000)
@given(
    command=st.text(st.characters(exclude_categories=()), max_size=40)
    | st.lists(_SHELL, max_size=15).map("".join)
    | st.lists(_SHELL, max_size=15).map(" ".join)
)
def test_any_text_is_judged(workspace: Workspace, command: str) -> None:
    judged(command, workspace)


_PROGRAMS = st.sampled_from(sorted({*READERS, "find", "sed -n", "date", "git"} - {"sleep", "yes", "tail"}))
_OPTIONS = (
    st.builds("-{}".format, st.text("abcdefghilnopqrstuvwxzCEFHLRTUW0123", min_size=1, max_size=3))
    | st.sampled_from([f"--{name}" for reader in READERS.values() for name in sorted(reader.names)])
    | st.sampled_from(
        ["-name", "-type", "-exec", "-delete", "-fprint", "--output=x", "--", "-", "1,2p", "w x", "-o x"]
    )
)
_INSIDE = st.sampled_from(
    lines(r"""
README.md
src
src/*.py
*.md
??????.md
./src/../README.md
'a file.txt'
"a file.txt"
src/app.py src/other.py
.
def
x
new
'%s\n'
/dev/null
""")
)
_ODD = st.sampled_from(
    lines("""
*
-x
..
../outside/passwd
link-outside
folder-outside
folder-outside/passwd
.env
.e*
secrets
secrets/id_rsa
$HOME
~
/etc/hostname
a{b,c}
""")
)
_THINGS = _INSIDE | _INSIDE | _INSIDE | _ODD
_TAILS = st.sampled_from(
    ["", "", "", " 2>/dev/null", " > new", " >> README.md", " 2>&1", " < README.md", " > /dev/null"]
)
_SIMPLE = st.builds(
    lambda program, options, things, tail: " ".join([program, *options, *things]) + tail,
    _PROGRAMS,
    st.lists(_OPTIONS, max_size=2),
    st.lists(_THINGS, max_size=3),
    _TAILS,
)
_MADE_UP = st.builds(
    lambda first, rest: first + "".join(joint + command for joint, command in rest),
    _SIMPLE | st.sampled_from(HARMLESS) | st.sampled_from(["cd src", "cd secrets", "cd folder-outside"]),
    st.lists(st.tuples(_JOINTS, _SIMPLE), max_size=2),
)


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All that is in a folder: modes, times, contents."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


@examples(40, 5_000)
@given(_MADE_UP)
def test_what_runs_unasked_writes_nothing_and_shows_nothing_of_outside(command: str) -> None:
    with project() as workspace:
        assume(runs_unasked(command, workspace))
        before = state(workspace.root.parent)
        output = b""
        with suppress(subprocess.TimeoutExpired):
            output = subprocess.run(
                ["bash", "-c", command],
                cwd=workspace.root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=5,
                check=False,
            ).stdout
        assert state(workspace.root.parent) == before
        assert SECRET.encode() not in output
