"""Skills: folders with instructions in a SKILL.md, for the model and the person to use where they fit.

The format is that of agentskills.io, with the fields that Claude Code adds. A skill is text: it allows
nothing, and reading it runs nothing.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.settings.added.definition_files import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    SAME_NAME,
    UnusableFile,
    Unused,
    content_within,
    split_words,
    usual_form,
    visible_text,
)
from keen_tui.settings.added.front_matter import FrontMatter, FrontMatterProblem, parted
from keen_tui.settings.added.skill_folders import SkillFolder, SkillOrigin, SkillsTooLarge, digest_of_folder
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

_LONGEST_COMPATIBILITY: Final = 500
_MOST_BYTES: Final = 400_000
"""Bytes of a SKILL.md."""

_PLACE = re.compile(r"\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d)(?!\d))")
_TRUE: Final = ("true", "yes", "on", "1")


class Skill(Struct, frozen=True, kw_only=True):
    """A skill as it is offered; its text is read when it is used.

    `name` is what it is called by, `hint` the arguments that `/name` takes, "" for none. `folder` has its
    symlinks resolved, `file` is the SKILL.md in it, `where` its place for people. `for_model`: the model may
    load it on its own; `for_person`: it is a slash command. `takes_numbers`: `$0` in its text is an argument.
    `digest` is that of the whole folder, as the user trusts it; "" for the user's own. `remarks` say what
    isn't as the format wants it.
    """

    name: str
    description: str
    folder: Path
    file: str
    where: str
    origin: SkillOrigin
    hint: str = ""
    for_model: bool = True
    for_person: bool = True
    takes_numbers: bool = False
    digest: str = ""
    remarks: tuple[str, ...] = ()


class FoundSkills(Struct, frozen=True, kw_only=True):
    """The skills that were read, by name, and sentences about folders that can't be used."""

    found: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()

    def called_by_name(
        self, commands: Collection[str], built_in: Collection[str]
    ) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
        """The skills, those that a command of their name hides for the model only; and a sentence for each of
        them."""
        kept: list[Skill] = []
        told: list[str] = []
        for skill in self.found:
            hidden = skill.for_person and (skill.name in built_in or skill.name in commands)
            kept.append(replace(skill, for_person=False) if hidden else skill)
            if hidden:
                whose = "is built in" if skill.name in built_in else "is one of your own commands"
                told.append(f"/{skill.name} {whose}: only the model can use the skill {skill.name}.")
        return tuple(kept), tuple(told)


class SkillProblem(Exception):
    """Why a skill can't be used, as the end of a sentence."""


def read_skills(folders: Iterable[SkillFolder]) -> FoundSkills:
    """The skills in the folders: of two with the same name, the first one. Blocks; never raises."""
    found: dict[str, tuple[Skill, str]] = {}
    unused = Unused("skill")
    for folder in folders:
        place, name = folder.place.shown, clean(folder.name)
        try:
            skill = _read(folder)
        except SkillProblem as why:
            unused.add(place, name, str(why))
            continue
        used, other = found.setdefault(skill.name, (skill, f"{place}/{name}"))
        if used is not skill:
            unused.add(place, name, SAME_NAME, f"{skill.name} in {other}")
    return FoundSkills(found=tuple(skill for skill, _ in found.values()), problems=unused.sentences)


def joined_skills(own: FoundSkills, project: FoundSkills) -> FoundSkills:
    """All skills in the order of their names: the user's own goes before one of the project."""
    names = {skill.name for skill in own.found}
    clashes = [
        f"The project's skill {skill.name} isn't used: you have one of that name in "
        f"{next(each.where for each in own.found if each.name == skill.name)}."
        for skill in project.found
        if skill.name in names
    ]
    kept = (*own.found, *(skill for skill in project.found if skill.name not in names))
    return FoundSkills(
        found=tuple(sorted(kept, key=lambda skill: skill.name)),
        problems=(*own.problems, *project.problems, *clashes),
    )


def load_skill(skill: Skill) -> str:
    """The text of a skill as it is on the disk now, without its front matter. Blocks.

    Raises:
        SkillProblem: it can't be read, or isn't what the user trusted any more.
    """
    if skill.digest:
        try:
            is_same = digest_of_folder(skill.folder).digest == skill.digest
        except (OSError, SkillsTooLarge):
            is_same = False
        if not is_same:
            raise SkillProblem(
                "its folder has changed since you trusted it; start Keen again to be asked about it"
            )
    return _parted(skill.folder, skill.file).body.strip("\n")


def with_arguments(text: str, words: str, skill: Skill) -> str:
    """The text of a skill that a person calls with these words.

    `$ARGUMENTS` stands for all of them, `$ARGUMENTS[0]` and, in a skill that says that it takes arguments,
    `$0` for the first; quotes hold several words together. Where the text has no such place, the words stand
    at its end.
    """
    words = words.strip()
    single = split_words(words)
    has_place = False

    def filled(place: re.Match[str]) -> str:
        nonlocal has_place
        number = place[1] or place[2]
        if place[2] and not skill.takes_numbers:
            return place[0]
        has_place = True
        if number is None:
            return words
        return single[int(number)] if int(number) < len(single) else ""

    filled_in = _PLACE.sub(filled, text)
    return f"{filled_in}\n\nARGUMENTS: {words}" if words and not has_place else filled_in


def in_its_folder(text: str, skill: Skill) -> str:
    """The text with the folder of the skill in the place of the variable that stands for it."""
    return text.replace("${CLAUDE_SKILL_DIR}", str(skill.folder))


def files_beside(skill: Skill, most: int) -> tuple[Sequence[str], bool]:
    """The files in the skill's folder but its SKILL.md, sorted, and whether these are all. Blocks; never
    raises."""
    found: list[str] = []
    for path, names, files in os.walk(skill.folder):
        names[:] = sorted(name for name in names if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            shown = Path(os.path.relpath(Path(path, name), skill.folder)).as_posix()
            if shown != skill.file and not name.startswith("."):
                found.append(clean(shown))
            if len(found) > most:
                return found[:most], False
    return found, True


def _read(folder: SkillFolder) -> Skill:
    """The skill in the folder. Raises SkillProblem."""
    if folder.problem:
        raise SkillProblem(folder.problem)
    front = _parted(folder.path, folder.file)
    fields = {name: clean(value).strip() for name, value in front.texts.items()}
    remarks = ["its front matter isn't valid YAML, and was read line by line"] if front.is_mended else []
    name = _name(fields, folder, remarks)
    description = fields.get("description", "") or clean(first_line(front.body.strip()).lstrip("# "))
    if not fields.get("description"):
        remarks.append("it has no description; its first line is used")
    if not description:
        raise SkillProblem("it has neither a description nor a text")
    if len(description) > LONGEST_DESCRIPTION:
        remarks.append(f"its description has over {LONGEST_DESCRIPTION:,} characters; the rest isn't sent")
    if len(fields.get("compatibility", "")) > _LONGEST_COMPATIBILITY:
        remarks.append(f"its field compatibility has over {_LONGEST_COMPATIBILITY} characters")
    remarks += (
        f"its field {each} isn't text" for each in ("compatibility", "license") if each in front.others
    )
    hint = fields.get("argument-hint") or clean(front.others.get("argument-hint", ""))
    hint = hint or ("[words]" if "$ARGUMENTS" in front.body else "")
    return Skill(
        name=name,
        description=description,
        folder=folder.path,
        file=folder.file,
        where=folder.place.shown,
        origin=folder.place.origin,
        hint=hint,
        for_model=not _is_true(fields, "disable-model-invocation"),
        for_person=_is_true(fields, "user-invocable", default=True),
        takes_numbers=bool(hint) or "arguments" in fields or "arguments" in front.others,
        digest=folder.digest,
        remarks=tuple(remarks),
    )


def _is_true(fields: dict[str, str], name: str, *, default: bool = False) -> bool:
    value = fields.get(name, "")
    return value.casefold() in _TRUE if value else default


def _name(fields: dict[str, str], folder: SkillFolder, remarks: list[str]) -> str:
    """Returns the name of the skill, as it is written, or in the form that the format wants."""
    written = unicodedata.normalize("NFKC", fields.get("name", ""))
    entry = unicodedata.normalize("NFKC", clean(folder.name))
    if not written:
        remarks.append("it has no name; that of its folder is used")
    elif written != entry:
        remarks.append(f"its name isn't that of its folder, {entry}")
    given = written or entry
    name = usual_form(given)
    if not name:
        raise SkillProblem("its name has no letters or digits")
    if name != given:
        remarks.append(
            f"its name may have only lower-case letters, digits and single hyphens, at most {LONGEST_NAME}; "
            f"it is called {name}"
        )
    return name


def _parted(folder: Path, file: str) -> FrontMatter:
    """The SKILL.md, without what nobody would see in it. A link in it may not leave its folder. Raises
    SkillProblem."""
    real = Path(os.path.realpath(folder / file))
    if not real.is_relative_to(folder):
        raise SkillProblem(f"{file} is a link to a place outside its folder")
    try:
        text = visible_text(content_within(real, _MOST_BYTES))
    except UnusableFile as why:
        raise SkillProblem(f"{file} {why}") from why
    try:
        return parted(text)
    except FrontMatterProblem as problem:
        raise SkillProblem(str(problem)) from problem
