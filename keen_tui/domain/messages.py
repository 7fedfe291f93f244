"""The values that all parts exchange: conversation, tool calls and results, TurnMemory. All are frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import astuple

from keen_tui.domain.display import Display
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.command_unwatched import CommandUnwatched
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.note import Note
from keen_tui.domain.facts.page_read import PageRead
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.facts.server_called import CalledTool, ServerCalled
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.facts.work_tree_changed import WorkTreeChanged

NativeMessage: TypeAlias = Mapping[str, Any]
"""One message in a provider's own wire shape (a JSON object). Opaque outside providers and pending state."""

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""The suffixes of files that a message can send as images."""

StopReason = Literal["stop", "tool_calls", "length", "refusal", "content_filter", "unknown"]
"""Why the model stopped, in terms common to all APIs. `unknown`: the server never said, or gave an unknown
reason."""

Fact: TypeAlias = (
    FileChanged | CommandFailed | CommandUnwatched | PageRead | SkillUsed | ServerCalled | WorkTreeChanged
)
"""The facts that tools report."""

KINDS: Final[tuple[type[Remembered], ...]] = (
    FileChanged,
    CommandUnwatched,
    CommandFailed,
    SkillUsed,
    CalledTool,
    WorkTreeChanged,
    Note,
    PageRead,
)
"""All kinds, in the order in which requests and people read them."""


class TurnMemory(Struct, frozen=True, kw_only=True):
    """What later turns remember of a turn: files changed (unique, first-seen order), commands failed (all, in
    order), skills in use (by name, first-seen order), and the notes that the user added.

    `by_command` are those of the changed files that only commands changed. `unwatched`: commands ran whose
    changes aren't known. `pages_read` are the addresses of the pages that were read, each once: the person
    sees them, requests never carry them. `called` are the tools of MCP servers that were called and may have
    changed something, in first-called order. `work_trees` are those in which sub-agents worked apart and
    changed something, each once.
    """

    files_changed: tuple[str, ...] = ()
    failed_bash: tuple[CommandFailed, ...] = ()
    notes: tuple[str, ...] = ()
    by_command: tuple[str, ...] = ()
    unwatched: bool = False
    pages_read: tuple[str, ...] = ()
    skills: tuple[SkillUsed, ...] = ()
    called: tuple[CalledTool, ...] = ()
    work_trees: tuple[WorkTreeChanged, ...] = ()

    def __bool__(self) -> bool:
        return any(astuple(self))

    @property
    def by_kind(self) -> Iterator[tuple[type[Remembered], tuple[Remembered, ...]]]:
        """The kinds of which it has facts, with the facts."""
        return ((kind, facts) for kind in KINDS if (facts := kind.read_from(self)))

    @property
    def facts(self) -> tuple[Remembered, ...]:
        """All facts, the user's notes included."""
        return tuple(chain.from_iterable(facts for _, facts in self.by_kind))


def turn_memory(facts: Iterable[Remembered]) -> TurnMemory:
    """Returns the facts as TurnMemory, merged by their kinds."""
    by_kind: dict[type[Remembered], list[Remembered]] = {}
    for fact in facts:
        kept = fact.remembered
        by_kind.setdefault(type(kept), []).append(kept)
    fields: dict[str, Any] = {}
    for kind, found in by_kind.items():
        fields |= kind.fields(kind.merged(found))
    return TurnMemory(**fields)


def merged_memory(memories: Iterable[TurnMemory]) -> TurnMemory:
    """Returns several memories as one, oldest first."""
    return turn_memory(chain.from_iterable(memory.facts for memory in memories))


def facts_of(memory: TurnMemory) -> tuple[Fact, ...]:
    """Returns the facts that tools reported for a memory."""
    return tuple(chain.from_iterable(fact.reported for fact in memory.facts))


class CommandRun(Struct, frozen=True, kw_only=True):
    """A command that the user ran, and what the model is told of its output and exit code."""

    command: str
    text: str


class CalledSkill(Struct, frozen=True, kw_only=True):
    """A skill that the user called with a message. `text` is what the model is given of it until the turn is
    done, `bytes` are those of the skill's own text; 0 if it couldn't be read."""

    name: str
    text: str
    bytes: int

    @property
    def facts(self) -> tuple[SkillUsed, ...]:
        """The fact that it is in use; none if it couldn't be read."""
        return (SkillUsed(name=self.name, bytes=self.bytes),) if self.bytes else ()


class Image(Struct, frozen=True, kw_only=True):
    """An image as it is sent with a message of the user. `name` is its path as written in the message,
    `media_type` for example "image/png", `content` the file, `width` and `height` are pixels."""

    name: str
    media_type: str
    width: int
    height: int
    content: bytes


class AttachedResource(Struct, frozen=True, kw_only=True):
    """A resource of an MCP server that a message names, as it was read. `text` is what the model is given of
    it, and `images` those in it; `bytes` are those of its whole content."""

    server: str
    uri: str
    text: str
    bytes: int
    images: tuple[Image, ...] = ()

    @property
    def name(self) -> str:
        """As the message names it: `github:issues://12`."""
        return f"{self.server}:{self.uri}"


class Message(Struct, frozen=True, kw_only=True):
    """One message of the conversation. `turn` is the number of the turn it belongs to, from 1.

    `ran` are the commands that the user ran before sending `text`, `images` are those that the text names,
    `skill` is the one that it calls, `resources` are those of MCP servers that it names, `context` is what
    hooks added to it; they are set only on user messages. Requests carry the last three only until the turn
    is done.

    `memory` is set only on assistant messages; None if the turn left nothing to remember. `raw` is the text
    as the model wrote it, if the `in-band` policy took a block out of it. `by_program` marks text that no
    model wrote: abandoned, undone and compacted turns. Their memory is rendered under every policy.
    """

    role: Literal["user", "assistant"]
    text: str
    turn: int
    memory: TurnMemory | None = None
    raw: str | None = None
    by_program: bool = False
    ran: tuple[CommandRun, ...] = ()
    images: tuple[Image, ...] = ()
    skill: CalledSkill | None = None
    resources: tuple[AttachedResource, ...] = ()
    context: str = ""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as it is described to the model. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ToolCall(Struct, frozen=True, kw_only=True):
    """A tool call of a complete step. `id` is unique in the request that carries it.

    `problem` says why the arguments can't be used (not JSON, not an object); `arguments` is then empty.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    problem: str | None = None


class GivenInstructions(Struct, frozen=True, kw_only=True):
    """A file of instructions below the workspace that was given with a tool result: its path from the
    workspace, and the bytes of its text."""

    name: str
    bytes: int


CallOutcome = Literal["done", "failed", "denied", "stopped", "not_run"]
"""What a tool call came to, for a person. `failed`: the tool couldn't do it, or its command ended with a
non-zero exit code. `stopped`: while it ran."""


class ToolResult(Struct, frozen=True, kw_only=True):
    """The result of a tool call, for its three readers.

    The model reads `text`; the person sees `summary` (a few words, such as "142 lines") and `display`; memory
    keeps `facts`. `ran` is false for calls that never began. A non-zero exit code isn't an error: the tool
    did what it was asked (turn.md rule 12). `read_only`: it ran without a question where it could not write.
    `outside`: it failed in its sandbox and ran again outside, after a person agreed. `instructions` are the
    files of instructions whose text is at the end of `text`. `images` go to the model with the text; events
    and session files don't have them. `unfinished`: the call waits for a retry, which goes on with it
    (turn.md rule 20); the model reads this result only if no retry comes. `left_behind` are sentences about
    changes that stayed in the sandbox, and about what it stopped when nobody could be asked.
    """

    text: str
    summary: str = ""
    display: Display | None = None
    facts: tuple[Fact, ...] = ()
    is_error: bool = False
    exit_code: int | None = None
    denied: bool = False
    interrupted: bool = False
    ran: bool = True
    sandboxed: bool = False
    read_only: bool = False
    outside: bool = False
    instructions: tuple[GivenInstructions, ...] = ()
    images: tuple[Image, ...] = ()
    unfinished: bool = False
    left_behind: tuple[str, ...] = ()

    @property
    def outcome(self) -> CallOutcome:
        if self.denied:
            return "denied"
        if self.interrupted:
            return "stopped" if self.ran else "not_run"
        return "failed" if self.is_error or self.exit_code else "done"

    @property
    def effects_unknown(self) -> bool:
        """Whether the call was stopped while it ran and could change something: its effects are unknown."""
        return self.outcome == "stopped" and not self.read_only


class WebSource(Struct, frozen=True, kw_only=True):
    """A page that a web search of the model's provider found. `title` is "" if it said none."""

    url: str
    title: str = ""


class UnknownCall(Struct, frozen=True, kw_only=True):
    """A tool call that was stopped by the user or cut off by the end of the program while it ran, so that its
    effects are unknown. `target` is what it acts on: the whole command, or a path."""

    id: str
    name: str
    target: str


class ToolStep(Struct, frozen=True, kw_only=True):
    """A step of a turn, independent of any API: the model's text, and its calls with their results."""

    text: str
    calls: tuple[tuple[ToolCall, ToolResult], ...]


class TokenUsage(Struct, frozen=True, kw_only=True):
    """Tokens of one model call as the provider reported them; None where it didn't say.

    `cached_tokens` is the part of `input_tokens` that was read from the prompt cache, `cache_write_tokens`
    the part that was written to it, `reasoning_tokens` the part of `output_tokens` spent on reasoning.
    `web_searches` is the number of searches that the provider made and charges for.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    web_searches: int | None = None


class StepReply(Struct, frozen=True, kw_only=True):
    """A complete model reply: the last thing a provider yields for a step.

    `native` are the messages to append to the trace, in the provider's own shape. `stop_word` is the server's
    own stop reason if `stop_reason` says less, else "". `is_cut`: the server itself says that the reply is
    incomplete, so none of its calls may run.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    stop_reason: StopReason
    native: tuple[NativeMessage, ...]
    usage: TokenUsage = field(default_factory=TokenUsage)
    stop_word: str = ""
    is_cut: bool = False
