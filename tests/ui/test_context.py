"""The context view, memory edited by hand, the choice of the memory policy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.events import PolicyChanged
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.reports import CacheReuse
from keen_tui.frontends.tui.app import UiSettings
from tests.support import contexts, story
from tests.support.waiting import until
from tests.support.workspace import Driver, workspace


@asynccontextmanager
async def context_view(folder: Path, *, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Driver]:
    """The context view of the pictured conversation, opened by its command."""
    async with workspace(folder, size=size) as driver:
        driver.session.report = contexts.pictured()
        await driver.play(*story.three_turns())
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        yield driver


async def shown(driver: Driver) -> None:
    await driver.until_shown("total  ")
    await driver.until_shown("sends it")
    await driver.until_shown("esc back")


def part_row(driver: Driver, title: str) -> str:
    return driver.rows()[driver.row_with(f" {title} ")]


async def choose(driver: Driver, title: str) -> None:
    """Go to the part of that title from the first one on."""
    await driver.press("home")

    async def down() -> None:
        await driver.press("down")
        await driver.pilot.pause()

    await until(lambda: f"{title}   as" in "".join(driver.rows()), moment=down)


async def test_every_part_is_a_row_with_its_tokens_under_each_policy(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        assert ("context", "") in driver.session.calls
        assert part_row(driver, "tool definitions").split()[2:6] == ["9", "tools", "11.8", "kB"]
        figures = [word for word in part_row(driver, "turn 3").split() if word.endswith("k")]
        assert figures == ["0.1k", "0.2k", "9.6k"]
        assert "▲ pending   4 calls, kept" in part_row(driver, "pending")
        assert part_row(driver, "your draft").split()[-4:] == ["–", "–", "–", "–"]
        assert part_row(driver, "total").split()[1:] == ["41.9", "kB", "10.5k", "10.7k", "26.8k"]


async def test_the_head_tells_share_and_saving_and_the_policy_in_use_in_words(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        head = "\n".join(driver.rows()[2:6])
        assert "● summary     in use" in head
        assert head.count("5 %") == 2 and "13 %" in head
        assert "−61 %" in head and "−60 %" in head
        assert "window 200k tokens" in head
        assert driver.shows("tokens are estimates")


async def test_the_head_says_what_a_cache_can_reuse_and_what_the_input_costs(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        reusable = driver.rows()[driver.row_with("a prompt cache can reuse")]
        assert reusable.split()[5:] == [
            "5.3k", "tokens", "50", "%", "5.3k", "tokens", "50", "%", "13.4k", "tokens", "50", "%",
        ]  # fmt: skip
        cost = driver.rows()[driver.row_with("input cost, cached / uncached")]
        assert cost.split()[5:] == ["$0.02", "$0.03", "$0.02", "$0.03", "$0.04", "$0.08"]


async def test_prices_that_nobody_knows_are_no_numbers(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        pictured = contexts.pictured()
        no_price = CacheReuse(bytes=9, tokens=900)
        no_cached_price = CacheReuse(bytes=9, tokens=900, cost=0.5)
        driver.session.report = replace(pictured, reuse=(no_price, no_cached_price, CacheReuse(cost=0.25)))
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        cost = driver.rows()[driver.row_with("input cost, cached / uncached")]
        assert cost.split()[5:] == ["price", "not", "known", "unknown", "$0.50", "–", "$0.25"]
        assert driver.rows()[driver.row_with("a prompt cache can reuse")].split()[-1] == "–"


async def test_a_low_terminal_says_reuse_and_cost_in_one_row(tmp_path: Path) -> None:
    async with context_view(tmp_path, size=(60, 12)) as driver:
        assert driver.shows("50 % reusable   $0.02 / $0.03")


@pytest.mark.parametrize(
    ("reuse", "told"),
    [
        (CacheReuse(cost=0.25), "nothing reusable   $0.25"),
        (CacheReuse(), "nothing reusable   price not known"),
        (CacheReuse(bytes=9, tokens=900), "9 % reusable   price not known"),
        (CacheReuse(bytes=9, tokens=900, cost=0.5), "9 % reusable   unknown / $0.50"),
    ],
)
async def test_a_low_terminal_says_what_is_not_known(tmp_path: Path, reuse: CacheReuse, told: str) -> None:
    async with workspace(tmp_path, size=(60, 12)) as driver:
        driver.session.report = replace(contexts.pictured(), reuse=(reuse,) * 3)
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        assert driver.shows(told)


async def test_the_pane_shows_the_chosen_part_as_the_chosen_policy_sends_it(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        assert driver.shows("› round the totals once, at the end, not per line")
        assert driver.shows("- Files changed: src/money.py, src/cart.py")
        assert driver.shows("left out: 6 calls and their results, 38.0 kB")
        await driver.press("right", "right")
        await driver.until_shown("turn 3   as full-trace sends it")
        assert not driver.shows("left out")
        assert driver.shows("› full-trace")
        assert "38.4 kB" in part_row(driver, "turn 3")
        assert driver.shows("● summary     in use"), "looking at a policy does not change it"
        assert not [call for call in driver.session.calls if call[0] == "set_policy"]


async def test_a_narrow_terminal_shows_the_chosen_policy_alone(tmp_path: Path) -> None:
    async with context_view(tmp_path, size=(80, 24)) as driver:
        assert driver.shows("● summary") and not driver.shows("full-trace")
        assert driver.shows("tokens are estimates")
        await driver.press("right", "right")
        await driver.until_shown("› full-trace")
        assert not driver.shows("in use")
        assert part_row(driver, "total").split()[-1] == "26.8k"
        assert all(len(row) <= 80 for row in driver.rows())


async def test_enter_reads_a_part_whole_and_esc_comes_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        text = "\n".join(f"line {number}" for number in range(1, 301))
        driver.session.report = contexts.report([contexts.turn(1, "go", (9_000, 2_000), text=text)])
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        assert driver.shows("↓ more")
        await driver.press("enter")
        await driver.until_shown("of 300")
        assert driver.shows("line 1 ") and not driver.shows("line 300")
        await driver.press("end")
        await driver.until_shown("line 300")
        await driver.press("home", "pagedown")
        await driver.until_shown("rows 35 to")
        await driver.press("ctrl+y")
        await driver.until_shown("copied turn 1")
        assert driver.app.clipboard == text
        await driver.press("escape")
        await driver.until_shown("turn 1   as summary sends it")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_the_chosen_part_is_copied_as_it_is_sent(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        await driver.press("ctrl+y")
        await driver.until_shown("copied turn 3")
        assert driver.app.clipboard == contexts.TURN_3


async def test_the_draft_in_the_composer_is_part_of_the_next_request(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.report = contexts.pictured()
        await driver.type("round up")
        await driver.press("ctrl+p")
        await driver.until(lambda: driver.app.screen is not driver.screen)
        await driver.type("next req")
        await driver.until_shown("part by part")
        await driver.press("enter")
        await shown(driver)
        assert ("context", "round up") in driver.session.calls


async def test_what_is_forgotten_and_noted_is_saved_at_once(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        await driver.press("e")
        await driver.until_shown("TurnMemory of turn 3")
        await driver.until_shown("enter save")
        await driver.press("x")
        await driver.until_shown("forgotten")
        assert driver.shows("– src/money.py")
        await driver.press("n")
        await driver.until_shown("enter add the note")
        await driver.type("no xen here")
        await driver.press("enter")
        await driver.until_shown("• no xen here")
        assert not any(call[0] == "edit_memory" for call in driver.session.calls)
        await driver.press("enter")
        await driver.until_shown("turn 3   1 forgotten   1 note added")
        memory = TurnMemory(files_changed=("src/cart.py",), notes=("no xen here",))
        assert ("edit_memory", 3, memory) in driver.session.calls
        await driver.until(lambda: driver.session.calls.count(("context", "")) == 2)
        await driver.press("escape")
        await driver.until_shown("• no xen here")


async def test_esc_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        await driver.press("e")
        await driver.until_shown("enter save")
        await driver.press("x", "n")
        await driver.until_shown("enter add the note")
        await driver.type("a")
        await driver.press("escape")
        await driver.until_shown("enter save")
        assert driver.shows("forgotten") and not driver.shows("• a")
        await driver.press("escape")
        await driver.until_shown("as summary sends it")
        assert not any(call[0] == "edit_memory" for call in driver.session.calls)


async def test_an_entry_kept_after_all_changes_nothing(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        await driver.press("e")
        await driver.until_shown("enter save")
        await driver.press("x")
        await driver.until_shown("x keep")
        await driver.press("delete")
        await driver.until_shown("x forget")
        await driver.press("enter")
        await driver.until_shown("as summary sends it")
        assert not any(call[0] == "edit_memory" for call in driver.session.calls)


async def test_a_refused_edit_is_a_sentence_and_what_was_entered_stays(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        driver.session.refusal = "A turn is running; stop it first."
        await driver.press("e")
        await driver.until_shown("enter save")
        await driver.press("x", "enter")
        await driver.until_shown("A turn is running; stop it first.")
        assert driver.shows("– src/money.py")
        driver.session.refusal = ""
        await driver.press("enter")
        await driver.until_shown("turn 3   1 forgotten")


async def test_the_editor_says_when_another_policy_sends_none_of_it(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        await driver.press("e")
        await driver.until_shown("enter save")
        assert not driver.shows("policy")
        await driver.press("escape")
        driver.session.report = contexts.under(contexts.pictured(), "full-trace")
        driver.session.publish(PolicyChanged(policy="full-trace"))
        await driver.until_shown("● full-trace")
        await driver.press("e")
        await driver.until_shown("full-trace is in use now")


async def test_only_turns_have_a_memory_to_edit(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 3")
        assert driver.shows("e edit memory")
        await driver.press("home")
        await driver.until_shown("system prompt   as")
        assert not driver.shows("e edit memory")
        await driver.press("e")
        await driver.until_shown("Choose a turn to edit its TurnMemory.")


async def test_memory_begins_at_the_newest_finished_turn_and_an_unfinished_one_has_no_editor(
    tmp_path: Path,
) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.report = contexts.pictured()
        await driver.play(*story.three_turns(), story.started(4, "go"), story.incomplete(4))
        await driver.type("/memory")
        await driver.press("enter")
        await shown(driver)
        await driver.press("e")
        await driver.until_shown("TurnMemory of turn 3")
        await driver.until_shown("enter save   esc back")
        await driver.press("x")
        await driver.until_shown("esc discard changes")
        await driver.press("x")
        await driver.until_shown("enter save   esc back")
        await driver.press("escape")
        await shown(driver)
        assert driver.shows("e edit memory")
        await driver.press("down")
        await driver.until(lambda: not driver.shows("e edit memory"))
        await driver.press("e")
        await driver.until_shown("Turn 4 isn't finished, so there is nothing to edit yet.")


async def test_a_thousand_turns_are_walked_with_the_total_in_view(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 36)) as driver:
        driver.session.report = contexts.long(1_000)
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        assert driver.shows("turn 1000   step 1000") and driver.shows(" above")
        await driver.press("home")
        await driver.until_shown("system prompt   as summary")
        assert driver.shows("total   ↓ 9") and not driver.shows("above")
        await driver.press("pagedown", "pagedown")
        await driver.until_shown("turn 20   as summary")
        assert driver.shows("total   ↓ 9") and driver.shows("above")


async def test_a_part_is_chosen_with_the_mouse(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await driver.pilot.click(offset=(10, driver.row_with(" turn 1 ")))
        await driver.until_shown("turn 1   as summary")
        await driver.pilot.click(offset=(10, driver.row_with("total   ")))
        await driver.pilot.pause()
        assert driver.shows("turn 1   as summary")


async def test_a_policy_changed_meanwhile_is_drawn_and_the_choice_stays(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await choose(driver, "turn 2")
        await driver.press("right")
        await driver.until_shown("turn 2   as in-band sends it")
        changed = contexts.pictured()
        driver.session.report = contexts.under(changed, "full-trace")
        driver.session.publish(PolicyChanged(policy="full-trace"))
        await driver.until_shown("● full-trace  in use")
        assert driver.shows("turn 2   as in-band sends it")


async def test_texts_from_outside_cannot_drive_the_terminal(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        evil = "a\x1b]0;owned\x07b\x1b[31m\nc\u202e"
        part = contexts.turn(1, evil, (300, 80), text=evil, left_out=evil, includes=evil)
        driver.session.report = contexts.report([part])
        await driver.play(*story.three_turns())
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        screen = "\n".join(driver.rows())
        assert "ab c<U+202E>" in part_row(driver, "turn 1")
        assert "left out: ab c<U+202E>" in screen
        assert "includes: ab c<U+202E>" in screen
        assert "\x1b" not in screen and "owned" not in screen
        await driver.press("enter")
        await driver.until_shown("2 rows")
        assert driver.shows("ab ") and driver.shows("c<U+202E>")


async def test_without_colour_signs_and_words_say_it_all(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=UiSettings(theme="keen-ansi16", glyphs="ascii")) as driver:
        driver.session.report = contexts.pictured()
        await driver.type("/context")
        await driver.press("enter")
        await shown(driver)
        assert driver.shows("* summary") and driver.shows("in use")
        assert driver.shows("! pending")
        assert driver.rows()[driver.row_with("turn 3")].startswith("|"), "the chosen row has the bar"
        assert "\n".join(driver.rows()).isascii()


async def test_a_small_terminal_still_shows_part_and_text(tmp_path: Path) -> None:
    async with context_view(tmp_path, size=(40, 12)) as driver:
        assert driver.shows("total") and driver.shows("as summary")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_memory_shows_the_policies_side_by_side_and_p_uses_one(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size) as driver:
        driver.session.report = contexts.pictured()
        await driver.play(*story.three_turns())
        await driver.type("/memory")
        await driver.press("enter")
        await shown(driver)
        assert not driver.shows("p use it")
        await driver.press("p")
        await driver.until_shown("summary is already in use.")
        await driver.press("right", "right")
        await driver.until_shown("p use it")
        await driver.press("p")
        await driver.until_shown("full-trace holds in this session, from the next turn on.")
        assert driver.shows("in /settings."), "how to keep it"
        assert driver.shows("p use it") and driver.shows("esc back"), "the keys stay in view"
        assert ("set_policy", "full-trace") in driver.session.calls


async def test_a_refused_policy_is_told_on_the_page(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        driver.session.refusal = "Not now."
        await driver.press("right", "p")
        await driver.until_shown("Not now.")
        assert not any(call[0] == "set_policy" for call in driver.session.calls)


async def test_u_goes_from_the_next_request_to_the_usage_and_back(tmp_path: Path) -> None:
    async with context_view(tmp_path) as driver:
        await driver.press("u")
        await driver.until_shown("u next request")
        await driver.press("u")
        await shown(driver)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_u_goes_from_the_usage_to_the_next_request(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.report = contexts.pictured()
        await driver.type("/usage")
        await driver.press("enter")
        await driver.until_shown("u next request")
        await driver.press("u")
        await shown(driver)
