"""The parts of the workspace, each made with what it works on."""

from __future__ import annotations

from pathlib import Path

from keen_tui.frontends.shared.port import ChangesPort, HistoryPort, ModelsPort, SessionControls
from keen_tui.frontends.tui.commands.changes import ChangeCommands
from keen_tui.frontends.tui.commands.memory import MemoryCommands
from keen_tui.frontends.tui.commands.models import ModelPages
from keen_tui.frontends.tui.commands.run import CommandRunner
from keen_tui.frontends.tui.commands.sessions import SessionPages
from keen_tui.frontends.tui.commands.settings import SettingPages
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.questions.turn_questions import TurnQuestions
from keen_tui.frontends.tui.workspace.arrange import Arrangement
from keen_tui.frontends.tui.workspace.complete import Completer
from keen_tui.frontends.tui.workspace.copy import CopyCommand
from keen_tui.frontends.tui.workspace.detail import DetailLevel
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.open import PlaceOpener
from keen_tui.frontends.tui.workspace.paste import ImagePaste
from keen_tui.frontends.tui.workspace.recall import Drafts, MessageSearch
from keen_tui.frontends.tui.workspace.send import Outbox
from keen_tui.frontends.tui.workspace.stop import StopKeys
from keen_tui.frontends.tui.workspace.tick import Ticker
from keen_tui.frontends.tui.workspace.tip import TipRow
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class Parts:
    """What keys and messages do is done by these."""

    def __init__(
        self,
        view: WorkspaceView,
        *,
        controls: SessionControls | None,
        models: ModelsPort | None,
        history: HistoryPort | None,
        changes: ChangesPort | None,
        sidebar_file: Path | None,
        reduced_motion: bool,
        keeps_pending: bool,
    ) -> None:
        self.ticker = Ticker(view, reduced=reduced_motion)
        self.arrangement = Arrangement(view, sidebar_file)
        self.tips = TipRow(view)
        self.detail = DetailLevel(view)
        self.find_row = FindRow(view)
        self.copier = CopyCommand(view)
        self.opener = PlaceOpener(view)
        self.image_paste = ImagePaste(view)
        search = MessageSearch(view)
        self.drafts = Drafts(view, search)
        self.completer = Completer(view, search)
        self.turn_questions = TurnQuestions(view)
        self.models = ModelPages(view, models)
        self.switch = SessionSwitch(view, self.find_row)
        self.commands = CommandRunner(view, self.switch, controls, history, keeps_pending=keeps_pending)
        self.sessions = SessionPages(view, self.commands, self.switch, self.find_row)
        self.changes = ChangeCommands(view, changes, self.opener)
        self.memory = MemoryCommands(view)
        self.settings = SettingPages(view, self.models)
        self.outbox = Outbox(view, self.drafts, self.models, self.switch)
        self.stopping = StopKeys(
            view, self.turn_questions, self.completer, self.find_row, self.copier, self.commands
        )
