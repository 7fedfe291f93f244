"""The parts of the workspace, each made with what it works on."""

from __future__ import annotations

from pathlib import Path

from keen_tui.frontends.shared.commands.command import CommandContext
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.commands.agents import AgentViewer
from keen_tui.frontends.tui.commands.command_runner import CommandRunner
from keen_tui.frontends.tui.commands.context import ContextViewer
from keen_tui.frontends.tui.commands.models import ModelPages
from keen_tui.frontends.tui.commands.outbox import Outbox
from keen_tui.frontends.tui.commands.pages import WorkspacePages
from keen_tui.frontends.tui.commands.place_opener import PlaceOpener
from keen_tui.frontends.tui.commands.screen_ui import ScreenUi
from keen_tui.frontends.tui.commands.sessions import SessionPages
from keen_tui.frontends.tui.commands.settings import SettingPages
from keen_tui.frontends.tui.commands.stop_keys import StopKeys
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.workspace.arrange import Arrangement
from keen_tui.frontends.tui.workspace.complete import Completer
from keen_tui.frontends.tui.workspace.copy_command import CopyCommand
from keen_tui.frontends.tui.workspace.detail import DetailLevel
from keen_tui.frontends.tui.workspace.disk_offer import DiskOffer
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.paste import ImagePaste
from keen_tui.frontends.tui.workspace.recall import Drafts, MessageSearch
from keen_tui.frontends.tui.workspace.resumed import ResumedRow
from keen_tui.frontends.tui.workspace.ticker import Ticker
from keen_tui.frontends.tui.workspace.tip import TipRow
from keen_tui.frontends.tui.workspace.turn_questions import TurnQuestions
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class Parts:
    """The objects that do the work for keys and messages."""

    def __init__(
        self,
        view: WorkspaceView,
        setup: FrontEndSetup,
        *,
        sidebar_file: Path | None,
        reduced_motion: bool,
    ) -> None:
        self.ticker = Ticker(view, reduced=reduced_motion)
        self.arrangement = Arrangement(view, sidebar_file)
        self.tips = TipRow(view)
        self.disk_offer = DiskOffer(view, setup)
        self.detail = DetailLevel(view)
        self.find_row = FindRow(view)
        self.copier = CopyCommand(view)
        self.agents = AgentViewer(view, setup.sub_agents)
        self.opener = PlaceOpener(view, self.agents)
        self.image_paste = ImagePaste(view)
        search = MessageSearch(view)
        self.drafts = Drafts(view, search)
        self.completer = Completer(view, search)
        self.turn_questions = TurnQuestions(view)
        self.context = ContextViewer(view)
        self.switch = SessionSwitch(view, self.find_row)
        self.screen = ScreenUi(view, self.switch, lambda: self.pages)
        self.commands = CommandRunner(view, CommandContext(self.screen, setup))
        self.resumed = ResumedRow(view, self.commands.context)
        self.models = ModelPages(view, self.commands)
        self.sessions = SessionPages(view, self.commands, self.switch, self.find_row)
        self.settings = SettingPages(view, self.commands)
        self.pages = WorkspacePages(
            view, self.opener, self.context, self.models, self.sessions, self.settings
        )
        self.outbox = Outbox(view, self.drafts, self.models, self.switch)
        self.stopping = StopKeys(
            view,
            self.turn_questions,
            self.completer,
            self.find_row,
            self.copier,
            self.screen,
            self.outbox,
            setup.runs,
        )
