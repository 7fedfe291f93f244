"""Commands that throw much away at once: they ask also where they can do no harm outside the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_WHOLE: Final = re.compile(r"(?:\./)*(?:\.|\.\.|\*|\.\*|\.\[.*|\{.*)?/*|[/~$].*|(?:.*/)?\.\.(?:/.*)?")
"""A path that is the folder we are in, all that is in it, or leads out of it."""
_HISTORY: Final = re.compile(r"(?:.*/)?\.git(?:/.*)?")

_DELETE: Final = ("rm", "unlink", "shred")

_OF_GIT: Final[Sequence[tuple[str, re.Pattern[str]]]] = (
    ("clean", re.compile(r"-\w*f\w*|--force")),
    ("reset", re.compile(r"--hard")),
    ("checkout", re.compile(r"\.|--|-f|--force|:/")),
    ("restore", re.compile(r"\.|:/")),
    ("switch", re.compile(r"-\w*f\w*|--force|--discard-changes")),
    ("rm", re.compile(r"\.|\*|:/")),
    ("stash", re.compile(r"drop|clear")),
    ("branch", re.compile(r"-\w*D\w*")),
    ("push", re.compile(r"-\w*f\w*|--force.*|-d|--mirror|--delete|--prune|[+:].*")),
    ("reflog", re.compile(r"expire|delete")),
    ("filter-branch", re.compile(r".*")),
    ("worktree", re.compile(r"remove")),
    ("update-ref", re.compile(r"-d")),
)
"""What of git loses work: a verb, and the word that makes it so."""


def thrown_away(mentions: Iterable[Sequence[str]]) -> str:
    """What would be lost with these commands, as far as their words tell; "" for nothing."""
    for name, *words in mentions:
        if name in (*_DELETE, "mv", "rmdir") and any(_is_much(word) for word in words):
            return "it removes the history, all of a folder, or what is outside of it"
        if name == "xargs" and any(word in _DELETE for word in words):
            return "it removes all that is named to it"
        if name == "find" and any(word in ("-delete", *_DELETE) for word in words):
            return "it removes all files that it finds"
        if name == "git" and _loses_work(words):
            return "git may throw away work that is nowhere else"
        if name in ("dd", "mkfs", "wipefs", "truncate") or name.startswith("mkfs."):
            return f"{name} overwrites what it is given"
        if name in ("rsync", "robocopy") and any(word.startswith("--delete") for word in words):
            return "it removes all that is not in its source"
    return ""


def lost_by(mentions: Iterable[Sequence[str]]) -> str:
    """What these commands delete, be it a single file, or do that can't be undone; "" for nothing."""
    mentions = tuple(mentions)
    deletes = any(name in _DELETE for name, *_ in mentions)
    return thrown_away(mentions) or ("it deletes files" if deletes else "")


def _is_much(word: str) -> bool:
    return not word.startswith("-") and bool(_WHOLE.fullmatch(word) or _HISTORY.fullmatch(word))


def _loses_work(words: Sequence[str]) -> bool:
    return any(
        verb in words and any(how.fullmatch(word) for word in words if word != verb) for verb, how in _OF_GIT
    )
