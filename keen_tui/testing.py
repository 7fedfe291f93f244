"""A scripted model for the tests of programs that use Keen: no network, no key, the real turns and tools.

from keen_tui.testing import Call, Reply, Say, ScriptedModel

script = [Reply([Say("I look."), Call("bash", {"command": "ls"})]), Reply([Say("Done.")])]
async with ScriptedModel(script) as model:
    async with open_session(folder, mode="auto", **model.arguments) as session:
        end = await session.ask("what is here?").end()
assert model.seen(-1)[-1].role == "tool"
"""

from __future__ import annotations

from typing import TypedDict

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RecordedRequest,
    Refuse,
    Reply,
    Say,
    Seen,
    SeenCall,
    Think,
)
from keen_tui.demo.wires import seen

__all__ = [
    "Answer",
    "Break",
    "Call",
    "Fail",
    "HttpAnswer",
    "NoAnswer",
    "RecordedRequest",
    "Refuse",
    "Reply",
    "Say",
    "ScriptedModel",
    "Seen",
    "SeenCall",
    "Think",
]


class ModelArguments(TypedDict):
    """The arguments of `open_session` that lead to a scripted model."""

    model: str
    base_url: str
    api_key: str
    save: bool


class ScriptedModel(ModelServer):
    """A model server on this machine that answers from a script: a list of answers, or a function from the
    `RecordedRequest` to an answer. `requests` are those so far."""

    @property
    def arguments(self) -> ModelArguments:
        """What `open_session` needs to use it. The session isn't saved."""
        return {"model": "scripted", "base_url": self.base_url, "api_key": "none", "save": False}

    def seen(self, number: int = -1) -> list[Seen]:
        """The messages in a request, the system prompt first, as the model reads them; -1: in the newest."""
        return seen(self.requests[number])
