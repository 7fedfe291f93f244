"""A saved session of any length, in the program's own format: a quarter are messages of the user, half are
tool outputs of 5 to 40 lines, and a quarter are replies of about 1.3 kB with headings, lists, fences and
tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from keen_tui.domain.display import CommandDisplay, FileDisplay
from keen_tui.domain.events import Event, TextDelta, ToolFinished, ToolStarted, TurnDone, TurnStarted, Usage
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.records import Header, event_line, header_line
from tests.bench.programs import Place

MESSAGES_A_TURN = 4
BEGAN = 1_700_000_000.0
_SECONDS_A_TURN = 40.0
_TEXT = """
order total discount tax rounds before after each line customer invoice stock shipping rate currency cart
price amount zone change check reads writes function value test passes fails because once every case table
entry note keeps drops moves adds returns module caller default option path folder
"""
_WORDS = _TEXT.split()


def write_long_session(where: Place, messages: int) -> str:
    """Write a session of so many messages into the home of that place; returns its id."""
    path = SessionStore(where.home).new_path(where.work)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = Header(id=path.stem, workspace=str(where.work), began=BEGAN, model="scripted")
    with path.open("wb") as file:
        file.write(header_line(header))
        for number, (turn, event) in enumerate(session_events(messages), 1):
            file.write(event_line(number, BEGAN + turn * _SECONDS_A_TURN, event))
    return path.stem


def session_events(messages: int) -> Iterator[tuple[int, Event]]:
    """The events of the session, each with the number of its turn. They are the same each time."""
    chance = random.Random(messages)
    for turn in range(1, messages // MESSAGES_A_TURN + 1):
        for event in turn_events(turn, chance):
            yield turn, event


def turn_events(turn: int, chance: random.Random) -> Iterator[Event]:
    """A question, two calls, an answer."""
    yield TurnStarted(turn=turn, attempt=1, text=question(turn, chance))
    yield _usage(turn, 1)
    yield from _call(turn, "bash", {"command": f"pytest -q tests/test_{_word(chance)}.py"}, chance)
    yield from _call(turn, "read_file", {"path": f"shop/{_word(chance)}.py"}, chance)
    text = answer(turn, chance)
    yield TextDelta(turn=turn, step=2, text=text)
    yield _usage(turn, 2)
    failed = (CommandFailed(command="pytest -q", exit_code=1),) if turn % 7 == 0 else ()
    yield TurnDone(
        turn=turn,
        attempt=1,
        reason="stop",
        text=text,
        turn_memory=TurnMemory(files_changed=(f"shop/{_word(chance)}.py",), failed_bash=failed),
        calls=2,
        seconds=21.5,
        carried_bytes=len(text),
        trace_bytes=6_000,
    )


def question(turn: int, chance: random.Random) -> str:
    """A message of the user; it begins with "question" and the number of the turn."""
    return f"question {turn}: {_sentence(chance, 9)}"


def answer(turn: int, chance: random.Random) -> str:
    """A reply of about 1.3 kB; it ends with "answer" and the number of the turn."""
    rows = "\n".join(f"| {_word(chance)} | {chance.randrange(900)} | {_word(chance)} |" for _ in range(4))
    items = "\n".join(f"- **{_word(chance)}**: {_sentence(chance, 8)}" for _ in range(4))
    name = _word(chance)
    return (
        f"## The {name} of turn {turn}\n\n{_paragraph(chance, 4)}\n\n{items}\n\n```python\n"
        f"def {name}(order: Order) -> Money:\n    lines = [line for line in order.lines if line.{name}]\n"
        f"    return sum(lines, start=Money({turn}))\n```\n\n"
        f"| name | count | kind |\n|---|---|---|\n{rows}\n\n"
        f"{_paragraph(chance, 4)}\n\nThat was answer {turn}."
    )


def last_words(messages: int) -> str:
    """The end of the last reply in a session of so many messages."""
    return f"answer {messages // MESSAGES_A_TURN}."


def _call(turn: int, name: str, arguments: dict[str, object], chance: random.Random) -> Iterator[Event]:
    target = str(next(iter(arguments.values())))
    lines = [f"{_sentence(chance, 8)}" for _ in range(chance.randrange(5, 41))]
    text = "\n".join(lines)
    display: CommandDisplay | FileDisplay
    if name == "bash":
        display = CommandDisplay(command=target, output=text, exit_code=0)
    else:
        display = FileDisplay(path=target, text=text)
        text = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    result = ToolResult(text=text, summary=f"{len(lines)} lines", display=display)
    id = f"call_{turn}_{name}"
    yield ToolStarted(turn=turn, step=1, id=id, name=name, arguments=arguments, target=target)
    yield ToolFinished(
        turn=turn,
        step=1,
        id=id,
        name=name,
        arguments=arguments,
        target=target,
        result=result,
        seconds=0.2,
    )


def _usage(turn: int, step: int) -> Usage:
    return Usage(turn=turn, step=step, tokens=TokenUsage(input_tokens=9_000, output_tokens=500), cost=0.01)


def _word(chance: random.Random) -> str:
    return chance.choice(_WORDS)


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))


def _paragraph(chance: random.Random, sentences: int) -> str:
    return " ".join(f"{_sentence(chance, 9).capitalize()}." for _ in range(sentences))


def session_file(where: Place) -> Path:
    """The one session file of that place."""
    (file,) = where.home.glob("sessions/*/*.jsonl")
    return file
