"""The entries of a workspace whose names matter to the sandbox, found by one walk for all users."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Final

from keen_tui.system.named_entries import NamedEntries
from keen_tui.tools.access.sensitive import EntryKind, entry_kinds

PACKAGES: Final = ("node_modules", "site-packages", "dist-packages", "__pycache__", ".git")
"""Folders whose content was downloaded, or belongs to git: names in them mean nothing."""

_in_use: weakref.WeakValueDictionary[Path, NamedEntries] = weakref.WeakValueDictionary()


def noted_entries(workspace: Path) -> NamedEntries:
    """The entries of that workspace with their `EntryKind`, shared by all users at the same time."""
    found = _in_use.get(workspace)
    if found is None:
        found = _in_use[workspace] = NamedEntries(workspace, entry_kinds, PACKAGES, closed=EntryKind.SECRET)
    return found
