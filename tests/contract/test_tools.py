"""What every tool promises, whichever it is. A new tool is one row here."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from keen_tui.domain.display import CommandDisplay, DiffDisplay, TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.page_read import PageRead
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.file_changes import FileChange
from keen_tui.domain.messages import Fact, ToolCall
from keen_tui.domain.own_tools import own_tool
from keen_tui.settings.added.skills import Skill
from keen_tui.settings.additions import Additions
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.background.task_record import HeldOutput
from keen_tui.tools.background.tasks import BackgroundTasks, EndedTask
from keen_tui.tools.calls.question_spec import QuestionReply
from keen_tui.tools.process.process import Ended
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.toolbox import CommandTerms, Toolbox, build_toolbox
from tests.support.waiting import LIMIT
from tests.support.web_server import HOST, WebServer, answer


@dataclass(frozen=True)
class Promise:
    """A tool, a call that works in `project`, and what must come of it."""

    name: str
    parameters: Mapping[str, str]
    required: tuple[str, ...]
    works: Mapping[str, Any]
    kind: Literal["nothing", "read", "write", "command", "web"]
    facts: tuple[Fact, ...] = ()
    asks_with: type | None = None
    summary: str = ""
    wrong: Mapping[str, Any] = field(default_factory=dict)
    is_question: bool = False


TOOLS = (
    Promise(
        name="read_file",
        parameters={"path": "string", "offset": "integer", "limit": "integer"},
        required=("path",),
        works={"path": "a.py"},
        kind="read",
        summary="2 lines",
        wrong={"path": "a.py", "offset": "first"},
    ),
    Promise(
        name="write_file",
        parameters={"path": "string", "content": "string"},
        required=("path", "content"),
        works={"path": "new/b.py", "content": "b\n"},
        kind="write",
        facts=(FileChanged(path="new/b.py"),),
        asks_with=DiffDisplay,
        summary="+1 −0",
        wrong={"path": "b.py", "content": ["b"]},
    ),
    Promise(
        name="edit_file",
        parameters={"path": "string", "old_text": "string", "new_text": "string", "replace_all": "boolean"},
        required=("path", "old_text", "new_text"),
        works={"path": "./sub/../a.py", "old_text": "one", "new_text": "1"},
        kind="write",
        facts=(FileChanged(path="a.py"),),
        asks_with=DiffDisplay,
        summary="+1 −1",
        wrong={"path": "a.py", "old_text": "one", "new_text": "1", "replace_all": "yes"},
    ),
    Promise(
        name="glob_files",
        parameters={"pattern": "string", "path": "string"},
        required=("pattern",),
        works={"pattern": "*.py"},
        kind="read",
        summary="1 file",
        wrong={"pattern": 7},
    ),
    Promise(
        name="grep_files",
        parameters={"pattern": "string", "path": "string", "glob": "string"},
        required=("pattern",),
        works={"pattern": "one"},
        kind="read",
        summary="1 match",
        wrong={"pattern": "one", "glob": True},
    ),
    Promise(
        name="bash",
        parameters={
            "command": "string",
            "timeout": "integer",
            "changes_files": "boolean",
            "background": "boolean",
        },
        required=("command",),
        works={"command": "echo hi; exit 3"},
        kind="command",
        facts=(CommandFailed(command="echo hi; exit 3", exit_code=3),),
        asks_with=CommandDisplay,
        summary="exit 3",
        wrong={"command": "true", "timeout": 1.5},
    ),
    Promise(
        name="task_output",
        parameters={"id": "string", "since": "integer", "wait": "integer"},
        required=("id",),
        works={"id": "t1", "wait": 60},
        kind="nothing",
        summary="t1 has ended, 1 new line",
        wrong={"id": "t1", "since": "yesterday"},
    ),
    Promise(
        name="task_stop",
        parameters={"id": "string"},
        required=("id",),
        works={"id": "t1"},
        kind="nothing",
        summary="t1 has ended, 1 new line",
        wrong={"id": 1},
    ),
    Promise(
        name="ask_user",
        parameters={"question": "string", "choices": "array"},
        required=("question", "choices"),
        works={"question": "Which?", "choices": [{"label": "this"}, "that"]},
        kind="nothing",
        summary="this",
        wrong={"question": "Which?", "choices": ["this"]},
        is_question=True,
    ),
    Promise(
        name="todo_write",
        parameters={"items": "array"},
        required=(),
        works={"items": [{"text": "a", "status": "done"}, {"text": "b", "status": "pending"}]},
        kind="nothing",
        summary="1 of 2 done",
        wrong={"items": [{"text": "a", "status": "never"}]},
    ),
    Promise(
        name="propose_plan",
        parameters={"plan": "string"},
        required=("plan",),
        works={"plan": "# Mend it"},
        kind="nothing",
        summary="accepted: auto-edit",
        wrong={"plan": 7},
        is_question=True,
    ),
    Promise(
        name="recall",
        parameters={"turn": "integer", "call": "integer", "pattern": "string", "offset": "integer"},
        required=(),
        works={},
        kind="nothing",
        summary="0 turns",
        wrong={"call": 1},
    ),
    Promise(
        name="web_fetch",
        parameters={"url": "string"},
        required=("url",),
        works={"url": f"http://{HOST}/"},
        kind="web",
        facts=(PageRead(url=f"http://{HOST}/"),),
        asks_with=TextDisplay,
        summary="5 B",
        wrong={"url": "a.py"},
    ),
    Promise(
        name="skill",
        parameters={"name": "string"},
        required=("name",),
        works={"name": "pdf"},
        kind="read",
        facts=(SkillUsed(name="pdf", bytes=6),),
        summary="6 B",
        wrong={"name": "docx"},
    ),
)

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("one\ntwo\n")
    return tmp_path


@pytest.fixture
def skill(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    folder = tmp_path_factory.mktemp("skills").resolve() / "pdf"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: d\n---\nDo it.\n")
    return Skill(name="pdf", description="d", folder=folder, file="SKILL.md", where="here", origin="yours")


@pytest.fixture
async def toolbox(project: Path, skill: Skill) -> AsyncIterator[Toolbox]:
    async with WebServer({"/": answer(b"hello")}).running() as server:
        network = CommandNetwork(internet=server.internet)
        toolbox = build_toolbox(
            project, commands=CommandTerms(network=network), additions=Additions(skills=(skill,))
        )
        begin_task(toolbox.tasks)
        yield toolbox
        await toolbox.tasks.close()


def begin_task(tasks: BackgroundTasks) -> None:
    """Begin a command in the background, t1, that ends at once."""

    async def work(on_output: Callable[[bytes], None]) -> EndedTask:
        on_output(b"hello\n")
        return Ended(0), ()

    tasks.start("echo hello", HeldOutput(lambda: None, ()), TimeLimit(None), None, work)


def call(name: str, arguments: Mapping[str, Any], problem: str | None = None) -> ToolCall:
    return ToolCall(id="1", name=name, arguments=arguments, problem=problem)


def contents(folder: Path) -> dict[str, tuple[float, str]]:
    """Everything below a folder: change times and content."""
    return {
        str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        if path.is_file()
        else (path.stat().st_mtime_ns, "folder")
        for path in (folder, *folder.rglob("*"))
    }


def test_the_table_holds_every_tool(toolbox: Toolbox) -> None:
    assert tuple(spec.name for spec in toolbox.specs) == tuple(tool.name for tool in TOOLS)


def test_a_target_is_drawn_as_a_path_where_it_is_one(toolbox: Toolbox) -> None:
    for tool in TOOLS:
        target = toolbox.target(call(tool.name, tool.works))
        assert (target == tool.works.get("path")) == own_tool(tool.name).takes_path, tool.name


@every_tool
def test_a_tool_declares_exactly_its_arguments(toolbox: Toolbox, tool: Promise) -> None:
    spec = next(spec for spec in toolbox.specs if spec.name == tool.name)
    properties = spec.parameters["properties"]
    assert {name: each["type"] for name, each in properties.items()} == tool.parameters
    assert tuple(spec.parameters["required"]) == tool.required
    assert spec.parameters["type"] == "object"
    assert spec.description and all(each["description"] for each in properties.values())


@every_tool
async def test_preparing_touches_nothing(project: Path, toolbox: Toolbox, tool: Promise) -> None:
    before = contents(project)
    prepared = await toolbox.prepare(call(tool.name, tool.works))
    assert contents(project) == before
    assert prepared.access.kind == tool.kind
    assert prepared.access.inside
    assert isinstance(prepared.display, tool.asks_with or type(None))


@every_tool
async def test_a_call_that_works_is_reported_to_all_three_readers(toolbox: Toolbox, tool: Promise) -> None:
    prepared = await toolbox.prepare(call(tool.name, tool.works))
    assert (prepared.asks is not None) == tool.is_question
    asked = prepared.asks
    result = asked.result(QuestionReply(choice=0)) if asked else await prepared.run(lambda *_: None)
    assert result.text
    assert result.display is not None
    assert result.facts == tool.facts
    assert result.summary == tool.summary
    assert result.ran and not result.is_error


@every_tool
async def test_wrong_arguments_are_refused_before_anything_is_done(
    project: Path, toolbox: Toolbox, tool: Promise
) -> None:
    before = contents(project)
    first = next(iter(tool.parameters))
    bad: list[dict[str, Any]] = [
        dict(tool.wrong),
        {**tool.works, "force": True},
        {**tool.works, first: ["a"]},
        {**tool.works, first: "a\ud800"},
        {**tool.works, first: ""},
    ]
    if first in tool.required:
        bad += [{}, {**tool.works, first: None}]
    if not tool.is_question:  # in words to a person it is only spelled out
        bad.append({**tool.works, first: "a\0b"})
    for arguments in bad:
        with pytest.raises(ToolFailure) as failure:
            await toolbox.prepare(call(tool.name, arguments))
        str(failure.value).encode("utf-8")
        assert len(str(failure.value)) < 500
    assert contents(project) == before


@every_tool
async def test_arguments_that_could_not_be_read_are_an_error(toolbox: Toolbox, tool: Promise) -> None:
    with pytest.raises(ToolFailure, match="not JSON"):
        await toolbox.prepare(call(tool.name, {}, problem="The arguments are not JSON."))


@every_tool
def test_what_a_call_acts_on_is_one_short_clean_line_whatever_was_sent(
    toolbox: Toolbox, tool: Promise
) -> None:
    names = tuple(tool.parameters)
    for value in (None, 7, True, [[]], {"a": 1}, object(), "\x1b[2J\ud800\n\u202eabc", "x" * 1_000_000):
        target = toolbox.target(call(tool.name, dict.fromkeys(names, value)))
        assert len(target) < 2_000
        assert not set(target) & {"\x1b", "\n", "\u202e", "\ud800"}
    assert toolbox.target(call(tool.name, tool.works))


@pytest.mark.parametrize("name", ["", "no_such_tool", "bash\n", "\x1b]0;x\x07", "READ_FILE"])
async def test_unknown_tools_are_refused_with_the_known_ones(toolbox: Toolbox, name: str) -> None:
    assert toolbox.target(call(name, {})) == ""
    with pytest.raises(ToolFailure, match=", ".join(tool.name for tool in TOOLS)) as failure:
        await toolbox.prepare(call(name, {"path": "a.py"}))
    assert "\x1b" not in str(failure.value)


@pytest.mark.parametrize("name", ["read_file", "glob_files", "grep_files", "bash", "web_fetch"])
async def test_cancelling_passes(project: Path, toolbox: Toolbox, name: str) -> None:
    """Writes are the exception: once they have begun they finish (see their own tests)."""
    works = next(tool.works for tool in TOOLS if tool.name == name)
    prepared = await toolbox.prepare(call(name, works))

    async def run() -> None:
        await prepared.run(lambda *_: None)

    running = asyncio.create_task(run())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(LIMIT):
            await running


@pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file", "glob_files", "grep_files"])
@pytest.mark.parametrize("path", ["../elsewhere", "/", "~", "link", "/proc/self/cwd/..", "//"])
async def test_every_path_outside_is_called_outside(project: Path, name: str, path: str) -> None:
    """Either the call is refused as it is, or it is known to be outside, so that it asks."""
    (project / "root").mkdir()
    (project / "elsewhere").mkdir()
    (project / "root/link").symlink_to(project / "elsewhere")
    toolbox = build_toolbox(project / "root")
    works = next(tool.works for tool in TOOLS if tool.name == name)
    for below in ("", "/x"):
        try:
            prepared = await toolbox.prepare(call(name, {**works, "path": path + below}))
        except ToolFailure:
            continue
        assert not prepared.access.inside
        assert Path(prepared.access.subject).is_absolute()


class NotingKeeper:
    """Notes what it is told, and what the file held at that moment."""

    def __init__(self, fails: bool = False) -> None:
        self.kept: list[tuple[str, bytes | None, bytes | None, bool]] = []
        self.withdrawn: list[Path] = []
        self.modes: list[int | None] = []
        self._fails = fails

    def keep(
        self, path: Path, name: str, before: bytes | None, after: bytes | None, mode: int | None
    ) -> None:
        now = path.read_bytes() if path.exists() else None
        self.kept.append((name, before, after, now == before))
        self.modes.append(mode)
        if self._fails:
            raise OSError("no room")

    def note_changes(self, changes: Sequence[FileChange]) -> None:
        raise AssertionError("no command runs here")

    def withdraw(self, path: Path) -> None:
        self.withdrawn.append(path)

    def new_output_file(self) -> Path | None:
        return None

    def is_output(self, path: Path) -> bool:
        return False


async def run_with(backup: NotingKeeper, project: Path, name: str, **arguments: Any) -> None:
    prepared = await build_toolbox(project, backup).prepare(call(name, arguments))
    await prepared.run(lambda *_: None)


async def test_content_is_kept_before_the_file_is_changed(project: Path) -> None:
    backup = NotingKeeper()
    (project / "a.py").chmod(0o640)
    await run_with(backup, project, "edit_file", path="a.py", old_text="one", new_text="1")
    await run_with(backup, project, "write_file", path="new/b.py", content="b\n")
    assert backup.kept == [
        ("a.py", b"one\ntwo\n", b"1\ntwo\n", True),
        ("new/b.py", None, b"b\n", True),
    ]
    assert backup.modes == [0o640, None]
    assert backup.withdrawn == []


async def test_content_that_cannot_be_kept_does_not_stop_the_change(project: Path) -> None:
    backup = NotingKeeper(fails=True)
    await run_with(backup, project, "edit_file", path="a.py", old_text="one", new_text="1")
    assert (project / "a.py").read_text() == "1\ntwo\n"


async def test_a_change_that_fails_is_withdrawn(project: Path) -> None:
    backup = NotingKeeper()
    (project / "a.py").chmod(0o444)
    with pytest.raises(ToolFailure, match="read-only"):
        await run_with(backup, project, "edit_file", path="a.py", old_text="one", new_text="1")
    assert [name for name, *_ in backup.kept] == ["a.py"]
    assert backup.withdrawn == [project / "a.py"]


async def test_what_changes_nothing_is_not_kept(project: Path) -> None:
    backup = NotingKeeper()
    await run_with(backup, project, "write_file", path="a.py", content="one\ntwo\n")
    await run_with(backup, project, "read_file", path="a.py")
    assert backup.kept == []


async def test_a_linked_file_is_kept_where_it_really_is(project: Path) -> None:
    (project / "link.py").symlink_to("a.py")
    backup = NotingKeeper()
    await run_with(backup, project, "edit_file", path="link.py", old_text="one", new_text="1")
    assert [name for name, *_ in backup.kept] == ["a.py"]
