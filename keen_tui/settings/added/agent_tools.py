"""The tools that the definition of a sub-agent names, under Keen's names or those of other agents.

What can't be read is never taken for "all": it takes tools away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from keen_tui.domain.own_tools import FOR_AGENTS
from keen_tui.settings.added.agents import BACKGROUND_TOOLS, SERVER_SEARCH
from keen_tui.settings.added.brought import first_names
from keen_tui.settings.added.front_matter import FrontMatter
from keen_tui.text.labels import SERVER_TOOLS
from keen_tui.text.sanitize import clean

_LONGEST_SHOWN: Final = 60
"""Characters of a wrong value that a sentence shows."""
_LONGEST_NAME: Final = 200
"""Characters of the name of a tool; a longer one is none."""

_ITEM = re.compile(r"[\s,]*([^\s,()]+(?:\s*\([^()]*\))?)")
_OF_SERVER = re.compile(r"mcp(?:__|:)([\w*-]+?)(?:(?:__|:)([\w*-]+))?", re.ASCII)

_BY_NAME: Final[Mapping[str, str]] = {
    name: tool.name for tool in FOR_AGENTS for name in (tool.name, tool.usual_name.casefold(), *tool.aliases)
}
"""Names of tools in lower case, and the tool that each one means here."""
_ELSEWHERE: Final = frozenset(
    name
    for names in (
        "agent croncreate crondelete cronlist enterplanmode enterworktree exitworktree listmcpresourcestool",
        "lsp monitor notebookedit powershell readmcpresourcetool sendmessage slashcommand task taskcreate",
        "taskget tasklist taskupdate teamcreate teamdelete todoread",
    )
    for name in names.split()
)
"""Tools of other agents that no sub-agent has here. Sub-agents start none themselves."""


class ToolsProblem(Exception):
    """Why a list of tools can't be used, as the end of a sentence, and perhaps a detail that follows it."""


class _NamedTools(Struct, frozen=True, kw_only=True):
    """A list of tools: names of Keen's own, and patterns for those of servers. `limited` are those that it
    narrows to some calls, as they are written, with the tools meant; `elsewhere` and `unknown` are names that
    mean no tool."""

    everything: bool
    named: tuple[str, ...]
    limited: Mapping[str, str]
    elsewhere: tuple[str, ...]
    unknown: tuple[str, ...]


def shortened(value: str) -> str:
    """A wrong value as a sentence shows it."""
    return value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…"


def _few(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    return first_names([shortened(name) for name in names])


def read_tools(front: FrontMatter, remarks: list[str]) -> tuple[tuple[str, ...] | None, str]:
    """The tools that it may use, None for all, and the names that nobody knows, "" for none. Adds to the
    remarks what else is left out. Raises ToolsProblem."""
    wanted = _listed(front, "tools")
    refused = _listed(front, "disallowedTools")
    if refused is not None and (refused.unknown or refused.everything):
        names = "everything" if refused.everything else _few(refused.unknown)
        raise ToolsProblem(f"its disallowedTools forbid {names}; write names of tools that Keen knows")
    if wanted is not None:
        if wanted.limited:
            limited = _few(wanted.limited)
            remarks.append(f"it runs without {limited}: Keen can't limit a tool to some calls")
        if wanted.elsewhere:
            remarks.append(f"it runs without {_few(wanted.elsewhere)}: sub-agents don't have that")
        left_out = (*wanted.limited, *wanted.elsewhere, *wanted.unknown)
        if left_out and not (wanted.named or wanted.everything):
            raise ToolsProblem("none of its tools are available", _few(left_out))
    unknown = _few(wanted.unknown) if wanted else ""
    allowed = None if wanted is None or wanted.everything else _with_companions(wanted.named)
    return (_without(allowed, refused, remarks) if refused else allowed), unknown


def _with_companions(named: tuple[str, ...]) -> tuple[str, ...]:
    """With the tools that others need: one that finds those of servers, and those for background commands."""
    search = (SERVER_SEARCH,) if any(each.startswith(SERVER_TOOLS) for each in named) else ()
    background = BACKGROUND_TOOLS if "bash" in named else ()
    return tuple(dict.fromkeys((*named, *search, *background)))


def _without(
    allowed: tuple[str, ...] | None, refused: _NamedTools, remarks: list[str]
) -> tuple[str, ...] | None:
    """Without the tools that it refuses. A pattern for servers of which a part is refused goes as a whole."""
    out = {*refused.named, *refused.limited.values()}
    if allowed is not None and "bash" in out:
        out.update(BACKGROUND_TOOLS)
    if not out:
        return allowed
    if refused.limited:
        limited = _few(refused.limited)
        remarks.append(f"Keen can't forbid only {limited}, so it runs without the whole tool")
    every = (*(tool.name for tool in FOR_AGENTS), f"{SERVER_TOOLS}*") if allowed is None else allowed
    kept = tuple(each for each in every if not any(_overlap(each, other) for other in out))
    if any(each.startswith(SERVER_TOOLS) and each not in kept and each not in out for each in every):
        remarks.append("it runs without tools of MCP servers, since its disallowedTools name some of them")
    return kept


def _overlap(one: str, other: str) -> bool:
    """Whether two names or patterns may mean the same tool."""
    if "*" in one and "*" in other:
        heads = one.partition("*")[0], other.partition("*")[0]
        return heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])
    return fnmatchcase(one, other) or fnmatchcase(other, one)


def _listed(front: FrontMatter, field: str) -> _NamedTools | None:
    """The tools in a field, which is a list or a text with commas; None if it isn't there. Raises
    ToolsProblem: it can't be read."""
    if field in front.lists:
        items = [clean(each).strip() for each in front.lists[field]]
    elif field in front.others:
        raise ToolsProblem(f"its {field} can't be read: write a list of names")
    elif field in front.texts:
        items = _split(clean(front.texts[field]).strip(), field)
    else:
        return None
    return _sorted(items)


def _split(text: str, field: str) -> list[str]:
    if not text and field == "tools":
        raise ToolsProblem('its list of tools is empty: name some, or write "*" for all')
    items, place = [], 0
    while found := _ITEM.match(text, place):
        items.append(found[1])
        place = found.end()
    if text[place:].strip(" ,\t"):
        raise ToolsProblem(f"its {field} can't be read from {shortened(text[place:].strip())} on")
    return items


def _sorted(items: Iterable[str]) -> _NamedTools:
    named: list[str] = []
    limited: dict[str, str] = {}
    elsewhere: list[str] = []
    unknown: list[str] = []
    everything = False
    for item in filter(None, items):
        base, bracket, _ = item.partition("(")
        name = base.strip().casefold()
        if name in _ELSEWHERE:
            elsewhere.append(shortened(base.strip()))
        elif item == "*":
            everything = True
        elif bracket and name in _BY_NAME:
            limited[shortened(item)] = _BY_NAME[name]
        elif name in _BY_NAME:
            named.append(_BY_NAME[name])
        elif len(item) <= _LONGEST_NAME and (of_server := _OF_SERVER.fullmatch(item)):
            named.append(f"{SERVER_TOOLS}{of_server[1]}__{of_server[2] or '*'}")
        else:
            unknown.append(item)
    return _NamedTools(
        everything=everything,
        named=tuple(dict.fromkeys(named)),
        limited=limited,
        elsewhere=tuple(dict.fromkeys(elsewhere)),
        unknown=tuple(dict.fromkeys(unknown)),
    )
