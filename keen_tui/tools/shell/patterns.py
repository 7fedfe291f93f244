"""Patterns of commands by their first words, for rules and for commands that are always allowed in a
workspace."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from keen_tui.tools.access.access import CommandPart
from keen_tui.tools.shell.mentions import RUNNERS, SHELLS
from keen_tui.tools.shell.writers import WRITERS

_VERBS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(verbs.split())
    for name, verbs in {
        "npm": "test run ci",
        "pnpm": "test run",
        "yarn": "test run",
        "bun": "test run",
        "cargo": "build check test clippy fmt doc bench",
        "go": "build test vet fmt",
        "make": "",
        "pytest": "",
        "mypy": "",
        "ruff": "check format",
        "uv": "run sync",
        "eslint": "",
        "tsc": "",
        "mvn": "test compile verify package",
        "gradle": "test build check",
        "dotnet": "build test format",
        "git": "add commit status",  # not diff: `git diff --output=x` writes anywhere
    }.items()
}
"""Programs that are worth allowing by prefix, and the verbs that belong to that prefix."""

_NAMED_TOO: Final = frozenset(["run", "make"])
"""After these the next word says what is run."""

_RUNS_ANYTHING: Final = re.compile(
    r"(?:i?python|pypy|node|deno|bun|ruby|perl|php|lua|bash|sh|dash|zsh|fish|env|xargs|sudo|npx|uvx|bunx|tsx)[\d.]*"
)
"""Programs that make a prefix useless: `uv run python *` would allow everything."""
_PLAIN: Final = re.compile(r"[A-Za-z][\w:.-]*")
_VERB: Final = re.compile(r"[a-z][a-z0-9:-]*")
_NOT_BY_PREFIX: Final = frozenset(
    """
    awk cat curl docker ed emacs expect find gawk gdb head kubectl mawk nano nc netcat openssl podman psql
    rclone scp screen sed sftp socat sqlite3 ssh su tail tar tmux vi view vim wget zip
    """.split()  # noqa: SIM905 - a list of names is easier to read so
)
"""Programs that run, show or send whatever their arguments name."""
_MOST_PARTS: Final = 3


class CommandPattern(Struct, frozen=True, kw_only=True):
    """Commands that consist of these words, or with `more` begin with them. Unless `exact`, a `*` in a word
    stands for any characters of one word."""

    words: tuple[str, ...]
    more: bool = False
    exact: bool = True

    def fits(self, words: Sequence[str]) -> bool:
        """Whether the command matches the pattern, word for word."""
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.more):
            return False
        same = str.__eq__ if self.exact else fnmatchcase
        return all(same(word, mine) for word, mine in zip(words, self.words, strict=False))

    def is_about(self, words: Sequence[str]) -> bool:
        """Whether the command matches the pattern in a wide sense: it has these words in this order, with any
        options between them, and its program in any folder."""
        mine = list(self.words)
        if mine and words:
            name, *rest = words
            if not fnmatchcase(PurePosixPath(name).name, PurePosixPath(mine.pop(0)).name):
                return False
            words = rest
        for word in words:
            if mine and fnmatchcase(word, mine[0]):
                mine.pop(0)
        return not mine

    def __str__(self) -> str:
        """The pattern as a rule would name it."""
        text = shlex.join(self.words) if self.exact else " ".join(self.words)
        return f"{text} *".strip() if self.more else text


def written(pattern: str) -> CommandPattern:
    """The pattern that a rule names, `npm run *`. Raises ValueError if quotes don't end."""
    words = shlex.split(pattern)
    more = words[-1:] == ["*"]
    return CommandPattern(words=tuple(words[:-1] if more else words), more=more, exact=False)


def worth_saving(parts: Sequence[CommandPart]) -> tuple[CommandPattern, ...]:
    """The patterns to allow so that this command doesn't ask again; () if nothing should be offered."""
    asking = [part for part in parts if part.concern]
    patterns = dict.fromkeys(_pattern(part.words) for part in asking)
    # The words have lost their quotes, so a star may be a pattern or a literal star.
    is_plain = not any(re.search("[*?]", word) for pattern in patterns for word in pattern.words)
    return tuple(patterns) if is_plain and len(patterns) <= _MOST_PARTS else ()


def _pattern(words: tuple[str, ...]) -> CommandPattern:
    """The program with its verb if that says enough, else the whole command."""
    verbs = _VERBS.get(words[0])
    if verbs is None:
        return _by_prefix(words)
    count = 1
    if verbs and words[1:2] and words[1] in verbs:
        count = 2
    if verbs and count == 1:
        return CommandPattern(words=words)
    if words[count - 1] in _NAMED_TOO:
        named = words[count] if len(words) > count else ""
        if not _PLAIN.fullmatch(named) or _RUNS_ANYTHING.fullmatch(named):
            return CommandPattern(words=words)
        count += 1
    return CommandPattern(words=words[:count], more=True)


def _by_prefix(words: tuple[str, ...]) -> CommandPattern:
    """The pattern for an unknown program: with its verb if it has one."""
    name, *rest = words
    excluded = name in _NOT_BY_PREFIX or name in RUNNERS or name in SHELLS or name in WRITERS
    if not rest or excluded or not _PLAIN.fullmatch(name) or _RUNS_ANYTHING.fullmatch(name):
        return CommandPattern(words=words)
    return CommandPattern(words=words[: 2 if _VERB.fullmatch(rest[0]) else 1], more=True)
