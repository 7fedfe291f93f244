"""The conversation: passes lines to the session, tells what happens there, and asks its questions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from msgspec.structs import replace

from keen_tui.domain.bus import Subscription
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    MessageTakenBack,
    QuestionAnswered,
    QuestionAsked,
    SessionRestored,
    TurnIncomplete,
)
from keen_tui.frontends.line.asking import approval_question, asked_question
from keen_tui.frontends.line.keyboard import LinePrompt, Typed
from keen_tui.frontends.line.model_pages import LineModels
from keen_tui.frontends.line.narrator import Narrator
from keen_tui.frontends.line.opening import Openings
from keen_tui.frontends.line.pages import show_page
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineQuestion, OpenQuestions
from keen_tui.frontends.line.session_pages import shown_title
from keen_tui.frontends.line.ui import LineUi
from keen_tui.frontends.line.written import LineRouter, refusal_told
from keen_tui.frontends.shared.commands.memory import resumed
from keen_tui.frontends.shared.commands.sessions import open_session
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.shared.commands.turns import LEAVE, offers_disk
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.shared.questions import SCOPES
from keen_tui.frontends.shared.run_status import left_over

AGAIN_WITHIN_SECONDS: Final = 2.0
"""How soon the second ctrl+c must follow the first to leave."""
_PROMPT: Final = "> "


class LineFrontEnd:
    """Between a person who types lines and a session.

    Args:
        ask: asks the person for a line.
        clock: in seconds.
    """

    def __init__(
        self,
        setup: FrontEndSetup,
        printer: LinePrinter,
        ask: Callable[[LinePrompt], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._setup = setup
        self._session = setup.session
        self._printer = printer
        self._ask_for = ask
        self._clock = clock
        self._questions = OpenQuestions(printer, self._prompt)
        self._batches: Subscription | None = None
        self._stats = SessionStats()
        self._narrator = Narrator(printer)
        self._openings = Openings(printer, self._narrator)
        self._slash = SlashCommands(setup.commands, setup.skills, setup.servers)
        self._over = asyncio.Event()
        self.was_cut_off = False
        """Whether the terminal is gone or a signal has ended it, so that nobody could be asked."""
        self._typed_last = self._brought_back = ""
        self._ui = LineUi(
            setup, printer, self._questions, self._stats, self._slash, self._over.set, self.suggest, show_page
        )
        self._written = LineRouter(self._ui, self._narrator.heard, self.suggest)
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._doing: asyncio.Task[None] | None = None
        self._is_busy = False
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._heard = 0
        self._draft = ""
        self._earlier: tuple[str, ...] = ()
        self._shown = LinePrompt()
        self._last_interrupt = float("-inf")

    @property
    def turns(self) -> int:
        """How many turns the session has."""
        return len(self._stats.turns)

    def keep_unsent(self) -> None:
        """Save unsent text for the next program: messages that wait for a turn, what was being typed when the
        terminal went away, and the draft that was brought back, unless a message was sent since."""
        if self._setup.prompts:
            session, typed = self._session, self._typed_last
            draft = typed if self._brought_back in typed else f"{self._brought_back}\n{typed}"
            unsent = (*session.steered, *session.queue, draft.strip("\n"))
            self._setup.prompts.keep_draft("\n".join(filter(str.strip, unsent)))

    async def run(self) -> None:
        """Run it until the person leaves. The session stays open."""
        self._batches = batches = self._session.bus.subscribe()
        if self._setup.history:
            await self._setup.history.begin()
        await self._greet()
        if opening := self._setup.opening:
            self._do_beside(open_session(self._ui.context, opening, shown_title(opening)))
        work = [asyncio.create_task(self._follow(batches)), asyncio.create_task(self._act())]
        if self._setup.runs:
            work.append(asyncio.create_task(self._setup.runs.follow()))
        if self._setup.companion:
            work.append(asyncio.ensure_future(self._setup.companion(self)))
        self._ui.context.controls.warm_up()
        over = asyncio.create_task(self._over.wait())
        done, _ = await asyncio.wait((over, *work), return_when=asyncio.FIRST_COMPLETED)
        for task in (over, *work, *self._asking.values()):
            task.cancel()
        for task in done:
            task.result()

    def press(self, typed: Typed) -> None:
        """Take an input of the person."""
        self._heard += 1
        match typed.kind:
            case "line" if typed.begun_before:
                self._printer.say(
                    "You started typing before the question appeared, so this doesn't answer it. Your text "
                    "is kept."
                )
            case "line" if typed.question and not self._is_call_beside(typed.text):
                self._answer(typed)
            case "line":
                self._is_busy = True  # the next line is asked for when this one is done
                self._brought_back = ""
                self._lines.put_nowait(typed.text)
            case "interrupt":
                self._interrupt(typed.text)
            case "end":
                self._end_of_input()
            case "hangup":
                self._typed_last = typed.text
                self._cut_off()
        self._prompt(anew=True)

    def show_guide(self, text: str) -> None:
        """Print an explanation, for example of the tour."""
        lines = [f"Guide: {line}" for line in text.split("\n") if line]
        asyncio.get_running_loop().call_soon(lambda: self._printer.say(*lines))  # behind what it explains
        self._prompt_soon()

    def suggest(self, text: str) -> None:
        """Put `text` into the next line, unless it was begun already."""
        self._draft = text if "\n" not in text else ""
        self._prompt(anew=True)

    async def _greet(self) -> None:
        session = self._session
        self._printer.say(f"Keen TUI, line by line, in {session.workspace}. /help lists the commands.")
        self._printer.read(self._setup.problems)
        if self._setup.prompts:
            earlier = await self._setup.prompts.earlier()
            self._earlier = (*earlier.here, *earlier.drafts)
            self._draft = self._brought_back = earlier.drafts[-1] if earlier.drafts else ""
        models = self._setup.models
        if models and models.current is None:
            await LineModels(self._ui, models).welcome()
        else:
            self._printer.say(f"Model {session.model} at {session.server}. Permission mode {session.mode}.")

    # What happens

    async def _follow(self, batches: AsyncIterator[Sequence[Event]]) -> None:
        async for batch in batches:
            for event in batch:
                self._take(event)
            self._prompt_soon()

    def _take(self, event: Event) -> None:
        self._stats.note(event)
        if self._openings.take(event):
            if isinstance(event, SessionRestored):
                self._do_beside(self._tell_restored())
            return
        self._narrator.tell(event)
        match event:
            case ApprovalRequested():
                self._asking[event.id] = asyncio.create_task(self._approve(event))
            case QuestionAsked():
                self._asking[event.id] = asyncio.create_task(self._reply(event))
            case ApprovalAnswered() | QuestionAnswered():
                if asking := self._asking.pop(event.id, None):
                    asking.cancel()
            case TurnIncomplete():
                self._do_beside(self._offer_disk())
            case MessageTakenBack():
                self.suggest(event.text)

    async def _approve(self, event: ApprovalRequested) -> None:
        answer = await self._ui.put(approval_question(event))
        if answer is None or answer.id == "stop":
            self._session.stop()
        else:
            scope, allow = SCOPES.get(answer.id, "once"), answer.id in SCOPES
            with refusal_told(self._printer):
                self._ui.context.controls.answer(event.id, allow=allow, scope=scope, message=answer.words)

    async def _tell_restored(self) -> None:
        if runs := self._setup.runs:
            await runs.caught_up()
            if runs.is_left_over:
                self._printer.say(left_over(runs.progress))
                self._prompt_soon()
        if words := await resumed(self._ui.context):
            self._printer.say(words)
            self._prompt_soon()

    async def _offer_disk(self) -> None:
        if await offers_disk(self._setup):
            self._printer.say(
                "Incomplete turns are kept in memory only, so they end with the program. /durable keeps "
                "them on disk from now on. This is offered once."
            )
            self._prompt_soon()

    async def _reply(self, event: QuestionAsked) -> None:
        answer = await self._ui.put(asked_question(event))
        if answer is None:
            self._session.stop()
            return
        choice = int(answer.id) if answer.id.isdecimal() else None
        with refusal_told(self._printer):
            self._ui.context.controls.reply(event.id, choice, answer.words)

    # What is typed

    def _answer(self, typed: Typed) -> None:
        if typed.question != self._questions.number:
            self._printer.say("That question is no longer open.")
            self._keep_sentence(typed.text)
            return
        asked = self._questions.asked
        if not self._questions.take(typed.text) and asked and not asked.hidden:
            self._keep_sentence(typed.text)

    def _keep_sentence(self, text: str) -> None:
        """Let up bring back a text that was typed at a question, but doesn't answer it. It isn't put into the
        next line: what is typed there would be sent behind it."""
        if " " in text.strip() and "\n" not in text:
            self._earlier = (*self._earlier, text)
            self._printer.say("Your text is kept: press up when you write the next message.")

    def _is_call_beside(self, text: str) -> bool:
        """Whether a line that was typed instead of an answer is a command. While a command asks, it isn't."""
        asked = self._questions.asked
        is_own = self._doing is not None or (asked is not None and asked.hidden)
        is_call = self._slash.called(text) is not None
        return is_call and not (is_own or self._ui.asks_to_leave)

    async def _act(self) -> None:
        while True:
            text = await self._lines.get()
            self._doing = asyncio.create_task(self._written.do(text))
            await asyncio.wait((self._doing,))
            done, self._doing = self._doing, None
            if not done.cancelled():
                done.result()
            self._is_busy = not self._lines.empty()
            self._prompt(anew=True)

    def _interrupt(self, typed: str) -> None:
        """Clear the line; if it is empty, stop what runs; the second time leave."""
        if typed.strip() and not self._session.running:
            self._printer.say("Cleared. The up arrow brings it back.")
            return
        now = self._clock()
        again, self._last_interrupt = now - self._last_interrupt <= AGAIN_WITHIN_SECONDS, now
        if self._ui.asks_to_leave:
            self._over.set()
        elif again:
            self._leave()
        elif self._doing:
            self._doing.cancel()
            self._printer.say("Cancelled. Ctrl+C again quits.")
        elif self._setup.runs and self._setup.runs.stop():
            self._printer.say("Stopping the run. Ctrl+C again quits.")
        elif self._session.running:
            self._session.stop()
            self._printer.say("Stopping. Ctrl+C again quits.")
        else:
            self._printer.say("Ctrl+C again quits.")

    def _end_of_input(self) -> None:
        if self._ui.asks_to_leave:
            self._over.set()
        else:
            self._leave()

    def _cut_off(self) -> None:
        self.was_cut_off = True
        self._over.set()

    def _leave(self) -> None:
        self._do_beside(LEAVE.does(self._ui.context, ""))

    def _do_beside(self, handler: Awaitable[None]) -> None:
        """Do it beside other input. Prints why if it is refused."""

        async def done() -> None:
            with refusal_told(self._printer):
                await handler

        task = asyncio.create_task(done())
        self._asking[task.get_name()] = task
        task.add_done_callback(lambda _: self._asking.pop(task.get_name(), None))

    def _prompt_soon(self) -> None:
        """Ask for a line after everything that is about to be printed."""
        asyncio.get_running_loop().call_soon(self._prompt)

    def _prompt(self, *, anew: bool = False) -> None:
        """Ask for a line if a different one is wanted now, or if something was printed since."""
        if self._printer.is_gone:
            self._cut_off()
        asked = self._questions.asked
        untold = self._batches.unread if self._batches else 0
        if self._over.is_set() or (asked is None and (self._is_busy or untold)):
            return  # there is nothing to be asked, or it is asked later
        wanted = self._wanted(asked)
        told_below = self._printer.spoke and bool(wanted.words)
        if anew or told_below or (wanted.words, wanted.question) != (self._shown.words, self._shown.question):
            self._shown, self._printer.spoke = wanted, False
            self._ask_for(replace(wanted, after=self._heard))

    def _wanted(self, asked: LineQuestion | None) -> LinePrompt:
        if asked:
            return LinePrompt(words=asked.prompt, question=self._questions.number, hidden=asked.hidden)
        if self._session.running:
            return LinePrompt()
        draft, self._draft = self._draft, ""
        earlier, self._earlier = self._earlier, ()
        return LinePrompt(words=_PROMPT, draft=draft, earlier=earlier)
