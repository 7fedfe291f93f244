"""One writer, many readers."""

from __future__ import annotations

import asyncio

from keen_tui.domain.bus import EventBus
from keen_tui.domain.events import Event, Notice, TextDelta, ToolOutput


def delta(text: str, step: int = 1) -> TextDelta:
    return TextDelta(turn=1, step=step, text=text)


def notice(text: str) -> Notice:
    return Notice(turn=1, text=text)


async def read_all(bus: EventBus, *, published: list[Event]) -> list[Event]:
    reader = bus.subscribe()
    for event in published:
        bus.publish(event)
    bus.close()
    return [event async for batch in reader for event in batch]


async def test_neighbouring_deltas_of_a_step_are_merged_and_no_character_is_lost() -> None:
    published: list[Event] = [delta("a"), delta("b"), notice("n"), delta("c"), delta("d", step=2)]
    assert await read_all(EventBus(), published=published) == [
        delta("ab"),
        notice("n"),
        delta("c"),
        delta("d", step=2),
    ]


async def test_live_output_of_a_lagging_reader_keeps_its_newest_part_and_the_counts() -> None:
    def output(text: str, lines: int) -> ToolOutput:
        return ToolOutput(turn=1, id="c", text=text, lines=lines, bytes=lines)

    (merged,) = await read_all(EventBus(), published=[output("x" * 20_000, 1), output("end", 2)])
    assert isinstance(merged, ToolOutput)
    assert merged.text.endswith("end")
    assert len(merged.text) < 20_000
    assert merged.lines == 2


async def test_every_reader_sees_everything_published_since_it_came() -> None:
    bus = EventBus()
    first = bus.subscribe()
    bus.publish(notice("1"))
    second = bus.subscribe()
    bus.publish(notice("2"))
    bus.close()
    assert [event async for batch in first for event in batch] == [notice("1"), notice("2")]
    assert [event async for batch in second for event in batch] == [notice("2")]


async def test_what_is_published_in_one_piece_is_a_batch_as_it_is_and_keeps_its_place() -> None:
    bus, past = EventBus(), [delta("a"), delta("b")]
    everything, notices = bus.subscribe(), bus.subscribe(wants=lambda event: isinstance(event, Notice))
    bus.publish(notice("before"))
    bus.publish_all(past)
    bus.publish(notice("after"))
    assert everything.unread == 4
    bus.close()
    assert [list(batch) async for batch in everything] == [[notice("before")], past, [notice("after")]]
    assert [list(batch) async for batch in notices] == [[notice("before"), notice("after")]]


async def test_a_reader_that_crashes_harms_nobody() -> None:
    bus = EventBus()
    healthy = bus.subscribe()

    async def crash() -> None:
        async for _ in bus.subscribe():
            raise RuntimeError("a bug in a reader")

    task = asyncio.create_task(crash())
    await asyncio.sleep(0)
    bus.publish(notice("1"))
    await asyncio.wait({task})
    assert isinstance(task.exception(), RuntimeError)
    bus.publish(notice("2"))
    bus.close()
    assert [event async for batch in healthy for event in batch] == [notice("1"), notice("2")]


async def test_a_closed_reader_still_gets_what_it_had_not_read() -> None:
    bus = EventBus()
    reader = bus.subscribe()
    bus.publish(notice("1"))
    reader.close()
    bus.publish(notice("2"))
    assert [event async for batch in reader for event in batch] == [notice("1")]
