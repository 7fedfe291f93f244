"""skill: the instructions of a skill, as they are on the disk now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.settings.added.definition_files import LONGEST_DESCRIPTION
from keen_tui.settings.added.skills import Skill
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.builtin.skills import GivenSkill, SkillShelf
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.calls.word_search import MOST_FOUND
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.process.bounded_output import OutputSink

NAME = "skill"


_LISTED: Final = ToolSpec(
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
_SEARCHED: Final = replace(
    _LISTED,
    description=(
        f"{_LISTED.description} The list doesn't have room for all skills: with query instead of name, this "
        f"tool returns the names and descriptions of the best {MOST_FOUND} for your words."
    ),
    parameters={
        "type": "object",
        "properties": {
            **_LISTED.parameters["properties"],
            "query": {"type": "string", "description": "Words about the skill, such as: fill pdf form."},
        },
        "required": [],
    },
)


class UseSkill:
    """Gives the model the text of a skill, with its folder and the files beside it."""

    only_reads = False

    def __init__(self, workspace: Workspace, shelf: SkillShelf) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self.spec = _SEARCHED if shelf.is_searched else _LISTED

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "name") or mentioned(arguments, "query")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        name = given.get("name", "").strip().removeprefix("/")
        if not name and given.get("query", "").strip():
            return self._search(given["query"])
        skill = self._shelf.by_name.get(name)
        if skill is None:
            raise ToolFailure(f"there is no skill {clean(name)[:80]!r}. {self._others()}")
        if not (skill.for_model or name in self._shelf.in_use()):
            raise ToolFailure(f"only the user can start the skill {name}, with /{name}.")

        async def run(_: OutputSink) -> ToolResult:
            return _result(skill, await asyncio.to_thread(self._shelf.given, skill))

        return PreparedCall(
            access=self._workspace.reading(self._workspace.place(str(skill.folder / skill.file))),
            display=None,
            run=run,
        )

    def _others(self) -> str:
        """Returns a sentence about what the model may try instead."""
        if self._shelf.is_searched:
            return "Search with query, or take a name from the list in the system prompt."
        known = ", ".join(each.name for each in self._shelf.by_name.values() if each.for_model)
        return f"The skills are: {known or 'none'}."

    def _search(self, query: str) -> PreparedCall:
        async def run(_: OutputSink) -> ToolResult:
            skills = self._shelf.found(query)
            text = "\n".join(f"- {skill.name}: {skill.description[:LONGEST_DESCRIPTION]}" for skill in skills)
            text = text or "No skill fits. Try other words."
            return ToolResult(text=text, summary=counted(len(skills), "skill") if skills else "nothing found")

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)


def _result(skill: Skill, given: GivenSkill) -> ToolResult:
    return ToolResult(
        text=given.text,
        summary=given.size,
        display=TextDisplay(text=clean(given.text, newlines=True, tabs=True)),
        facts=(SkillUsed(name=skill.name, bytes=given.bytes),),
    )
