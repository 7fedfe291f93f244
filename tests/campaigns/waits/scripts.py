"""The turns that are broken at every point: each tool, approvals, questions, hooks, retries and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Mode
from keen_tui.settings.added.hooks import Hook
from tests.support.agent import ONE_ATTEMPT, QUICK_RETRIES
from tests.support.git_repository import repository
from tests.support.sub_agents import task


class WaitScript(Struct, frozen=True, kw_only=True):
    """One turn: the `steps` of the model, and what happens around it.

    `fails` are answers of the server before the first step. `allows`: every question is answered with yes.
    `command`: the user runs this command instead of a turn. `queued` is a message that is sent during the
    turn, or steers it. `compacts`: the conversation is summarised after the turn; `undoes`: it is undone.
    `check` is the command of a run with `--until`. `tasks` are the steps of sub-agents by their prompts.
    `server`: an MCP server is there. `sandbox`: commands run in one. `is_repository`: the workspace is one.
    """

    name: str
    steps: Sequence[Reply] = ()
    fails: Sequence[Answer] = ()
    mode: Mode = "auto"
    allows: bool = True
    hooks: Sequence[Hook] = ()
    retries: RetryPolicy = ONE_ATTEMPT
    files: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    queued: str = ""
    steers: bool = False
    compacts: bool = False
    undoes: bool = False
    check: str = ""
    tasks: Mapping[str, Sequence[Reply]] = field(default_factory=dict)
    server: bool = False
    sandbox: bool = False
    is_repository: bool = False

    @property
    def is_one_message(self) -> bool:
        """Whether a program without a screen can play it."""
        return not (self.command or self.queued or self.compacts or self.undoes)

    def answer(self, request: RecordedRequest, failed: list[Answer]) -> Answer:
        """The server's answer: the step that follows from what the request holds, as a model would go on."""
        if len(failed) < len(self.fails):
            failed.append(self.fails[len(failed)])
            return failed[-1]
        messages = [each for each in seen(request) if each.role != "system"]
        if "summar" in messages[-1].text.lower() and self.compacts:
            return Reply([Say("A summary.")])
        if self.queued and self.queued in messages[-1].text:
            return DONE
        steps = next((each for task, each in self.tasks.items() if task in messages[0].text), self.steps)
        done = sum(each.role == "assistant" for each in messages)
        return steps[min(done, len(steps) - 1)] if steps else DONE


MESSAGE: Final = "go"
DONE: Final = Reply([Say("Done.")])


def bash(command: str, **more: Any) -> Call:
    return Call("bash", {"command": command, **more})


def counted(name: str) -> Call:
    """A command that notes that it ran."""
    return bash(f"echo {name} >> counter")


def hook(point: Any, command: str, matcher: str = "") -> Hook:
    return Hook(point=point, matcher=matcher, command=command)


WRITE: Final = Call("write_file", {"path": "made.py", "content": "x = 1\n"})
EDIT: Final = Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "two"})
READ: Final = Call("read_file", {"path": "a.py"})
FILES: Final = {"a.py": "one\n", "b.py": "two\n", "sub/c.py": "three\n"}


def _steps(*calls: Call | Sequence[Call]) -> tuple[Reply, ...]:
    """A step for each call, or for several at once, and the last step."""
    replies = (Reply([Say("Next."), *([each] if isinstance(each, Call) else each)]) for each in calls)
    return (*replies, DONE)


SCRIPTS: Final = (
    WaitScript(name="words", steps=(Reply([Think("Hm."), Say("First. " * 30)]),)),
    WaitScript(name="bash", steps=_steps(counted("a"))),
    WaitScript(name="bash that fails", steps=_steps(bash("echo a >> counter; exit 3"))),
    WaitScript(name="bash with much output", steps=_steps(bash("seq 20000; echo a >> counter"))),
    WaitScript(
        name="bash that waits", steps=_steps(bash("echo a >> counter; sleep 0.05; echo b >> counter"))
    ),
    WaitScript(name="bash that leaves a process", steps=_steps(bash("sleep 300 & echo a >> counter"))),
    WaitScript(name="bash in steps", steps=_steps(counted("a"), counted("b"), counted("c"))),
    WaitScript(name="bash, three in a step", steps=_steps([counted("a"), counted("b"), counted("c")])),
    WaitScript(name="read", steps=_steps(READ), files=FILES),
    WaitScript(
        name="reads together",
        steps=_steps(
            [READ, Call("glob_files", {"pattern": "**/*.py"}), Call("grep_files", {"pattern": "t"})]
        ),
        files=FILES,
    ),
    WaitScript(name="write", steps=_steps(WRITE)),
    WaitScript(name="edit", steps=_steps(READ, EDIT, WRITE), files=FILES),
    WaitScript(
        name="todo", steps=_steps(Call("todo_write", {"items": [{"text": "x", "status": "pending"}]}))
    ),
    WaitScript(name="recall", steps=_steps(Call("recall", {}), counted("a"))),
    WaitScript(name="unknown tool", steps=_steps(Call("fly", {}), Call("bash", "{broken"), counted("a"))),
    WaitScript(
        name="question",
        steps=_steps(
            Call("ask_user", {"question": "Which?", "choices": [{"label": "a"}, {"label": "b"}]}),
            counted("a"),
        ),
    ),
    WaitScript(name="approval, yes", steps=_steps(WRITE, counted("a")), mode="ask"),
    WaitScript(name="approval, no", steps=_steps(WRITE, counted("a")), mode="ask", allows=False),
    WaitScript(
        name="plan", steps=_steps(READ, Call("propose_plan", {"plan": "Do it."})), mode="plan", files=FILES
    ),
    WaitScript(
        name="background", steps=_steps(bash("echo a >> counter; sleep 300", background=True), counted("b"))
    ),
    WaitScript(
        name="hooks",
        steps=_steps(counted("a"), WRITE),
        hooks=(
            hook("UserPromptSubmit", "echo more"),
            hook("PreToolUse", "echo '{}'", "Bash"),
            hook("PostToolUse", "echo y >> hooked", "Bash"),
            hook("Stop", "test -e stopped || { touch stopped; echo go on >&2; exit 2; }"),
        ),
    ),
    WaitScript(
        name="hook that denies",
        steps=_steps(counted("a"), WRITE),
        hooks=(hook("PreToolUse", "echo no >&2; exit 2", "Write"),),
    ),
    WaitScript(
        name="rate limit",
        steps=_steps(counted("a")),
        fails=(
            HttpAnswer(429, {"error": {"message": "slow"}}),
            HttpAnswer(500, {"error": {"message": "oh"}}),
        ),
        retries=QUICK_RETRIES,
    ),
    WaitScript(
        name="cut stream",
        steps=_steps(counted("a")),
        fails=(Reply([Say("Half a sentence"), counted("x")], broken=Break("reset")),),
        retries=QUICK_RETRIES,
    ),
    WaitScript(
        name="calls cut off",
        steps=_steps([READ, counted("a"), WRITE], counted("b")),
        fails=(Reply([counted("x")], broken=Break("reset", in_arguments=True)),),
        retries=QUICK_RETRIES,
        files=FILES,
    ),
    WaitScript(name="queued message", steps=_steps(counted("a")), queued="and this"),
    WaitScript(name="steered", steps=_steps(counted("a")), queued="and this", steers=True),
    WaitScript(name="summary", steps=_steps(counted("a")), compacts=True),
    WaitScript(
        name="sub-agent",
        steps=_steps(task("look here", "general"), counted("b")),
        tasks={"look here": _steps(counted("a"), READ)},
        files=FILES,
    ),
    WaitScript(
        name="sub-agents together",
        steps=_steps([task("look here"), task("look there"), counted("b")]),
        tasks={"look here": _steps(READ), "look there": _steps(READ)},
        files=FILES,
    ),
    WaitScript(
        name="server", steps=_steps(Call("mcp__talk__make", {"name": "x"}), counted("a")), server=True
    ),
    WaitScript(name="undo", steps=_steps(READ, [EDIT, WRITE]), files=FILES, undoes=True),
    WaitScript(
        name="until", steps=_steps(counted("a")), check="test -e tried || { touch tried; echo no; exit 1; }"
    ),
    WaitScript(
        name="until, with a rate limit",
        steps=_steps(counted("a")),
        check="true",
        fails=(HttpAnswer(429, {"error": {"message": "slow"}}),),
    ),
    WaitScript(
        name="long read-only try",
        steps=_steps(bash("sleep 0.3; echo a >> counter"), counted("b")),
        mode="ask",
        sandbox=True,
    ),
    WaitScript(
        name="commit in the sandbox",
        steps=_steps(
            bash("git add . && git commit -qm one && echo a >> counter"),
            bash("git commit -qm two --allow-empty && echo b >> counter"),
        ),
        files=FILES,
        sandbox=True,
        is_repository=True,
    ),
    WaitScript(name="own command", command="echo a >> counter; sleep 0.02"),
    WaitScript(name="own command that fails", command="echo a >> counter; exit 3"),
)


def prepare(script: WaitScript, folder: Path) -> None:
    """The files that it expects."""
    if script.is_repository:
        repository(folder)
    for name, text in script.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
