"""Sub-agents: what the model can give a piece of work to, as they are defined in files or built in.

A definition can only take something away: a sub-agent never has more tools, or a laxer mode, than the agent
that started it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, Literal

from msgspec import Struct

from keen_tui.domain.choices import STRICTEST_FIRST, Mode
from keen_tui.domain.own_tools import own_tool
from keen_tui.text.labels import SERVER_TOOLS
from keen_tui.text.units import counted

BUILT_IN_SOURCE: Final = "built in"

SERVER_SEARCH: Final = "mcp_search"
"""The tool that finds those of MCP servers where they are many."""

BACKGROUND_TOOLS: Final = ("task_output", "task_stop")
"""The tools that read and stop commands in the background, which go with `bash`."""


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """A sub-agent as its file defines it.

    `written_name` is the name as it is in its file. `description` says what it is for, to whoever chooses
    one; `instructions` are added to its system prompt. `tools` are names of Keen's tools, and patterns for
    those of MCP servers, `mcp__github__*`; None: all that the parent has. `model` is named as the model
    picker and `--model` name it, "" for the parent's; `mode` is the permission mode, None for the parent's.
    `max_steps` is the number of model calls; None: as many as any turn. `isolation` says where it works, ""
    for the workspace. `source` is its file for people, or "built in". `remarks` say what Keen doesn't take
    from the file.
    """

    name: str
    description: str
    instructions: str
    written_name: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""
    mode: Mode | None = None
    max_steps: int | None = None
    isolation: Literal["", "worktree"] = ""
    source: str = ""
    remarks: tuple[str, ...] = ()

    def may_use(self, tool: str) -> bool:
        """Whether the definition lets it use the tool of that full name."""
        if self.tools is None or tool in self.tools:
            return True
        patterns = (each for each in self.tools if each.startswith(SERVER_TOOLS))
        return any(fnmatchcase(tool, pattern) for pattern in patterns)

    def mode_under(self, mode: Mode) -> Mode:
        """Its permission mode while its parent's is `mode`: the stricter of both."""
        return mode if self.mode is None else min(self.mode, mode, key=STRICTEST_FIRST.index)

    @property
    def only_reads(self) -> bool:
        """Whether none of its tools can change anything."""
        return self.tools is not None and _only_read(self.tools)

    @property
    def rights(self) -> str:
        """Its tools in words: `all tools`, `reads only`, `4 tools, MCP tools`."""
        if self.tools is None:
            return "all tools"
        of_servers = ["MCP tools"] if any(each.startswith(SERVER_TOOLS) for each in self.tools) else []
        companions = (SERVER_SEARCH, *BACKGROUND_TOOLS)
        own = [each for each in self.tools if not each.startswith((SERVER_TOOLS, *companions))]
        words = ["reads only" if _only_read(own) else counted(len(own), "tool")] if own else []
        return ", ".join(words + of_servers) or "no tools"


def _only_read(tools: Iterable[str]) -> bool:
    return all(own_tool(name).reads for name in tools)


_EXPLORE: Final = """\
You look for things in a project and find out how they work. You only read: you can't change files or run \
commands.

How to work:
- Begin with names and contents of files, then read the parts that matter instead of whole files.
- Make searches that don't depend on each other in one step.
- If a search finds nothing, try other names and spellings before you say that something isn't there.
- Stop as soon as you can answer what was asked. If you were told how thorough to be, keep to that.

The caller gets only your last message, and nothing that you read. It must be complete on its own, and brief:
- First the answer, in a few sentences.
- Then the places that show it, each as path:line with what is there. Quote code only where the exact words \
matter.
- Then what you didn't find or aren't sure of, and where you looked.
Leave out how you searched, and give no advice beyond the question.
"""

_GENERAL: Final = """\
You do one piece of work on your own, from start to finish. The caller doesn't see your steps and can't \
answer between them.

How to work:
- Do what you were asked, and nothing else. If you find something else that matters, report it.
- Read before you change anything, and follow the style of the code around it.
- Check your result: run the tests or the program, or read again what you wrote.
- If something stops you, do what can be done without it, and say exactly what is missing.

Your last message is all that the caller gets. It must be complete on its own, and brief:
- First the result: what is done, and what isn't.
- Then the files that you changed, and in each what changed, with paths and line numbers.
- Then how you checked it and what came out, and what the caller needs to know or decide.
"""

BUILT_IN: Final = (
    AgentDefinition(
        name="explore",
        description=(
            "Looks for things and finds out how they work, in files and on web pages. It only reads. Use it "
            "for a search that takes several steps, or where much has to be read and little of it is needed. "
            "Say what you want to know, what you know already, and how thorough to be. It returns a brief "
            "report with paths and line numbers."
        ),
        instructions=_EXPLORE,
        tools=("read_file", "glob_files", "grep_files", "web_fetch", "web_search"),
        source=BUILT_IN_SOURCE,
    ),
    AgentDefinition(
        name="general",
        description=(
            "Does a piece of work with several steps on its own: reads, edits files, runs commands, checks "
            "the result. Use it for work that can be described completely and whose steps you needn't see. "
            "It knows nothing of this conversation: say what to do, what it may change, what you know "
            "already, and what to report."
        ),
        instructions=_GENERAL,
        source=BUILT_IN_SOURCE,
    ),
)
"""The sub-agents that are always there. One from a file with the same name takes the place of one of them."""
