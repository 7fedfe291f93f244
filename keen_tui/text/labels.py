"""Words that all readers of a session share: names of tools, and why turns end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.display import ChangeKind, CommandDisplay, Display, PageDisplay
from keen_tui.domain.errors import PROGRAM_ENDED, EndReason
from keen_tui.domain.events import HostContacted, TurnDone, TurnError, TurnIncomplete, WebSearched
from keen_tui.domain.facts.remembered import FactRow
from keen_tui.domain.messages import AttachedResource, CalledSkill, Image, TurnMemory, UnknownCall
from keen_tui.domain.own_tools import own_tool
from keen_tui.domain.servers import ServerPrompt
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, duration, size

SERVER_TOOLS: Final = "mcp__"
"""How the names of the tools of MCP servers begin."""

_TARGET_LENGTH: Final = 200

MODES: Final[Mapping[Mode, str]] = {
    "ask": "reading and read-only commands run; everything else asks",
    "auto-edit": "edits and sandboxed commands run; everything else asks",
    "plan": "read-only; commands can't change anything",
    "auto": "everything runs; only new web hosts ask, and commands without a sandbox",
}
"""What runs without asking in each permission mode."""

_MOST_NAMED: Final = 4
"""Files of a kind that are named; more are counted."""

CARRIED: Final[Mapping[PolicyName, str]] = {
    "summary": "messages, changed files, failed commands",
    "in-band": "messages, and notes that the model writes",
    "full-trace": "messages, and every call with its output",
}
"""What later turns get of a finished turn under each memory policy."""

REASONS: Mapping[EndReason, str] = {
    "provider": "the model server failed",
    "auth": "the key was refused",
    "network": "no connection to the model server",
    "cut": "the reply was cut off",
    "stalled": "the model server went silent",
    "empty": "the model sent an empty reply",
    "step_limit": "the step limit was reached",
    "context": "the context window is full",
    "interrupted": "you stopped it",
    "hook": "a hook stopped it",
    "internal": "a bug in Keen TUI",
}
"""Why a turn ended, as a sentence for its block."""


DETAILED: Final = frozenset(("provider", "auth", "context", "hook", "internal", "network"))
"""Reasons whose detail says more than their words."""

OF_THE_SERVER: Final = frozenset(("provider", "auth", "network"))
"""Reasons that another model, key or server may help against."""


def tool_label(name: str) -> str:
    """The name of a tool for a person. Of a tool of an MCP server the target says which one it is."""
    if name.startswith(SERVER_TOOLS):
        return "mcp"
    return own_tool(name).label or clean(name)


def beside_name(name: str, target: str) -> str:
    """The target of a call as it follows the name of the tool: a command `bash run.sh` doesn't name bash
    again."""
    return target.removeprefix(f"{name} ")


def call_line(name: str, target: str) -> str:
    """A call in one line: `bash make deploy`."""
    return f"{tool_label(name)} {beside_name(name, target)}".rstrip()


def unknown_call(call: UnknownCall) -> str:
    """A call whose effects nobody knows, in one line."""
    target = clean(call.target)
    cut = target if len(target) <= _TARGET_LENGTH else f"{target[:_TARGET_LENGTH]}…"
    return call_line(call.name, cut)


def changed_words(display: Display | None) -> str:
    """What a command changed, in a row: `changed src/a.py; created 30 files`; "" for nothing."""
    if not isinstance(display, CommandDisplay):
        return ""
    by_kind: dict[ChangeKind, list[str]] = {}
    for file in display.changed:
        by_kind.setdefault(file.change, []).append(clean(file.path))
    words = [
        f"{kind} {', '.join(paths) if len(paths) <= _MOST_NAMED else counted(len(paths), 'file')}"
        for kind, paths in sorted(by_kind.items())
    ]
    more = [f"{display.more_changed:,} more"] if display.more_changed else []
    return "; ".join(words + more)


def image_line(image: Image) -> str:
    """What is said of an image: `image docs/shot.png, 840 × 525, 112 kB`."""
    return f"image {clean(image.name)}, {image.width} × {image.height}, {size(len(image.content))}"


def drawn(row: FactRow) -> FactRow:
    """Returns the row with its size in words, safe to draw."""
    came_to = clean(row.came_to) if row.bytes is None else size(row.bytes)
    return replace(row, text=clean(row.text), came_to=came_to)


def memory_words(memory: TurnMemory, *, carried: bool = True) -> str:
    """`changed a.py, b.py; failed: pytest -q (exit 1)`, "" for none; not `carried`: what no request says."""
    said = []
    for kind, facts in memory.by_kind:
        phrases = (row.text if row.phrase is None else row.phrase for row in kind.rows(facts))
        words = ", ".join(map(clean, phrases))
        if words and kind.LABEL and carried == kind.IS_CARRIED:
            said.append(kind.LABEL + words)
    return "; ".join(said)


def kept_words(calls: int, agents: int) -> str:
    """The work that an incomplete turn keeps: `3 calls`, `1 call, 2 sub-agents midway`."""
    finished = [counted(calls, "call")] if calls or not agents else []
    midway = [f"{counted(agents, 'sub-agent')} midway"] if agents else []
    return ", ".join(finished + midway)


def kept_parts(end: TurnIncomplete) -> list[str]:
    """`3 calls`, `1 changed file`, `18.2 kB`: what an incomplete turn keeps."""
    changed = len(end.turn_memory.files_changed)
    files = [counted(changed, "changed file")] if changed else []
    return [kept_words(end.calls, end.agents), *files, size(end.trace_bytes)]


def done_words(end: TurnDone, cost: float | None, carried: str = "") -> list[str]:
    """What the row of a finished turn says. `carried` are the bytes that later requests have of it."""
    changed, retries = len(end.turn_memory.files_changed), end.attempt - 1
    words = (
        f"turn {end.turn} done",
        duration(end.seconds),
        counted(end.calls, "call") if end.calls else "",
        f"{counted(changed, 'file')} changed" if changed else "",
        f"carries {carried}" if carried else "",
        f"after {counted(retries, 'retry', 'retries')}" if retries > 0 else "",
        dollars(cost) if cost else "",
    )
    return [word for word in words if word]


def asker_and(agent: str, question: str) -> str:
    """`Sub-agent explore: Read this file?`; the question alone if no sub-agent asks."""
    return f"Sub-agent {clean(agent)}: {question}" if agent else question


def page_line(page: PageDisplay) -> str:
    """What is said of a page that was fetched: `https://a.org/x, 200, text/html, 48 kB`."""
    kind = (page.media_type,) if page.media_type else ()
    return clean(", ".join((page.url, str(page.status), *kind, size(page.bytes))))


def skill_line(skill: CalledSkill) -> str:
    """What is said of a skill that a message calls: `skill pdf, 4.2 kB`."""
    return f"skill {clean(skill.name)}, {size(skill.bytes) if skill.bytes else 'not read'}"


def resource_line(resource: AttachedResource) -> str:
    """What is said of a resource that a message names: `resource github:issues://12, 3.2 kB`."""
    return f"resource {clean(resource.name)}, {size(resource.bytes)}"


def search_line(event: WebSearched) -> str:
    """What is said of a web search: `searched the web: python 3.14 release, 5 pages`."""
    query = clean(event.query) or "(it doesn't say what for)"
    came_to = clean(event.problem) or (counted(len(event.sources), "page") if event.sources else "")
    return ", ".join(filter(None, (f"searched the web: {query}", came_to)))


def source_lines(event: WebSearched) -> list[str]:
    """The pages that a web search found, each with its title and its address."""
    return [clean(f"{source.title} {source.url}".strip()) for source in event.sources]


def contact_line(event: HostContacted) -> str:
    """What is said of a host that a command wanted: `reached a.org`, `did not reach a.org: why`."""
    host = clean(event.host)
    return f"did not reach {host}: {clean(event.problem)}" if event.problem else f"reached {host}"


def why_ended(end: TurnIncomplete | TurnError) -> str:
    """Why the turn ended, as a sentence for its block."""
    return "the program ended" if end.detail == PROGRAM_ENDED else REASONS[end.reason]


def shortly_why(end: TurnIncomplete | TurnError) -> str:
    """The same in two words, and after how long, where that is known."""
    if end.detail == PROGRAM_ENDED:
        return "program ended"
    return f"{SHORT_REASONS[end.reason]} after {duration(end.seconds)}"


SHORT_REASONS: Mapping[EndReason, str] = {
    "provider": "server failed",
    "auth": "key refused",
    "network": "no connection",
    "cut": "reply cut",
    "stalled": "server silent",
    "empty": "empty reply",
    "step_limit": "step limit",
    "context": "context full",
    "interrupted": "stopped",
    "hook": "stopped by a hook",
    "internal": "internal error",
}
"""The same in two words, for rows."""


def prompt_hint(prompt: ServerPrompt) -> str:
    """What is written behind the command of a server's prompt: optional arguments stand in brackets."""
    names = ((clean(each.name)[:40], each.is_required) for each in prompt.arguments)
    return " ".join(name if is_required else f"[{name}]" for name, is_required in names)
