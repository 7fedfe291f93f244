"""Opens a session for a program."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

from keen_tui.agent.session import Session
from keen_tui.agent.turn.audience import Audience
from keen_tui.api.answering import ProgramAnswers
from keen_tui.api.asking import AnswerQuestion, Approve
from keen_tui.api.keen_session import KeenSession
from keen_tui.api.preparing import WHERE, WantedSession, prepared
from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.errors import NOBODY, ConfigError, StorageFailed
from keen_tui.frontends.headless.run import opened_session
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.threads import to_the_end
from keen_tui.tools.functions.signature import FunctionSpec, function_specs
from keen_tui.tools.toolbox import ProgramParts
from keen_tui.wiring.parts import build_store
from keen_tui.wiring.sessions import SessionProgram, build_saved_session

log = logging.getLogger(__name__)

_NOBODY: Final = f"{NOBODY}; {WHERE} was called without approve="


@asynccontextmanager
async def open_session(
    folder: str | os.PathLike[str] = ".",
    *,
    model: str = "",
    provider: str = "",
    base_url: str = "",
    api_key: str = "",
    mode: Mode | None = None,
    memory: PolicyName | None = None,
    tools: Sequence[Callable[..., Any]] = (),
    approve: Approve | None = None,
    answer: AnswerQuestion | None = None,
    resume: str = "",
    save: bool = True,
    settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[KeenSession]:
    """An async context manager: a session in a folder. Leaving it stops the running turn.

    Arguments that are left out come from the user's settings; the others override settings and environment.

    Args:
        folder: the folder to work in.
        model: the model's name, as the server knows it.
        provider: the provider, such as "anthropic"; "" for the one that has the model.
        base_url: the server, if it isn't the provider's own.
        api_key: the model's key; "" for the key in the environment, or the one that was entered in Keen.
        mode: what runs without asking: "ask", "auto-edit", "plan" or "auto".
        memory: what later turns remember of a finished turn: "summary", "in-band" or "full-trace".
        tools: typed functions that the model can call.
        approve: decides about calls that need approval; None denies them.
        answer: answers the model's questions; with None the model makes the safest assumption.
        resume: the id of a saved session to continue, or the beginning of the id; "" begins a new session.
        save: whether to keep the session. Otherwise all of it is removed at the end.
        settings: more settings, named and nested as in settings.toml.

    Raises:
        ConfigError: an argument, a setting or a file is wrong.
        ModelMissing: there is no model, or no key for it.
        StorageFailed: the session to resume can't be read; at the end: part of the session wasn't saved.
        SessionRefused: the session to resume is open in another program, or needs another model.
    """
    if resume and not save:
        raise ConfigError(f"{WHERE}: resume continues a saved session, so it needs save=True.")
    wanted = WantedSession(
        folder=os.fspath(folder),
        model=model,
        provider=provider,
        base_url=base_url,
        api_key=api_key,
        mode=mode,
        memory=memory,
        settings=settings or {},
    )
    async with _opened(wanted, function_specs(tools), approve, answer, resume, save=save) as opened:
        yield opened


@asynccontextmanager
async def _opened(
    wanted: WantedSession,
    functions: Sequence[FunctionSpec],
    approve: Approve | None,
    answer: AnswerQuestion | None,
    resume: str,
    *,
    save: bool,
) -> AsyncIterator[KeenSession]:
    found = await asyncio.to_thread(prepared, wanted, os.environ)
    with _store(save) as store:
        session, history, _ = build_saved_session(
            found.settings,
            found.folder,
            found.provider,
            found.choice.model,
            store,
            os.environ,
            SessionProgram(
                audience=Audience(approves=approve is not None, answers=answer is not None, nobody=_NOBODY),
                additions=found.additions,
                parts=ProgramParts(functions),
                chooser=found.chooser,
            ),
        )
        answering = ProgramAnswers(session, approve, answer)
        opened = KeenSession(session, history, answering, tuple(found.notices))
        is_done = False
        try:
            if approve is None:
                await _require_sandbox(session)
            path = await asyncio.to_thread(store.path_of, resume) if resume else None
            opened.notices += tuple(await opened_session(session, history, path.stem if path else ""))
            yield opened
            is_done = True
        finally:
            problem = await to_the_end(opened.close())
            if problem and not is_done:
                log.warning("%s", problem)
        if problem:
            raise StorageFailed(problem)


async def _require_sandbox(session: Session) -> None:
    """Raises ConfigError in auto mode if there is no sandbox, unless the settings turn it off: there is no
    `approve` to ask whether commands may run without one."""
    if session.mode == "auto" and (reason := await session.missing_sandbox()):
        raise ConfigError(
            f"{WHERE}: auto mode runs commands in a sandbox, and there is none here: {reason}. Pass "
            'approve=, settings={"sandbox": False} to run them without one, or mode="auto-edit".'
        )


@contextmanager
def _store(is_saved: bool) -> Iterator[SessionStore]:
    """The store of saved sessions, or a temporary one for this session alone."""
    if is_saved:
        yield build_store(os.environ)
        return
    with tempfile.TemporaryDirectory(prefix="keen-session-", ignore_cleanup_errors=True) as folder:
        yield SessionStore(Path(folder))
