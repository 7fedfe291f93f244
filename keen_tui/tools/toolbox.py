"""The model's tools. A new tool is one file and one line here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolCall, ToolResult, ToolSpec
from keen_tui.domain.own_tools import own_tool
from keen_tui.settings.additions import NO_ADDITIONS, Additions
from keen_tui.system.child_environment import api_keys
from keen_tui.system.executables import find_program
from keen_tui.text.redaction import taken_out
from keen_tui.text.sanitize import clean
from keen_tui.tools.background.tasks import BackgroundTasks
from keen_tui.tools.builtin.ask_user import AskUser
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.builtin.edit_file import EditFile
from keen_tui.tools.builtin.glob_files import GlobFiles
from keen_tui.tools.builtin.grep_files import GrepFiles
from keen_tui.tools.builtin.propose_plan import ProposePlan
from keen_tui.tools.builtin.read_file import ReadFile
from keen_tui.tools.builtin.recall import Recall
from keen_tui.tools.builtin.task import Task
from keen_tui.tools.builtin.task_output import TaskOutput
from keen_tui.tools.builtin.task_stop import TaskStop
from keen_tui.tools.builtin.todo_write import TodoList, TodoWrite
from keen_tui.tools.builtin.web_fetch import WebFetch, page_fetcher
from keen_tui.tools.builtin.write_file import WriteFile
from keen_tui.tools.calls.earlier_turns import EarlierTurns
from keen_tui.tools.calls.tool import PreparedCall, Run, Tool
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.known_files import KnownFiles
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.git.stale_shadow import saved_commits
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.process.user_command import OwnCommands
from keen_tui.tools.quarantine.store import Quarantine
from keen_tui.tools.rules.rules import NO_RULES, Rules
from keen_tui.tools.sandbox.command_network import NO_NETWORK, CommandNetwork
from keen_tui.tools.sandbox.probe import SandboxFinder, no_sandbox
from keen_tui.tools.search.search import Searcher
from keen_tui.tools.work_tree.watch import CommandWatch

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition
    from keen_tui.settings.added.mcp_servers import McpServer
    from keen_tui.settings.added.skills import Skill
    from keen_tui.tools.builtin.skills import SkillShelf
    from keen_tui.tools.files.workspace import EditorFiles
    from keen_tui.tools.functions.signature import FunctionSpec
    from keen_tui.tools.mcp.link import AuthFactory
    from keen_tui.tools.mcp.servers import SessionServers


class SharedParts(Struct, frozen=True, kw_only=True):
    """The objects that the tools of a session share.

    `sandbox` finds the sandbox for commands, `todos` is the model's list, `own_commands` runs the user's
    commands. `keys` returns the API keys to remove from every result; it may read files. `quarantine` has new
    files of commands that were set aside. `earlier` is the record that `recall` reads. `watch` finds what
    commands change; None: nobody does. `skills` are those that can be used, None if there are none. `servers`
    are the MCP servers, None without any: their tools come and go. `tasks` are the commands in the
    background. `known` is what the model knows of files. `saved_commits` saves those of a command that ran
    when Keen was killed, and returns sentences; it blocks.
    """

    sandbox: SandboxFinder = field(default_factory=no_sandbox)
    todos: TodoList = field(default_factory=TodoList)
    own_commands: OwnCommands = field(default_factory=lambda: OwnCommands(Path.cwd(), lambda: None))
    keys: Callable[[], Collection[str]] = tuple
    quarantine: Quarantine | None = None
    earlier: EarlierTurns = field(default_factory=EarlierTurns)
    watch: CommandWatch | None = None
    skills: SkillShelf | None = None
    servers: SessionServers | None = None
    tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    known: KnownFiles = field(default_factory=KnownFiles)
    saved_commits: Callable[[], Sequence[str]] = tuple


class Toolbox:
    """Finds the tool for a call. The other attributes are those of `SharedParts`."""

    def __init__(self, tools: Sequence[Tool], parts: SharedParts | None = None) -> None:
        self._parts = parts = parts or SharedParts()
        self.sandbox, self.todos, self.own_commands = parts.sandbox, parts.todos, parts.own_commands
        self.earlier, self.watch, self.skills, self.servers = (
            parts.earlier, parts.watch, parts.skills, parts.servers
        )  # fmt: skip
        self.tasks, self.known, self.saved_commits = parts.tasks, parts.known, parts.saved_commits
        self._keys, self._quarantine = parts.keys, parts.quarantine
        self._tools = {tool.spec.name: tool for tool in tools}
        self._task = next((tool for tool in tools if isinstance(tool, Task)), None)

    @property
    def set_aside(self) -> tuple[str, ...]:
        """The files of commands that were set aside, with their folders. Blocks."""
        kept = self._quarantine.all() if self._quarantine else ()
        return tuple(f"{each.listed}: {each.folder}" for each in kept)

    def undecided_files(self) -> tuple[str, ...]:
        """A sentence for each batch of such files that the user hasn't decided about; returned once.
        Blocks."""
        kept = self._quarantine.undecided() if self._quarantine else ()
        why = "a command created it, it can run code later, and you haven't decided about it yet"
        return tuple(f"Set aside in {each.folder}: {each.listed} ({why})." for each in kept)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model gets them, always in the same order."""
        own = tuple(tool.spec for tool in self._tools.values())
        return (*own, *self.servers.offered) if self.servers else own

    def target(self, call: ToolCall) -> str:
        """Returns the target of the call in a few words; "" if it isn't known."""
        tool = self._tool(call.name)
        return tool.target(call.arguments) if tool else ""

    def only_reads(self, call: ToolCall) -> bool:
        """Whether the call changes nothing."""
        tool = self._tool(call.name)
        if tool is not None and tool is self._task:
            return self._task.only_reads_with(call.arguments)
        return tool is not None and tool.only_reads

    async def prepare(self, call: ToolCall) -> PreparedCall:
        """Check the call without touching anything.

        Raises:
            ToolFailure: there is no such tool, the arguments aren't a JSON object, or the tool refuses.
        """
        tool = self._tool(call.name)
        if tool is None:
            known = ", ".join(spec.name for spec in self.specs)
            raise ToolFailure(f"there is no tool {clean(call.name)[:80]!r}. There are: {known}.")
        if call.problem:
            raise ToolFailure(call.problem)
        keys = await asyncio.to_thread(self._keys)
        with _no_key_in_failures(keys):
            prepared = await tool.prepare(call.arguments)
        return replace(
            prepared,
            display=taken_out(keys, prepared.display),
            run=_without(keys, prepared.run),
            after_yes=prepared.after_yes and _without(keys, prepared.after_yes),
            trial=prepared.trial and replace(prepared.trial, run=_without(keys, prepared.trial.run)),
            outside=prepared.outside and replace(prepared.outside, run=_without(keys, prepared.outside.run)),
        )

    def narrowed(self, agent: AgentDefinition, parent: Toolbox, own: Sequence[Tool] = ()) -> Toolbox:
        """The toolbox of a sub-agent: its tools of these, and of those that the servers of its parent offer
        now. It finds changes of commands as its parent does, unless it works elsewhere. `own` are tools that
        it has besides."""
        offered = parent.servers.offered if parent.servers else ()
        of_servers = (parent.servers.tools.get(spec.name) for spec in offered if parent.servers)
        known = (*self._tools.values(), *filter(None, of_servers))
        usable = [each for each in known if agent.may_use(each.spec.name)]
        self.known.author = parent.known.author
        return Toolbox(
            [*(each for each in usable if own_tool(each.spec.name).of == "all"), *own],
            replace(self._parts, watch=self.watch or parent.watch, servers=None, saved_commits=tuple),
        )

    async def without_keys(self, text: str) -> str:
        """A text from outside with API keys taken out, as they are from results."""
        return taken_out(await asyncio.to_thread(self._keys), text)

    def _tool(self, name: str) -> Tool | None:
        own = self._tools.get(name)
        return self.servers.tool(name) if own is None and self.servers else own


def _without(keys: Collection[str], run: Run) -> Run:
    """The same call, with API keys removed from its result."""

    async def cleaned(on_output: OutputSink) -> ToolResult:
        with _no_key_in_failures(keys):
            return taken_out(keys, await run(on_output))

    return cleaned


@contextmanager
def _no_key_in_failures(keys: Collection[str]) -> Iterator[None]:
    try:
        yield
    except ToolFailure as failure:
        raise ToolFailure(taken_out(keys, str(failure))) from None


class CommandTerms(Struct, frozen=True, kw_only=True):
    """How commands run.

    `sandbox` finds the sandbox; None: they run without one. `network` is the network access that they have in
    it, and the addresses that pages may have. With `read_only_first`, one that would ask runs first where it
    can write nothing. `aside` is the folder for new files that would run code later; None: they stay in
    place. `scratch` is the folder for what belongs to commands; None: nobody watches what they change.
    `watched` says whether the user wants that.
    """

    sandbox: SandboxFinder | None = None
    network: CommandNetwork = NO_NETWORK
    read_only_first: bool = True
    aside: Path | None = None
    scratch: Path | None = None
    watched: bool = True


USUAL_TERMS: Final = CommandTerms()


class ProgramParts(Struct, frozen=True):
    """The parts that the program that runs Keen brings along: `functions` are its tools, `editor` has the
    files as the person sees them; None: those on the disk count."""

    functions: Sequence[FunctionSpec] = ()
    editor: EditorFiles | None = None


NO_PARTS: Final = ProgramParts()


def build_toolbox(
    root: Path,
    backup: Backup | None = None,
    *,
    rules: Rules = NO_RULES,
    commands: CommandTerms = USUAL_TERMS,
    additions: Additions = NO_ADDITIONS,
    auth: AuthFactory | None = None,
    program: ProgramParts = NO_PARTS,
    caller: Path | None = None,
    key_variables: Callable[[], Iterable[str]] = tuple,
    use_rg: bool = True,
) -> Toolbox:
    """All tools for the workspace `root`.

    Args:
        backup: saves the content of files before a change.
        rules: the user's rules.
        commands: how commands run.
        additions: the skills that can be used, whose folders can be read without a question, the MCP servers
            and the sub-agents that can be called.
        auth: signs requests to servers.
        program: what the program that runs Keen brings along.
        caller: the folder of the caller of a sub-agent that works apart; None for everyone else.
        key_variables: further names of variables with API keys, besides those whose name says so.
        use_rg: False searches in Python even if ripgrep is installed.
    """
    named = cache(lambda: tuple(key_variables()))

    def keys() -> frozenset[str]:
        return api_keys(os.environ, named())

    folders = [skill.folder for skill in additions.skills]
    workspace = Workspace(root, backup, rules, folders, program.editor, caller)
    sandbox = commands.sandbox or no_sandbox()
    shelf, skill_tools = _with_skills(workspace, additions.skills)
    servers = additions.servers
    watch = None
    if scratch := commands.scratch:
        watch = CommandWatch(workspace.root, scratch, backup, keys, watches=commands.watched)
    parts = SharedParts(
        sandbox=sandbox,
        own_commands=OwnCommands(workspace.root, workspace.new_output_file, named),
        keys=keys,
        quarantine=Quarantine(commands.aside, workspace.root) if commands.aside else None,
        watch=watch,
        skills=shelf,
        servers=_built_servers(servers, workspace, sandbox, auth) if servers else None,
        known=workspace.known,
        saved_commits=partial(saved_commits, workspace.root, scratch) if scratch else tuple,
    )
    searcher = Searcher(workspace, find_program("rg") if use_rg else None)
    own = _own_tools(workspace, searcher, commands, parts)
    agents = [Task(additions.agents)] if additions.agents else []
    functions = _built_functions(program.functions, workspace) if program.functions else ()
    return Toolbox((*own, *skill_tools, *agents, *functions), parts)


def _own_tools(
    workspace: Workspace, searcher: Searcher, commands: CommandTerms, parts: SharedParts
) -> tuple[Tool, ...]:
    """The tools that every session has, in the order in which the model gets them."""
    return (
        ReadFile(workspace),
        WriteFile(workspace, parts.keys),
        EditFile(workspace),
        GlobFiles(workspace, searcher),
        GrepFiles(workspace, searcher),
        Bash(
            workspace,
            parts.sandbox,
            parts.keys,
            commands.network,
            tasks=parts.tasks,
            read_only_first=commands.read_only_first,
            quarantine=parts.quarantine,
        ),
        TaskOutput(parts.tasks),
        TaskStop(parts.tasks),
        AskUser(),
        TodoWrite(parts.todos),
        ProposePlan(),
        Recall(workspace, searcher, parts.earlier),
        WebFetch(workspace, partial(page_fetcher, commands.network.internet), parts.keys),
    )


def _with_skills(workspace: Workspace, skills: Sequence[Skill]) -> tuple[SkillShelf | None, Sequence[Tool]]:
    """The skills, and the tool that gives them to the model; nothing of it is loaded if there are none."""
    if not skills:
        return None, ()
    from keen_tui.tools.builtin.skill import UseSkill  # noqa: PLC0415 - only where there are skills
    from keen_tui.tools.builtin.skills import SkillShelf  # noqa: PLC0415

    shelf = SkillShelf(skills)
    return shelf, (UseSkill(workspace, shelf),)


def _built_functions(functions: Sequence[FunctionSpec], workspace: Workspace) -> Sequence[Tool]:
    from keen_tui.tools.functions.function_tool import FunctionTool  # noqa: PLC0415 - only where there are any

    return [FunctionTool(each, workspace) for each in functions]


def _built_servers(
    servers: Sequence[McpServer], workspace: Workspace, sandbox: SandboxFinder, auth: AuthFactory | None
) -> SessionServers:
    from keen_tui.tools.mcp.server import ServerNeeds  # noqa: PLC0415 - not without a server
    from keen_tui.tools.mcp.servers import SessionServers  # noqa: PLC0415

    around = ServerNeeds(root=workspace.root, sandbox=sandbox, auth=auth)
    return SessionServers(servers, around, workspace.new_output_file)
