"""The rest of the program as front ends see it. They are given it, and know no provider and no tool."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.facts.skill_used import SkillUsed
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
    Setting,
)
from keen_tui.frontends.shared.agents_port import AgentsPort
from keen_tui.frontends.shared.history_port import HistoryPort
from keen_tui.frontends.shared.review_port import ReviewsPort
from keen_tui.frontends.shared.runs_port import RunsPort
from keen_tui.frontends.shared.servers_port import ServersPort
from keen_tui.frontends.shared.tasks_port import TasksPort
from keen_tui.frontends.shared.tree_port import TreePort
from keen_tui.memory.pending import PendingState
from keen_tui.settings.added.custom_commands import CustomCommand

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition
    from keen_tui.settings.added.skills import Skill


class WatchedSession(Protocol):
    """A session as front ends see it: its events and its current state. It may be a replay."""

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
        """The reasoning effort; "" for the model's default."""

    @property
    def mode(self) -> Mode:
        """The permission mode."""

    @property
    def policy(self) -> PolicyName:
        """The memory policy."""

    @property
    def permitted(self) -> Permitted:
        """The permissions apart from the mode: rules and the user's answers."""

    @property
    def running(self) -> bool:
        """Whether a turn runs."""

    @property
    def pending(self) -> PendingState | None:
        """The pending state of incomplete turns, until retry or discard."""

    @property
    def context_window(self) -> int | None:
        """The model's context window in tokens, or None if it isn't known."""

    @property
    def queue(self) -> tuple[str, ...]:
        """Messages that wait for the end of the running turn, oldest first."""

    @property
    def steered(self) -> tuple[str, ...]:
        """Messages for the next tool results of the running turn, oldest first."""

    def stop(self) -> None:
        """Interrupt the running turn, or play the rest of a replay at once. No effect when idle."""

    async def close(self) -> None:
        """Stop the turn or the replay, wait for its end, and close the bus and the provider."""


class SessionControls(Protocol):
    """The commands that a session takes, and what it knows of its next request. A replay has none.

    Only `context`, `next_sizes` and `take_back` wait; all others return at once.
    """

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        """Load what the first request needs in a thread, then call `then` there."""

    def submit(self, text: str) -> None:
        """Send a message: starts a turn, or queues it while one runs."""

    def steer(self, text: str = "") -> None:
        """Steer the running turn; "" sends the oldest queued message. If no turn runs, start one."""

    def withdraw_queued(self) -> str | None:
        """Take back the newest queued message; None if none is queued."""

    def retry(self) -> None:
        """Retry the turn that ended incomplete or failed. If an automatic retry is being waited for, make it
        now. Raises SessionRefused."""

    def discard(self) -> None:
        """Discard pending work, or take back the message of a failed turn. Raises SessionRefused."""

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Answer the approval of a call. Raises SessionRefused if it isn't open."""

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

    @property
    def skills_in_use(self) -> tuple[SkillUsed, ...]:
        """The skills that turns used and that weren't unloaded."""

    def unload(self, skill: str) -> None:
        """Forget in every turn that the skill is in use. Raises SessionRefused: a turn runs or isn't done, or
        the skill isn't in use."""

    def compact(self, focus: str = "") -> None:
        """Have the model summarise the conversation; `stop` cancels it. Raises SessionRefused."""

    def run_own(self, command: str) -> None:
        """Run a command of the user's own in the workspace; `stop` ends it. Raises SessionRefused."""


class FilesPort(Protocol):
    """The files of the workspace by name."""

    def matching(self, letters: str, most: int) -> AsyncIterator[Sequence[str]]:
        """Paths that match the letters, the best first; folders end in a slash. Yields again as more files
        are found."""


class PromptsPort(Protocol):
    """The user's prompts, saved beyond the end of the program."""

    async def earlier(self) -> Earlier:
        """Returns the earlier prompts and the drafts. The store deletes the drafts: the caller has them
        now."""

    def sent(self, text: str) -> None:
        """Remember a sent message."""

    def keep_draft(self, text: str) -> None:
        """Save the unsent text; empty for nothing."""

    async def keep_image(self, content: bytes) -> KeptImage:
        """Save a pasted image, so that a message can name it.

        Raises ImageRefused: no model can be shown it. StorageFailed: it can't be saved."""

    async def close(self) -> None:
        """Wait until everything is saved."""


class OffersPort(Protocol):
    """The offers that were made, so that none is made twice."""

    def first_time(self, offer: str) -> bool:
        """Whether this offer is made for the first time. Notes that it was made. Blocks; never raises."""


class ChangesPort(Protocol):
    """The changes that turns of the open session made to files. Methods raise KeenError with a sentence."""

    async def changes(self, turn: int) -> Changes:
        """Returns the changes by the edits of a turn; 0: of all turns, -1: of the newest turn that changed
        any. Raises SessionRefused: no turn changed any."""

    async def undo(self, turn: int) -> str:
        """Restore the files of a turn to their state before it, -1: of the newest turn that changed any.
        Returns sentences about files that could not be restored, "" if all were.

        Raises SessionRefused: a turn runs, pending state would be lost, or there is nothing to undo.
        """


class ModelsPort(Protocol):
    """The models, and the choice among them."""

    @property
    def current(self) -> ModelInfo | None:
        """The model in use; None while none is chosen."""

    @property
    def effort(self) -> str:
        """The reasoning effort: one of `current.efforts`, "" for the model's default."""

    @property
    def providers(self) -> tuple[ProviderInfo, ...]:
        """All providers, each with its known models."""

    def key_source(self, provider: ProviderInfo) -> str | None:
        """Where the provider's key comes from ("ANTHROPIC_API_KEY"); "" if it needs none, None if there is
        none."""

    async def find_servers(self) -> tuple[FoundServer, ...]:
        """The model servers that answer on this machine. Takes up to a second; never raises."""

    async def live_models(self, provider: ProviderInfo) -> tuple[ModelInfo, ...]:
        """The models that the provider's server lists now. Raises KeenError with a sentence."""

    async def find_server(self, address: str, key: str = "") -> FoundServer:
        """The server at that address, with the models that it lists, if any. From now on `providers` contains
        it. A `key` of "" stands for the known key of the address. Raises KeenError with a sentence;
        AuthFailed: it wants a key, or another one."""

    async def check(self, model: ModelInfo | None = None) -> str:
        """Test the connection to the server of that model, or of the one in use; the result as a sentence.
        Raises KeenError with the sentence when it fails."""

    def would_abandon(self, model: ModelInfo) -> bool:
        """Whether choosing this model would lose the incomplete turn."""

    def choose(self, model: ModelInfo, *, effort: str = "", abandon: bool = False) -> str:
        """Use this model from the next turn on, and remember the choice; returns a sentence about it.

        Raises KeenError: a turn runs, there is no key, or pending work would be lost and `abandon` isn't set.
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
    """A front end, as a guided tour uses it."""

    def show_guide(self, text: str) -> None:
        """Show this text until the next one; empty clears it."""

    def suggest(self, text: str) -> None:
        """Put `text` into the field for the next message, unless it contains text."""


class FrontEndSetup(Struct, frozen=True, kw_only=True):
    """The objects that a front end works with.

    It shows `session` and commands it through `controls`, which a replay doesn't have. Ports are None where
    they don't exist, for example in the tour. `opening` is the session to open as soon as the screen is
    painted. `companion` runs beside the front end. `offers` knows what the user was offered. `problems` are
    sentences to tell the user at the start, `commands` the slash commands from files, and `skills` those that
    can be used, of which most are slash commands, too. `agents` are the definitions of sub-agents,
    `agent_problems` those of the problems about them. `tree` is the session's work tree, if Keen made it.
    `is_tour`: the tour on the screen, in which choosing a model leaves for a session with that model.
    `picks_model`: the choice of a model comes first, even if one is in use.
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
    skills: tuple[Skill, ...] = ()
    agents: tuple[AgentDefinition, ...] = ()
    agent_problems: tuple[str, ...] = ()
    settings: SettingsPort | None = None
    servers: ServersPort | None = None
    tasks: TasksPort | None = None
    tree: TreePort | None = None
    sub_agents: AgentsPort | None = None
    runs: RunsPort | None = None
    reviews: ReviewsPort | None = None
    is_tour: bool = False
    picks_model: bool = False

    @property
    def project_name(self) -> str:
        """The name of the project, where the folder of the session has another one; "" elsewhere."""
        return self.tree.project.name if self.tree else ""

    @property
    def flags(self) -> str:
        """The flags that lead back to the folder of the session, with a space behind them; "" for none."""
        return f"--worktree {self.tree.name} " if self.tree else ""

    @property
    def keeps_pending(self) -> bool:
        """Whether the work of an incomplete turn outlives the program."""
        return self.history is not None and self.history.keeps_pending
