"""bash: a shell command in the workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay, PartDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.sanitize import clean
from keen_tui.tools.access.access import Access
from keen_tui.tools.background.movable import MovableOutput
from keen_tui.tools.background.task_record import HeldOutput
from keen_tui.tools.background.task_text import moved_result, started_result
from keen_tui.tools.background.tasks import BackgroundTasks, EndedTask
from keen_tui.tools.builtin.shell_run import MOST_NAMED, ShellRun, why_outside
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import Outside, PreparedCall, Run, Trial
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.git.shown_repository import GitUse, git_in
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.process.command_output import CommandOutput
from keen_tui.tools.process.command_result import command_result
from keen_tui.tools.process.process import Ended, run_command
from keen_tui.tools.quarantine.new_entries import NewEntryFinder
from keen_tui.tools.quarantine.new_files import NewFiles
from keen_tui.tools.quarantine.store import Quarantine
from keen_tui.tools.sandbox.base import ORDINARY, Launch, Sandbox, Terms, in_thread
from keen_tui.tools.sandbox.command_network import NO_NETWORK, NO_RETRIES, CommandNetwork, online
from keen_tui.tools.sandbox.failure_signs import named_among
from keen_tui.tools.sandbox.home_files import CommandHome
from keen_tui.tools.sandbox.noted_entries import noted_entries
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from keen_tui.tools.sandbox.trial import unfinished
from keen_tui.tools.shell.grammar import stays_in_background
from keen_tui.tools.shell.shown_parts import shown_parts

_NOT_IN_YOURS = "[written only to the sandbox's own home: {}]"
_HIDDEN = "[{} may hold keys or passwords, so this command could not read it]"

_RAN_READ_ONLY = "[it ran read-only]"
_RUNS_READ_ONLY = "[it runs read-only; if it has to change files, end it and start it again with background]"
_ASKS = "it waits for your answer to a question; answer that first."
_NOTHING_WRITTEN = Terms(writes=False, hides_tracked=True)

DEFAULT_TIMEOUT = 120
LONGEST_TIMEOUT = 600

FIRST_LOOK = 1.0
"""Seconds after which a call that starts a command in the background returns."""


class Bash:
    """Runs a command with `bash -c` (or `sh -c`), always from the workspace root."""

    spec = ToolSpec(
        name="bash",
        description=(
            "Run a shell command (bash -c). It starts in the workspace root each time: cd, variables and "
            "functions do not last from one command to the next, so join dependent commands with &&. "
            "Standard input is empty and there is no terminal: use options that never prompt. Processes left "
            "in the background are killed when the command ends: to start a server or a watcher, set "
            "background. "
            "Where there is a sandbox, commands run in "
            "it: they can write only to the workspace (except .keen), to a home folder of their own "
            "and to $TMPDIR (/tmp if that is not set). They have no network, or reach it through a proxy "
            "(see HTTP_PROXY) that asks the user about each new host. Files in that home folder and in tmp "
            "stay for later commands until the program ends. Git works as usual and runs hooks. "
            "Existing hooks can't be changed; new ones, and settings that could run programs, stay in the "
            "sandbox, and the result says so. If a "
            "command fails because it needs more than that, the user is asked whether to run it again "
            "outside the sandbox. A command may run "
            "read-only first, before the user is asked; the result says so. If it was meant to change files "
            "and did not, call it again with changes_files. Output is stdout "
            "and stderr in order; for long output you get the beginning and the end, and the name of a "
            "file with all of it. "
            "Files that can run code later (Makefile, package.json, AGENTS.md, CI files, editor "
            "settings) are set aside when a command creates them, until the user approves: create them "
            "with write_file. "
            "To read, search or change files, prefer the other tools."
        ),
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command to run."},
                "timeout": {
                    "type": "integer",
                    "description": f"In seconds; default {DEFAULT_TIMEOUT}, at most {LONGEST_TIMEOUT}.",
                },
                "changes_files": {
                    "type": "boolean",
                    "description": "Set this if the command is meant to change files: then it doesn't run "
                    "read-only first.",
                },
                "background": {
                    "type": "boolean",
                    "description": "Return after a second and leave the command running, without a time "
                    "limit unless you give one. task_output shows what it prints, task_stop ends it. It "
                    "can reach only hosts that are already allowed. Commands reach each other's local ports "
                    "(127.0.0.1), unless the result says otherwise. It ends with the program.",
                },
            },
            "required": ["command"],
        },
    )
    only_reads = False

    def __init__(
        self,
        workspace: Workspace,
        sandbox: SandboxFinder,
        keys: Callable[[], Iterable[str]] = tuple,
        network: CommandNetwork = NO_NETWORK,
        *,
        tasks: BackgroundTasks | None = None,
        read_only_first: bool = True,
        quarantine: Quarantine | None = None,
    ) -> None:
        """`keys` returns the API keys to remove from the output. It may read files. `network` is the network
        access of sandboxed commands. `tasks` are the commands in the background. `read_only_first`: a command
        that would ask runs read-only first. `quarantine` takes new files of commands that would run code
        later; None: they stay in place."""
        self._quarantine = quarantine
        self._tasks = tasks or BackgroundTasks()
        self._look = NewEntryFinder(workspace.root, noted_entries(workspace.root))
        self._read_only_first = read_only_first
        self._workspace = workspace
        self._sandbox = sandbox
        self._keys = keys
        self._network = network
        self._home: CommandHome | None = None
        self._shell = find_program("bash") or find_program("sh") or "/bin/sh"

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "command")

    def _checked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        given = checked(self.spec, arguments)
        if not given["command"].strip() or "\0" in given["command"]:
            raise ToolFailure("bash: the command is empty, or contains a NUL character.")
        if not 1 <= given.get("timeout", DEFAULT_TIMEOUT) <= LONGEST_TIMEOUT:
            raise ToolFailure(f"bash: timeout must be from 1 to {LONGEST_TIMEOUT} seconds.")
        return given

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = self._checked(arguments)
        command, goes_on = given["command"], given.get("background", False)
        timeout = given.get("timeout", DEFAULT_TIMEOUT)
        found = await self._sandbox.found()
        sandbox = found.sandbox
        access, parts = await asyncio.to_thread(self._looked_into, command, found)
        if given.get("changes_files") or goes_on or not self._read_only_first:
            access = replace(access, tries=False)
        limit = TimeLimit(None if goes_on and "timeout" not in given else timeout)
        written, uses, gate, new_files = list[str](), list[GitUse](), None, None
        if sandbox and not access.reads_only:
            gate = await self._gate_for(access, sandbox, limit, goes_on=goes_on)
            if self._quarantine:
                new_files = NewFiles(self._look, self._quarantine, command, self._keys)

        def planned(held_by: Sandbox | None, terms: Terms, gate: HostGate | None = None) -> ShellRun:
            within = limit if gate or goes_on else TimeLimit(timeout)
            git = GitUse(git_in(held_by)) if held_by else None
            uses.extend([git] if git else [])
            return ShellRun(
                sandbox=held_by,
                terms=replace(terms, git=git),
                gate=gate,
                limit=within,
                git=git,
                written=written,
                new=new_files,
            )

        def running(held_by: Sandbox | None, terms: Terms, gate: HostGate | None = None) -> Run:
            run = planned(held_by, terms, gate)
            if goes_on:
                return lambda _: self._start(command, run)
            return lambda on_output: self._run(command, run, on_output)

        # Read-only commands don't see files that earlier commands left in their home, such as git settings.
        # Neither they nor read-only runs reach the session's other commands, which could write for them.
        shares = not (access.reads_only or (gate and gate.install))
        hides_tracked = access.reads_only and not _is_git(access)
        terms = Terms(writes=not access.reads_only, hides_tracked=hides_tracked, shares_network=shares)
        reason = partial(why_outside, sandbox, gate, written, uses)
        outside = Outside(reason=reason, run=running(None, ORDINARY))
        revealing = Terms(reveals=access.secrets, shares_network=shares)
        trial = None
        if sandbox and access.tries:
            trial = self._trial(command, access, sandbox, planned(sandbox, _NOTHING_WRITTEN))
        return PreparedCall(
            access=access,
            display=CommandDisplay(command=command, output="", exit_code=None, parts=parts),
            run=running(sandbox, terms, gate),
            trial=trial,
            after_yes=running(sandbox, revealing, gate) if access.secrets else None,
            outside=outside if sandbox and not goes_on else None,
            network=gate,
            new_files=new_files,
            goes_on=goes_on,
        )

    async def _gate_for(
        self, access: Access, sandbox: Sandbox, limit: TimeLimit, *, goes_on: bool
    ) -> HostGate | None:
        """Returns the gate that decides which hosts the command may reach; None: it has no network."""
        folder = self._workspace.root
        gate = await asyncio.to_thread(self._network.gate_for, access.mentions, sandbox, limit, folder)
        if gate:
            gate.is_unattended = goes_on
        return gate

    def _trial(self, command: str, access: Access, sandbox: Sandbox, read_only: ShellRun) -> Trial:
        """The same command in a place where it can't write anything permanent."""

        def reason(result: ToolResult) -> str:
            if read_only.is_moved:
                return ""
            not_enough = unfinished(sandbox.name, result, access.mentions)
            return not_enough.replace(f"{self._workspace.root}/", "")

        async def run(on_output: OutputSink) -> ToolResult:
            result = await self._run(command, read_only, on_output)
            note = _RUNS_READ_ONLY if read_only.is_moved else _RAN_READ_ONLY
            return replace(result, text=f"{result.text}\n{note}", read_only=True)

        return Trial(run=run, reason=reason)

    def _looked_into(self, command: str, found: ProbeResult) -> tuple[Access, tuple[PartDisplay, ...]]:
        access = judged(command, self._workspace, sandboxed=found.sandbox is not None)
        access = replace(access, unheld="" if found.sandbox else found.reason)
        return access, shown_parts(access)

    async def _secrets_of(self, running: ShellRun) -> Sequence[str]:
        """Returns the texts to remove from its output: API keys, and the password of its proxy."""
        keys = await asyncio.to_thread(lambda: tuple(self._keys()))
        return (*keys, running.gate.password) if running.gate else keys

    async def _require_folder(self) -> None:
        folder = self._workspace.root
        if await asyncio.to_thread(os.path.realpath, folder) != str(folder):
            raise ToolFailure(f"{folder} now points elsewhere, so commands can't run there.")

    async def _start(self, command: str, running: ShellRun) -> ToolResult:
        """Start it in the background; the result has what it prints in its first second."""
        await self._require_folder()
        output = HeldOutput(self._workspace.new_output_file, await self._secrets_of(running))

        async def work(on_output: Callable[[bytes], None]) -> EndedTask:
            return (await self._ended(command, running, on_output))[0], running.left_behind

        task = self._tasks.start(command, output, running.limit, running.new, work)
        try:
            await task.wait(FIRST_LOOK)
        except asyncio.CancelledError:
            await task.kill()
            raise
        task.is_started = True
        return started_result(task, running.apart)

    async def _run(self, command: str, running: ShellRun, on_output: OutputSink) -> ToolResult:
        await self._require_folder()
        folder = self._workspace.root
        output = CommandOutput(on_output, self._workspace.new_output_file, await self._secrets_of(running))
        movable = MovableOutput(output)
        work = asyncio.create_task(self._ended(command, running, movable.feed))
        try:
            is_moved = await self._tasks.awaited(work, lambda: _ASKS if running.limit.is_standing else "")
        except asyncio.CancelledError:
            output.discard()
            output.end()
            raise
        if is_moved:
            return await self._moved(command, running, movable, work)
        output.end()
        try:
            ended, hidden = work.result()
        except OSError as error:
            raise ToolFailure(f"bash can't start in {folder}: {error.strerror}.") from error
        text = await asyncio.to_thread(output.text)
        result = command_result(
            command,
            text,
            ended,
            running.limit.seconds,
            sandboxed=running.sandbox is not None,
            refused=running.gate.refused if running.gate else (),
            background=ended.left_running is None and await asyncio.to_thread(stays_in_background, command),
        )
        result = replace(result, left_behind=running.left_behind)
        said = text if ended.code else ""
        missed = named_among([path.relative_to(folder).as_posix() for path in hidden], command, said)
        return replace(result, text=f"{result.text}\n{_HIDDEN.format(missed)}") if missed else result

    async def _moved(
        self, command: str, running: ShellRun, output: MovableOutput, work: asyncio.Task[_EndedCommand]
    ) -> ToolResult:
        """Let a command go on in the background: without a time limit, and nobody is asked about hosts."""

        async def going_on(on_output: Callable[[bytes], None]) -> EndedTask:
            output.pass_to(on_output)
            return (await work)[0], running.left_behind

        running.is_moved = True
        running.limit.lift()
        if running.gate:
            running.gate.is_unattended = True
        task = self._tasks.adopt(command, output.move(), running.limit, running.new, going_on)
        task.is_started = True
        await asyncio.sleep(0)  # from now on it waits for the work, and cancelling it cancels that
        return moved_result(task)

    async def _ended(
        self, command: str, running: ShellRun, on_output: Callable[[bytes], None]
    ) -> _EndedCommand:
        """Run it to its end. Also returns the files that it couldn't read."""
        home = None
        if running.sandbox and running.terms.writes:
            home = self._home = self._home or CommandHome(running.sandbox.policy)
        before = await asyncio.to_thread(home.look) if home else {}
        async with self._watched(command, running) as launch:
            folder = self._workspace.root
            ended = await run_command(launch, folder=folder, timeout=running.limit, on_output=on_output)
        if home and (written := await asyncio.to_thread(home.written_since, before)):
            running.written.extend(written)
            on_output(f"{_NOT_IN_YOURS.format(', '.join(map(clean, written[:MOST_NAMED])))}\n".encode())
        for sentence in running.left_behind:
            on_output(f"[git: {sentence}]\n".encode())
        return ended, launch.hidden

    @asynccontextmanager
    async def _watched(self, command: str, running: ShellRun) -> AsyncIterator[Launch]:
        """Launch it. After its end, bring its changes of the repository back, then keep new files back."""
        new = running.new if running.sandbox and running.terms.writes else None
        try:
            async with self._launch(command, running) as launch:
                running.apart = launch.apart
                if new:
                    await asyncio.to_thread(new.begin)
                yield launch
        finally:
            if new:
                await asyncio.to_thread(new.check, *([running.git.known] if running.git else []))
                if new.names and running.git:
                    await asyncio.to_thread(running.git.unstage, new.names)

    def _launch(self, command: str, running: ShellRun) -> AbstractAsyncContextManager[Launch]:
        argv, environ = (self._shell, "-c", command), child_environment(os.environ)
        sandbox = running.sandbox
        if sandbox is None:
            return nullcontext(Launch(argv=argv, environ=environ))
        if running.gate:
            return online(sandbox, argv, environ, running.terms, running.gate, self._network.internet)
        connects = self._network.connects_in(sandbox) and running.terms.writes
        if not connects:
            environ |= NO_RETRIES
        return in_thread(sandbox.wrap(argv, environ, replace(running.terms, connects=connects)))


def _is_git(access: Access) -> bool:
    """Whether it is git alone, which would report hidden tracked files as changed."""
    return all(part.words[0] == "git" for part in access.parts)


_EndedCommand = tuple[Ended, tuple[Path, ...]]
"""How a command ended, and the files that it couldn't read."""
