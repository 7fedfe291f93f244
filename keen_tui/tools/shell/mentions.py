"""Finds the commands that a text mentions anywhere, even in a text that isn't understood.

This is for rules that ask or deny, where too much is better than too little: commands in substitutions, loops
and functions count, and those that `sudo` or `xargs` run. It isn't a wall: a text can hide a command from
every reader (`$(printf r)m`), but then it doesn't run without asking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from keen_tui.tools.shell.grammar import parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

RUNNERS: Final = frozenset(
    """
    env sudo doas su xargs nohup timeout nice ionice stdbuf time command builtin exec eval setsid watch
    parallel chroot unshare flock script strace ltrace caffeinate busybox coproc
    """.split()  # noqa: SIM905 - a list of twenty quoted names is no easier to read
)
"""Programs that run another command from their arguments."""
SHELLS: Final = frozenset(["sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "trap"])
"""Programs that take text as commands."""
_EXECS: Final = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_LONGEST: Final = 131_072
"""Bytes of the longest command that the system takes."""
_MOST_PLACES: Final = 100
"""The most words after a runner that may be the program."""
_DEEPEST: Final = 4
_WRITTEN: Final = re.compile(r"[\"'\\]")


def mentioned_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of every command in the text, without quotes, and with the program's name without its
    folder."""
    command = command[:_LONGEST]
    joined = command.replace("\\\n", "")
    return tuple(dict.fromkeys(each for text in {command, joined} for each in _commands(text, 0)))


def _commands(text: str, depth: int) -> Iterator[tuple[str, ...]]:
    todo = [parsed(text)]
    while todo:
        node = todo.pop()
        todo.extend(reversed(node.children))
        if node.type == "command":
            yield from _words_of(node, depth)
        elif node.type == "redirected_statement" and depth < _DEEPEST:
            yield from _given_to_a_shell(node, depth)


def _given_to_a_shell(node: Node, depth: int) -> Iterator[tuple[str, ...]]:
    """The commands of `bash <<E`."""
    program = PurePosixPath(text_of(node).split()[0]).name
    if program in SHELLS:
        for redirect in node.children:
            for child in redirect.children:
                if child.type == "heredoc_body":
                    yield from _commands(text_of(child), depth + 1)


def _words_of(node: Node, depth: int) -> Iterator[tuple[str, ...]]:
    skipped = ("variable_assignment", "file_redirect")
    words = [text_of(child) for child in node.children if child.type not in skipped]
    words = [word.removeprefix("<<<").strip() for word in words]
    yield from _spoken([_WRITTEN.sub("", word) for word in words], words, depth)


def _spoken(words: Sequence[str], written: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    """The command itself, and the one that it runs, wherever that begins in its words."""
    if not words:
        return
    name = PurePosixPath(words[0]).name or words[0]
    yield (name, *words[1:])
    if name in RUNNERS:
        for place in range(1, min(len(words), _MOST_PLACES)):
            if not words[place].startswith("-") and "=" not in words[place]:
                inner = PurePosixPath(words[place]).name
                yield (inner, *words[place + 1 :])
    if name == "find":
        behind = (tuple(words[place + 1 :]) for place, word in enumerate(words) if word in _EXECS)
        yield from filter(None, behind)
    if (name in SHELLS or name in RUNNERS or name == "find") and depth < _DEEPEST:
        for word in written[1:]:
            if name in SHELLS or " " in word:
                yield from _commands(_unquoted(word), depth + 1)


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in ("'", '"') and word[-1:] == word[:1] else word
