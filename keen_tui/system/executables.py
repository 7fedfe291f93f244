"""Where programs are found: those that we start ourselves, and those that a command would start."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import keen_tui


def find_program(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The absolute path of a program that is safe to start outside the sandbox, or None.

    Relative folders of PATH are passed over. So is everything that lies in the current folder, which is the
    workspace, or that a link leads into it: commands in the sandbox can write there.
    """
    here = _workspace_folder()
    for folder in _folders(environ):
        found = shutil.which(name, path=folder)
        if found and not (here and any(_is_inside(path, here) for path in (folder, found))):
            return found
    return None


def program_of_commands(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The absolute path of the program that a command of that name would run, or None."""
    return shutil.which(name, path=os.pathsep.join(_folders(environ)))


def own_code() -> tuple[Path, ...]:
    """What this program is loaded from, at its next start too: the folders of its modules and of its Python,
    as they are named and with their links resolved. Looks at the disk."""
    named = [Path(keen_tui.__path__[0]), *map(Path, (sys.prefix, sys.base_prefix, *sys.path))]
    return tuple(dict.fromkeys(form for path in named for form in (path.absolute(), path.resolve())))


def absolute_folders(path: str) -> str:
    """A list of folders as variables hold it, without those that are relative to where somebody is."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if folder.startswith("/"))


def _folders(environ: Mapping[str, str]) -> Iterator[str]:
    yield from filter(None, absolute_folders(environ.get("PATH", os.defpath)).split(os.pathsep))


def _workspace_folder() -> Path | None:
    """The current folder with its links resolved.

    None where it holds the home folder, and with it the programs of the user (no command runs there without a
    question), and where it has been removed.
    """
    try:
        here = Path(os.path.realpath(os.curdir))
    except FileNotFoundError:
        return None
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is no home
    return None if home != "~" and _is_inside(home, here) else here


def _is_inside(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)
