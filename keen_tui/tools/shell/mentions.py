"""The commands that are mentioned anywhere in a text, also in one that is not understood.

For rules that ask or deny, where too much is better than too little: what is in substitutions, loops and
functions counts, and what programs like `sudo` and `xargs` are given to run. It is no wall: a text can hide a
command from every reader (`$(printf r)m`), but then it is none that runs unasked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from keen_tui.tools.shell.grammar import LONGEST, parsed

if TYPE_CHECKING:
    from tree_sitter import Node

_RUNNERS: Final = frozenset(
    """
    env sudo doas su xargs nohup timeout nice ionice stdbuf time command builtin exec eval setsid watch
    parallel chroot unshare flock script strace ltrace caffeinate busybox
    """.split()  # noqa: SIM905 - a list of twenty quoted names is no easier to read
)
_SHELLS: Final = frozenset(["sh", "bash", "dash", "zsh", "ksh", "fish"])
_DEEPEST: Final = 4
_WRITTEN: Final = re.compile(r"[\"'\\]")


def mentioned_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of every command in the text, quotes taken away, the program without its folder."""
    return tuple(_commands(command[:LONGEST], 0))


def _commands(text: str, depth: int) -> Iterator[tuple[str, ...]]:
    todo = [parsed(text)]
    while todo:
        node = todo.pop()
        todo.extend(reversed(node.children))
        if node.type == "command":
            yield from _words_of(node, depth)


def _words_of(node: Node, depth: int) -> Iterator[tuple[str, ...]]:
    skipped = ("variable_assignment", "file_redirect", "herestring_redirect")
    words = [(child.text or b"").decode() for child in node.children if child.type not in skipped]
    yield from _spoken([_WRITTEN.sub("", word) for word in words], words, depth)


def _spoken(words: Sequence[str], written: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    """The command itself, and the one that it is given to run, wherever in its words that begins."""
    if not words:
        return
    name = PurePosixPath(words[0]).name or words[0]
    yield (name, *words[1:])
    if name in _RUNNERS:
        for place in range(1, len(words)):
            if not words[place].startswith("-") and "=" not in words[place]:
                inner = PurePosixPath(words[place]).name
                yield (inner, *words[place + 1 :])
    if (name in _SHELLS or name == "eval") and depth < _DEEPEST:
        for word in written[1:]:
            yield from _commands(_unquoted(word), depth + 1)


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in ("'", '"') and word[-1:] == word[:1] else word
