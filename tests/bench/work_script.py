"""A session of any number of turns of an agent's work: it reads, edits, runs something, and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from keen_tui.demo.script import Answer, Call, RecordedRequest, Reply, Say, Think
from keen_tui.domain.messages import TokenUsage
from tests.bench.streaming import TEXTS

_FILES = 12
_LINE = "    total = total + price * count  # line {}\n"
_SUMMARY = "The parts were revised one after the other, and their checks passed. " * 10
_BYTES_A_TOKEN = 4
_OUTPUT_TOKENS = 200
_CHECKS = "for each in $(seq 60); do echo \"tests/test_$each.py ......  ok\"; done; echo '60 passed'"


MESSAGES_A_TURN = 8
"""One of the user, three of the model, and four tool results."""


class Work:
    """The scripted model of such a session; `turns` counts finished turns.

    A turn has three model calls, four tool calls (one edit and one command among them), and a reply of about
    2 kB, and reports as many tokens as it was sent. `pace` is the seconds between deltas of the reply.
    """

    def __init__(self, *, pace: float = 0.0) -> None:
        self.turns = 0
        self._pace = pace
        self._answers = self._all()

    @staticmethod
    def lay_out(folder: Path) -> None:
        """Write the files of the session."""
        for number in range(_FILES):
            lines = "".join(_LINE.format(line) for line in range(200))
            (folder / f"part{number}.py").write_text(
                f"REVISION = 0\n\n\ndef run(total, price, count):\n{lines}"
            )

    def __call__(self, request: RecordedRequest) -> Answer:
        is_summary = not request.body.get("tools")
        reply = Reply([Say(_SUMMARY)]) if is_summary else next(self._answers)
        usage = TokenUsage(input_tokens=len(request.raw) // _BYTES_A_TOKEN, output_tokens=_OUTPUT_TOKENS)
        return replace(reply, usage=usage)

    def _all(self) -> Iterator[Reply]:
        while True:
            turn = self.turns + 1
            number, revision = turn % _FILES, (turn - 1) // _FILES
            file = f"part{number}.py"
            yield Reply(
                [
                    Think("The totals first; then what adds them up. "),
                    Say(f"I look at `{file}` and who calls it."),
                    Call("read_file", {"path": file}),
                    Call("grep_files", {"pattern": f"line {turn % 200}$"}),
                ]
            )
            old, new = f"REVISION = {revision}\n", f"REVISION = {revision + 1}\n"
            edit = Call("edit_file", {"path": file, "old_text": old, "new_text": new})
            yield Reply([Say("Now the change."), edit, Call("bash", {"command": _CHECKS})])
            self.turns = turn
            yield Reply([Say(self._closing(turn))], pace=self._pace)

    def check(self, session_file: Path) -> None:
        """Raises AssertionError if the work wasn't done as scripted."""
        records = [json.loads(line) for line in session_file.read_text().splitlines()]
        failed = [record["text"] for record in records if record.get("is_error")]
        done = sum(record["type"] == "turn_done" for record in records)
        if failed or done != self.turns:
            raise AssertionError(f"{done} of {self.turns} turns done, failed: {failed[:1]}")

    @staticmethod
    def _closing(turn: int) -> str:
        kinds = list(TEXTS.values())
        return f"{TEXTS['mixed Markdown'] * 3}\n{kinds[turn % len(kinds)] * 8}\n\nThat was turn {turn}."
