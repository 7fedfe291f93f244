"""The words that explain the tour: what the person sees right now, and which key is next."""

from __future__ import annotations

from keen_tui.demo.tour import FIRST_PROMPT, SECOND_PROMPT
from keen_tui.domain.events import (
    ApprovalRequested,
    Event,
    RetryScheduled,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)


class Guide:
    """Turns events into guidance. `next_prompt` is what the person may send next, "" when nothing is due.

    Args:
        send, retry, leave: the keys that do so, as they are written.
        last_prompt: the command that leaves the tour for a model of the user's own, "" where there is none.
    """

    def __init__(
        self, *, send: str = "enter", retry: str = "ctrl+r", leave: str = "ctrl+d", last_prompt: str = ""
    ) -> None:
        self._send, self._retry, self._leave = send, retry, leave
        self.welcome = (
            "The guided tour: the model is a script on this machine; the loop, the tools and the tests are "
            f"real. Press {send} to send the task."
        )
        self.next_prompt = FIRST_PROMPT
        self._last_prompt = last_prompt
        self._recovered = False

    def words(self, event: Event) -> str | None:
        """What to say now, or None to leave the words as they are."""
        match event:
            case TurnStarted(attempt=1):
                self.next_prompt = ""
                return "Watch Activity on the right: every call appears while it runs."
            case TurnStarted():
                self._recovered = True
                return "The request went out with the kept calls and their results. None of them runs again."
            case ApprovalRequested(name="bash"):
                return "In ask mode Keen asks before it runs a command. Press enter to run the tests."
            case ApprovalRequested():
                return "This is the whole change, before it is made. Press enter to make it."
            case RetryScheduled():
                return "The connection was really reset. Keen tries again on its own; no tool has run twice."
            case TurnIncomplete():
                return (
                    f"Still no luck. {event.calls} finished calls are kept, see TurnMemory. "
                    f"Press {self._retry} to continue from the last result."
                )
            case TurnError():
                return f"Nothing had run yet, so nothing was kept. Press {self._retry} to send it again."
            case TurnAbandoned():
                return "Discarded, but the changed file stays remembered. Play again with keen-tui --demo."
            case TurnDone(turn=1):
                self.next_prompt = SECOND_PROMPT
                again = "One turn, two attempts, one memory. " if self._recovered else ""
                carried = "TurnMemory shows everything later turns will know."
                return f"{again}{carried} Press {self._send} to ask the model."
            case TurnDone():
                self.next_prompt = self._last_prompt
                return self._farewell()
        return None

    def _farewell(self) -> str:
        if self._last_prompt:
            return f"That's Keen. Press {self._send} to choose a model of your own. {self._leave} quits."
        return f"That's Keen. To choose a model of your own, start it without --demo. {self._leave} quits."
