"""What is copied of a session: every text once."""

from __future__ import annotations

from collections.abc import Coroutine

from msgspec.structs import replace

from keen_tui.domain.display import FileDisplay
from keen_tui.domain.events import Event, TextDelta
from keen_tui.domain.messages import ToolResult
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.copying import Copier
from keen_tui.frontends.tui.transcript.document import Document
from tests.support import story
from tests.support.screen import look

REPLY = "It is **fixed**: see `cart.py`."
SOURCE = "".join(f"total = {number}\n" for number in range(200))


def test_everything_has_each_reply_once() -> None:
    read = ToolResult(text="...", display=FileDisplay(path="cart.py", text=SOURCE))
    done = replace(story.done(1, calls=1), text=REPLY)
    copied = _everything(
        story.started(1, "Fix the cart."),
        *story.tool(1, "a", "read_file", "cart.py", read),
        TextDelta(turn=1, step=2, text=REPLY),
        done,
        story.started(2, "Thanks."),
        story.failed(2),
    )
    assert copied == f"Fix the cart.\n\n{SOURCE}\n\n{REPLY}\n\nThanks.\n\nno"


def test_of_a_turn_that_is_cut_everything_says_why() -> None:
    cut = story.incomplete(1)
    copied = _everything(story.started(1, "go"), TextDelta(turn=1, step=1, text="I look"), cut)
    assert copied == f"go\n\nI look\n\n{cut.detail}"


def test_the_end_of_a_turn_stands_for_its_reply() -> None:
    said = [TextDelta(turn=1, step=step, text=text) for step, text in ((1, "I look."), (2, REPLY))]
    read = story.read(1, "a", "cart.py", 3)
    events = [story.started(1, "Fix the cart."), said[0], *read, said[1], story.done(1, calls=1)]
    document, copier, copied = _copier_of(*events)
    end = len(document.entries) - 1
    copier.copy_blocks([end])
    assert copied.pop() == f"I look.\n\n{REPLY}"
    copier.copy_blocks([end - 1, end])
    assert copied.pop() == f"I look.\n\n{REPLY}"
    copier.copy_blocks(range(len(document.entries)))
    assert copied.pop() == f"Fix the cart.\n\nI look.\n\n...\n\n{REPLY}"


def test_the_end_of_a_turn_that_was_cut_before_stands_for_what_was_kept() -> None:
    document, copier, copied = _copier_of(
        story.started(1, "go"),
        *story.read(1, "a", "cart.py", 3),
        TextDelta(turn=1, step=2, text="Half a senten"),
        story.incomplete(1),
        story.started(1, None, attempt=2, recovering=1),
        TextDelta(turn=1, step=3, text=REPLY),
        story.done(1, calls=1),
    )
    copier.copy_blocks([len(document.entries) - 1])
    assert copied == [REPLY]


def test_the_end_of_a_turn_leads_to_the_code_of_its_reply() -> None:
    reply = "So:\n\n```\nfirst()\n```\n\nand\n\n```\nsecond()\n```\n"
    document, copier, copied = _copier_of(
        story.started(1, "go"), TextDelta(turn=1, step=1, text=reply), story.done(1)
    )
    for _ in range(3):
        copier.copy_code(len(document.entries) - 1)
    assert copied == ["first()", "second()", "first()"]


def _refused(work: Coroutine[object, object, None]) -> None:
    raise AssertionError("so little text is copied at once")


def _copier_of(*events: Event) -> tuple[Document, Copier, list[str]]:
    state = apply_all(UiState(), events, 0.0)
    document = Document(look(), lambda: 0.0)
    document.show(Trail(state.past), state.live)
    copied: list[str] = []
    copier = Copier(document, clipboard=copied.append, run=_refused, copied=lambda text, what: None)
    return document, copier, copied


def _everything(*events: Event) -> str:
    _, copier, copied = _copier_of(*events)
    copier.copy_everything()
    return "".join(copied)
