"""The model names a session after its first turn, beside the conversation (turn.md rule 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.titles import PROMPT, as_title
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Answer, HttpAnswer, RecordedRequest, Reply, Say, Seen
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Titles
from keen_tui.domain.events import SessionRenamed, TurnDone, TurnError
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.agent import AtWork, Bench

TITLE = '"Mend the discount test."\nIt is short.'


def scripted(request: RecordedRequest) -> Answer:
    """Titles where one is asked for, else a reply."""
    if asks_for_title(request):
        return Reply([Say(TITLE)])
    return HttpAnswer(401) if seen(request)[-1].text == "fail" else Reply([Say("Done.")])


def asks_for_title(request: RecordedRequest) -> bool:
    return seen(request)[-1].text.startswith(PROMPT)


def manager_of(bench: Bench, folder: Path, titles: Titles = "always") -> SessionManager:
    return SessionManager(bench.session, SessionStore(folder / "data"), TurnBackup(), titles=titles)


async def test_the_first_turn_that_is_done_gives_the_title(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work(scripted, tmp_path) as bench:
        manager = manager_of(bench, tmp_path)
        await manager.begin()
        assert isinstance(await bench.ask("fail"), TurnError)
        bench.session.discard()
        assert isinstance(await bench.ask("mend it"), TurnDone)
        assert (await bench.log.wait_for(SessionRenamed)).title == "Mend the discount test"
        await bench.ask("and now?")
        [asked] = filter(asks_for_title, bench.server.requests)
        assert seen(asked) == [Seen("user", f"{PROMPT}\n\nuser: mend it\n\nassistant: Done.")]
        assert [message.text for message in bench.session.conversation] == [
            "mend it",
            "Done.",
            "and now?",
            "Done.",
        ]
        await bench.session.close()
        await manager.close()
        [row] = await manager.sessions()
        assert row.title == "Mend the discount test"


async def test_one_that_is_named_or_goes_on_is_left_alone(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work(scripted, tmp_path) as bench:
        manager = manager_of(bench, tmp_path)
        await manager.begin()
        await manager.rename(manager.session_id, "My own")
        await bench.ask("first")
        first = manager.session_id
        await manager.new()
        await manager.open(first)
        await bench.ask("second")
        assert not list(filter(asks_for_title, bench.server.requests))
        assert {event.title for event in bench.log.of(SessionRenamed)} == {"My own"}
        await bench.session.close()
        await manager.close()


@pytest.mark.parametrize("titles", ["remote", "off"])
async def test_a_model_on_this_machine_is_not_asked_unless_always(
    tmp_path: Path, at_work: AtWork, titles: Titles
) -> None:
    async with at_work(scripted, tmp_path) as bench:
        manager = manager_of(bench, tmp_path, titles)
        await manager.begin()
        await bench.ask("first")
        await bench.ask("second")
        assert not list(filter(asks_for_title, bench.server.requests))
        await bench.session.close()
        await manager.close()


async def test_a_title_that_does_not_come_is_no_failure(tmp_path: Path, at_work: AtWork) -> None:
    def script(request: RecordedRequest) -> Answer:
        return HttpAnswer(500) if asks_for_title(request) else Reply([Say("Done.")])

    async with at_work(script, tmp_path) as bench:
        manager = manager_of(bench, tmp_path)
        await manager.begin()
        await bench.ask("first")
        await bench.ask("second")
        assert not bench.log.of(SessionRenamed)
        await bench.session.close()
        await manager.close()
        assert [row.title for row in await manager.sessions()] == ["first"]


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Mend the test", "Mend the test"),
        ("## **Title:** x", "Title:** x"),
        ("\n\n“Fix it.”\nBecause", "Fix it"),
        ("\x1b]0;evil\x07", ""),
        ("...", ""),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_what_a_model_puts_around_a_title_is_taken_off(answer: str, title: str) -> None:
    assert as_title(answer) == title
