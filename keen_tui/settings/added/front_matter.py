"""The YAML between two lines of `---` at the beginning of a Markdown file that defines something."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final, TypeAlias

from msgspec import Struct

_MOST_CHARACTERS: Final = 20_000
"""Characters of the front matter; its fields together may have fewer."""
_DEEPEST: Final = 50
"""Open brackets of the front matter, and dashes one behind the other: the time to read it grows with the
square of their number, and so does the stack of a parser."""

_FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DASHES = re.compile(rf"(?:[-?][ \t]+){{{_DEEPEST},}}")
_PLAIN_LINE = re.compile(
    r"([A-Za-z][\w-]*):[ \t]+([^\s\"'\[\]{}|>&*!#%@`].*|\*[ \t]*|(?<=argument-hint: )\[.*)"
)
_ANY_LINE: Final = re.compile("")
_KNOWN_FIELD: Final = re.compile(
    r"\W*(?:name|description|(?:allowed-)?tools|disallowedTools|model|mode|permissionMode|max_steps|maxTurns"
    r"|isolation|(?:argument-)?hint|arguments|disable-model-invocation|user-invocable|background|color"
    r"|compatibility|context|effort|hooks|initialPrompt|license|mcpServers"
    r"|memory|metadata|skills|version)[\"' \t]*:"
)
"""A line with a field that Keen or other agents have, in whatever signs: what limits a sub-agent is never
taken for a part of the field before."""


class FrontMatterProblem(Exception):
    """Why the front matter can't be used, as the end of a sentence."""


class FrontMatter(Struct, frozen=True, kw_only=True):
    """The fields whose value is a text, all others as they are written, and the text behind the front matter.
    `lists` are those of the others that are lists of texts. `is_mended`: it isn't valid YAML, and was read
    line by line."""

    texts: Mapping[str, str]
    others: Mapping[str, str]
    lists: Mapping[str, Sequence[str]]
    body: str
    is_mended: bool = False


def parted(whole: str) -> FrontMatter:
    """Take a file apart. Values are taken as they are written: `yes` and `1.0` are texts.

    Raises:
        FrontMatterProblem: there is none, or it can't be read.
    """
    if not whole.startswith("---"):
        raise FrontMatterProblem("it has no front matter: its first line must be ---")
    found = _FRONT.match(whole)
    if found is None:
        raise FrontMatterProblem("its front matter has no end: a line --- must close it")
    if len(found[1]) > _MOST_CHARACTERS:
        raise FrontMatterProblem(f"its front matter has over {_MOST_CHARACTERS:,} characters")
    if _brackets_open(found[1]) > _DEEPEST or _DASHES.search(found[1]):
        raise FrontMatterProblem("its front matter nests too deep")
    try:
        fields, is_mended = _fields(found[1])
    except RecursionError as error:
        raise FrontMatterProblem("its front matter nests too deep") from error
    texts, others, lists = fields
    return FrontMatter(
        texts=texts, others=others, lists=lists, body=whole[found.end() :], is_mended=is_mended
    )


def has_front_matter(whole: str) -> bool:
    """Whether the file begins with one."""
    return _FRONT.match(whole) is not None


def _brackets_open(text: str) -> int:
    """The most brackets that are open at one place."""
    return max(accumulate((char in "[{") - (char in "]}") for char in text), default=0)


_Composed: TypeAlias = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, Sequence[str]]]
"""The texts, all other fields, and those of them that are lists of texts."""


def _fields(text: str) -> tuple[_Composed, bool]:
    """The fields, and whether the text had to be mended."""
    from yaml import YAMLError  # noqa: PLC0415 - only where somebody has such a file

    try:
        return _composed(text), False
    except YAMLError as error:
        for begins in (_ANY_LINE, _KNOWN_FIELD):
            with suppress(YAMLError, FrontMatterProblem):
                return _composed("\n".join(_quoted_values(text, begins))), True
        raise FrontMatterProblem(f"its front matter isn't valid YAML: {_reason(error)}") from error


def _composed(text: str) -> _Composed:
    """The document is only taken apart, and no value is made of it: aliases can't multiply anything."""
    import yaml  # noqa: PLC0415 - only where somebody has such a file

    loader = getattr(
        yaml, "CBaseLoader", yaml.BaseLoader
    )  # the first is ten times as fast, and not everywhere
    document = yaml.compose(text, Loader=loader)
    if not isinstance(document, yaml.MappingNode):
        raise FrontMatterProblem("its front matter has no fields: write name: value")
    texts: dict[str, str] = {}
    others: dict[str, str] = {}
    lists: dict[str, Sequence[str]] = {}
    read: dict[int, Sequence[str]] = {}  # an alias gives the same node again
    for key, value in document.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name in texts or name in others:
            raise FrontMatterProblem(f"its front matter has the field {name[:40]!r} twice")
        if isinstance(value, yaml.ScalarNode):
            texts[name] = value.value
        else:
            others[name] = text[value.start_mark.index : value.end_mark.index].strip()
            is_list = isinstance(value, yaml.SequenceNode)
            if is_list and all(isinstance(each, yaml.ScalarNode) for each in value.value):
                lists[name] = read.setdefault(id(value), tuple(each.value for each in value.value))
    return texts, others, lists


def _quoted_values(text: str, begins: re.Pattern[str]) -> Iterator[str]:
    """The fields, each plain value in quotes: `description: Use it when: always` is a usual mistake. A field
    begins with a line that `begins` matches and has the lines up to the next one, blank ones too."""
    fields: list[list[str]] = []
    for line in text.splitlines():
        if begins.match(line) or not fields:
            fields.append([])
        fields[-1].append(line)
    for first, *others in fields:
        plain = _PLAIN_LINE.fullmatch(first)
        value = "\n".join((plain[2] if plain else first, *others))
        yield f"{plain[1]}: {json.dumps(value.rstrip())}" if plain else value


def _reason(error: Any) -> str:
    problem = getattr(error, "problem", None) or "it can't be read"
    mark = getattr(error, "problem_mark", None)
    return f"{problem} (line {mark.line + 2})" if mark else str(problem)
