"""A session as Markdown, to be read on a code host."""

from __future__ import annotations

from collections.abc import Iterator

from keen_tui.domain.display import CommandDisplay, DiffDisplay, TodoDisplay
from keen_tui.domain.events import (
    Compacted,
    ShellFinished,
    Steered,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    WebSearched,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.export.document import (
    ExportedCall,
    ExportedItem,
    ExportedSession,
    ExportedText,
    Thought,
    Turn,
    own_call,
)
from keen_tui.export.phrases import (
    LOST,
    UNFINISHED,
    aside,
    call_sign,
    call_time,
    end_detail,
    end_facts,
    header_facts,
    memory_entries,
    outcome,
    unknown_effects,
)
from keen_tui.export.safe_markdown import code_span, fenced, plain_words, quoted, safe_markdown
from keen_tui.text.labels import (
    changed_words,
    source_lines,
    tool_label,
)
from keen_tui.text.units import counted, duration


def write_markdown(document: ExportedSession) -> str:
    """The document as Markdown text that ends in a line end."""
    blocks = [f"# {plain_words(document.title)}", _header(document)]
    for part in document.parts:
        blocks += _turn(part) if isinstance(part, Turn) else _item(part, None)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _header(document: ExportedSession) -> str:
    return "\n".join(f"- {label}: {code_span(fact)}" for label, fact in header_facts(document))


def _turn(turn: Turn) -> Iterator[str]:
    yield f"## Turn {turn.number}"
    yield quoted(safe_markdown(turn.words)) if turn.words.strip() else ""
    for item in turn.items:
        yield from _item(item, turn)
    if turn.state == "unfinished":
        yield f"▲ turn {turn.number} {UNFINISHED}"
    yield _memory(turn.memory)


def _item(item: ExportedItem, turn: Turn | None) -> Iterator[str]:
    match item:
        case ExportedText():
            yield safe_markdown(item.text)
            yield f"*{LOST}*" if item.lost else ""
        case Thought():
            yield f"*thought for {duration(item.seconds)}*"
        case Steered():
            yield quoted(safe_markdown(item.text))
        case ExportedCall():
            yield from _call(item)
        case TurnDone() | TurnIncomplete() | TurnError() | TurnAbandoned():
            glyph, words = end_facts(item, turn.spent.cost if turn else None)
            yield f"{glyph} {', '.join(words)}"
            yield quoted(plain_words(end_detail(item))) if end_detail(item) else ""
            yield "\n".join(f"- ■ {plain_words(words)}" for words in unknown_effects(item))
        case Compacted():
            yield f"*{plain_words(aside(item))}*"
            yield quoted(safe_markdown(item.summary))
            yield _memory(item.turn_memory)
        case WebSearched():
            yield f"*{plain_words(aside(item))}*"
            yield "\n".join(f"- {code_span(line)}" for line in source_lines(item))
        case ShellFinished():
            yield from _call(own_call(item))
        case _:
            yield f"*{plain_words(aside(item))}*"


def _call(call: ExportedCall) -> Iterator[str]:
    words = [outcome(call), call_time(call)]
    what = [f"**{plain_words(tool_label(call.started.name))}**", code_span(call.started.target)]
    came_to = plain_words(", ".join(word for word in words if word))
    yield " ".join(word for word in (call_sign(call), *what, came_to) if word)
    result = call.result
    if result is None:
        return
    match result.display:
        case DiffDisplay() as diff:
            yield fenced("\n".join(_diff_lines(diff)), "diff")
        case CommandDisplay() as ran:
            yield fenced(f"$ {ran.command}\n{ran.output}", "console")
            yield from _changed_files(ran)
        case TodoDisplay() as todos:
            yield fenced(todos.as_text)
        case _ if result.is_error and not result.denied and result.ran:
            yield fenced(result.text)


def _changed_files(ran: CommandDisplay) -> Iterator[str]:
    if words := changed_words(ran):
        yield plain_words(words)
    for file in ran.changed:
        if file.diff and file.diff.hunks:
            yield fenced("\n".join((f"# {file.path}", *_diff_lines(file.diff))), "diff")


def _diff_lines(diff: DiffDisplay) -> Iterator[str]:
    for hunk in diff.hunks:
        if hunk and hunk[0].number > 1:
            yield f"@@ line {hunk[0].number} @@"
        for row in hunk:
            yield f"{row.sign}{row.text}"
    if diff.left_out:
        yield f"… {counted(diff.left_out, 'line')} more"


def _memory(memory: TurnMemory) -> str:
    if not memory:
        return ""
    rows = (
        f"- {glyph} {' '.join(word for word in (code_span(words), came_to) if word)}"
        for glyph, words, came_to in memory_entries(memory)
    )
    return "\n".join(("TurnMemory:\n", *rows))
