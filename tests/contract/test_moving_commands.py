"""A command that a call waits for goes to the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.agent.services.task_service import TaskService
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import ApprovalRequested, ToolOutput, TurnDone
from keen_tui.storage.outputs import OutputFiles
from keen_tui.tools.background.tasks import MOST_RUNNING
from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from keen_tui.tools.toolbox import build_toolbox
from tests.support.agent import Bench, at_work
from tests.support.jail import FakeSandbox
from tests.support.waiting import until

DONE = Reply([Say("Done.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
SERVER = "echo begun >> begun; echo begun; while ! test -e go; do sleep 0.05; done; echo going; exit 3"


def run(command: str = SERVER, **more: object) -> Call:
    return Call("bash", {"command": command, **more})


async def moved(bench: Bench, text: str = "serve", words: str = "begun") -> None:
    """Submit, and move the command once it has printed these words."""
    bench.session.submit(text)
    await until(lambda: any(words in output.text for output in bench.log.of(ToolOutput)))
    TaskService(bench.session.tasks).move()


async def test_the_call_returns_with_the_output_so_far_and_the_command_goes_on(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([run(timeout=1)]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await moved(bench)
        assert isinstance(await bench.log.wait_for_end(), TurnDone)
        (result,) = bench.results()
        assert result.startswith("begun\n[the user moved it to the background, where it runs as t1 without")
        (task,) = bench.session.tasks.running
        await until(lambda: task.seconds > 1.2)  # the time limit of the call is lifted
        assert task.running
        (tmp_path / "go").touch()
        await until(lambda: not task.running)
        assert task.output.since(0).text == "begun\ngoing\n"
        await bench.ask("and now?")
        assert "t1 ended after" in bench.messages()[-1].text
        bench.assert_valid_requests()


async def test_long_output_stays_in_one_file(tmp_path: Path) -> None:
    lines = "for i in $(seq 5000); do echo line $i of the output; done"
    command = f"{lines}; echo half; while ! test -e go; do sleep 0.05; done; {lines}; echo last"
    backup = TurnBackup()
    backup.outputs = OutputFiles(tmp_path / "outputs")
    toolbox = build_toolbox(tmp_path, backup)
    async with at_work([Reply([run(command)]), DONE], tmp_path, toolbox=toolbox) as bench:
        await moved(bench, words="half")
        await bench.log.wait_for_end()
        (task,) = bench.session.tasks.running
        (tmp_path / "go").touch()
        await until(lambda: not task.running)
        whole = "".join(f"line {number} of the output\n" for number in range(1, 5001))
        (file,) = (tmp_path / "outputs").iterdir()
        assert file.read_text() == f"{whole}half\n{whole}last\n"
        assert task.output.size == file.stat().st_size
        assert f"the whole output is in {file}" in task.output.file


async def test_a_retry_starts_it_not_again(tmp_path: Path) -> None:
    async with at_work([Reply([run()]), CUT, DONE], tmp_path) as bench:
        await moved(bench)
        await bench.log.wait_for_end()
        assert isinstance(await bench.retry(), TurnDone)
        assert (tmp_path / "begun").read_text() == "begun\n"
        assert [task.id for task in bench.session.tasks.running] == ["t1"]


async def test_esc_later_stops_the_turn_and_not_the_command(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([run()]), Reply([run("echo waits; sleep 600")]), DONE]
    async with at_work(script, tmp_path) as bench:
        await moved(bench)
        await until(lambda: any("waits" in output.text for output in bench.log.of(ToolOutput)))
        bench.session.stop()
        await bench.log.wait_for_end()
        assert [task.id for task in bench.session.tasks.running] == ["t1"]


async def test_where_no_command_runs_it_is_refused(tmp_path: Path) -> None:
    async with at_work([Reply([run("true")]), DONE], tmp_path) as bench:
        await bench.ask("go")
        with pytest.raises(SessionRefused, match="There is no running command to move to the background"):
            TaskService(bench.session.tasks).move()


async def test_only_so_many_go_to_the_background(tmp_path: Path) -> None:
    start = Call("bash", {"command": "sleep 600", "background": True})
    async with at_work([Reply([start] * MOST_RUNNING), Reply([run()]), DONE], tmp_path) as bench:
        with pytest.raises(SessionRefused, match="At most 16 commands can run in the background"):
            await moved(bench)
        (tmp_path / "go").touch()
        await bench.log.wait_for_end()
        assert bench.results()[-1].startswith("begun\ngoing")


class _ReadsOnly(FakeSandbox):
    """A sandbox that confines nothing; it notes the terms."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.runs: list[Terms] = []

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        self.runs.append(terms)
        yield Launch(argv=argv, environ=environ)


async def test_a_read_only_run_goes_on_read_only_and_the_model_is_told(tmp_path: Path) -> None:
    sandbox = _ReadsOnly()
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    command = f"sh -c 'echo x: Read-only file system; {SERVER}'"
    async with at_work([Reply([run(command)]), DONE], tmp_path, mode="ask", sandbox=finder) as bench:
        await moved(bench)
        await bench.log.wait_for_end()
        assert not bench.log.of(ApprovalRequested), "it would run a second time"
        assert "[it runs read-only; if it has to change files" in bench.results()[0]
        assert [terms.writes for terms in sandbox.runs] == [False]
