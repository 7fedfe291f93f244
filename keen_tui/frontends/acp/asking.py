"""Questions to the person at the editor: forms if the editor has them, otherwise permission requests."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, Protocol

from acp.exceptions import RequestError
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    DeclineElicitationResponse,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionResponse,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)
from msgspec import Struct
from pydantic import ValidationError

from keen_tui.domain.events import ApprovalRequested, QuestionAsked
from keen_tui.frontends.acp.tool_calls import kind_of, texts_of, title_of
from keen_tui.frontends.shared.questions import (
    SCOPES,
    Choice,
    approval_choices,
    approval_reason,
    asked_choices,
)
from keen_tui.text.labels import asker_and
from keen_tui.text.sanitize import clean

log = logging.getLogger(__name__)

DECLINE: Final = Choice(id="decline", label="decline to answer")
_ANSWER: Final = "answer"
_WORDS: Final = "words"
_FAILURES: Final = (RequestError, ConnectionError, ValidationError)
"""Errors of a question: the editor refuses it, has gone, or answers something invalid."""


class EditorAnswer(Struct, frozen=True, kw_only=True):
    """An answer: `id` is that of the choice, `words` are the text that goes with it."""

    id: str
    words: str = ""


class AskingConnection(Protocol):
    """The methods of the connection that questions need."""

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **kwargs: Any
    ) -> RequestPermissionResponse: ...

    async def create_elicitation(
        self, message: str, mode: ElicitationFormSessionMode, **kwargs: Any
    ) -> AcceptElicitationResponse | DeclineElicitationResponse | CancelElicitationResponse: ...

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None: ...


class EditorAsker:
    """Asks the person the questions of one session.

    Args:
        forms: the editor shows forms (elicitation).
    """

    def __init__(self, connection: AskingConnection, session_id: str, *, forms: bool) -> None:
        self._connection = connection
        self._session_id = session_id
        self._forms = forms
        self._numbers = count(1)

    async def approval(self, event: ApprovalRequested) -> EditorAnswer | None:
        """The answer to an approval; None if the question was cancelled. A failure denies."""
        call = ToolCallUpdate(
            tool_call_id=event.id,
            title=asker_and(event.agent, title_of(event.name, event.target)),
            kind=kind_of(event.name),
            status="pending",
            raw_input=dict(event.arguments),
            field_meta={"keen/question": clean(event.question), "keen/reason": approval_reason(event)},
        )
        options = [self._option(choice) for choice in approval_choices(event, "; ")]
        try:
            answer = await self._permission(call, options)
        except _FAILURES as failure:
            log.warning("the editor couldn't ask for a permission: %s", failure)
            return EditorAnswer(id="no", words="The editor couldn't ask the user, so the call is denied.")
        if answer == "no" and self._forms:
            return EditorAnswer(id="no", words=await self._reason(event.id))
        return EditorAnswer(id=answer) if answer else None

    async def question(self, event: QuestionAsked) -> EditorAnswer | None:
        """The answer to a question of the model. Its id is the number of the choice, from 0, or that of
        `DECLINE`. None if the question was cancelled."""
        title = asker_and(event.agent, event.question)
        return await self.choose(title, (event.body,), (*asked_choices(event), DECLINE), call_id=event.id)

    async def choose(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], *, call_id: str = ""
    ) -> EditorAnswer | None:
        """Ask; None if the question is cancelled or can't be asked. `call_id` is the tool call that asks."""
        try:
            if self._forms:
                return await self._form(title, body, choices, call_id)
            return await self._among_options(title, body, choices, call_id)
        except _FAILURES as failure:
            log.warning("the editor couldn't ask a question: %s", failure)
            return None

    def _option(self, choice: Choice) -> PermissionOption:
        """A choice of an approval as a permission option."""
        kinds: dict[str, PermissionOptionKind] = {
            "yes": "allow_once",
            "grant": "allow_always",
            "save": "allow_always",
        }
        label = choice.label
        if choice.id == "no" and not self._forms:
            label = "no"
        if choice.id == "save":
            label = f"{label}: {choice.consequence}"
        return PermissionOption(
            option_id=choice.id, name=_capital(label), kind=kinds.get(choice.id, "reject_once")
        )

    async def _permission(self, call: ToolCallUpdate, options: list[PermissionOption]) -> str:
        """The id of the chosen option, "" for none."""
        response = await self._connection.request_permission(self._session_id, call, options)
        outcome = response.outcome
        chosen = outcome.option_id if isinstance(outcome, AllowedOutcome) else ""
        return chosen if chosen in {option.option_id for option in options} else ""

    async def _reason(self, call_id: str) -> str:
        """Why a call is denied; "" if the person doesn't say."""
        field = ElicitationStringPropertySchema(type="string", title="What should it do instead?")
        try:
            said = await self._fill("Why not? You can leave this empty.", {_WORDS: field}, [], call_id)
        except _FAILURES:
            return ""
        return _text_in(said, _WORDS)

    async def _form(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], call_id: str
    ) -> EditorAnswer | None:
        options = [
            EnumOption(const=each.id, title=_capital(each.label), description=each.consequence or None)
            for each in choices
        ]
        fields = {_ANSWER: ElicitationStringPropertySchema(type="string", title=title, one_of=options)}
        if any(choice.takes_words for choice in choices):
            hint = next(choice.words_hint for choice in choices if choice.takes_words)
            fields[_WORDS] = ElicitationStringPropertySchema(type="string", title=hint)
        said = await self._fill("\n\n".join(filter(None, (*body, title))), fields, [_ANSWER], call_id)
        chosen = _text_in(said, _ANSWER)
        choice = next((each for each in choices if each.id == chosen), None)
        words = _text_in(said, _WORDS)
        if choice is None or (choice.needs_words and not words):
            return None
        return EditorAnswer(id=choice.id, words=words if choice.takes_words else "")

    async def _fill(
        self,
        message: str,
        fields: dict[str, ElicitationStringPropertySchema],
        required: list[str],
        call_id: str,
    ) -> dict[str, Any]:
        """Show a form; returns its fields, none if the person declined."""
        schema = ElicitationSchema(type="object", properties={**fields}, required=required)
        mode = ElicitationFormSessionMode(
            session_id=self._session_id, tool_call_id=call_id or None, requested_schema=schema
        )
        response = await self._connection.create_elicitation(message, mode)
        return dict(response.content or {}) if isinstance(response, AcceptElicitationResponse) else {}

    async def _among_options(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], call_id: str
    ) -> EditorAnswer | None:
        """Ask with permission options. They take no text, so answers that need some are left out."""
        options = [
            PermissionOption(
                option_id=each.id,
                name=_capital(f"{each.label}: {each.consequence}" if each.consequence else each.label),
                kind="reject_once" if each.id in _REFUSALS else "allow_once",
            )
            for each in choices
            if not each.needs_words
        ]
        texts = [*body, *(_OWN_WORDS,) * any(each.needs_words for each in choices)]
        content = texts_of(texts)
        id = call_id or f"keen-question-{next(self._numbers)}"
        call = ToolCallUpdate(
            tool_call_id=id, title=title, kind="other", status="pending", content=content or None
        )
        if not call_id:
            await self._tell(
                ToolCallStart(
                    session_update="tool_call",
                    tool_call_id=id,
                    title=title,
                    kind="other",
                    status="pending",
                    content=content or None,
                )
            )
        chosen = await self._permission(call, options)
        if not call_id:
            await self._tell(
                ToolCallProgress(session_update="tool_call_update", tool_call_id=id, status="completed")
            )
        return EditorAnswer(id=chosen) if chosen else None

    async def _tell(self, update: ToolCallStart | ToolCallProgress) -> None:
        await self._connection.session_update(self._session_id, update)


_REFUSALS: Final = frozenset((DECLINE.id, "keep", "no", "stay"))
_OWN_WORDS: Final = "To answer in your own words, decline and send your answer as a message."


def allows(answer: EditorAnswer) -> bool:
    """Whether the answer to an approval allows the call."""
    return answer.id in SCOPES


def _text_in(said: dict[str, Any], field: str) -> str:
    value = said.get(field)
    return value.strip() if isinstance(value, str) else ""


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
