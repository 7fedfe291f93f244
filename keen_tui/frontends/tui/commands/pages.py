"""The pages that commands show, on the screen."""

from __future__ import annotations

import asyncio
from typing import assert_never

from keen_tui.frontends.shared.pages import (
    AgentsPage,
    ChangesPage,
    ContextPage,
    HelpPage,
    KeyPage,
    McpPage,
    ModelsPage,
    Page,
    ReviewPage,
    ServerPage,
    SessionsPage,
    SettingsPage,
    SignInPage,
    SkillsPage,
    TasksPage,
    UsagePage,
)
from keen_tui.frontends.shared.questions import UndoQuestion
from keen_tui.frontends.shared.review_port import ReviewsPort
from keen_tui.frontends.shared.servers_port import OpenSignIn, ServersPort
from keen_tui.frontends.shared.tasks_port import TasksPort
from keen_tui.frontends.tui.commands.context import ContextViewer
from keen_tui.frontends.tui.commands.models import ModelPages
from keen_tui.frontends.tui.commands.place_opener import PlaceOpener
from keen_tui.frontends.tui.commands.sessions import SessionPages
from keen_tui.frontends.tui.commands.settings import SettingPages
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class WorkspacePages:
    """Opens pages over the workspace. Pages are imported late, because the first paint needs none."""

    def __init__(
        self,
        view: WorkspaceView,
        opener: PlaceOpener,
        context: ContextViewer,
        models: ModelPages,
        sessions: SessionPages,
        settings: SettingPages,
    ) -> None:
        self._view = view
        self._opener = opener
        self._context = context
        self._models = models
        self._sessions = sessions
        self._settings = settings

    def open(self, page: Page) -> None:
        """Open this page."""
        match page:
            case HelpPage(words):
                self._help(words)
            case UsagePage():
                self._usage()
            case ContextPage():
                self._context.open(page)
            case ChangesPage():
                self._changes(page)
            case SettingsPage():
                self._settings.open(page)
            case SkillsPage():
                self._skills(page)
            case AgentsPage():
                self._agents(page)
            case SessionsPage():
                self._sessions.choose(page)
            case ModelsPage(models, words):
                self._models.pick(models, words=words)
            case KeyPage(models):
                self._models.enter_key(models)
            case ServerPage(models, address):
                self._models.name_server(models, address)
            case McpPage(port, name):
                self._servers(port, name)
            case TasksPage(port, id):
                self._tasks(port, id)
            case SignInPage(sign_in):
                self._sign_in(sign_in)
            case ReviewPage(port):
                self._review(port)
            case _:
                assert_never(page)

    async def ask_undo(self, question: UndoQuestion) -> str:
        """Whether to undo these changes, "yes" or "", asked where they can be read."""
        from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page = ChangesScreen(
            view.look,
            view.glyphs,
            question.changes,
            question.files,
            asks=True,
            opener=self._opener.open_file,
        )
        view.open_page(page, lambda undo: answer.set_result("yes" if undo else ""))
        return await answer

    def _help(self, words: str) -> None:
        from keen_tui.frontends.tui.pages.help import HelpScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        view.open_page(HelpScreen(view.look, view.glyphs, view.focused_place, view.commands.own, words))

    def _servers(self, port: ServersPort, name: str) -> None:
        from keen_tui.frontends.tui.pages.servers import McpScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        view.open_page(McpScreen(view.look, view.glyphs, port, name))

    def _sign_in(self, sign_in: OpenSignIn) -> None:
        from keen_tui.frontends.tui.pages.sign_in import SignInScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        view.open_page(SignInScreen(view.look, view.glyphs, sign_in), lambda said: view.say(said or ""))

    def _tasks(self, port: TasksPort, id: str) -> None:
        from keen_tui.frontends.tui.pages.tasks import TasksScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        view.open_page(TasksScreen(view.look, view.glyphs, port, id))

    def _review(self, port: ReviewsPort) -> None:
        from keen_tui.frontends.tui.pages.review import ReviewScreen  # noqa: PLC0415 - not before the first paint
        from keen_tui.text.review_words import outcome_words  # noqa: PLC0415

        view = self._view
        page = ReviewScreen(view.look, view.glyphs, port, self._opener.open_file)
        was_running = port.running

        async def tell() -> None:
            await port.ended()
            if was_running and port.newest and page not in view.app.screen_stack:
                view.say(f"{outcome_words(port.newest)} /review show shows the review.")

        view.open_page(page, lambda task: view.prompt.write(task) if task else None)
        view.work(tell(), "review", instead=True)

    def _usage(self) -> None:
        from keen_tui.frontends.tui.pages.usage import UsageScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        page = UsageScreen(view.look, view.glyphs, view.state)
        view.open_page(page, lambda wants_request: view.run("context") if wants_request else None)

    def _skills(self, page: SkillsPage) -> None:
        from keen_tui.frontends.tui.pages.skills import SkillsScreen  # noqa: PLC0415 - not before the first paint

        view = self._view

        def chosen(name: str | None) -> None:
            if name is not None:
                view.prompt.write(f"/{name} ")

        view.open_page(SkillsScreen(view.look, view.glyphs, page.skills, page.unload), chosen)

    def _agents(self, page: AgentsPage) -> None:
        from keen_tui.frontends.tui.pages.agents import AgentsScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        view.open_page(AgentsScreen(view.look, view.glyphs, page))

    def _changes(self, page: ChangesPage) -> None:
        from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen  # noqa: PLC0415 - not before the first paint

        view, opener = self._view, self._opener.open_file
        view.open_page(ChangesScreen(view.look, view.glyphs, page.changes, page.files, opener=opener))
