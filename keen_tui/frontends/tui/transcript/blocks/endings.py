"""The end of a turn: done, incomplete (with the kept work and the two keys), failed, or settled since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment

from keen_tui.domain.events import RetryScheduled, TurnDone, TurnError, TurnIncomplete
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.rows.lines import Line, cells_of, wrap
from keen_tui.frontends.tui.rows.render_style import TEXT_EDGE
from keen_tui.frontends.tui.state.state import EndBlock, RetryBlock
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.text.labels import (
    DETAILED,
    OF_THE_SERVER,
    done_words,
    kept_parts,
    shortly_why,
    unknown_call,
    why_ended,
)
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, part_of, size

COMPACT: Final = ("/compact", "make room")
"""The command for a full context window, and what it does."""
_RETRIES: Final = ("continues from the last result", "; no call runs twice")
_INCOMPLETE: Final = "Turn incomplete"
_UNKNOWN_SHOWN: Final = 5
"""Calls with unknown effects that are listed; the others are counted."""
_GAP: Final = "   "
_RETRY_DETAIL: Final = 100
"""Columns of the server's message about a failure that is tried again."""
VERB_COLUMN: Final = 15
EFFECT_COLUMN: Final = 25


def draw_end(block: EndBlock, context: BlockContext) -> list[Line]:
    match block.end:
        case TurnDone():
            return context.facts(context.look.glyphs.done, "ok", *done_facts(block))
        case TurnIncomplete():
            if context.last and not block.settled:
                return _draw_incomplete(block, block.end, context)
            return _draw_settled(block, block.end, context)
        case TurnError():
            waits = context.last and context.has_ways_on and not block.settled
            return _draw_error(block.end, context) if waits else _error_row(block, block.end, context)


def draw_retry(block: RetryBlock, context: BlockContext) -> list[Line]:
    """The row of an automatic retry, with the seconds that are left, and why the call failed: the server's
    own message if it says more than the reason."""
    retry: RetryScheduled = block.retry
    left = max(block.due - context.now, 0.0)
    usual = {"cut": "connection lost", "stalled": "no answer"}
    said = cut(clean(retry.detail).rstrip("."), _RETRY_DETAIL, context.look.glyphs.more)
    reason = usual.get(retry.reason) or said or "the model server is busy"
    return context.facts(
        context.running_glyph,
        "accent",
        (f"{reason}, trying again{f' in {duration(left, running=True)}' if left >= 1 else ''}", "accent"),
        (f"{retry.attempt} of {retry.max_attempts}", "dim"),
        (f"{shown('retry')} now" if left >= 1 else "", "dim"),
        (f"{shown('stop')} stops", "dim"),
    )


def done_facts(block: EndBlock) -> tuple[tuple[str, str], ...]:
    """The facts in the row of a finished turn: texts and their roles."""
    end, cost = block.end, block.cost
    assert isinstance(end, TurnDone)
    part, whole = block.carried
    carries_less = bool(end.calls) and size(part) != size(whole)
    first, *others = done_words(end, cost, part_of(part, whole) if carries_less else "")
    return ((first, "soft"), *((words, "dim") for words in others))


def _error_row(block: EndBlock, end: TurnError, context: BlockContext) -> list[Line]:
    """One row for a failed turn that waits for nothing any more."""
    glyphs = context.look.glyphs
    settled = "sent again" if block.settled == "retried" else ""
    glyph, role = (glyphs.stopped, "soft") if end.outcome == "stopped" else (glyphs.failed, "fail")
    return context.facts(glyph, role, (shortly_why(end), "soft"), (settled, "dim"))


def _draw_settled(block: EndBlock, end: TurnIncomplete, context: BlockContext) -> list[Line]:
    """One row for an incomplete turn that waits for nothing any more. It unfolds to what was kept then."""
    words, glyphs = shortly_why(end), context.look.glyphs
    doubt = f"{len(end.unknown_calls)} in doubt" if end.unknown_calls else ""
    if block.settled == "abandoned":
        changed = len(end.turn_memory.files_changed)
        kept = f"{counted(changed, 'file')} remembered" if changed else ""
        row = context.facts(
            glyphs.none,
            "dim",
            (f"turn {end.turn} abandoned", "soft"),
            (words, "dim"),
            (kept, "dim"),
            (doubt, "dim"),
        )
    else:
        kept = f"{counted(end.calls, 'call')} kept"
        row = context.facts(
            glyphs.look, "soft", (words, "soft"), (kept, "dim"), (doubt, "dim"), (block.settled, "dim")
        )
    row[0] = context.fold_mark(row[0])
    if not context.unfolded:
        return row
    below = [*_detail(end, context, None), *_what_was_kept(block, end, context, None)]
    return [*row, *(Line(tuple(each), skip=TEXT_EDGE) for each in below)]


def _what_was_kept(
    block: EndBlock, end: TurnIncomplete, context: BlockContext, on: str | None
) -> list[list[Segment]]:
    """Returns rows about the work that an incomplete turn keeps, the text that is lost, and the calls whose
    effects aren't known."""
    were = " that was still streaming" if block.lost_words == 1 else " that were still streaming"
    lost = _fitting(f"the {counted(block.lost_words, 'word')} above", were, VERB_COLUMN, context)
    if block.gone_words:
        lost = f"{counted(block.lost_words, 'word')} of interrupted replies"
    rows = _labelled("kept", ", ".join(kept_parts(end)), context, on)
    if block.lost_words:
        rows += _labelled("not kept", lost, context, on)
    elif not context.is_low:
        rows += _labelled("lost", "nothing", context, on)
    for number, call in enumerate(end.unknown_calls[:_UNKNOWN_SHOWN]):
        rows += _labelled("" if number else "unknown", f"effects of {unknown_call(call)}", context, on)
    more = len(end.unknown_calls) - _UNKNOWN_SHOWN
    return rows + (_labelled("", f"effects of {counted(more, 'more call')}", context, on) if more > 0 else [])


def _draw_incomplete(block: EndBlock, end: TurnIncomplete, context: BlockContext) -> list[Line]:
    """The block that shows the way on: what is kept, what is not, and the two keys, which a replay hasn't."""
    after = f" after {duration(end.seconds)}" if end.seconds else ""
    reason = _fitting(why_ended(end), after, TEXT_EDGE + len(f"{_INCOMPLETE}{_GAP}"), context)
    blank: list[list[Segment]] = [] if context.is_low else [[]]
    rows = [
        *blank,
        *_title(context.look.glyphs.look, "wait", _INCOMPLETE, reason, context, "wait-wash"),
        *_detail(end, context, "wait-wash"),
        *blank,
        *_what_was_kept(block, end, context, "wait-wash"),
        *blank,
    ]
    if not context.has_ways_on:
        return [_washed(row, context, is_chip=False) for row in rows]
    changed = len(end.turn_memory.files_changed)
    remembered = "the changed file stays" if changed == 1 else "the changed files stay"
    first = len(rows)
    full = end.reason == "context"
    if full:
        rows += _key_rows(context, *COMPACT, "summarises earlier turns; then retry", not context.asked)
    continues = _fitting(*_RETRIES, EFFECT_COLUMN, context)
    stays = f"; {remembered} remembered" if changed else "; no file was changed"
    rows += [
        *_key_rows(context, shown("retry"), "retry", continues, not full and not context.asked),
        *_key_rows(
            context, shown("discard"), "discard", _fitting("asks first", stays, EFFECT_COLUMN, context), False
        ),
        *blank,
    ]
    chip = -1 if context.asked else first
    return [_washed(row, context, is_chip=number == chip) for number, row in enumerate(rows)]


def _draw_error(end: TurnError, context: BlockContext) -> list[Line]:
    """The block of a failed turn, which keeps nothing: what went wrong, and the key that sends the message
    again."""
    styles, glyphs = context.look.styles, context.look.glyphs
    stopped = end.outcome == "stopped"
    glyph, title = (glyphs.stopped, "Turn stopped") if stopped else (glyphs.failed, "Turn failed")
    role = "soft" if stopped else "fail"
    title_rows = _title(glyph, role, title, why_ended(end), context, None)
    blank: list[list[Segment]] = [] if context.is_low else [[]]
    rows = [*title_rows, *(_detail(end, context, None) or blank)]
    ways = _ways_on(end, context)
    bar = Segment(glyphs.bar, styles(role))
    return [
        Line(_with_bar(row, bar), skip=TEXT_EDGE, chip=number == len(rows))
        for number, row in enumerate((*rows, *ways))
    ]


def _ways_on(end: TurnError, context: BlockContext) -> list[list[Segment]]:
    """The chip and the other keys of a failed turn, in as few rows as the width allows."""
    styles = context.look.styles
    again = (shown("retry"), "send again")
    others = [(shown("discard"), "edit message")]
    if end.reason in OF_THE_SERVER:
        others.insert(0, (shown("models"), "choose another model"))
    if end.reason == "context":
        others.insert(0, again)
    key, verb = COMPACT if end.reason == "context" else again
    chip = Segment(f" {key} ", styles("on-wait", on="wait-fill", bold=True))
    ways = [[chip, Segment(_GAP), Segment(verb, styles("text", bold=True))]]
    if end.reason == "context":
        ways.append([Segment("summarises earlier turns", styles("soft"))])
    ways += [
        [Segment(key, styles("text", bold=True)), Segment(f" {verb}", styles("dim"))] for key, verb in others
    ]
    rows: list[list[Segment]] = []
    for way in ways:
        if rows and cells_of(rows[-1]) + len(_GAP) + cells_of(way) <= context.look.wide + TEXT_EDGE:
            rows[-1] += [Segment(_GAP), *way]
        else:
            rows.append([Segment(" " * TEXT_EDGE), *way])
    return rows


def _title(
    glyph: str, role: str, title: str, reason: str, context: BlockContext, on: str | None
) -> list[list[Segment]]:
    styles = context.look.styles
    runs = [
        Segment(title, styles(role, on=on, bold=True)),
        Segment("   ", styles("text", on=on)),
        Segment(reason, styles("text", on=on)),
    ]
    rows = wrap(runs, context.look.wide)
    gutters = (context.look.gutter(glyph, role, on=on), context.look.gutter(on=on))
    return [[*gutters[min(number, 1)], *row.segments] for number, row in enumerate(rows)]


def _detail(end: TurnIncomplete | TurnError, context: BlockContext, on: str | None) -> list[list[Segment]]:
    """The server's own message, if it says more than the reason."""
    if end.reason not in DETAILED or not end.detail.strip():
        return []
    runs = [Segment(clean(end.detail.strip()), context.look.styles("soft", on=on))]
    return [[*context.look.gutter(on=on), *row.segments] for row in wrap(runs, context.look.prose)]


def _labelled(label: str, words: str, context: BlockContext, on: str | None) -> list[list[Segment]]:
    """A label and its text, in as many rows as needed."""
    styles = context.look.styles
    left = [Segment((" " * TEXT_EDGE + label).ljust(VERB_COLUMN), styles("soft", on=on))]
    return _beside(left, VERB_COLUMN, Segment(words, styles("text" if on else "soft", on=on)), context, on)


def _key_rows(context: BlockContext, key: str, verb: str, effect: str, is_chip: bool) -> list[list[Segment]]:
    """Key, verb and consequence in three columns. Only the chip is filled."""
    styles = context.look.styles
    wash = styles("text", on="wait-wash")
    chip = (
        styles("on-wait", on="wait-fill", bold=True) if is_chip else styles("text", on="wait-wash", bold=True)
    )
    label = f" {key} "
    left = [
        Segment(" " * TEXT_EDGE, wash),
        Segment(label, chip),
        Segment(" " * max(VERB_COLUMN - TEXT_EDGE - len(label), 1), wash),
        Segment(verb, styles("text", on="wait-wash", bold=is_chip)),
        Segment(" " * (EFFECT_COLUMN - VERB_COLUMN - len(verb)), wash),
    ]
    return _beside(left, EFFECT_COLUMN, Segment(effect, styles("soft", on="wait-wash")), context, "wait-wash")


def _fitting(words: str, more: str, column: int, context: BlockContext) -> str:
    """The words from that column on, and what else there is to say, unless that takes a row of its own in a
    terminal of few rows."""
    room = context.look.width - column - 2
    return words if context.is_low and len(words + more) > room else words + more


def _beside(
    left: list[Segment], column: int, words: Segment, context: BlockContext, on: str | None
) -> list[list[Segment]]:
    """Segments left of a column, and words in that column, wrapped if they are too long."""
    first, *more = wrap([words], max(context.look.width - column - 2, 1))
    indent = Segment(" " * column, context.look.styles("text", on=on))
    return [[*left, *first.segments], *([indent, *row.segments] for row in more)]


def _washed(row: Sequence[Segment], context: BlockContext, *, is_chip: bool) -> Line:
    """A row of the amber block: a bar at the left edge, and the background over the whole width."""
    styles = context.look.styles
    bar = Segment(context.look.glyphs.bar, styles("wait", on="wait-wash"))
    line = Line(_with_bar(row, bar), skip=TEXT_EDGE, chip=is_chip)
    return line.filled(context.look.width, styles("text", on="wait-wash"))


def _with_bar(row: Sequence[Segment], bar: Segment) -> tuple[Segment, ...]:
    """`row` with the bar in place of its first cell."""
    if not row:
        return (bar,)
    first = Segment(row[0].text[1:], row[0].style)
    return (bar, first, *row[1:])
