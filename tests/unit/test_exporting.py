"""Sessions as Markdown, JSON and HTML: what is in them, and that nothing in them can do harm."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay, FileDisplay
from keen_tui.domain.errors import PROGRAM_ENDED
from keen_tui.domain.events import (
    Event,
    HostContacted,
    MemoryEdited,
    MessageTakenBack,
    ModelChanged,
    Notice,
    PolicyChanged,
    ReasoningDelta,
    SessionRenamed,
    ShellFinished,
    StepRestarted,
    TurnError,
    TurnUndone,
    Usage,
)
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory, UnknownCall
from keen_tui.export import as_html, as_markdown, export_text
from keen_tui.export.html_calls import LINES_SHOWN
from tests.support.exported import (
    MEMORY,
    abandoned,
    as_data,
    compacted,
    done,
    in_both,
    incomplete,
    said,
    source,
)
from tests.support.story import edit, failing_bash, read, started, tool, tool_started


def test_a_turn_as_markdown() -> None:
    text = as_markdown(
        source(
            started(1, "fix the test\nplease"),
            ReasoningDelta(turn=1, step=1, text="hm", seconds=6),
            said(1, "I'll "),
            said(1, "run it."),
            read(1, "a", "src/cart.py", 88),
            failing_bash(1, "b", "pytest -q"),
            Usage(turn=1, step=1, tokens=TokenUsage(), cost=0.12),
            said(1, "**Fixed.**", step=2),
            done(1, "x", MEMORY),
        )
    )
    assert text == (
        "# A session\n\n"
        "- session: `s-1`\n- folder: `/home/me/shopcart`\n- began: `2026-03-01 10:22 UTC`\n"
        "- model: `qwen3-coder`\n- turns: `1`\n- cost: `$0.12`\n\n"
        "## Turn 1\n\n> fix the test  \n> please\n\n"
        "*thought for 6.0 s*\n\nI'll run it.\n\n"
        "✓ **read** `src/cart.py` 88 lines, 4 ms\n\n"
        "✗ **bash** `pytest -q` exit 1, 1.4 s\n\n```console\n$ pytest -q\n1 failed\n```\n\n"
        "**Fixed.**\n\n"
        "✓ turn 1 done, 52 s, 2 calls, 1 file changed, $0.12\n\n"
        "TurnMemory:\n\n- ± `src/cart.py`\n- ✗ `pytest -q` exit 1\n- ◆ `skill pdf` 4.2 kB\n"
        "- • `discount comes before tax`\n"
    )


def test_a_diff_is_written_with_its_signs() -> None:
    text = as_markdown(source(started(1, "go"), edit(1, "a")))
    assert "```diff\n@@ line 31 @@\n def total(self) -> Money:\n" in text
    assert "\n-    return self.discount(net + self.tax(net))\n+    # tax is due" in text


def test_a_turn_as_json() -> None:
    read_back = as_data(
        started(1, "go"), said(1, "Done."), edit(1, "a"), done(1, "Done.", MEMORY, raw="Done.<k>")
    )
    assert list(read_back) == ["format", "version", "session", "turns", "messages", "activity"]
    assert (read_back["format"], read_back["version"]) == ("keen-tui-session", 1)
    assert read_back["session"] == {
        "id": "s-1",
        "title": "A session",
        "workspace": "/home/me/shopcart",
        "began": "2026-03-01T10:22:00+00:00",
        "model": "qwen3-coder",
    }
    assert read_back["turns"] == [{"turn": 1, "state": "done", "cost": 0.0}]
    user, assistant = read_back["messages"]
    assert user == {
        "role": "user",
        "text": "go",
        "turn": 1,
        "memory": None,
        "raw": None,
        "by_program": False,
        "ran": [],
        "images": [],
    }
    assert (assistant["text"], assistant["raw"]) == ("Done.", "Done.<k>")
    assert {name: facts for name, facts in assistant["memory"].items() if facts} == {
        "files_changed": ["src/cart.py"],
        "failed_bash": [{"command": "pytest -q", "exit_code": 1}],
        "notes": ["discount comes before tax"],
        "skills": [{"name": "pdf", "bytes": 4200}],
    }
    assert [each["type"] for each in read_back["activity"]] == ["text", "tool_finished", "turn_done"]
    assert read_back["activity"][1]["display"]["kind"] == "DiffDisplay"


def test_a_turn_as_html() -> None:
    page = as_html(
        source(started(1, "go"), said(1, "It is **done**:\n\n```python\nx = 1\n```"), edit(1, "a"), done(1))
    )
    assert "It is <strong>done</strong>:" in page
    assert '<pre><code>x = <span class="number">1</span></code></pre>' in page
    assert '<span class="plus">+3</span> <span class="minus">−1</span>' in page
    assert '<span class="line del"><i>33</i><b>-</b>' in page
    assert '<span class="keyword">def</span>' in page


def test_withdrawn_text_is_gone() -> None:
    events = source(
        started(1, "go"),
        said(1, "first "),
        failing_bash(1, "a", "make"),
        said(1, "wrong ", step=2),
        ReasoningDelta(turn=1, step=2, text="wrong too", seconds=1),
        StepRestarted(turn=1, step=2),
        said(1, "right", step=2),
        done(1),
    )
    for text in in_both(events):
        assert "first" in text and "right" in text and "wrong" not in text and "thought" not in text


def test_cut_text_is_marked_as_not_carried_over() -> None:
    kept = (started(1, "go"), said(1, "whole"), failing_bash(1, "a", "make"))
    for text in in_both(source(*kept, said(1, "half a sen", step=2), incomplete(1))):
        assert (
            text.index("whole")
            < text.index("half a sen")
            < text.index("the words above are not carried over")
        )
        assert text.count("not carried over") == 1
    for text in in_both(source(*kept, said(1, "the end", step=2), done(1))):
        assert "not carried over" not in text
    activity = as_data(*kept, said(1, "half a sen", step=2), incomplete(1))["activity"]
    assert [each["carried"] for each in activity if each["type"] == "text"] == [True, False]


def test_a_retry_goes_on_in_its_turn() -> None:
    events = source(
        started(1, "go"),
        failing_bash(1, "a", "make"),
        incomplete(1, MEMORY),
        started(1, None, attempt=2),
        said(1, "Done."),
        done(1, "Done.", MEMORY, attempt=2),
    )
    text = as_markdown(events)
    assert text.count("## Turn 1") == 1
    kept = "1 call kept, 1 changed file, 5.0 kB"
    assert f"▲ turn 1 incomplete, the reply was cut off after 41 s, {kept}" in text
    assert "after 1 retry" in text
    assert text.count("TurnMemory") == 1


RETRIED = (started(1, None, attempt=2), done(1, "Done.", attempt=2))


@pytest.mark.parametrize("later", [(), (abandoned(1, MEMORY),), RETRIED])
def test_an_incomplete_end_names_the_calls_with_unknown_effects_whatever_came_later(
    later: tuple[Event, ...],
) -> None:
    stopped = UnknownCall(id="b", name="bash", target="make deploy")
    end = replace(incomplete(1), unknown_calls=(stopped,), reason="interrupted", detail=PROGRAM_ENDED)
    events = (started(1, "go"), failing_bash(1, "a", "make"), end, *later)
    for text in in_both(source(*events)):
        assert "effects unknown: bash make deploy" in text
        assert "the program ended after 41 s" in text and "you stopped it" not in text
    (record,) = (each for each in as_data(*events)["activity"] if each["type"] == "turn_incomplete")
    assert record["unknown_calls"] == [{"id": "b", "name": "bash", "target": "make deploy"}]


def test_a_call_without_a_result_says_that_its_effects_are_unknown_unless_it_only_reads() -> None:
    cut = [tool_started(1, "a", "bash", "make deploy"), tool_started(1, "b", "read_file", "a.py")]
    for text in in_both(source(started(1, "go"), *cut)):
        assert text.count("not finished, effects unknown") == 1


def test_the_turn_that_goes_on_from_others_has_their_memory() -> None:
    read_back = as_data(started(1, "a"), incomplete(1, MEMORY), started(2, "b"), done(2, "ok", MEMORY))
    assert [turn["state"] for turn in read_back["turns"]] == ["continued", "done"]
    assert (
        as_markdown(
            source(started(1, "a"), incomplete(1, MEMORY), started(2, "b"), done(2, "ok", MEMORY))
        ).count("TurnMemory")
        == 1
    )


def test_an_abandoned_turn_keeps_its_memory_and_no_cut_text() -> None:
    events = (started(1, "go"), failing_bash(1, "a", "make"), said(1, "cut off"), abandoned(1, MEMORY))
    for text in in_both(source(*events)):
        assert "turn 1 abandoned" in text and "1 file remembered" in text and "src/cart.py" in text
        assert "not carried over" in text
    last = as_data(*events)["messages"][-1]
    assert (last["text"], last["by_program"]) == ("(turn abandoned)", True)
    assert last["memory"]["files_changed"] == ["src/cart.py"]


def test_a_message_taken_back_is_not_exported() -> None:
    failed = TurnError(turn=2, attempt=1, reason="auth", detail="401", seconds=1)
    events = (started(1, "stays"), done(1), started(2, "secret"), failed)
    assert "the key was refused" in as_markdown(source(*events))
    for format in ("markdown", "json", "html"):
        text = export_text(format, source(*events, MessageTakenBack(turn=2, text="secret")))
        assert "stays" in text and "secret" not in text and "401" not in text


def test_memory_edited_by_hand_counts() -> None:
    edited = MemoryEdited(turn=1, turn_memory=TurnMemory(notes=("by hand",)), carried_bytes=1)
    events = (started(1, "go"), done(1, "ok", MEMORY), edited)
    for text in in_both(source(*events)):
        assert "by hand" in text and "pytest -q" not in text
    assert as_data(*events)["messages"][1]["memory"]["notes"] == ["by hand"]


def test_memory_of_a_summary_edited_by_hand_leaves_that_of_its_turns() -> None:
    noted = TurnMemory(notes=("mind the tax",))
    data = as_data(
        started(1, "one"),
        done(1, "One.", MEMORY),
        compacted(1, "Short."),
        MemoryEdited(turn=1, turn_memory=noted, carried_bytes=1),
    )
    assert data["messages"][1]["memory"]["notes"] == list(MEMORY.notes)
    (summary,) = (item for item in data["activity"] if item["type"] == "compacted")
    assert summary["turn_memory"]["notes"] == ["mind the tax"]


LISTED = ToolResult(
    text="listed.txt",
    exit_code=0,
    display=CommandDisplay(command="ls -a", output="listed.txt", exit_code=0),
)


def test_what_happens_between_turns_stands_between_them() -> None:
    def model(name: str) -> ModelChanged:
        return ModelChanged(model=name, server="local", effort="", context_window=None)

    events = source(
        model("one"),
        started(1, "first"),
        done(1),
        Notice(turn=0, text="for the moment"),
        TurnUndone(turn=1, undone=1, files=("a.py", "b.py")),
        ShellFinished(turn=1, id="s1", command="ls -a", result=LISTED, seconds=0.1),
        model("two"),
        PolicyChanged(policy="in-band"),
        compacted(1, "We *fixed* it."),
        started(2, "second"),
        HostContacted(turn=2, id="c", host="a.example"),
        Notice(turn=2, text="The output limit was reached."),
        done(2),
    )
    for text in in_both(events):
        places = [
            text.index(words)
            for words in (
                "first",
                "turn 1 done",
                "changes of turn 1 undone: a.py, b.py",
                "ls -a",
                "listed.txt",
                "model two at local",
                "memory policy in-band",
                "1 turn summarised, 18.2 kB → 1.3 kB",
                "fixed",
                "second",
                "reached a.example",
                "The output limit was reached.",
            )
        ]
        assert places == sorted(places)
        assert "model one" not in text and "for the moment" not in text
    assert as_data(*events.events)["messages"][2]["text"] == "(changes of turn 1 undone)"


def test_a_turn_without_its_end_is_called_unfinished() -> None:
    events = (started(1, "go"), said(1, "so far"), tool_started(1, "a", "bash", "sleep 100"))
    for text in in_both(source(*events)):
        assert "so far" in text and text.count("not finished") == 2
    assert as_data(*events)["turns"][0]["state"] == "unfinished"


@pytest.mark.parametrize(
    ("title", "events", "shown"),
    [
        ("Given", [SessionRenamed(title="Renamed"), started(1, "words")], "Given"),
        ("", [SessionRenamed(title="Renamed"), started(1, "words")], "Renamed"),
        ("", [started(1, " \n first line\nsecond")], "first line"),
        ("", [], "Untitled session"),
    ],
)
def test_the_title(title: str, events: list[Event], shown: str) -> None:
    assert as_data(events, title=title)["session"]["title"] == shown


def test_long_outputs_lose_their_middle_on_the_page() -> None:
    lines = [f"row {number}." for number in range(3 * LINES_SHOWN)]
    shown = FileDisplay(path="a.txt", text="\n".join(lines) + "\n")
    page = as_html(
        source(started(1, "go"), tool(1, "a", "read_file", "a.txt", ToolResult(text="", display=shown)))
    )
    assert "row 0." in page and f"{lines[-1]}" in page and f"row {LINES_SHOWN}." not in page
    assert f"<i>…</i>{2 * LINES_SHOWN} lines" in page
    assert f"<i>{3 * LINES_SHOWN}</i>{lines[-1]}" in page


# That nothing in them can do harm
