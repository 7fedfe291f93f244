"""Pages of the web in turns: who is asked, and what later requests hold of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.display import TextDisplay
from keen_tui.domain.events import ApprovalRequested, ToolFinished, TurnDone, TurnIncomplete
from keen_tui.domain.messages import TurnMemory
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.rules.rules import NO_RULES, Rules, Ruling, parse_rules
from keen_tui.tools.sandbox.command_network import CommandNetwork
from tests.support.agent import AtWork
from tests.support.agent import at_work as at_work_once
from tests.support.networks import ELSEWHERE
from tests.support.waiting import until
from tests.support.web_server import HOST, WebServer, answer, never_done, redirect

PAGE = "The answer is 42."
URL = f"http://{HOST}/guide"


def fetch(url: str = URL) -> Reply:
    return Reply([Call("web_fetch", {"url": url})])


def ruled(ruling: Ruling, *texts: str) -> Rules:
    return Rules(parse_rules(ruling, texts, "here"))


READS_PAGES = ruled("allow", "web")


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer({"/guide": answer(PAGE.encode())}).running() as running:
        yield running


@pytest.fixture
def network(server: WebServer) -> CommandNetwork:
    return CommandNetwork(internet=server.internet)


async def test_later_requests_hold_nothing_of_a_page(
    tmp_path: Path, at_work: AtWork, network: CommandNetwork
) -> None:
    script = [fetch(), Reply([Say("It is 42.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path, network=network, rules=READS_PAGES) as bench:
        end = await bench.ask("what is the answer?")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(pages_read=(URL,))
        assert PAGE in bench.results()[0] and "not from the user" in bench.results()[0]
        await bench.ask("sure?")
        assert bench.lines() == ["user: what is the answer?", "assistant: It is 42.", "user: sure?"]
        bench.assert_valid_requests()


async def test_a_page_is_not_fetched_again_by_a_retry(
    tmp_path: Path, at_work: AtWork, network: CommandNetwork, server: WebServer
) -> None:
    script = [fetch(), Reply([Say("It")], broken=Break("reset")), Reply([Say("It is 42.")])]
    async with at_work(script, tmp_path, network=network, rules=READS_PAGES) as bench:
        assert isinstance(await bench.ask("what is the answer?"), TurnIncomplete)
        end = await bench.retry()
        assert isinstance(end, TurnDone) and end.turn_memory.pages_read == (URL,)
        assert PAGE in bench.results()[0]
        bench.assert_valid_requests()
    assert server.paths == ["/guide"]


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
async def test_a_new_host_asks_with_the_whole_address(
    tmp_path: Path, network: CommandNetwork, server: WebServer, mode: Mode
) -> None:
    url = f"{URL}?q={'x' * 600}"
    async with at_work_once([fetch(url), Reply([Say("Ok.")])], tmp_path, network=network, mode=mode) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert (server.asked, server.names.asked) == ([], [])
        assert request.question == f"Fetch a page from {HOST}?"
        assert request.display == TextDisplay(text=url)
        assert (request.grant, request.saves) == (f"allow pages of {HOST} for this session", ())
        bench.session.answer(request.id, allow=False)
        await bench.log.wait_for_end()
    assert (server.asked, server.names.asked) == ([], [])


async def test_a_yes_for_the_session_is_for_the_host(
    tmp_path: Path, network: CommandNetwork, server: WebServer
) -> None:
    server.names.addresses["b.example"] = [ELSEWHERE]
    script = [fetch(), fetch(f"{URL}?again"), fetch("http://b.example/guide"), Reply([Say("Ok.")])]
    async with at_work_once(script, tmp_path, network=network, mode="ask") as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(request.id, allow=True, scope="session")
        other = await bench.log.wait_for(ApprovalRequested, 2)
        assert other.question == "Fetch a page from b.example?"
        assert bench.session.permitted.session == (f"web({HOST})",)
        bench.session.answer(other.id, allow=True)
        await bench.log.wait_for_end()
    assert len(server.asked) == 3


async def test_a_yes_for_good_is_saved_and_can_be_taken_back(tmp_path: Path, network: CommandNetwork) -> None:
    allowances = Allowances(tmp_path / "home" / "allowances.json", tmp_path)
    script = [fetch(), fetch(), Reply([Say("Ok.")])]
    async with at_work_once(script, tmp_path, network=network, mode="ask", allowances=allowances) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert request.saves == (f"web({HOST})",)
        bench.session.answer(request.id, allow=True, scope="workspace")
        await bench.log.wait_for_end()
        assert len(bench.log.of(ApprovalRequested)) == 1
        assert bench.session.permitted.saved == (f"web({HOST})",)
        await bench.session.take_back(f"web({HOST})")
    assert Allowances(tmp_path / "home" / "allowances.json", tmp_path).all == ()


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (NO_RULES, f"in plan mode only a rule allows pages of {HOST}: the user can add web({HOST})"),
        (ruled("ask", "web"), "in plan mode only a rule allows"),
        (ruled("allow", f"net({HOST})"), "in plan mode only a rule allows"),
        (ruled("allow", f"web(*.{HOST})"), "in plan mode only a rule allows"),
        (ruled("allow", f"web({HOST}:8080)"), "in plan mode only a rule allows"),
        (ruled("deny", "web(*.example)"), "the user's rule denies web(*.example)"),
        (ruled("allow", f"web({HOST})"), PAGE),
        (ruled("allow", "web(*.example)"), PAGE),
        (ruled("allow", "web(*)"), PAGE),
    ],
)
async def test_in_plan_mode_only_a_rule_allows_pages(
    tmp_path: Path, network: CommandNetwork, server: WebServer, rules: Rules, said: str
) -> None:
    script = [fetch(), Reply([Say("Ok.")])]
    async with at_work_once(script, tmp_path, network=network, mode="plan", rules=rules) as bench:
        await bench.ask("go")
        assert said in bench.results()[0]
        assert not bench.log.of(ApprovalRequested)
    assert bool(server.asked) == (said == PAGE)


async def test_ask_and_deny_beat_allow(tmp_path: Path, network: CommandNetwork, server: WebServer) -> None:
    rules = Rules((*READS_PAGES, *ruled("ask", f"web({HOST})"), *ruled("deny", "web(evil.example)")))
    script = [fetch("http://evil.example/"), fetch(), Reply([Say("Ok.")])]
    async with at_work_once(script, tmp_path, network=network, rules=rules) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert (request.why, request.grant) == (f"your rule web({HOST}) says so", None)
        bench.session.answer(request.id, allow=True, scope="session")
        await bench.log.wait_for_end()
        denied, read = bench.results()
        assert "denies web(evil.example)" in denied and PAGE in read
    assert server.names.asked == [HOST]


async def test_without_a_person_the_denial_names_the_flag_and_the_rule(
    tmp_path: Path, network: CommandNetwork, server: WebServer
) -> None:
    script = [fetch(), Reply([Say("Ok.")])]
    async with at_work_once(script, tmp_path, network=network, attended=False) as bench:
        await bench.ask("go")
        [result] = bench.results()
        assert f"--allow-web {HOST}" in result and f"web({HOST})" in result
    assert server.asked == []


async def test_a_redirect_asks_about_its_own_host(
    tmp_path: Path, network: CommandNetwork, server: WebServer
) -> None:
    server.names.addresses["evil.example"] = [ELSEWHERE]
    server.pages["/away"] = redirect("http://evil.example/guide")
    script = [fetch(f"http://{HOST}/away"), fetch("http://evil.example/guide"), Reply([Say("Ok.")])]
    rules = ruled("allow", f"web({HOST})")
    async with at_work_once(script, tmp_path, network=network, rules=rules) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert request.question == "Fetch a page from evil.example?"
        assert server.paths == ["/away"]
        bench.session.answer(request.id, allow=False)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone) and not end.turn_memory


async def test_esc_stops_a_page_and_its_effects_are_known(
    tmp_path: Path, network: CommandNetwork, server: WebServer
) -> None:
    server.pages["/guide"] = never_done
    async with at_work_once([fetch()], tmp_path, network=network, rules=READS_PAGES) as bench:
        bench.session.submit("go")
        await until(lambda: bool(server.asked))
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete) and not end.unknown_calls
        assert bench.log.of(ToolFinished)[0].result.read_only
