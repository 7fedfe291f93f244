"""The skill that a message calls: `/pdf fill in form.pdf`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Final

from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.events import Notice, SkillCalled
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import CalledSkill, Message

_CALL: Final = re.compile(r"/([\w-]+)(?:\s+(.*))?", re.DOTALL)


async def called_skill(text: str, setup: TurnSetup) -> CalledSkill | None:
    """The skill that the message calls, as it is on the disk now; None if it calls none. One that can't be
    read has a text that says so, and no bytes."""
    shelf = setup.toolbox.skills
    call = _CALL.fullmatch(text.rstrip()) if shelf and text.startswith("/") else None
    if call is None or shelf is None:
        return None
    skill = shelf.by_name.get(call[1].lower())
    if skill is None or not skill.for_person:
        return None
    try:
        given = await asyncio.to_thread(shelf.given, skill, call[2] or "")
    except ToolFailure as failure:
        return CalledSkill(name=skill.name, text=f"[{failure}]", bytes=0)
    return CalledSkill(name=skill.name, text=given.text, bytes=given.bytes)


def publish_skill(turn: int, skill: CalledSkill | None, setup: TurnSetup) -> None:
    """Placed after the message that calls it."""
    if skill is None:
        return
    setup.publish(SkillCalled(turn=turn, skill=skill))
    if not skill.bytes:
        setup.publish(Notice(turn=turn, text=f"{skill.text[1:2].upper()}{skill.text[2:-1]}"))


def facts_of_calls(messages: Iterable[Message]) -> list[SkillUsed]:
    """The skills that messages called, as facts of their turn."""
    return [fact for message in messages if message.skill for fact in message.skill.facts]
