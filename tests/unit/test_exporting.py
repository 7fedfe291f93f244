"""Sessions as Markdown, JSON and HTML: what is in them, and that nothing in them can do harm."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from keen_tui.display import CommandDisplay, DiffDisplay, DiffLine, FileDisplay, FileListDisplay
from keen_tui.events import (
    Compacted,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ModelChanged,
    Notice,
    PolicyChanged,
    ReasoningDelta,
    SessionRenamed,
    ShellFinished,
    StepRestarted,
    TextDelta,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnUndone,
    Usage,
)
from keen_tui.exporting import ExportSource, as_html, as_json, as_markdown, export_text
from keen_tui.exporting.html_calls import LINES_SHOWN
from keen_tui.exporting.safe_markdown import safe_markdown
from keen_tui.messages import CommandFailed, TokenUsage, ToolResult, TurnMemory
from tests.support.story import edit, failing_bash, read, started, tool, tool_started

MEMORY = TurnMemory(
    files_changed=("src/cart.py",),
    failed_bash=(CommandFailed(command="pytest -q", exit_code=1),),
    notes=("discount comes before tax",),
)
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> </pre></details> [a](javascript:alert(1)) "
    "![p](http://evil.example/p.png) <a href='data:x' onclick=x>y</a> ```` ~~~ \x1b[31mred\x1b]0;title\x07 "
    "\u202eback \u2066 &#x202e; &lt;script&gt; \x00 \x9b31m \ud800 \"' --> <!-- ]]> <style>*{}</style>"
)


def said(turn: int, text: str, step: int = 1) -> TextDelta:
    return TextDelta(turn=turn, step=step, text=text)


def done(turn: int, text: str = "", memory: TurnMemory | None = None, **more: Any) -> TurnDone:
    facts: dict[str, Any] = {
        "attempt": 1,
        "calls": 2,
        "seconds": 52,
        "carried_bytes": 1,
        "trace_bytes": 1,
    } | more
    return TurnDone(turn=turn, reason="stop", text=text, turn_memory=memory or TurnMemory(), **facts)


def incomplete(turn: int, memory: TurnMemory | None = None) -> TurnIncomplete:
    return TurnIncomplete(
        turn=turn,
        attempt=1,
        reason="cut",
        detail="The stream ended.",
        text="",
        turn_memory=memory or TurnMemory(),
        calls=1,
        seconds=41,
        trace_bytes=5_000,
    )


def abandoned(turn: int, memory: TurnMemory) -> TurnAbandoned:
    return TurnAbandoned(turn=turn, turn_memory=memory, carried_bytes=1, trace_bytes=1)


def compacted(turn: int, summary: str) -> Compacted:
    return Compacted(
        turn=turn,
        turns=turn,
        summary=summary,
        turn_memory=MEMORY,
        bytes_before=18_200,
        bytes_after=1_300,
        seconds=4,
    )


def source(*events: Event | list[Event], title: str = "A session") -> ExportSource:
    flat = [event for given in events for event in (given if isinstance(given, list) else [given])]
    return ExportSource(
        title=title,
        session_id="s-1",
        workspace="/home/me/shopcart",
        began=1_772_360_520.0,
        model="qwen3-coder",
        events=flat,
    )


def as_data(*events: Event | list[Event], title: str = "A session") -> dict[str, Any]:
    read_back = json.loads(as_json(source(*events, title=title)))
    assert isinstance(read_back, dict)
    return read_back


def in_both(events: ExportSource) -> Iterator[str]:
    """What a person reads."""
    yield as_markdown(events)
    yield validated(as_html(events))


# What is in them


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
        "TurnMemory:\n\n- ± `src/cart.py`\n- ✗ `pytest -q` exit 1\n- • `discount comes before tax`\n"
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
    assert assistant["memory"] == {
        "files_changed": ["src/cart.py"],
        "failed_bash": [{"command": "pytest -q", "exit_code": 1}],
        "notes": ["discount comes before tax"],
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
    assert "▲ turn 1 incomplete, the reply was cut off after 41 s, 1 call kept" in text
    assert "after 1 retry" in text
    assert text.count("TurnMemory") == 1


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


class Validator(HTMLParser):
    """Fails on whatever could run, load or lead elsewhere, and on tags that are not closed in order."""

    VOID = frozenset(("meta", "br", "hr"))
    TAGS = VOID | {
        *("html", "head", "title", "style", "body", "header", "main", "section", "details", "summary"),
        *("h1", "h3", "p", "b", "i", "s", "em", "strong", "code", "pre", "span", "div", "a", "blockquote"),
        *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    }
    ATTRIBUTES = frozenset(
        ("class", "href", "rel", "start", "lang", "charset", "content", "name", "http-equiv", "aria-label")
    )

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.TAGS, tag
        for name, value in attrs:
            assert name in self.ATTRIBUTES, (tag, name)
            if name == "href":
                assert tag == "a" and value and value.lower().startswith(("http://", "https://"))
                assert ("rel", "noopener noreferrer") in attrs
            assert name != "http-equiv" or value == "Content-Security-Policy"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def validated(page: str) -> str:
    """The words on the page."""
    validator = Validator()
    validator.feed(page)
    validator.close()
    assert validator.open == []
    page.encode()
    return "".join(validator.text)


def acts_on_a_terminal(text: str) -> bool:
    return bool(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text))


def hostile_session(evil: str) -> ExportSource:
    """A session that holds `evil` in every place that others can write to."""
    rows = (DiffLine(sign="-", number=1, text=evil), DiffLine(sign="+", number=1, text=evil))
    displays = (
        DiffDisplay(path=evil, hunks=(rows, rows), added=1, removed=1, total_lines=1, left_out=2),
        CommandDisplay(command=evil, output=evil, exit_code=1),
        FileDisplay(path=evil, text=f"{evil}\n{evil}"),
        FileListDisplay(lines=(evil, evil), more=1),
        None,
    )
    memory = TurnMemory(
        files_changed=(evil,), failed_bash=(CommandFailed(command=evil, exit_code=1),), notes=(evil,)
    )
    calls = [
        event
        for number, display in enumerate(displays)
        for event in tool(1, str(number), evil, evil, ToolResult(text=evil, summary=evil, display=display))
    ]
    failing = tool(1, "f", "write_file", evil, ToolResult(text=evil, summary=evil, is_error=True))
    events: list[Event] = [
        started(1, evil),
        ReasoningDelta(turn=1, step=1, text=evil, seconds=1),
        said(1, evil),
        *calls,
        *failing,
        Notice(turn=1, text=evil),
        said(1, f"```{evil}\n{evil}", step=2),
        TurnError(turn=1, attempt=1, reason="provider", detail=evil, seconds=1),
        done(1, evil, memory),
        TurnUndone(turn=1, undone=1, files=(evil,)),
        ModelChanged(model="a", server="b", effort="", context_window=None),
        ModelChanged(model=evil, server=evil, effort="", context_window=None),
        compacted(1, evil),
    ]
    return ExportSource(title=evil, session_id=evil, workspace=evil, began=0.0, model=evil, events=events)


@pytest.mark.parametrize(
    "evil", [EVIL, f"`{EVIL}", f"- x\n\n  {EVIL}", f"# {EVIL}\n\n| {EVIL} |\n|--|\n| {EVIL} |"]
)
def test_hostile_text_comes_out_harmless(evil: str) -> None:
    words = validated(as_html(hostile_session(evil)))
    assert "<script>alert(1)</script>" in words
    for text in (words, as_markdown(hostile_session(evil)), as_json(hostile_session(evil))):
        assert not acts_on_a_terminal(text)


def test_only_web_links_lead_somewhere() -> None:
    links = "[web](HTTPS://example.org/?a=1&b=2) [file](src/a.py) [mail](mailto:a@b.c) [bad](javascript:x) <ftp://x.y>"
    page = as_html(
        source(started(1, "go"), said(1, f"{links}\n\n![alt *text*](https://example.org/a.png) ![x](a.png)"))
    )
    assert re.findall('href="([^"]*)"', page) == [
        "HTTPS://example.org/?a=1&amp;b=2",
        "https://example.org/a.png",
    ]
    validated(page)


def test_the_page_allows_nothing_but_its_own_style() -> None:
    page = as_html(source())
    style = re.search("<style>(.*)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    allowed = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'"
    assert f"{allowed}; base-uri 'none'; form-action 'none'" in page
    assert "style=" not in page
    assert not re.search(r"url\(|@import", style[1])


def test_the_page_has_the_colours_of_the_themes() -> None:
    style = as_html(source())
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name, css in (("light", light), ("dark", dark.split("* {")[0])):
        theme = tomllib.loads(Path(__file__).parents[2].joinpath(f"themes/keen-{name}.toml").read_text())
        roles = {
            role: colour
            for table in theme.values()
            if isinstance(table, dict)
            for role, colour in table.items()
        }
        used = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css))
        assert used == {role: roles[role] for role in used}
        assert set(re.findall(r"var\(--([a-z-]+)\)", style)) <= set(used)


def test_a_fence_in_an_output_does_not_end_its_block() -> None:
    output = "````\n<b>\n```\n# heading\n"
    shown = ToolResult(text="", display=CommandDisplay(command="cat", output=output, exit_code=0))
    blocks = MarkdownIt().parse(
        as_markdown(source(started(1, "go"), tool(1, "a", "bash", "cat", shown), done(1)))
    )
    assert [block.content for block in blocks if block.type == "fence"] == [f"$ cat\n{output}"]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a <b>c</b> `<i>` <https://x.y>", r"a \<b>c\</b> `<i>` <https://x.y>"),
        ("1 < 2 and `x`", "1 < 2 and `x`"),
        ("```html\n<p>\n```\n<p>", "```html\n<p>\n```\n\\<p>"),
        ("```\nopen", "```\nopen\n```"),
        ("~~~~\nopen\n~~~", "~~~~\nopen\n~~~\n~~~~"),
        ("- ```\n  open", "- ```\n  open"),
        ("`a\n\n<p> `", "`a\n\n\\<p> `"),
        (r"\`<p>`", r"\`\<p>`"),
        (r"\<p>", r"\<p>"),
        ("a &amp; b &#x202e;c `&#x202e;`", r"a &amp; b \&#x202e;c `&#x202e;`"),
        ("- `a\n- &rlm;`", "- `a\n- \\&rlm;`"),
        ("- `a\n- <p>`", "- `a\n- \\<p>`"),
    ],
)
def test_markdown_is_left_as_it_is_but_for_tags_and_open_fences(text: str, safe: str) -> None:
    assert safe_markdown(text) == safe


pieces = st.sampled_from(
    (
        "<p>",
        "&#x202e;",
        "</p>",
        "<!--",
        "<?x",
        "`",
        "``",
        "```",
        "\\",
        "\n",
        "\n\n",
        "- ",
        "> ",
        "    ",
        "|",
        "a",
        "](",
        "](<",
        "[",
        ">",
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join))
def test_no_text_makes_html_in_markdown_or_on_the_page(text: str) -> None:
    events = source(started(1, text), said(1, text), done(1))
    blocks = MarkdownIt("commonmark").parse(as_markdown(events))
    tokens = [*blocks, *(piece for block in blocks for piece in block.children or ())]
    assert not [token for token in tokens if token.type.startswith("html")]
    assert not any(acts_on_a_terminal(token.content) for token in tokens)
    assert blocks[-2].content == "✓ turn 1 done, 52 s, 2 calls"
    validated(as_html(events))


def test_what_belongs_to_no_turn_is_no_turn_and_counts() -> None:
    aside = Usage(turn=0, step=0, tokens=TokenUsage(input_tokens=5, output_tokens=5), cost=0.25)
    events = (started(1, "go"), said(1, "Done."), done(1, "Done."), aside)
    assert [turn["turn"] for turn in as_data(*events)["turns"]] == [1]
    assert "cost: `$0.25`" in as_markdown(source(*events))
