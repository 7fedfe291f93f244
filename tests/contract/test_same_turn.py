"""`stream-json`, the Python API, exports and editors say the same about the same turn, live and saved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from keen_tui import event_record, open_session
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, Reply, Say
from tests.support.acp import EditorProgram
from tests.support.program import Program

WORK = Reply(
    [
        Say("I'll write it."),
        Call("write_file", {"path": "a.py", "content": "x = 1\n"}, id="w1"),
        Call("read_file", {"path": "missing.txt"}, id="r1"),
        Call("bash", {"command": "echo out; exit 3"}, id="b1"),
    ]
)
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
SCRIPTS: dict[str, Sequence[Answer]] = {
    "done": [WORK, Reply([Say("Done.")])],
    "incomplete": [WORK, CUT],
    "error": [HttpAnswer(400, {"error": {"message": "no such thing"}})],
}
SETTINGS = "sandbox = false\nretry_attempts = 1\n"
ENDS = ("turn_done", "turn_incomplete", "turn_error")
CHANGES_EACH_TIME = ("seconds", "saved", "schema", "at", "n", "session_id", "carried")


@pytest.fixture(params=SCRIPTS)
def script(request: pytest.FixtureRequest) -> Sequence[Answer]:
    return SCRIPTS[request.param]


def facts(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls and the end of a turn, without what differs from run to run. Ports are in addresses."""
    kept = [record for record in records if record["type"] in ("tool_finished", *ENDS)]
    lasting = [
        {name: value for name, value in record.items() if name not in CHANGES_EACH_TIME} for record in kept
    ]
    for record in lasting:
        if record["type"] in ENDS:  # only `stream-json` sums up
            record.pop("refused", None)
            record.pop("left_behind", None)
        if "detail" in record:
            record["detail"] = record["detail"].partition(":")[0].rpartition(" ")[0]
    return lasting


async def from_stream(folder: Path, script: Sequence[Answer]) -> tuple[list[dict[str, Any]], str]:
    """The records of `stream-json`, and those of the saved session's export."""
    program = Program(folder)
    (program.home / "settings.toml").write_text(SETTINGS)
    async with ModelServer(script) as server:
        model = ("--base-url", server.base_url, "--model", "scripted", "--mode", "auto")
        run = await program.run(*model, "-p", "go", "--output", "stream-json")
    id = run.records[0]["id"]
    exported = await program.run("export", id, "--format", "json", "--out", "session.json")
    assert exported.code == 0, exported.err
    return run.records, (program.workspace / "session.json").read_text()


async def from_python(
    folder: Path, patch: pytest.MonkeyPatch, script: Sequence[Answer]
) -> list[dict[str, Any]]:
    work = folder / "work"
    work.mkdir(parents=True)
    patch.setenv("KEEN_HOME", str(folder / "home"))
    async with ModelServer(script) as server:
        settings = {"sandbox": False, "retry_attempts": 1}
        opened = open_session(
            work, base_url=server.base_url, model="scripted", mode="auto", settings=settings
        )
        async with opened as session:
            return [json.loads(json.dumps(event_record(event))) async for event in session.ask("go")]


async def test_stream_python_and_export_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Sequence[Answer]
) -> None:
    (tmp_path / "stream").mkdir()
    streamed, exported = await from_stream(tmp_path / "stream", script)
    activity = json.loads(exported)["activity"]
    python = await from_python(tmp_path / "python", monkeypatch, script)
    assert facts(streamed) == facts(python) == facts(activity)


async def test_an_editor_agrees_live_and_with_a_saved_session(
    tmp_path: Path, script: Sequence[Answer]
) -> None:
    (tmp_path / "stream").mkdir()
    streamed, _ = await from_stream(tmp_path / "stream", script)
    *calls, end = facts(streamed)
    (tmp_path / "editor").mkdir()
    program = EditorProgram(tmp_path / "editor")
    (program.home / "settings.toml").write_text(SETTINGS)
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", "--mode", "auto")
        async with program.connected(flags, None, server) as running:
            session = await running.new()
            answer = await running.say(session, "go")
            told = answer.field_meta or {}
            assert f"turn_{told['keen/end']}" == end["type"] and told["keen/reason"] == end["reason"]
            memory = {name: value for name, value in end["turn_memory"].items() if value}
            assert told["keen/memory"] == memory
            assert_same_calls(calls, running.editor.calls)
            assert end["text"].partition("\n")[0] in running.editor.said
        async with program.connected(flags, None, server) as running:
            await running.agent.load_session(
                cwd=str(program.workspace), session_id=session.session_id, mcp_servers=[]
            )
            assert_same_calls(calls, running.editor.calls)
            assert [each.content.text for each in running.editor.of("user_message_chunk")] == ["go"]


def assert_same_calls(calls: Sequence[dict[str, Any]], shown: dict[str, dict[str, Any]]) -> None:
    """What an editor is shown of the calls is what `stream-json` says of them."""
    assert list(shown) == [call["id"] for call in calls]
    for call in calls:
        of_editor = shown[call["id"]]
        meta = of_editor["_meta"]
        has_failed = bool(call["is_error"] or call["exit_code"])
        assert meta["keen/outcome"] == ("failed" if has_failed else "done")
        assert meta.get("keen/exitCode") == call["exit_code"]
        assert of_editor["status"] == ("failed" if has_failed else "completed")
        assert call["target"] in of_editor["title"]
