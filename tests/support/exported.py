"""Events of a session, and checks of its exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from keen_tui.domain.events import Compacted, Event, TextDelta, TurnAbandoned, TurnDone, TurnIncomplete
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import TurnMemory
from keen_tui.export import as_html, as_json, as_markdown
from keen_tui.export.document import ExportSource

MEMORY = TurnMemory(
    files_changed=("src/cart.py",),
    failed_bash=(CommandFailed(command="pytest -q", exit_code=1),),
    skills=(SkillUsed(name="pdf", bytes=4200),),
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
    """The texts for a person in both formats."""
    yield as_markdown(events)
    yield validated(as_html(events))


# The content


class Validator(HTMLParser):
    """Fails on anything that could run, load or lead elsewhere, and on tags that aren't closed in order."""

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
    """The text of the page."""
    validator = Validator()
    validator.feed(page)
    validator.close()
    assert validator.open == []
    page.encode()
    return "".join(validator.text)
