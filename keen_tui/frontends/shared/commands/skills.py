"""The command about skills: shows them, and unloads one that is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused

if TYPE_CHECKING:
    from keen_tui.frontends.shared.pages import ShownSkill


async def skills(context: CommandContext, words: str) -> None:
    """Show the skills; `unload pdf` unloads one."""
    from keen_tui.frontends.shared.pages import SkillsPage

    match words.split():
        case []:
            pass
        case ["unload" | "away", name]:
            context.controls.unload(name)
            context.ui.say(unloaded_words(name))
            return
        case _:
            raise WordsRefused("Write /skills, or /skills unload NAME for a skill that is in use.")
    shown = _shown(context)
    if not shown:
        raise SessionRefused(
            "There are no skills here. They are folders with a SKILL.md in ~/.agents/skills or "
            "~/.claude/skills, or in these folders of a project that you trust."
        )
    controls = context.setup.controls
    await context.ui.show(SkillsPage(shown, controls.unload if controls else None))


def unloaded_words(name: str) -> str:
    """Says that a skill was unloaded."""
    return f"Unloaded {name}; later turns won't see it. You can use it again at any time."


def _shown(context: CommandContext) -> tuple[ShownSkill, ...]:
    """All skills by name, those in use that aren't here any more included."""
    from keen_tui.frontends.shared.pages import ShownSkill

    controls = context.setup.controls
    used = {skill.name: skill.bytes for skill in (controls.skills_in_use if controls else ())}
    here = [
        ShownSkill(
            name=skill.name,
            description=skill.description,
            where=skill.where,
            used_bytes=used.get(skill.name),
            by_person=skill.for_person,
            by_model=skill.for_model,
            remarks=skill.remarks,
        )
        for skill in context.setup.skills
    ]
    names = {skill.name for skill in here}
    gone = [
        ShownSkill(name=name, where="not here any more", used_bytes=count, by_person=False, by_model=False)
        for name, count in used.items()
        if name not in names
    ]
    return tuple(sorted((*here, *gone), key=lambda skill: skill.name))


SKILLS = Command(
    id="skills",
    keys=(),
    label="Skills",
    slash=("skills",),
    takes="[unload NAME]",
    help="lists the skills, and those in use; /skills unload NAME unloads one",
    does=skills,
)
COMMANDS = (SKILLS,)
