"""The model's tools. A new tool is one file and one line here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolCall, ToolResult, ToolSpec
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
from keen_tui.tools.calls.earlier import EarlierTurns
from keen_tui.tools.calls.tool import PreparedCall, Run, Tool
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.known_files import KnownFiles
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.git.stale_shadow import saved_commits
from keen_tui.tools.process.captured import OutputSink
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


_PARENT_ONLY: Final = frozenset(("propose_plan", "recall"))
"""Tools that no sub-agent gets: only the person's own session has plans, and earlier turns."""


class Toolbox:
    """Finds the tool for a call.

    `sandbox` finds the sandbox for commands, `todos` is the model's list, `own_commands` runs the user's
    commands. `keys` returns the API keys to remove from every result; it may read files. `quarantine` has new
    files of commands that were kept back. `earlier` is the record that `recall` reads. `watch` finds what
    commands change; None: nobody does. `skills` are those that can be used, None if there are none. `servers`
    are the MCP servers, None without any: their tools come and go. `tasks` are the commands in the
    background. `known` is what the model knows of files. `saved_commits` saves those of a command that ran
    when Keen was killed, and returns sentences; it blocks.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        sandbox: SandboxFinder | None = None,
        todos: TodoList | None = None,
        own_commands: OwnCommands | None = None,
        keys: Callable[[], Collection[str]] = tuple,
        quarantine: Quarantine | None = None,
        earlier: EarlierTurns | None = None,
        watch: CommandWatch | None = None,
        skills: SkillShelf | None = None,
        servers: SessionServers | None = None,
        tasks: BackgroundTasks | None = None,
        known: KnownFiles | None = None,
        saved_commits: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.saved_commits = saved_commits
        self.known = known or KnownFiles()
        self.watch = watch
        self.tasks = tasks or BackgroundTasks()
        self.skills = skills
        self.servers = servers
        self._keys = keys
        self._quarantine = quarantine
        self.own_commands = own_commands or OwnCommands(Path.cwd(), lambda: None)
        self.sandbox = sandbox or no_sandbox()
        self.todos = todos or TodoList()
        self.earlier = earlier or EarlierTurns()
        self._tools = {tool.spec.name: tool for tool in tools}
        self._task = next((tool for tool in tools if isinstance(tool, Task)), None)

    @property
    def kept_back(self) -> tuple[str, ...]:
        """The files of commands that were kept back, with their folders. Blocks."""
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
        """What the call acts on, in a few words; "" if that isn't known."""
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
            [*(each for each in usable if each.spec.name not in _PARENT_ONLY), *own],
            self.sandbox,
            self.todos,
            self.own_commands,
            self._keys,
            self._quarantine,
            self.earlier,
            self.watch or parent.watch,
            self.skills,
            tasks=self.tasks,
            known=self.known,
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


def build_toolbox(
    root: Path,
    backup: Backup | None = None,
    *,
    rules: Rules = NO_RULES,
    sandbox: SandboxFinder | None = None,
    network: CommandNetwork = NO_NETWORK,
    rg: str | None = None,
    use_rg: bool = True,
    key_variables: Callable[[], Iterable[str]] = tuple,
    read_only_first: bool = True,
    kept_back: Path | None = None,
    scratch: Path | None = None,
    watches_commands: bool = True,
    skills: Sequence[Skill] = (),
    servers: Sequence[McpServer] = (),
    auth: AuthFactory | None = None,
    caller: Path | None = None,
    agents: Sequence[AgentDefinition] = (),
    editor: EditorFiles | None = None,
    functions: Sequence[FunctionSpec] = (),
) -> Toolbox:
    """All tools for the workspace `root`.

    Args:
        backup: saves the content of files before a change.
        rules: the user's rules.
        sandbox: finds the sandbox for commands; None: they run without one.
        network: the network access of sandboxed commands, and the addresses that pages may have.
        rg: path of ripgrep; None looks it up in PATH.
        use_rg: False searches in Python even if ripgrep is installed.
        key_variables: further names of variables with API keys, besides those whose name says so.
        read_only_first: a command that would ask runs first where it can write nothing.
        kept_back: the folder for new files of commands that would run code later; None: they stay in place.
        scratch: the folder for what belongs to commands; None: they aren't watched.
        watches_commands: whether the user wants them to be watched.
        skills: those that can be used; their folders can be read without a question.
        servers: the MCP servers.
        auth: signs requests to servers.
        caller: the folder of the caller of a sub-agent that works apart; None for everyone else.
        agents: the sub-agents that can be called.
        editor: has the files as the person sees them; None: the disk has.
        functions: the tools of the program that runs Keen.
    """
    sandbox, todos, earlier = sandbox or no_sandbox(), TodoList(), EarlierTurns()
    tasks = BackgroundTasks()
    named = cache(lambda: tuple(key_variables()))

    def keys() -> frozenset[str]:
        return api_keys(os.environ, named())

    folders = [skill.folder for skill in skills]
    workspace = Workspace(root, backup, rules, folders, editor, caller)
    shelf, skill_tools = _with_skills(workspace, skills)
    quarantine = Quarantine(kept_back, workspace.root) if kept_back else None
    searcher = Searcher(workspace, (rg or find_program("rg")) if use_rg else None)
    return Toolbox(
        (
            ReadFile(workspace),
            WriteFile(workspace, keys),
            EditFile(workspace),
            GlobFiles(workspace, searcher),
            GrepFiles(workspace, searcher),
            Bash(
                workspace,
                sandbox,
                keys,
                network,
                tasks=tasks,
                read_only_first=read_only_first,
                quarantine=quarantine,
            ),
            TaskOutput(tasks),
            TaskStop(tasks),
            AskUser(),
            TodoWrite(todos),
            ProposePlan(),
            Recall(workspace, searcher, earlier),
            WebFetch(workspace, partial(page_fetcher, network.internet), keys),
            *skill_tools,
            *([Task(agents)] if agents else []),
            *(_built_functions(functions, workspace) if functions else ()),
        ),
        sandbox,
        todos,
        OwnCommands(workspace.root, workspace.new_output_file, named),
        keys,
        quarantine,
        earlier,
        CommandWatch(workspace.root, scratch, backup, keys, watches=watches_commands) if scratch else None,
        shelf,
        _built_servers(servers, workspace, sandbox, auth) if servers else None,
        tasks,
        workspace.known,
        partial(saved_commits, workspace.root, scratch) if scratch else tuple,
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
