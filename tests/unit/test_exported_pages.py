"""What is exported does no harm: neither on a page, nor in Markdown, nor in a terminal."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine, FileDisplay, FileListDisplay
from keen_tui.domain.events import Event, ModelChanged, Notice, ReasoningDelta, TurnError, TurnUndone, Usage
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory
from keen_tui.export import as_html, as_json, as_markdown
from keen_tui.export.document import ExportSource
from keen_tui.export.safe_markdown import safe_markdown
from tests.support.exported import EVIL, as_data, compacted, done, said, source, validated
from tests.support.story import started, tool


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


def test_a_picture_in_a_link_is_not_a_second_link() -> None:
    page = as_html(source(started(1, "go"), said(1, "[![](https://a.org/p.png) b](https://b.org)")))
    assert 'href="https://b.org" rel="noopener noreferrer">image b</a>' in page and "a.org" not in page


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
        ("    <p>\n\n<p>", "    <p>\n\n\\<p>"),
        ("~~~\n<p>\n~~~", "~~~\n<p>\n~~~"),
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


@settings(max_examples=300)
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
