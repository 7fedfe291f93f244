"""Asks a person the questions of tools and waits for the answer by the call's id. Nobody else answers
them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Literal

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import Event, QuestionAnswered, QuestionAsked
from keen_tui.domain.messages import ToolCall
from keen_tui.tools.calls.question_spec import QuestionReply, QuestionSpec


class UserQuestions:
    """Asks and waits for the answer.

    Args:
        publish: where QuestionAsked and QuestionAnswered go.
        attended: whether somebody is there to answer.
        waiting: entered while a person is asked; what others ask waits there.
    """

    def __init__(
        self,
        publish: Callable[[Event], None],
        *,
        attended: bool,
        waiting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        self._publish = publish
        self._attended = attended
        self._waiting = waiting
        self._open: dict[str, tuple[QuestionSpec, asyncio.Future[QuestionReply]]] = {}

    async def ask(self, turn: int, call: ToolCall, asked: QuestionSpec) -> QuestionReply:
        """The person's answer. An interrupt passes through: the call is then not answered."""
        async with self._waiting():
            return await self._answer(turn, call, asked)

    async def _answer(self, turn: int, call: ToolCall, asked: QuestionSpec) -> QuestionReply:
        waiting: asyncio.Future[QuestionReply] = asyncio.get_running_loop().create_future()
        self._open[call.id] = (asked, waiting)
        self._publish(
            QuestionAsked(
                turn=turn,
                id=call.id,
                name=call.name,
                question=asked.question,
                choices=asked.choices,
                body=asked.body,
            )
        )
        if not self._attended:
            waiting.set_result(QuestionReply(nobody=True))
        try:
            reply = await waiting
        except asyncio.CancelledError:
            self._tell(turn, call, QuestionReply(), "stop")
            raise
        finally:
            del self._open[call.id]
        self._tell(turn, call, reply, "headless" if reply.nobody else "user")
        return reply

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        """Answer the open question of that call; a `choice` of None declines.

        Raises:
            SessionRefused: no question of that id is open (any more), or there is no such answer to it.
        """
        asked, waiting = self._open.get(call_id, (None, None))
        if asked is None or waiting is None or waiting.done():
            raise SessionRefused("That question is no longer open.")
        words = words.strip()
        if choice is not None:
            if not 0 <= choice < len(asked.choices):
                raise SessionRefused("There is no such answer.")
            if asked.choices[choice].wants_words and not words:
                raise SessionRefused("That answer needs some text.")
        waiting.set_result(QuestionReply(choice=choice, words=words))

    def _tell(
        self, turn: int, call: ToolCall, reply: QuestionReply, by: Literal["user", "headless", "stop"]
    ) -> None:
        answer = QuestionAnswered(turn=turn, id=call.id, choice=reply.choice, words=reply.words, by=by)
        self._publish(answer)
