"""A sandboxed command reaches a host only by a rule, or by a yes while it waits."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Mode, Network
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    HostContacted,
    ModeChanged,
    ToolFinished,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.frontends.headless.sentences import progress_line
from keen_tui.tools.network.network_words import may_want_network
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.rules.rules import Rules, Ruling, parse_rules
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.agent import Bench, at_work
from tests.support.loop_clock import LoopClock
from tests.support.networks import ELSEWHERE, Names, NoWalls, Server
from tests.support.waiting import until

GET = """\
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url).read().decode())
    except OSError as error:
        print(error)
        sys.exit(1)
"""


def getting(*hosts: str) -> str:
    """A command that gets a page of each host."""
    return shlex.join([sys.executable, "-I", "-S", "-c", GET, *(f"http://{host}/" for host in hosts)])


def script(*commands: str, timeout: int = 120) -> list[Reply]:
    calls = [Reply([Call("bash", {"command": command, "timeout": timeout})]) for command in commands]
    return [*calls, Reply([Say("Done.")])]


def ruled(ruling: Ruling, *texts: str) -> Rules:
    return Rules(parse_rules(ruling, texts, "here"))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server().running() as running:
        yield running


class World:
    """Sessions whose commands have a network with the server for every name."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.names = Names({name: [ELSEWHERE] for name in ("a.example", "b.example")}, server.port)
        self.names.addresses["lan.example"] = ["10.0.0.1"]
        self.sandbox = NoWalls()
        self._folder = folder

    def __call__(
        self,
        replies: list[Reply],
        *,
        mode: Mode = "auto",
        setting: Network = "ask",
        attended: bool = True,
        **options: Any,
    ) -> AbstractAsyncContextManager[Bench]:
        network = CommandNetwork(setting=setting, internet=self.names.internet)
        sandbox = SandboxFinder(lambda: ProbeResult(sandbox=self.sandbox))
        options |= {"mode": mode, "attended": attended, "network": network, "sandbox": sandbox}
        return at_work(replies, self._folder, **options)


@pytest.fixture
def world(server: Server, tmp_path: Path) -> World:
    return World(server, tmp_path)


def contacts(bench: Bench) -> list[tuple[str, str]]:
    return [(event.host, event.problem) for event in bench.log.of(HostContacted)]


async def test_a_new_host_asks_while_the_command_waits(world: World) -> None:
    async with world(script(getting("a.example"))) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert not bench.log.of(ToolFinished)
        bench.session.answer(request.id, allow=True)
        await bench.log.wait_for_end()
    assert request.question == "Let this command reach a.example?"
    assert (request.grant, request.saves) == ("allow a.example for this session", ())
    assert bench.results() == ["hello"]
    assert contacts(bench) == [("a.example", "")]


async def test_a_yes_for_once_is_one_for_that_command(world: World) -> None:
    async with world(script(getting("a.example", "a.example"), getting("a.example"))) as bench:
        bench.session.submit("go")
        for count in (1, 2):
            request = await bench.log.wait_for(ApprovalRequested, count)
            bench.session.answer(request.id, allow=True)
        await bench.log.wait_for_end()
    assert len(bench.log.of(ApprovalRequested)) == 2
    assert bench.results() == ["hello\nhello", "hello"]


async def test_a_yes_for_the_session_holds_until_another_session_begins(world: World) -> None:
    async with world(script(getting("a.example"), getting("a.example"), getting("b.example"))) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(request.id, allow=True, scope="session")
        other = await bench.log.wait_for(ApprovalRequested, 2)
        assert "b.example" in other.question
        bench.session.answer(other.id, allow=True)
        await bench.log.wait_for_end()
        assert bench.session.permitted.session == ("net(a.example)",)
    assert bench.results() == ["hello"] * 3


async def test_a_yes_for_good_holds_in_this_folder_and_can_be_taken_back(
    world: World, tmp_path: Path
) -> None:
    file = tmp_path / "home" / "allowances.json"
    async with world(script(getting("a.example")), allowances=Allowances(file, tmp_path)) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(request.id, allow=True, scope="workspace")
        await bench.log.wait_for_end()
    assert request.saves == ("net(a.example)",)
    async with world(script(getting("a.example")), allowances=Allowances(file, tmp_path)) as bench:
        await bench.ask("go")
        assert not bench.log.of(ApprovalRequested)
        assert bench.session.permitted.saved == ("net(a.example)",)
        await bench.session.take_back("net(a.example)")
        with pytest.raises(SessionRefused):
            await bench.session.take_back("net(a.example)")
    assert Allowances(file, tmp_path).hosts == ()


async def test_a_no_reaches_the_command_the_model_and_nobody_else(world: World, server: Server) -> None:
    async with world(script(getting("a.example"))) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(request.id, allow=False, message="use the mirror")
        await bench.log.wait_for_end()
    [result] = bench.results()
    assert "403" in result
    assert "[no network to a.example: the user doesn't allow it and says: use the mirror]" in result
    assert len(bench.log.of(ApprovalRequested)) == 1, "it is not offered outside the sandbox"
    assert (server.heads, world.names.asked) == ([], [])


async def test_without_anybody_there_it_is_refused_with_the_rule_that_would_allow_it(world: World) -> None:
    async with world(script(getting("a.example")), attended=False) as bench:
        await bench.ask("go")
    [result] = bench.results()
    assert "--allow-net a.example" in result and "net(a.example)" in result
    [answered] = bench.log.of(ApprovalAnswered)
    assert answered.by == "headless"
    assert contacts(bench)[0][0] == "a.example" and "nobody to ask" in contacts(bench)[0][1]


@pytest.mark.parametrize("rule", ["net(a.example)", "net(*.example)", "net", "net(*)"])
async def test_a_rule_allows_without_asking(world: World, rule: str) -> None:
    async with world(script(getting("a.example")), rules=ruled("allow", rule), attended=False) as bench:
        await bench.ask("go")
    assert bench.results() == ["hello"]
    assert not bench.log.of(ApprovalRequested)


async def test_a_rule_that_denies_beats_all_others(world: World) -> None:
    rules = Rules([*ruled("allow", "net"), *ruled("deny", "net(*.example)")])
    async with world(script(getting("a.example")), rules=rules, setting="on") as bench:
        await bench.ask("go")
    assert "[no network to a.example: your rule net(*.example) denies it]" in bench.results()[0]


async def test_a_rule_that_asks_asks_each_command(world: World) -> None:
    rules = Rules([*ruled("allow", "net"), *ruled("ask", "net(a.example)")])
    async with world(script(getting("a.example"), getting("a.example")), rules=rules) as bench:
        bench.session.submit("go")
        for count in (1, 2):
            request = await bench.log.wait_for(ApprovalRequested, count)
            assert (request.grant, request.saves) == (None, ())
            bench.session.answer(request.id, allow=True, scope="session")
        await bench.log.wait_for_end()
    assert bench.results() == ["hello", "hello"]


async def test_other_ports_need_a_rule_that_names_them(world: World, server: Server) -> None:
    host = f"a.example:{server.port}"
    async with world(script(getting(host)), rules=ruled("allow", "net(a.example)"), attended=False) as bench:
        await bench.ask("go")
        assert f"the rule net({host}) would allow it" in bench.results()[0]
    async with world(script(getting(host)), rules=ruled("allow", f"net({host})")) as bench:
        await bench.ask("go")
        assert bench.results() == ["hello"]


async def test_with_on_every_public_host_is_reached_and_no_other(world: World) -> None:
    async with world(script(getting("a.example"), getting("lan.example")), setting="on") as bench:
        bench.session.submit("go")
        offer = await bench.log.wait_for(ApprovalRequested)
        assert offer.question == "Run it again, outside the sandbox?"
        assert "lan.example: it points to an address of this machine or a local network" in offer.why
        bench.session.answer(offer.id, allow=False)
        await bench.log.wait_for_end()
    assert bench.results()[0] == "hello"
    assert contacts(bench)[0] == ("a.example", "")


async def test_with_off_there_is_no_proxy(world: World) -> None:
    command = 'echo "${http_proxy-none}"'
    async with world(script(f"{command}; :|make-believe"), setting="off") as bench:
        await bench.ask("go")
    assert bench.results()[0].startswith("none")


async def test_what_needs_no_network_gets_no_proxy(world: World) -> None:
    async with world(script('echo "${http_proxy-none}"', 'python3 -V; echo "${http_proxy-none}"')) as bench:
        await bench.ask("go")
    assert bench.results()[0] == "none"
    assert "127.0.0.1" in bench.results()[1]


@pytest.mark.parametrize("mode", ["ask", "plan"])
@pytest.mark.parametrize(
    "command", ["arch", shlex.join([sys.executable, "-c", "import os; print(os.environ)"])]
)
@pytest.mark.parametrize("has_own_network", [True, False])
async def test_what_runs_read_only_gets_no_network(
    world: World, mode: Mode, command: str, has_own_network: bool
) -> None:
    """Neither a command that is known to only read nor one that is tried, though every host is allowed."""
    assert may_want_network([shlex.split(command)])
    world.sandbox.has_own_network = has_own_network
    async with world(script(command), mode=mode, setting="on") as bench:
        await bench.ask("go")
        assert not bench.log.of(ApprovalRequested)
    [terms] = world.sandbox.runs
    assert (terms.writes, terms.listener_to, terms.connects) == (False, None, False)
    assert "proxy" not in bench.results()[0]


async def test_in_plan_mode_nothing_is_reached(world: World) -> None:
    command = f"sleep 0 && {getting('a.example')}"
    async with world(script(command)) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.set_mode("plan")
        await bench.log.wait_for(ModeChanged)
        bench.session.answer(bench.log.of(ApprovalRequested)[0].id, allow=False)
        await bench.log.wait_for_end()
    assert contacts(bench)[0][1]


async def test_an_install_asks_for_its_registry_before_it_runs(world: World, tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("registry=https://a.example/npm\n")
    async with world(script("touch ran; false npm install || env npm ci --dry; true")) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert not (tmp_path / "ran").exists()
        bench.session.answer(request.id, allow=False)
        await bench.log.wait_for_end()
    assert request.question == "Let npm ci reach a.example?"
    assert (tmp_path / "ran").exists(), "a no to the host is none to the command"


async def test_hosts_are_asked_about_one_after_the_other(world: World) -> None:
    both = f"{getting('a.example')} & {getting('b.example')}; wait"
    async with world(script(both)) as bench:
        bench.session.submit("go")
        names = set()
        for count in (1, 2):
            request = await bench.log.wait_for(ApprovalRequested, count)
            names.add(request.question.split()[-1])
            assert len(bench.log.of(ApprovalRequested)) == count
            bench.session.answer(request.id, allow=True)
        await bench.log.wait_for_end()
    assert names == {"a.example?", "b.example?"}
    assert bench.results() == ["hello\nhello"]


async def test_the_time_limit_stands_still_while_somebody_is_asked(world: World) -> None:
    async with world(script(getting("a.example"), timeout=300)) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        await LoopClock().move(1_000)
        bench.session.answer(request.id, allow=True)
        await bench.log.wait_for_end()
        [finished] = bench.log.of(ToolFinished)
    assert finished.result.text == "hello"


async def test_a_question_of_a_command_that_has_ended_is_withdrawn(world: World, tmp_path: Path) -> None:
    asks = f"{getting('a.example')} & until [ -e asked ]; do sleep 0.05; done; kill $!; echo over"
    async with world(script(asks)) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        (tmp_path / "asked").touch()
        end = await bench.log.wait_for_end()
        [answered] = bench.log.of(ApprovalAnswered)
    assert isinstance(end, TurnDone)
    assert answered.by == "stop"
    assert bench.results()[0].startswith("over")


async def test_a_stop_at_the_question_ends_the_command(world: World) -> None:
    async with world(script(getting("a.example"))) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        [answered] = bench.log.of(ApprovalAnswered)
        [finished] = bench.log.of(ToolFinished)
    assert isinstance(end, TurnIncomplete)
    assert answered.by == "stop"
    assert finished.result.interrupted


async def test_without_a_screen_a_refused_host_is_said_once(world: World) -> None:
    async with world(script(getting("a.example")), attended=False) as bench:
        await bench.ask("go")
    said = [line for event in bench.log.events if (line := progress_line(event)) and "a.example" in line]
    assert [line[:6] for line in said] == ["- deni", "x bash"]


async def test_nobody_is_asked_about_the_hosts_of_a_command_in_the_background(world: World) -> None:
    start = Call("bash", {"command": f"{getting('a.example')}; exit 1", "background": True})
    async with world([Reply([start]), Reply([Say("Done.")])]) as bench:
        await bench.ask("go")
        await until(lambda: contacts(bench))
        assert not bench.log.of(ApprovalRequested)
    ((host, problem),) = contacts(bench)
    assert host == "a.example" and "background commands can't ask" in problem
