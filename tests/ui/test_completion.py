"""What is offered while a command or a path is written, and which keys take it."""

from __future__ import annotations

from pathlib import Path

from keen_tui.settings.added.custom_commands import CustomCommand
from tests.support.fake_writing import PATHS, FakeFiles
from tests.support.workspace import Driver, workspace


def sent(driver: Driver) -> list[object]:
    return [call[1] for call in driver.session.calls if call[0] == "submit"]


async def test_commands_are_offered_with_what_they_do_and_enter_runs_the_chosen_one(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/perm")
        await driver.until_shown("› /permissions")
        assert driver.shows("what runs without asking")
        await driver.press("enter")
        await driver.until(lambda: driver.screen.question_pane.question is not None)
        assert driver.written == ""


NEEDS_WORDS = CustomCommand(name="translate", text="$1", hint="<language>", description="", origin="yours")


async def test_a_command_that_needs_words_is_written_and_waits_for_them(tmp_path: Path) -> None:
    async with workspace(tmp_path, commands=(NEEDS_WORDS,)) as driver:
        await driver.type("/tran")
        await driver.until_shown("/translate <language>")
        assert not driver.shows("tab insert it")
        await driver.press("enter")
        assert driver.written == "/translate "
        await driver.until(lambda: not driver.screen.completions.is_open)


async def test_a_command_that_may_have_words_runs_without_them_and_tab_leaves_room(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/fin")
        await driver.until_shown("/find [words]")
        await driver.press("tab")
        assert driver.written == "/find "
        await driver.press("backspace", "enter")
        await driver.until(lambda: driver.screen.focused_place == "search")


async def test_tab_writes_a_command_without_running_it(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/hel")
        await driver.until_shown("› /help")
        await driver.press("tab")
        assert driver.written == "/help "
        assert driver.screen.prompt.has_focus
        assert len(driver.app.screen_stack) == 2


async def test_the_arrows_choose_and_escape_closes_until_the_next_word(tmp_path: Path) -> None:
    async with workspace(tmp_path, files=FakeFiles()) as driver:
        await driver.type("/m")
        await driver.until_shown("› /model")
        await driver.press("down")
        await driver.until_shown("› /memory")
        await driver.press("up")
        await driver.until_shown("› /model ")
        await driver.press("escape")
        assert not driver.screen.completions.is_open
        await driver.type("e")
        await driver.pilot.pause()
        assert not driver.screen.completions.is_open
        await driver.press("backspace", "backspace", "backspace")
        await driver.type("@ca")
        await driver.until_shown("› src/cart.py")


async def test_a_path_behind_an_at_sign_is_written_whole(tmp_path: Path) -> None:
    async with workspace(tmp_path, files=FakeFiles()) as driver:
        await driver.type("read @car")
        await driver.until_shown("› src/cart.py")
        await driver.press("enter")
        assert driver.written == "read @src/cart.py "
        await driver.type("and @cash")
        await driver.until_shown("› src/cash box.py")
        await driver.press("tab")
        assert driver.written == 'read @src/cart.py and @"src/cash box.py" '
        await driver.press("enter")
        await driver.until(lambda: len(sent(driver)) == 1)


async def test_a_path_that_stands_there_whole_is_sent_by_enter(tmp_path: Path) -> None:
    async with workspace(tmp_path, files=FakeFiles()) as driver:
        await driver.type("read @src/cart.py")
        await driver.until_shown("› src/cart.py")
        await driver.press("enter")
        await driver.until(lambda: sent(driver) == ["read @src/cart.py"])


async def test_a_folder_is_gone_on_with(tmp_path: Path) -> None:
    async with workspace(tmp_path, files=FakeFiles(["src/"], ["src/", "src/lib/"])) as driver:
        await driver.type("@s")
        await driver.until_shown("  src/lib/")
        await driver.press("enter")
        assert driver.written == "@src/"
        await driver.until_shown("› src/")
        await driver.press("down", "enter")
        await driver.until(lambda: driver.written == "@src/lib/")


async def test_enter_right_behind_the_letters_counts_when_the_files_are_there(tmp_path: Path) -> None:
    async with workspace(tmp_path, files=FakeFiles([], PATHS)) as driver:
        await driver.type("@cart")
        await driver.press("enter")
        await driver.until(lambda: driver.written == "@src/cart.py ")
        assert sent(driver) == []


async def test_an_address_is_no_path_and_a_text_from_the_history_opens_nothing(tmp_path: Path) -> None:
    files = FakeFiles()
    async with workspace(tmp_path, files=files) as driver:
        await driver.type("ask me@cart")
        await driver.press("enter")
        await driver.type("read @cart.x")
        await driver.press("enter")
        await driver.until(lambda: len(sent(driver)) == 2)
        files.asked.clear()
        await driver.press("up")
        await driver.until(lambda: driver.written == "read @cart.x")
        await driver.press("up")
        await driver.until(lambda: driver.written == "ask me@cart")
        assert files.asked == []


async def test_the_list_lies_over_the_transcript_and_moves_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        before = driver.screen.transcript.size, driver.screen.composer.region
        await driver.type("/")
        await driver.until(lambda: driver.screen.completions.is_open)
        await driver.pilot.pause()
        assert (driver.screen.transcript.size, driver.screen.composer.region) == before
        assert driver.screen.completions.region.bottom == driver.screen.composer.region.y
        assert driver.shows("esc close")


async def test_enter_before_a_search_that_finds_nothing_sends_and_completes_no_later_word(
    tmp_path: Path,
) -> None:
    async with workspace(tmp_path, files=FakeFiles([], [])) as driver:
        await driver.type("@zzz")
        await driver.press("enter")
        await driver.until(lambda: sent(driver) == ["@zzz"])
        await driver.type("@ca")
        await driver.pilot.pause(0.1)
        assert driver.written == "@ca"
