"""The user's own git settings for commands: without passwords, addresses and helpers that hold any.

Commands don't see the user's home. So git gets these as the settings of the system, and what it writes with
`--global` stays in the home of the commands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keen_tui.system.atomic_write import put_file
from keen_tui.system.safe_read import content_of
from keen_tui.tools.git.config import LIST, GitSetting, parse
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.sandbox.base import CONFIG

_SECTIONS: Final = frozenset(
    """
    add advice alias am apply author blame branch checkout color column commit committer core diff fetch
    filter format gc grep help i18n index init interactive lfs log merge mergetool pack pager pull push rebase
    receive rerere revert stash status submodule tag trailer user versionsort
    """.split()  # noqa: SIM905 - a list of forty quoted names is no easier to read
)
_LISTS: Final = ("core.excludesfile", "core.attributesfile")
_DROPPED: Final = frozenset(
    (
        *("core.sshcommand", "core.askpass", "core.gitproxy", "core.hookspath"),
        *("core.splitindex", "index.sparse"),  # Keen doesn't read such an index
        *_LISTS,
    )
)
_PRIVATE: Final = re.compile(r"://[^/\s]*@|(?i:token|password|secret)")
_LARGEST: Final = 1_000_000


def write_settings(git: OwnGit, top: Path, home: Path, folder: Path, seen_at: Path) -> tuple[Path, ...]:
    """Write the settings that hold in the work tree `top` into `folder`, which commands find at `seen_at`.
    Returns the files that they come from. Raises OSError."""
    listed = b""
    for words in (LIST, ("config", "--global", *LIST[1:])):
        code, listed, _ = git.tried(top, *words)
        if not code:
            break
    try:
        settings = parse(listed).entries
    except ValueError:
        settings = ()
    own = [entry for entry in settings if entry.scope in ("system", "global")]
    lists = {entry.key: _resolved(entry.value, home) for entry in own if entry.key in _LISTS}
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", "git")
    sources = [lists.get(_LISTS[0], usual / "ignore"), lists.get(_LISTS[1], usual / "attributes")]
    rows = list(_rows(entry for entry in own if _is_shown(entry)))
    for name, source in zip(("ignore", "attributes"), sources, strict=True):
        content = _content(source)
        put_file(folder / name, content, None, flush=False)
        key = "excludesFile" if name == "ignore" else "attributesFile"
        rows.append(f"[core]\n\t{key} = {_quoted(str(seen_at / name))}\n")
    put_file(folder / CONFIG, "".join(rows).encode("utf-8", "surrogateescape"), None, flush=False)
    return (
        home / ".gitconfig",
        usual / "config",
        *sources,
        *dict.fromkeys(Path(entry.origin.removeprefix("file:")) for entry in own),
    )


def _is_shown(entry: GitSetting) -> bool:
    is_private = _PRIVATE.search(entry.value) or _PRIVATE.search(entry.key)
    return entry.section in _SECTIONS and entry.key not in _DROPPED and not is_private


def _rows(entries: Iterator[GitSetting]) -> Iterator[str]:
    for entry in entries:
        middle = entry.key[len(entry.section) + 1 : -len(entry.variable) - 1]
        name = f'{entry.section} "{_escaped(middle)}"' if middle else entry.section
        yield f"[{name}]\n\t{entry.variable} = {_quoted(entry.value)}\n"


def _quoted(value: str) -> str:
    return f'"{_escaped(value)}"'.replace("\n", "\\n").replace("\t", "\\t")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _resolved(value: str, home: Path) -> Path:
    return home / value[2:] if value.startswith("~/") else Path(value)


def _content(file: Path) -> bytes:
    try:
        return content_of(Path(os.path.realpath(file)), most=_LARGEST) or b""
    except OSError:
        return b""
