"""Commands that destroy a lot at once: they ask even if they can do no harm outside the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_WHOLE: Final = re.compile(r"(?:\./)*(?:\.|\*|\.\*|\.\[.*|\{.*)?/*")
"""A path that means the current folder, or everything in it."""
_ELSEWHERE: Final = re.compile(r"[/~$].*|(?:.*/)?\.\.(?:/.*)?")
"""A path that leads out of the folder, or might."""
_HISTORY: Final = re.compile(r"(?:.*/)?\.git(?:/.*)?")

_LONGEST_NAMED: Final = 60
"""The most characters of a command in a reason."""

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
"""Git commands that lose work: a verb, and the word that makes it dangerous."""
_IN_FILES_TOO: Final = re.compile(r"-\w*W\w*|--w\w*")


def thrown_away(mentions: Iterable[Sequence[str]]) -> str:
    """Returns, in a few words, what these commands would destroy, judging by their words; "" for nothing."""
    for name, *words in mentions:
        if name in (*_DELETE, "mv", "rmdir") and (much := next(filter(None, map(_much, words)), "")):
            return f"it {'moves' if name == 'mv' else 'deletes'} {much}"
        if name == "xargs" and any(word in _DELETE for word in words):
            return "it deletes every file in its input"
        if name == "find" and any(word in ("-delete", *_DELETE) for word in words):
            return "it deletes every file it finds"
        if name == "git" and _loses_work(words):
            return "git may destroy work that exists nowhere else"
        if name in ("dd", "mkfs", "wipefs", "truncate") or name.startswith("mkfs."):
            return f"{name} overwrites files or disks"
        if name in ("rsync", "robocopy") and any(word.startswith("--delete") for word in words):
            return "it deletes everything that isn't in the source"
    return ""


def loss_in(mentions: Sequence[Sequence[str]]) -> str:
    """Like `lost_by`, with the command if there are several."""
    for words in mentions:
        if lost := lost_by([words]):
            return f"{lost} ({in_short(words)})" if len(mentions) > 1 else lost
    return ""


def in_short(words: Sequence[str]) -> str:
    """A command in one row, shortened if it is long."""
    text = " ".join(" ".join(words).split())
    return text if len(text) <= _LONGEST_NAMED else f"{text[: _LONGEST_NAMED - 1]}…"


def lost_by(mentions: Iterable[Sequence[str]]) -> str:
    """Returns, in a few words, what these commands delete, even a single file, or do irreversibly; "" for
    nothing."""
    mentions = tuple(mentions)
    deletes = any(name in _DELETE for name, *_ in mentions)
    return thrown_away(mentions) or ("it deletes files" if deletes else "")


def _much(word: str) -> str:
    """Returns the meaning of a path that covers a lot; "" for a single file or folder inside."""
    if word.startswith("-"):
        return ""
    if _HISTORY.fullmatch(word):
        return "git history"
    if _WHOLE.fullmatch(word):
        return "a whole folder"
    return "files that may be outside the workspace" if _ELSEWHERE.fullmatch(word) else ""


def _loses_work(words: Sequence[str]) -> bool:
    if words[:1] == ["restore"] and any(word in ("-S", "--staged") for word in words):
        return any(_IN_FILES_TOO.fullmatch(word) for word in words)  # otherwise it restores only the index
    return any(
        verb in words and any(how.fullmatch(word) for word in words if word != verb) for verb, how in _OF_GIT
    )
