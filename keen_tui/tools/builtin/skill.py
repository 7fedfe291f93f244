"""skill: the instructions of a skill, as they are on the disk now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import SkillUsed, ToolResult, ToolSpec
from keen_tui.settings.added.skills import Skill
from keen_tui.text.sanitize import clean
from keen_tui.tools.arguments import checked, mentioned
from keen_tui.tools.base import OutputSink, PreparedCall
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.skills import GivenSkill, SkillShelf

NAME = "skill"


class UseSkill:
    """Gives the model the text of a skill, with its folder and the files beside it."""

    spec = ToolSpec(
        name=NAME,
        description=(
            "Get the instructions of a skill by its name, from the list of skills in the system prompt or "
            'from a line "Skill in use" of an earlier turn. Call it before you do what the skill is for. '
            "Later turns don't see its text: get it again when you need it there."
        ),
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The name of the skill."}},
            "required": ["name"],
        },
    )
    only_reads = False

    def __init__(self, workspace: Workspace, shelf: SkillShelf) -> None:
        self._workspace = workspace
        self._shelf = shelf

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "name")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        name = checked(self.spec, arguments)["name"].strip().removeprefix("/")
        skill = self._shelf.by_name.get(name)
        if skill is None:
            known = ", ".join(each.name for each in self._shelf.by_name.values() if each.for_model)
            raise ToolFailure(f"there is no skill {clean(name)[:80]!r}. The skills are: {known or 'none'}.")
        if not (skill.for_model or name in self._shelf.in_use()):
            raise ToolFailure(f"only the user can start the skill {name}, with /{name}.")

        async def run(_: OutputSink) -> ToolResult:
            return _result(skill, await asyncio.to_thread(self._shelf.given, skill))

        return PreparedCall(
            access=self._workspace.reading(self._workspace.place(str(skill.folder / skill.file))),
            display=None,
            run=run,
        )


def _result(skill: Skill, given: GivenSkill) -> ToolResult:
    return ToolResult(
        text=given.text,
        summary=given.size,
        display=TextDisplay(text=clean(given.text, newlines=True, tabs=True)),
        facts=(SkillUsed(name=skill.name, bytes=given.bytes),),
    )
