"""Reads definitions of sub-agents: Markdown files with a front matter, as Claude Code and others have them.

What limits a sub-agent fails closed: if it can't be read, the definition isn't used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.choices import Mode
from keen_tui.settings.added.agent_files import AgentFile
from keen_tui.settings.added.agent_tools import ToolsProblem, read_tools, shortened
from keen_tui.settings.added.agents import BUILT_IN, BUILT_IN_SOURCE, AgentDefinition
from keen_tui.settings.added.brought import first_names
from keen_tui.settings.added.definition_files import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    SAME_NAME,
    UnusableFile,
    Unused,
    usual_form,
    visible_text,
)
from keen_tui.settings.added.front_matter import FrontMatter, FrontMatterProblem, parted
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

_LONGEST_MODEL: Final = 200

_MODES: Final[Mapping[str, Mode]] = {
    **{mode: mode for mode in get_args(Mode)},
    "default": "ask",
    "acceptedits": "auto-edit",
    "bypasspermissions": "auto",
}
"""Permission modes as they are written."""
_NO_MODES: Final = ("subagent", "all")
"""Other agents say with these, in the same field, who may start this one."""
_ISOLATIONS: Final[Mapping[str, Literal["", "worktree"]]] = {"none": "", "worktree": "worktree"}
_PARENTS_MODEL: Final = frozenset(("", "inherit", "default", "best", "sonnet", "opus", "haiku", "opusplan"))
"""Words for which the parent's model is used: the last ones name a size of model that only its maker has."""
_WITHOUT_EFFECT: Final = (
    "allowed-tools", "background", "effort", "hooks", "initialPrompt", "mcpServers", "memory", "skills",
)  # fmt: skip
"""Fields that change something in other agents and nothing here."""

Value = TypeVar("Value")


class FoundAgents(Struct, frozen=True, kw_only=True):
    """The sub-agents that were read, and sentences about files that can't be used."""

    found: tuple[AgentDefinition, ...] = ()
    problems: tuple[str, ...] = ()


class _AgentProblem(Exception):
    """Why a definition can't be used, as the end of a sentence, and perhaps a detail that follows it."""


def read_agents(files: Iterable[AgentFile]) -> FoundAgents:
    """The sub-agents that the files define: of two with the same name, the first one. Never raises."""
    found: dict[str, AgentDefinition] = {}
    unused, unsure, renamed = Unused("sub-agent"), list[str](), list[str]()
    for file in files:
        name = file.where.removeprefix(f"{file.place}/")
        try:
            agent, unknown = _read(file)
        except _AgentProblem as problem:
            unused.add(file.place, name, *problem.args)
            continue
        if agent.name in found:
            unused.add(file.place, name, SAME_NAME, f"{agent.name} in {found[agent.name].source}")
            continue
        found[agent.name] = agent
        if unknown:
            unsure.append(f"{file.where} ({unknown})")
        if agent.written_name.casefold() != agent.name:
            renamed.append(f"{agent.name} ({shortened(agent.written_name)})")
    problems = [*unused.sentences]
    if unsure:
        problems.append(
            f"These sub-agents name tools that Keen doesn't know and run without them: {first_names(unsure)}."
        )
    if renamed:
        problems.append(
            "Some sub-agents have different names here than in their files, because names may contain only "
            f"lower-case letters, digits and hyphens: {first_names(renamed)}."
        )
    return FoundAgents(found=tuple(found.values()), problems=tuple(problems))


def joined_agents(project: FoundAgents, own: FoundAgents) -> FoundAgents:
    """All sub-agents in the order of their names: one of the project goes before the user's own, and that
    before a built-in one."""
    used = {agent.name: agent for agent in BUILT_IN}
    told: list[str] = []
    for agent in own.found:
        replaced = used.get(agent.name)
        remark = ("it takes the place of the built-in one",) if replaced else ()
        used[agent.name] = replace(agent, remarks=(*agent.remarks, *remark))
    for agent in project.found:
        if other := used.get(agent.name):
            whose = "the built-in one" if other.source == BUILT_IN_SOURCE else f"yours in {other.source}"
            told.append(f"The project's sub-agent {agent.name} in {agent.source} takes the place of {whose}.")
        used[agent.name] = agent
    return FoundAgents(
        found=tuple(sorted(used.values(), key=lambda agent: agent.name)),
        problems=(*own.problems, *project.problems, *told),
    )


def _read(file: AgentFile) -> tuple[AgentDefinition, str]:
    """The sub-agent, and names in its tools that nobody knows, "" for none. Raises _AgentProblem."""
    if file.problem:
        raise _AgentProblem(file.problem)
    try:
        front = parted(visible_text(file.content))
    except UnusableFile as why:
        raise _AgentProblem(f"it {why}") from why
    except FrontMatterProblem as problem:
        raise _AgentProblem(str(problem)) from problem
    remarks = ["its front matter isn't valid YAML, and was read line by line"] if front.is_mended else []
    instructions = front.body.strip()
    if not instructions:
        raise _AgentProblem("it has no instructions: write them below the front matter")
    try:
        tools, unknown = read_tools(front, remarks)
    except ToolsProblem as problem:
        raise _AgentProblem(*problem.args) from problem
    given, name = _name(front, file, remarks)
    agent = AgentDefinition(
        name=name,
        written_name=given,
        description=_description(front, remarks),
        instructions=instructions,
        tools=tools,
        model=_model(front),
        mode=_mode(front),
        max_steps=_max_steps(front),
        isolation=_isolation(front),
        source=file.where,
        remarks=(*remarks, *_ignored(front)),
    )
    return agent, unknown


def _name(front: FrontMatter, file: AgentFile, remarks: list[str]) -> tuple[str, str]:
    """The name as it is written, and as it is used. Raises _AgentProblem."""
    written = _text(front, "name")
    if not written:
        remarks.append("it has no name; that of its file is used")
    given = written or clean(file.stem)
    name = usual_form(given)
    if not name:
        raise _AgentProblem("its name has no letters or digits")
    if name != given:
        remarks.append(
            f"its name may have only lower-case letters, digits and single hyphens, at most {LONGEST_NAME}; "
            f"it is called {name}"
        )
    return given, name


def _description(front: FrontMatter, remarks: list[str]) -> str:
    description = " ".join(_text(front, "description").replace("\\n", " ").split())
    if not description:
        remarks.append("it has no description; its first line is used")
        description = clean(first_line(front.body.strip()).lstrip("# ")) or "no description"
    if len(description) > LONGEST_DESCRIPTION:
        remarks.append(f"its description has over {LONGEST_DESCRIPTION:,} characters; the rest isn't sent")
        description = f"{description[: LONGEST_DESCRIPTION - 1].rstrip()}…"
    return description


def _model(front: FrontMatter) -> str:
    written = _text(front, "model")
    if written.casefold().removesuffix("[1m]") in _PARENTS_MODEL:
        return ""
    if len(written) > _LONGEST_MODEL or re.search(r"\s", written):
        raise _AgentProblem(f"its model is {shortened(written)}; write the name of one model, or inherit")
    return written


def _mode(front: FrontMatter) -> Mode | None:
    """Of two fields Keen's own counts."""
    own, usual = (_mode_in(front, field) for field in ("mode", "permissionMode"))
    return own or usual


def _mode_in(front: FrontMatter, field: str) -> Mode | None:
    if _text(front, field).casefold() in _NO_MODES:
        return None
    wanted = f"one of {', '.join(get_args(Mode))}"
    return _checked(front, field, wanted, lambda text: _MODES.get(text.casefold()))


def _max_steps(front: FrontMatter) -> int | None:
    found = [
        _checked(front, field, "a whole number from 1 to 999999", _count)
        for field in ("max_steps", "maxTurns")
    ]
    return next((each for each in found if each), None)


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,5}", text) else None


def _isolation(front: FrontMatter) -> Literal["", "worktree"]:
    """Raises _AgentProblem: it should work apart in another way, and it might do what it shouldn't."""
    return (
        _checked(front, "isolation", "worktree or none", lambda text: _ISOLATIONS.get(text.casefold())) or ""
    )


def _checked(
    front: FrontMatter, field: str, wanted: str, value_of: Callable[[str], Value | None]
) -> Value | None:
    """The value of a field, None if it isn't there. Raises _AgentProblem: it isn't what is wanted."""
    written = _text(front, field)
    value = value_of(written) if written else None
    if written and value is None:
        raise _AgentProblem(f"its {field} is {shortened(written)}; write {wanted}")
    return value


def _ignored(front: FrontMatter) -> tuple[str, ...]:
    there = [field for field in _WITHOUT_EFFECT if field in front.texts or field in front.others]
    return (f"Keen ignores {', '.join(there)} in it",) if there else ()


def _text(front: FrontMatter, field: str) -> str:
    """The value of a field that must be a text, "" if it isn't there. Raises _AgentProblem."""
    if field in front.others:
        raise _AgentProblem(f"its {field} isn't text: write {field}: value")
    return clean(front.texts.get(field, "")).strip()
