"""What front ends ask of the rest of the program. They are handed it, and know no provider and no tool."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import ExportFormat, Mode, PolicyName, Scope
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.models import FoundServer, ModelInfo, ProviderInfo
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import (
    Changes,
    ContextReport,
    Earlier,
    KeptImage,
    NextSizes,
    SavedSession,
    SearchHit,
    Setting,
)
from keen_tui.memory.pending import PendingState
from keen_tui.settings.custom_commands import CustomCommand


class WatchedSession(Protocol):
    """A session as front ends watch it: its events and its current state. It is at work, or a replay."""

    @property
    def bus(self) -> EventBus:
        """Where everything that happens is published."""

    @property
    def workspace(self) -> Path:
        """The root folder."""

    @property
    def model(self) -> str:
        """Name of the model."""

    @property
    def server(self) -> str:
        """Where the model is served, in a word."""

    @property
    def effort(self) -> str:
        """How hard it should reason, "" for its own default."""

    @property
    def mode(self) -> Mode:
        """The permission mode."""

    @property
    def policy(self) -> PolicyName:
        """The memory policy."""

    @property
    def permitted(self) -> Permitted:
        """What was allowed or forbidden in addition to the mode."""

    @property
    def running(self) -> bool:
        """Whether a turn runs."""

    @property
    def pending(self) -> PendingState | None:
        """The pending state of incomplete turns, until retry or discard."""

    @property
    def context_window(self) -> int | None:
        """Tokens that the model takes in all, or None when that is not known."""

    @property
    def queue(self) -> tuple[str, ...]:
        """Messages that wait for the running turn, oldest first."""

    def stop(self) -> None:
        """Interrupt the running turn, or play the rest of a replay at once. No effect when idle."""

    async def close(self) -> None:
        """Stop the turn or the replay, wait for its end, and close the bus and the provider."""


class SessionControls(Protocol):
    """What a session at work can be told to do, and asked about its next request. A replay has none of it.

    Only `context`, `next_sizes` and `take_back` wait; everything else returns at once.
    """

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        """Load in a thread what the first request needs, and do `then` there."""

    def submit(self, text: str) -> None:
        """Send a message: starts a turn, or queues it while one runs."""

    def steer(self, text: str = "") -> None:
        """Send a message into the running turn, at its next tool boundary; "" for the oldest that is queued.
        Where no turn runs, start one."""

    def withdraw_queued(self) -> str | None:
        """Take the newest queued message back; None where none is queued."""

    def retry(self) -> None:
        """Continue the turn that ended incomplete or failed; make an automatic retry now that is waited for.
        Raises SessionRefused."""

    def discard(self) -> None:
        """Give pending work up, or take the message of a failed turn back. Raises SessionRefused."""

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Answer the approval of a call. Raises SessionRefused when it is not open."""

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        """Answer the question of a call; choices count from 0, None declines. Raises SessionRefused."""

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode."""

    async def take_back(self, command: str) -> None:
        """Revoke the permanent permission of a command. Raises SessionRefused or ConfigError."""

    def set_policy(self, policy: PolicyName) -> None:
        """Change the memory policy, from the next turn on."""

    async def next_sizes(self) -> NextSizes:
        """The size of the next request, beside the whole history; measured in a thread."""

    async def context(self, draft: str = "") -> ContextReport:
        """The parts of the next request if `draft` is sent now. Raises SessionRefused."""

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        """Replace the TurnMemory of a turn. Raises SessionRefused: a turn runs, or it has no message."""

    def compact(self, focus: str = "") -> None:
        """Have the model summarise the conversation; `stop` cancels it. Raises SessionRefused."""

    def run_own(self, command: str) -> None:
        """Run a command of the user's own in the workspace; `stop` ends it. Raises SessionRefused."""


class FilesPort(Protocol):
    """The files of the workspace by name."""

    def matching(self, letters: str, most: int) -> AsyncIterator[Sequence[str]]:
        """Paths that fit the letters, the best first, folders with a slash at their end; again and again
        while more files are found."""


class PromptsPort(Protocol):
    """What the user writes, saved beyond the end of the program."""

    async def earlier(self) -> Earlier:
        """What was written before. The drafts are passed on: they are stored nowhere else from now on."""

    def sent(self, text: str) -> None:
        """Remember a sent message."""

    def keep_draft(self, text: str) -> None:
        """Save the unsent text; empty for nothing."""

    async def keep_image(self, content: bytes) -> KeptImage:
        """Keep an image that was pasted, so that a message can name it.

        Raises ImageRefused: no model could be shown it. StorageFailed: it can't be kept."""

    async def close(self) -> None:
        """Wait until everything is saved."""


class HistoryPort(Protocol):
    """Saved sessions, and the one on the screen as a saved one.

    What replaces the session (`new`, `open`, `fork`) stops its turn and abandons pending state: ask first
    where there is any. All raise KeenError with a sentence.
    """

    @property
    def session_id(self) -> str:
        """The session on the screen."""

    @property
    def keeps_pending(self) -> bool:
        """Whether the work of an incomplete turn outlives the program."""

    def keep_pending(self, durable: bool) -> None:
        """Whether that work outlives the program from now on, that of this moment included."""

    async def sessions(
        self, *, everywhere: bool = False, most: int | None = None
    ) -> tuple[SavedSession, ...]:
        """The sessions of this workspace, or of all, newest first; at most so many."""

    def search(self, words: str) -> AsyncGenerator[tuple[SearchHit, ...], None]:
        """Search all sessions for the words, newest session first, at most 200 places: yields those found so
        far, again and again, and finally all of them."""

    async def new(self) -> None:
        """Start an empty session."""

    async def open(self, session_id: str) -> None:
        """Open that session. Raises SessionInUse if another program has it open: offer a fork."""

    async def fork(self, session_id: str = "", turn: int = 0) -> None:
        """Continue in a copy of that session ("": this one), up to and with that turn (0: whole)."""

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title."""

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it. Not the one on the screen."""

    async def export(self, format: ExportFormat, path: str = "") -> Path:
        """Write this session to a file; "" names one in the workspace. Returns the file."""

    async def begin(self) -> None:
        """Begin with an empty session."""

    async def close(self) -> str:
        """After the session was closed: wait until everything is saved. Gives a sentence about what could
        not be, "" when all is."""


class OffersPort(Protocol):
    """What the program has offered the user, so that it offers nothing twice."""

    def first_time(self, offer: str) -> bool:
        """Whether this offer is made for the first time; it is written down. Blocks; never raises."""


class ChangesPort(Protocol):
    """The changes that the turns of the session on the screen made to files. All raise KeenError with a
    sentence."""

    async def changes(self, turn: int) -> Changes:
        """What the edits of a turn changed; 0: of all turns, -1: of the newest turn that changed any.

        Raises SessionRefused: no turn changed any.
        """

    async def undo(self, turn: int) -> str:
        """Restore the files of a turn to their state before it, -1: of the newest turn that changed any.
        Returns sentences about files that could not be restored, "" if all were.

        Raises SessionRefused: a turn runs, pending state would be lost, or there is nothing to undo.
        """


class ModelsPort(Protocol):
    """Which models there are, and the choice among them."""

    @property
    def current(self) -> ModelInfo | None:
        """The model in use, None while none is chosen."""

    @property
    def effort(self) -> str:
        """How hard it shall reason: one of `current.efforts`, "" for its own default."""

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """All providers, with the models that are known of each."""

    def key_source(self, provider: ProviderInfo) -> str | None:
        """Where the provider's key is ("ANTHROPIC_API_KEY"), "" where none is needed, None: nowhere."""

    async def find_servers(self) -> tuple[FoundServer, ...]:
        """The model servers that answer on this machine. Takes up to a second; never raises."""

    async def live_models(self, provider: ProviderInfo) -> tuple[ModelInfo, ...]:
        """The models that the provider's server lists now. Raises KeenError with a sentence."""

    async def find_server(self, address: str, key: str = "") -> FoundServer:
        """The server at that address with the models it lists; `providers` has it from now on. It may list
        none. `key` "" is the one that is known for the address, if any.

        Raises KeenError with a sentence; AuthFailed: it wants a key, or another one.
        """

    async def check(self, model: ModelInfo | None = None) -> str:
        """Test the connection to the server of that model, or of the one in use; the result as a sentence.

        Raises KeenError with the sentence when it fails.
        """

    def would_abandon(self, model: ModelInfo) -> bool:
        """Whether choosing this model would lose the incomplete turn."""

    def choose(self, model: ModelInfo, *, effort: str = "", abandon: bool = False) -> str:
        """Use this model from the next turn on and remember it; returns a sentence about that.

        Raises KeenError: a turn runs, pending work would be lost and `abandon` is not set, no key.
        """

    async def key_destination(self) -> str:
        """Where a key that is entered now will be saved: "the system keyring", or the path of a file."""

    async def keep_key(self, provider: ProviderInfo, key: str) -> str:
        """Save the key and say where. Raises KeenError; no message contains the key."""


class SettingsPort(Protocol):
    """The user's settings. Methods that fail raise ConfigError with a sentence."""

    @property
    def file(self) -> Path:
        """The settings file, which may not exist yet."""

    def all(self) -> tuple[Setting, ...]:
        """Every setting, in the order in which they are shown."""

    def value(self, name: str) -> Any:
        """The value of the setting of that name."""

    def change(self, name: str, text: str) -> Any:
        """Set a setting in the file to this text, "" for its default. Returns the current value."""

    def prepare_file(self) -> Path:
        """The settings file, written now if it didn't exist."""

    def line(self, name: str) -> int:
        """The line of a setting in the file, 0 if it can't be found."""


class Guided(Protocol):
    """Where a guided tour explains what happens."""

    def show_guide(self, text: str) -> None:
        """Show this text until the next one; empty clears it."""

    def suggest(self, text: str) -> None:
        """Put `text` into the field for the next message, unless it contains text."""


class FrontEndSetup(Struct, frozen=True, kw_only=True):
    """What a front end works with.

    `session` is what it shows; `controls` command that session, None where it is a replay. `models` is the
    choice among models, `history` the saved sessions, `changes` those that turns made to files and `settings`
    the user's, None where there are none, as in the tour; `files` are those of the workspace, `prompts` what
    was written before. `opening` is the session to go on with as soon as the screen is painted; `companion`
    runs beside the screen from the moment it is live, for example a guided tour. `offers` knows what was
    offered already, None: nothing is. `problems` are sentences for the user, said at the start;
    `commands` are slash commands from files.
    """

    session: WatchedSession
    controls: SessionControls | None
    models: ModelsPort | None = None
    history: HistoryPort | None = None
    changes: ChangesPort | None = None
    files: FilesPort | None = None
    prompts: PromptsPort | None = None
    opening: SavedSession | None = None
    companion: Callable[[Guided], Awaitable[None]] | None = None
    offers: OffersPort | None = None
    problems: tuple[str, ...] = ()
    commands: tuple[CustomCommand, ...] = ()
    settings: SettingsPort | None = None

    @property
    def keeps_pending(self) -> bool:
        """Whether the work of an incomplete turn outlives the program."""
        return self.history is not None and self.history.keeps_pending
