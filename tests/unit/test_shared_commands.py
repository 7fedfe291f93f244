"""Commands that both front ends have, on a scripted person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.review import ReviewWish
from keen_tui.frontends.line.asking import question_of as line_question_of
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.commands.changes import DIFF, UNDO
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused
from keen_tui.frontends.shared.commands.memory import CONTEXT, MEMORY
from keen_tui.frontends.shared.commands.models import CHECK, KEY, MODELS, SERVER, use
from keen_tui.frontends.shared.commands.review import REVIEW
from keen_tui.frontends.shared.commands.servers import MCP
from keen_tui.frontends.shared.commands.sessions import (
    EXPORT,
    FORK,
    NEW_SESSION,
    RENAME,
    SESSIONS,
    open_session,
)
from keen_tui.frontends.shared.commands.settings import SETTINGS, apply_setting
from keen_tui.frontends.shared.commands.turns import DISCARD, LEAVE, STEER
from keen_tui.frontends.shared.lines.page_lines import servers_lines, with_words
from keen_tui.frontends.shared.pages import (
    ChangesPage,
    ContextPage,
    KeyPage,
    McpPage,
    ModelsPage,
    Page,
    ServerPage,
    SessionsPage,
    SignInPage,
)
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.shared.questions import (
    CommandQuestion,
    DiscardQuestion,
    InUseQuestion,
    LeaveQuestion,
    PermissionsQuestion,
    ReplaceQuestion,
    ShortQuestion,
    SwitchQuestion,
    UndoQuestion,
)
from keen_tui.frontends.tui.questions.confirm import question_of as screen_question_of
from keen_tui.memory.pending import PendingState
from tests.support.changes import file, turn_three
from tests.support.fake_changes import FakeChanges
from tests.support.fake_history import FakeHistory
from tests.support.fake_models import ACME, FakeModels
from tests.support.fake_reviews import FakeReviews
from tests.support.fake_servers import FakeServers
from tests.support.fake_session import FakeSession
from tests.support.fake_tasks import TASKS, FakeTasks

PENDING = PendingState()

_Answer = TypeVar("_Answer")


class Person:
    """A front end whose person gives one answer to everything."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[CommandQuestion] = []
        self.said: list[str] = []
        self.shown: list[Page] = []
        self.left = self.to_models = False
        self.draft = ""
        self.title = "A title"
        self.turns: tuple[int, ...] = (1, 2)

    def say(self, text: str) -> None:
        self.said.append(text)

    def narrate(self, text: str) -> None:
        self.said.append(text)

    def tell_written(self, file: Path) -> None:
        self.said.append(file.name)

    def confirm(self, text: str) -> None:
        self.said.append(text)

    def write(self, text: str) -> None:
        self.draft = text

    def apply_setting(self, name: str, value: Any) -> None:
        self.said.append(f"{name} {value}")

    async def ask(self, question: CommandQuestion) -> str:
        self.asked.append(question)
        return self.answer

    async def show(self, page: Page) -> None:
        self.shown.append(page)

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        self.said.append(f"asking {server}")
        return await answer

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        await action()

    def leave(self, *, to_models: bool = False) -> None:
        self.left = True
        self.to_models = to_models


class At:
    """What commands work on, and the person."""

    def __init__(self, folder: Path, answer: str = "", *, pending: bool = True) -> None:
        self.person = Person(answer)
        self.session = FakeSession(folder)
        self.session.pending = PENDING if pending else None
        self.history = FakeHistory()
        self.models = FakeModels(ACME.models[0])
        self.changes = FakeChanges()
        self.servers = FakeServers()
        setup = FrontEndSetup(
            session=self.session,
            controls=self.session,
            history=self.history,
            changes=self.changes,
            models=self.models,
            servers=self.servers,
        )
        self.context = CommandContext(self.person, setup)

    @property
    def done(self) -> list[object]:
        """What was asked of session and history."""
        return [call[0] for call in (*self.session.calls, *self.history.calls)]


QUESTIONS: tuple[ShortQuestion, ...] = (
    DiscardQuestion(PENDING),
    LeaveQuestion(PENDING, running=False, durable=False),
    LeaveQuestion(None, running=True, durable=True),
    ReplaceQuestion(PENDING, "Begin a new session?", running=False),
    SwitchQuestion(PENDING, "Roadrunner 2"),
    InUseQuestion("A session"),
    PermissionsQuestion("ask", Permitted(saved=("make *",))),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_front_ends_offer_the_answers_that_commands_know(question: ShortQuestion) -> None:
    lines = {choice.id for choice in line_question_of(question).choices}
    screen = {choice.id for choice in screen_question_of(question).choices}
    assert screen - {"close"} <= lines


def test_every_shared_command_has_a_name_to_be_called_by() -> None:
    shared = [action for action in ACTIONS if isinstance(action, Command)]
    assert len(shared) >= 20
    assert all(command.slash and command.where == "anywhere" for command in shared)


@pytest.mark.parametrize(
    ("answer", "done"), [("keep", []), ("", []), ("retry", ["retry"]), ("discard", ["discard"])]
)
async def test_an_incomplete_turn_is_discarded_only_when_that_is_the_answer(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await DISCARD.does(at.context, "")
    assert at.done == done
    assert at.person.said == (["The incomplete turn is kept."] if answer == "keep" else [])


def test_changed_files_are_mentioned_only_where_there_are_some() -> None:
    changed = replace(PENDING, facts=(FileChanged(path="a.py"),))
    assert len(DiscardQuestion(changed).body) == 2
    assert "The files keep their changes" in SwitchQuestion(changed, "Roadrunner 2").body[1]
    assert len(DiscardQuestion(PENDING).body) == 1
    assert SwitchQuestion(PENDING, "Roadrunner 2").body[1] == "Another model can't continue it."


async def test_a_failed_message_comes_back_without_a_question(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    await DISCARD.does(at.context, "")
    assert at.person.asked == []
    assert at.done == ["discard"]


@pytest.mark.parametrize(
    ("answer", "left", "done"), [("keep", False, []), ("retry", False, ["retry"]), ("leave", True, [])]
)
async def test_leaving_asks_where_work_waits(
    tmp_path: Path, answer: str, left: bool, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await LEAVE.does(at.context, "")
    assert at.person.left is left
    assert at.done == done
    assert at.person.said == (["Keen keeps running."] if answer == "keep" else [])


@pytest.mark.parametrize(("answer", "left"), [("keep", False), ("", False), ("leave", True)])
async def test_leaving_asks_where_commands_run_in_the_background(
    tmp_path: Path, answer: str, left: bool
) -> None:
    at = At(tmp_path, answer, pending=False)
    context = replace(at.context, setup=replace(at.context.setup, tasks=FakeTasks()))
    await LEAVE.does(context, "")
    (question,) = at.person.asked
    assert isinstance(question, LeaveQuestion)
    assert question.body == ("A command is running in the background: npm run dev. Quitting ends it.",)
    assert [choice.id for choice in question.choices] == ["keep", "leave"]
    assert at.person.left is left


@pytest.mark.parametrize(("answer", "left"), [("keep", False), ("leave", True)])
async def test_leaving_asks_where_a_review_runs(tmp_path: Path, answer: str, left: bool) -> None:
    at, reviews = At(tmp_path, answer, pending=False), FakeReviews()
    await reviews.begin(ReviewWish())
    await LEAVE.does(replace(at.context, setup=replace(at.context.setup, reviews=reviews)), "")
    (question,) = at.person.asked
    assert isinstance(question, LeaveQuestion)
    assert question.body == ("A review of feature compared with main is running. Quitting ends it.",)
    assert [choice.consequence for choice in question.choices][-1] == "the review ends"
    assert at.person.left is left


async def test_leaving_asks_nothing_where_the_review_has_ended(tmp_path: Path) -> None:
    at, reviews = At(tmp_path, pending=False), FakeReviews()
    await reviews.begin(ReviewWish())
    reviews.end()
    await LEAVE.does(replace(at.context, setup=replace(at.context.setup, reviews=reviews)), "")
    assert at.person.left and not at.person.asked


async def test_leaving_asks_nothing_where_commands_in_the_background_have_ended(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    context = replace(at.context, setup=replace(at.context.setup, tasks=FakeTasks(TASKS[1:])))
    await LEAVE.does(context, "")
    assert at.person.left and not at.person.asked


def test_a_question_about_many_commands_names_some() -> None:
    tasks = ("x" * 100, *(f"serve {number}" for number in range(1, 8)))
    (said,) = LeaveQuestion(None, running=False, durable=False, tasks=tasks).body
    assert said.startswith(f"8 commands are running in the background: {'x' * 60}, serve 1, ")
    assert said.endswith("serve 4 and 3 more. Quitting ends them.")


async def test_leaving_asks_nothing_where_no_work_waits(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    await LEAVE.does(at.context, "")
    assert at.person.left
    assert at.person.asked == []


@pytest.mark.parametrize(("answer", "done"), [("keep", []), ("retry", ["retry"]), ("replace", ["new"])])
async def test_another_session_begins_only_when_the_incomplete_turn_may_go(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await NEW_SESSION.does(at.context, "")
    assert at.done == done
    assert bool(at.person.said) is (answer == "replace")


@pytest.mark.parametrize("command", [FORK, EXPORT, DIFF])
async def test_words_that_say_nothing_are_refused(tmp_path: Path, command: Command) -> None:
    with pytest.raises(WordsRefused):
        await command.does(At(tmp_path).context, "nonsense")


@pytest.mark.parametrize(("answer", "done"), [("yes", ["fork"]), ("no", []), ("", [])])
async def test_a_session_that_is_open_elsewhere_is_forked_if_that_is_wanted(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer, pending=False)
    at.history.elsewhere.add("s3")
    await open_session(at.context, next(each for each in at.history.kept if each.id == "s3"), "Why")
    assert at.done == done


async def test_without_saved_sessions_none_begins(tmp_path: Path) -> None:
    at = At(tmp_path)
    context = CommandContext(at.person, replace(at.context.setup, history=None))
    with pytest.raises(SessionRefused, match="Sessions aren't saved here"):
        await NEW_SESSION.does(context, "")


async def test_without_a_title_one_is_asked_for_with_the_present_one_to_be_changed(tmp_path: Path) -> None:
    at = At(tmp_path)
    await RENAME.does(at.context, "")
    assert at.person.draft == "/rename A title"
    assert at.done == []
    await RENAME.does(at.context, "Another")
    assert at.done == ["rename"]


async def test_saved_sessions_are_shown_with_the_words(tmp_path: Path) -> None:
    at = At(tmp_path)
    await SESSIONS.does(at.context, "discount")
    assert at.person.shown == [SessionsPage(at.history, "discount")]


def changed(at: At, **known: object) -> None:
    """The newest turn changed files."""
    at.changes.turns = {number: turn_three(**known) for number in (0, 3)}


async def test_changes_are_shown_file_by_file(tmp_path: Path) -> None:
    at = At(tmp_path)
    changed(at)
    await DIFF.does(at.context, "")
    (page,) = at.person.shown
    assert isinstance(page, ChangesPage)
    assert page.files
    assert at.changes.calls == [("changes", 0)]


@pytest.mark.parametrize("command", [DIFF, UNDO])
async def test_where_no_file_changed_nothing_is_shown_or_asked(tmp_path: Path, command: Command) -> None:
    at = At(tmp_path, pending=False)
    with pytest.raises(SessionRefused, match="changed no files"):
        await command.does(at.context, "3")
    assert (at.person.shown, at.person.asked) == ([], [])


@pytest.mark.parametrize(("answer", "undone"), [("yes", True), ("no", False), ("", False)])
async def test_changes_are_undone_only_when_that_is_the_answer(
    tmp_path: Path, answer: str, undone: bool
) -> None:
    at = At(tmp_path, answer, pending=False)
    changed(at)
    await UNDO.does(at.context, "")
    assert (("undo", 3) in at.changes.calls) is undone


async def test_nothing_is_undone_while_work_is_open_nor_twice(tmp_path: Path) -> None:
    at = At(tmp_path, "yes")
    changed(at, undone=True)
    with pytest.raises(SessionRefused, match="Finish the last turn first"):
        await UNDO.does(at.context, "3")
    at.session.running = True
    with pytest.raises(SessionRefused, match="A turn is running"):
        await UNDO.does(at.context, "3")
    at.session.running, at.session.pending = False, None
    with pytest.raises(SessionRefused, match="are already undone"):
        await UNDO.does(at.context, "3")
    assert at.person.asked == []


async def test_line_by_line_undo_offers_no_yes_where_no_file_can_be_restored(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    changed(at, files=(file("big.csv", None, None, unkept="it is larger than 5 MB"),))
    await UNDO.does(at.context, "")
    (question,) = at.person.asked
    assert isinstance(question, UndoQuestion)
    assert [choice.id for choice in line_question_of(question).choices] == ["no"]


async def test_in_the_tour_the_choice_of_a_model_ends_it_and_asks_first_what_leaving_asks(
    tmp_path: Path,
) -> None:
    at = At(tmp_path, "keep")
    tour = replace(at.context, setup=replace(at.context.setup, models=None, is_tour=True))
    await MODELS.does(tour, "")
    assert isinstance(at.person.asked[-1], LeaveQuestion)
    assert not at.person.left
    at.session.pending = None
    await MODELS.does(tour, "")
    assert at.person.left and at.person.to_models


async def test_the_next_request_is_the_one_with_the_draft(tmp_path: Path) -> None:
    at = At(tmp_path)
    at.person.draft = "and then?"
    await CONTEXT.does(at.context, "")
    assert at.person.shown == [ContextPage(at.session.report, "and then?")]
    assert at.session.calls == [("context", "and then?")]


@pytest.mark.parametrize(
    ("answer", "done"),
    [("full-trace", ["set_policy"]), ("summary", []), ("stay", []), ("", [])],
)
async def test_the_memory_policy_changes_only_to_another(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await MEMORY.does(at.context, "")
    assert at.done == done
    assert bool(at.person.said) is (answer in ("full-trace", "summary"))


@pytest.mark.parametrize(("words", "done"), [("full-trace", [("set_policy", "full-trace")]), ("summary", [])])
async def test_memory_takes_a_policy_without_asking(tmp_path: Path, words: str, done: list[object]) -> None:
    at = At(tmp_path, "in-band")
    await MEMORY.does(at.context, words)
    assert at.session.calls == done and not at.person.asked


async def test_an_unknown_policy_is_refused_with_the_nearest(tmp_path: Path) -> None:
    at = At(tmp_path)
    with pytest.raises(WordsRefused, match="Did you mean full-trace"):
        await MEMORY.does(at.context, "ful-trace")
    with pytest.raises(WordsRefused, match="Choose summary, in-band or full-trace"):
        await MEMORY.does(at.context, "everything else")


@pytest.mark.parametrize(
    ("answer", "chosen", "done"),
    [("keep", False, []), ("", False, []), ("retry", False, ["retry"]), ("switch", True, [])],
)
async def test_a_switch_that_loses_the_incomplete_turn_is_asked_for(
    tmp_path: Path, answer: str, chosen: bool, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    at.models.loses_work = True
    await use(at.context, ACME.models[1], "low")
    assert at.person.asked == [SwitchQuestion(PENDING, "Roadrunner 2 mini")]
    assert (at.models.current is ACME.models[1]) is chosen
    assert at.done == done


async def test_a_switch_that_loses_nothing_is_not_asked_for(tmp_path: Path) -> None:
    at = At(tmp_path)
    await use(at.context, ACME.models[1], "low")
    assert at.person.asked == []
    assert ("choose", "roadrunner-2-mini", "low", False) in at.models.calls
    assert at.person.said == ["Roadrunner 2 mini is now in use."]


async def test_the_result_of_a_check_is_said(tmp_path: Path) -> None:
    at = At(tmp_path)
    at.models.answered.set()
    await CHECK.does(at.context, "")
    assert at.person.said[0] == "asking Acme"
    assert len(at.person.said) == 2


async def test_pages_about_models_are_shown_where_there_is_a_choice(tmp_path: Path) -> None:
    at = At(tmp_path)
    for command in (MODELS, KEY, SERVER):
        await command.does(at.context, "gpu-box:8000")
    server = ServerPage(at.models, "gpu-box:8000")
    assert at.person.shown == [ModelsPage(at.models, "gpu-box:8000"), KeyPage(at.models), server]
    without = CommandContext(at.person, replace(at.context.setup, models=None))
    for command in (MODELS, KEY, SERVER, CHECK):
        with pytest.raises(SessionRefused, match="There is no other model"):
            await command.does(without, "")


async def test_steering_needs_a_message_written_or_queued(tmp_path: Path) -> None:
    at = At(tmp_path)
    with pytest.raises(SessionRefused, match="Write a message"):
        await STEER.does(at.context, "")
    at.session.queue = ("use tabs",)
    await STEER.does(at.context, "")
    assert at.done == ["steer"]


async def test_settings_of_the_session_take_effect_there_and_others_in_the_front_end(tmp_path: Path) -> None:
    at = At(tmp_path)
    apply_setting(at.context, "mode", "plan")
    apply_setting(at.context, "memory.policy", "full-trace")
    apply_setting(at.context, "theme", "keen-light")
    assert (at.session.mode, at.session.policy) == ("plan", "full-trace")
    assert at.person.said == ["theme keen-light"]
    with pytest.raises(SessionRefused, match="no settings to change"):
        await SETTINGS.does(at.context, "")


async def test_mcp_shows_servers_and_restarts_and_stops_them(tmp_path: Path) -> None:
    at = At(tmp_path)
    for words in ("", "github"):
        await MCP.does(at.context, words)
    assert at.person.shown == [McpPage(at.servers, ""), McpPage(at.servers, "github")]
    await MCP.does(at.context, "restart files")
    await MCP.does(at.context, "stop github")
    await MCP.does(at.context, "login docs")
    assert at.servers.sign_in
    assert at.person.shown[2:] == [SignInPage(at.servers.sign_in)]
    assert at.servers.done == ["restart files", "stop github", "login docs"]
    assert at.person.said[:2] == ["The server files: restart.", "The server github: stop."]
    for words in ("nobody", "restart", "stop ", "login"):
        with pytest.raises(WordsRefused):
            await MCP.does(at.context, words)
    with pytest.raises(SessionRefused):
        await MCP.does(at.context, "stop nobody")


def test_servers_are_told_in_lines(tmp_path: Path) -> None:
    at = At(tmp_path)
    lines = list(servers_lines(McpPage(at.servers, "")))
    assert lines[1:] == [
        "github: ready, 1 of 2 tools.",
        "files: failed: the program npx isn't there.",
        "docs: needs a sign-in: the sign-in has ended.",
    ]
    whole = list(servers_lines(McpPage(at.servers, "github")))
    assert whole[:3] == ["github: ready, 1 of 2 tools.", "npx github-server.", "configured by the project."]
    assert "Tool mcp__github__delete_repo, not used: Deletes all." in whole
    assert whole[-2:] == ["started", "info: logged in"]


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("", ReviewWish()),
        ("base main", ReviewWish("base", "main")),
        ("commit HEAD~1", ReviewWish("commit", "HEAD~1")),
        ("uncommitted", ReviewWish("uncommitted")),
        ("base main locks and races", ReviewWish("base", "main", "locks and races")),
        ("uncommitted locks", ReviewWish("uncommitted", focus="locks")),
        ("locks and races", ReviewWish(focus="locks and races")),
    ],
)
async def test_a_review_of_those_changes_begins_and_is_shown(
    tmp_path: Path, words: str, wish: ReviewWish
) -> None:
    at, reviews = At(tmp_path), FakeReviews()
    context = replace(at.context, setup=replace(at.context.setup, reviews=reviews))
    await REVIEW.does(context, words)
    assert reviews.wishes == [wish]
    await REVIEW.does(context, "")  # shows the one that runs
    assert reviews.wishes == [wish]
    await REVIEW.does(context, "stop")
    assert not reviews.running
    with pytest.raises(SessionRefused, match="No review is running"):
        await REVIEW.does(context, "stop")


@pytest.mark.parametrize("words", ["base", "commit"])
async def test_a_review_without_a_name_is_refused(tmp_path: Path, words: str) -> None:
    at = At(tmp_path)
    context = replace(at.context, setup=replace(at.context.setup, reviews=FakeReviews()))
    with pytest.raises(WordsRefused):
        await REVIEW.does(context, words)
    with pytest.raises(SessionRefused, match="Nothing was reviewed yet"):
        await REVIEW.does(context, "show")
    with pytest.raises(SessionRefused, match="There are no reviews here"):
        await REVIEW.does(at.context, "")


def test_lines_are_narrowed_by_words() -> None:
    lines = ["/undo: restores files.", "/help: this page."]
    assert list(with_words(lines, "Restores undo")) == lines[:1]
    assert list(with_words(lines, "")) == lines
    assert list(with_words(lines, "nope")) == ["Nothing here matches nope."]
