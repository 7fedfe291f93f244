"""Everyday git commands that write a repository, and the options with which they lose nothing.

Commands and options that lose work (`reset --hard`, `branch -D`, `stash drop`), skip or run programs
(`--no-verify`, `-S`, `--strategy`) or read files by name (`-F`) are unknown here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.tools.permissions.shell.grammar import NotUnderstood, SimpleCommand, Word


class GitCommand(Struct, frozen=True, kw_only=True):
    """A git command in parts: its `options` with their values, and the remaining arguments. `operands` after
    `--` are paths."""

    verb: str
    options: tuple[str, ...] = ()
    operands: tuple[Word, ...] = ()
    paths: tuple[Word, ...] | None = None

    def has(self, *options: str) -> bool:
        return any(option in self.options for option in options)

    @property
    def changes_files(self) -> bool:
        """Whether it changes files of the workspace besides the repository."""
        if self.verb in ("switch", "checkout"):  # a new branch from the current commit changes no files
            return bool(self.operands)
        return self.verb in ("stash", "merge", "mv") or (self.verb == "rm" and not self.has("--cached"))

    @property
    def takes_files(self) -> bool:
        """Whether it reads the contents of files in the workspace, to store or to replace them."""
        takes_all = self.verb == "commit" and (self.has("-a", "--all") or bool(self.operands or self.paths))
        return takes_all or self.verb == "add" or self.changes_files

    @property
    def needs_programs(self) -> bool:
        """Whether git starts other git programs for it."""
        return self.verb in ("stash", "merge")


class _Verb(Struct, frozen=True, kw_only=True):
    """The known facts about a verb: options without and with a value, and the `most` operands; `check` raises
    NotUnderstood for combinations that make no sense."""

    letters: str = ""
    names: frozenset[str] = frozenset()
    letters_with_value: str = ""
    names_with_value: frozenset[str] = frozenset()
    most: int | None = None
    takes_paths: bool = True
    check: Callable[[GitCommand], None] = lambda _: None


def _verb(
    letters: str = "",
    names: str = "",
    letters_with_value: str = "",
    names_with_value: str = "",
    *,
    most: int | None = None,
    takes_paths: bool = True,
    check: Callable[[GitCommand], None] = lambda _: None,
) -> _Verb:
    return _Verb(
        letters=letters,
        names=frozenset(names.split()),
        letters_with_value=letters_with_value,
        names_with_value=frozenset(names_with_value.split()),
        most=most,
        takes_paths=takes_paths,
        check=check,
    )


def _only_staged(command: GitCommand) -> None:
    if not command.has("-S", "--staged"):
        raise NotUnderstood("git restore discards changes")


def _only_branches(command: GitCommand) -> None:
    if not command.operands and not command.has("-c", "-b", "--create"):
        raise NotUnderstood("it doesn't name the branch")


_STASH: Final[Mapping[str, _Verb]] = {
    "push": _verb("uqkS", "include-untracked quiet keep-index no-keep-index staged", "m", "message"),
    "list": _verb(most=0),
    "apply": _verb("q", "index quiet", most=1, takes_paths=False),
    "pop": _verb("q", "index quiet", most=1, takes_paths=False),
}
_VERBS: Final[Mapping[str, _Verb]] = {
    "add": _verb("AuvnN", "all update verbose dry-run no-all intent-to-add ignore-errors"),
    "commit": _verb(
        "aqvs",
        "all quiet verbose signoff amend no-edit allow-empty allow-empty-message reset-author",
        "m",
        "message author date fixup squash",
    ),
    "switch": _verb("qd", "quiet detach", "c", "create", most=1, check=_only_branches),
    "checkout": _verb("q", "quiet", "b", most=1, takes_paths=False, check=_only_branches),
    "branch": _verb("dvaqr", "delete verbose all quiet show-current list", most=2, takes_paths=False),
    "tag": _verb("anql", "annotate list", "m", "message", most=2, takes_paths=False),
    "rm": _verb("rqn", "cached quiet dry-run ignore-unmatch"),
    "mv": _verb("vnk", "verbose dry-run"),
    "merge": _verb(
        "qvn",
        "ff no-ff ff-only squash no-squash commit no-commit edit no-edit stat no-stat quiet verbose",
        "m",
        most=1,
        takes_paths=False,
        check=_only_branches,
    ),
    "restore": _verb("Sq", "staged quiet", "s", "source", check=_only_staged),
    "reset": _verb("qN", "soft mixed quiet"),
}


def git_writer(command: SimpleCommand) -> GitCommand:
    """A git command that may write the repository, in parts.

    Raises:
        NotUnderstood: it is another program, another git command, or does more than the table knows.
    """
    arguments = list(command.arguments)
    while arguments and arguments[0].text == "--no-pager":
        arguments.pop(0)
    if command.name != "git" or not arguments:
        raise NotUnderstood(f"{command.name} is not a command of git that writes")
    name, *rest = arguments
    if name.text == "stash":
        begins = bool(rest) and not rest[0].text.startswith("-")
        how, rest = (rest[0].text, rest[1:]) if begins else ("push", rest)
        verb = _STASH.get(how)
        found = verb and _parsed(f"stash {how}", verb, rest)
        return _as_stash(found, how) if found else _unknown(f"stash {how}")
    verb = _VERBS.get(name.text)
    return _parsed(name.text, verb, rest) if verb else _unknown(name.text)


def _unknown(what: str) -> GitCommand:
    raise NotUnderstood(f"git {what} may do more than Keen knows")


def _as_stash(parsed: GitCommand, how: str) -> GitCommand:
    return GitCommand(
        verb="stash", options=(how, *parsed.options), operands=parsed.operands, paths=parsed.paths
    )


def _parsed(name: str, verb: _Verb, words: Sequence[Word]) -> GitCommand:
    options: list[str] = []
    operands: list[Word] = []
    paths: tuple[Word, ...] | None = None
    left = iter(words)
    for word in left:
        if word.text == "--":
            paths = tuple(left)
        elif word.text.startswith("-") and word.text != "-":
            options += _option(name, verb, word, left)
        else:
            operands.append(word)
    if paths is not None and not verb.takes_paths:
        raise NotUnderstood(f"git {name} may discard changes in the files named after --")
    if verb.most is not None and len(operands) > verb.most:
        raise NotUnderstood(f"git {name} has arguments that Keen doesn't know")
    parsed = GitCommand(verb=name, options=tuple(options), operands=tuple(operands), paths=paths)
    verb.check(parsed)
    return parsed


def _option(name: str, verb: _Verb, word: Word, left: Iterator[Word]) -> Iterator[str]:
    """The option split into single ones, each followed by its value. A long option needs its whole name."""
    text = word.text
    unknown = NotUnderstood(f"with {text} git {name} may do more than Keen knows")
    if word.is_glob:
        raise unknown
    if text.startswith("--"):
        long, equals, value = text[2:].partition("=")
        if long in verb.names and not equals:
            yield text
        elif long in verb.names_with_value:
            yield f"--{long}"
            yield value if equals else _value(left, unknown)
        else:
            raise unknown
        return
    for place, letter in enumerate(text[1:], 2):
        if letter in verb.letters_with_value:
            yield f"-{letter}"
            yield text[place:] or _value(left, unknown)
            return
        if letter not in verb.letters:
            raise unknown
        yield f"-{letter}"


def _value(left: Iterator[Word], unknown: NotUnderstood) -> str:
    word = next(left, None)
    if word is None or word.is_glob:
        raise unknown
    return word.text
