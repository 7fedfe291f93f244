"""Where programs are found: in the absolute folders of PATH, never in the folder that is worked in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping


def find_program(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The absolute path of a program in PATH, or None. Relative folders of PATH are passed over."""
    return shutil.which(name, path=absolute_folders(environ.get("PATH", os.defpath)))


def absolute_folders(path: str) -> str:
    """A list of folders as variables hold it, without those that are relative to where somebody is."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if folder.startswith("/"))
