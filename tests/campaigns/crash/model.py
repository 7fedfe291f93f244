"""A scripted model that answers by what it is asked, so that any number of lives can speak to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wires import seen
from tests.support.wire import assert_valid

SUMMARY = "All went well so far."


class Model:
    """`edit NAME` writes a file, runs a command that fails and is done; `break NAME` is cut off behind its
    first call, and done when it is tried again; `fail NAME` is refused. Each command leaves its own line in
    the file `counter`."""

    def __init__(self) -> None:
        self._server = ModelServer(self._answer)
        self._broken: set[str] = set()

    @property
    def base_url(self) -> str:
        return self._server.base_url

    def assert_accepted(self) -> None:
        """Every request since the last time was one that its API accepts."""
        assert_valid(self._server.requests)
        self._server.requests.clear()

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._server.__aexit__(*problem)

    def _answer(self, request: RecordedRequest) -> Answer:
        messages = seen(request)
        asked = max(place for place, message in enumerate(messages) if message.role == "user")
        deed, _, name = messages[asked].text.split("\n")[-1].partition(" ")
        if deed == "fail":
            return HttpAnswer(400, {"error": {"message": "No."}})
        if deed not in ("edit", "break"):
            return Reply([Say(SUMMARY)])
        results = sum(message.role == "tool" for message in messages[asked:])
        if not results:
            return Reply([Think("Hm."), Say("First this."), *_calls(name)])
        if deed == "break" and name not in self._broken:
            self._broken.add(name)
            return Reply([Say("Half a sent")], broken=Break("reset"))
        return Reply([Say("All done.")])


def _calls(name: str) -> Sequence[Call]:
    return [
        Call("write_file", {"path": f"{name}.txt", "content": name}),
        Call("bash", {"command": f"echo {name} >> counter; exit 3"}),
    ]
