"""Settings of git that name no program and no other file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_HARMLESS: Final[Mapping[str, re.Pattern[str]]] = {
    section: re.compile(names, re.IGNORECASE)
    for section, names in {
        "advice": r"\w+",
        "branch": "remote|merge|rebase|description",
        "commit": "gpgsign",
        "core": (
            "repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks"
            "|autocrlf|eol|safecrlf|quotepath|compression|longpaths|sharedrepository|worktree|untrackedcache"
            "|preloadindex|protecthfs|protectntfs|abbrev"
        ),
        "extensions": "objectformat|compatobjectformat|refstorage|partialclone|preciousobjects",
        "fetch": "prune|prunetags",
        "gc": "auto|autodetach",
        "init": "defaultbranch",
        "lfs": "repositoryformatversion",
        "maintenance": "auto|strategy",
        "merge": "ff|conflictstyle",
        "protocol": "version",
        "pull": "rebase|ff",
        "push": "default|autosetupremote",
        "receive": "denycurrentbranch|denynonfastforwards|denydeletes",
        "remote": "url|pushurl|fetch|push|mirror|tagopt|prune|skipfetchall|promisor|partialclonefilter",
        "submodule": "url|active|branch|recurse",
        "tag": "gpgsign",
        "user": "name|email|useconfigonly",
    }.items()
}
"""By section. All others are treated as if they named a program."""


def is_harmless(section: str, name: str, value: str) -> bool:
    """Whether `section.name = value`, in a file of settings, can't make git run a program or read another
    file of settings. Not told apart: the middle part of a name, such as the remote in `remote.origin.url`."""
    allowed = _HARMLESS.get(section.lower())
    if allowed is None or not allowed.fullmatch(name):
        return False
    return not (name.lower() in ("url", "pushurl") and "::" in value)  # `ext::` runs a program
