"""Slash commands of one's own: Markdown files whose text is sent in the place of their name.

They are words and nothing else: nothing in them is run, and nothing is allowed by them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from keen_tui.settings.added.definition_files import (
    MOST_FILES,
    SAME_NAME,
    UnusableFile,
    Unused,
    content_within,
    markdown_files,
    split_words,
    visible_text,
)
from keen_tui.settings.added.front_matter import FrontMatterProblem, has_front_matter, parted
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

if TYPE_CHECKING:
    from keen_tui.settings.added.skills import Skill

Origin = Literal["yours", "project"]

_MOST_BYTES: Final = 64_000
"""Bytes of a file; more is no message that anybody sends."""
_DEEPEST: Final = 3
"""How deep folders are searched: `/web:forms:check`."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_PLACE = re.compile(r"\\?\$(?:ARGUMENTS\b|[1-9](?!\d))")


class CustomCommand(Struct, frozen=True, kw_only=True):
    """One command: `name` without the slash, `hint` for what may be written behind it, "" for nothing, the
    `text` that is sent, with places for those words."""

    name: str
    description: str
    hint: str
    text: str
    origin: Origin


class Commands(Struct, frozen=True, kw_only=True):
    """The commands that were read, by name, and sentences about files that are none."""

    found: tuple[CustomCommand, ...] = ()
    problems: tuple[str, ...] = ()


class _Unusable(Exception):
    """Why a file is no command."""


def read_commands(folders: Iterable[Path], origin: Origin) -> Commands:
    """The commands whose files lie in these folders, which may not be there: of two with the same name, the
    first one. Blocks; never raises, never waits for a pipe. In a project no link is followed, for the user's
    own they may lead anywhere."""
    found: dict[str, tuple[CustomCommand, Path]] = {}
    unused, cut = Unused("command"), list[str]()
    follows = origin == "yours"
    for folder in folders:
        place = Path(os.path.realpath(folder)) if follows else folder
        paths = list(markdown_files(place, _DEEPEST, follows=follows))
        if len(paths) > MOST_FILES:
            cut.append(f"Only the first {MOST_FILES} of {len(paths):,} files in {folder} are read.")
        for path in paths[:MOST_FILES]:
            name = _relative(path, folder).as_posix()
            try:
                command = _read(path, folder, origin)
            except _Unusable as why:
                unused.add(str(folder), name, str(why))
                continue
            used, other = found.setdefault(command.name, (command, path))
            if used != command:
                unused.add(str(folder), name, SAME_NAME, f"/{command.name} in {other}")
    return Commands(found=tuple(command for command, _ in found.values()), problems=(*cut, *unused.sentences))


def joined(
    own: Commands, project: Commands, built_in: Sequence[str], skills: Sequence[Skill] = ()
) -> Commands:
    """All commands, one a name: a built-in one goes before the user's, and that before the project's. A skill
    goes before a command of the same origin."""
    taken = dict.fromkeys(built_in, "is built in")
    taken |= _taken_by(skills, "yours", "is one of your own skills", taken)
    kept: list[CustomCommand] = []
    clashes: list[str] = []
    for command in (*own.found, *project.found):
        if command.origin == "project":
            taken |= _taken_by(skills, "project", "is a skill of the project", taken)
        if why := taken.get(command.name):
            clashes.append(f"/{command.name} {why}: {_whose_file(command)} isn't used.")
        else:
            taken[command.name] = "is one of your own commands"
            kept.append(command)
    return Commands(found=tuple(kept), problems=(*own.problems, *project.problems, *clashes))


def _taken_by(skills: Sequence[Skill], origin: Origin, why: str, taken: Container[str]) -> dict[str, str]:
    """The names that these skills take as slash commands."""
    names = (skill.name for skill in skills if skill.for_person and skill.origin == origin)
    return {name: why for name in names if name not in taken}


def expanded(command: CustomCommand, words: str) -> str:
    """The message that is sent for the command with these words behind it.

    `$ARGUMENTS` stands for all of them, `$1` to `$9` for one each (quotes hold several together), `\\$1` for
    itself. Where the text has no such place, the words stand behind it.
    """
    words = words.strip()
    single = split_words(words)
    has_place = False

    def filled(place: re.Match[str]) -> str:
        nonlocal has_place
        if place[0].startswith("\\"):
            return place[0][1:]
        has_place = True
        if place[0] == "$ARGUMENTS":
            return words
        number = int(place[0][1:])
        return single[number - 1] if number <= len(single) else ""

    text = _PLACE.sub(filled, command.text).strip()
    return f"{text}\n\n{words}" if words and not has_place else text


def _whose_file(command: CustomCommand) -> str:
    return "your file" if command.origin == "yours" else "the project's file"


def _read(path: Path, folder: Path, origin: Origin) -> CustomCommand:
    """The command in the file. Raises _Unusable."""
    parts = _relative(path, folder).with_suffix("").parts
    if not all(map(_NAME.fullmatch, parts)):
        raise _Unusable("its name may contain only lower-case letters, digits, - and _")
    real = Path(os.path.realpath(path if origin == "yours" else path.parent))
    try:
        content = content_within(real if origin == "yours" else real / path.name, _MOST_BYTES)
        named, text = _parted(visible_text(content))
    except UnusableFile as why:
        raise _Unusable(f"it {why}") from why
    except FrontMatterProblem as problem:
        raise _Unusable(str(problem)) from problem
    if not text.strip():
        raise _Unusable("it has no text")
    hint = named.get("hint", named.get("argument-hint", ""))
    return CustomCommand(
        name=":".join(parts),
        description=named.get("description") or clean(first_line(text).lstrip("# ")),
        hint=hint or ("[words]" if _takes_words(text) else ""),
        text=text,
        origin=origin,
    )


def _relative(path: Path, folder: Path) -> Path:
    base = folder if path.is_relative_to(folder) else Path(os.path.realpath(folder))
    return path.relative_to(base)


def _takes_words(text: str) -> bool:
    return any(not place.startswith("\\") for place in _PLACE.findall(text))


def _parted(whole: str) -> tuple[Mapping[str, str], str]:
    """The fields of the front matter, each as one line, and the text behind it. Raises FrontMatterProblem."""
    if not has_front_matter(whole):
        return {}, whole
    front = parted(whole)
    fields = (*front.others.items(), *front.texts.items())
    return {name.lower(): clean(" ".join(value.split())) for name, value in fields}, front.body
