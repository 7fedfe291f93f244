"""What works in which sandbox: `python -m tests.campaigns.workday [--only WORDS] [--sandbox NAME]`.

Runs each command outside first, then in every sandbox that this machine can have, each time in a new project.
It works when it ends with the same exit code and leaves the same files. Prints a table, names what does not
work and what the program would have said about it, and writes both to out/sandbox.md. Exit code 1: less
works than docs/safety.md promises.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.sandbox.base import Sandbox
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.probe import OFF, ProbeResult, SandboxFinder, policy_here
from tests.campaigns.workday.commands import Work, workday
from tests.campaigns.workday.project import files_of, make_project
from tests.support.jail import SANDBOXES

OUT = Path("out")
_PATIENCE = 300
"""Seconds a command."""
_PROMISED: Mapping[str, float] = {"landlock": 0.90}
"""The share that works, where it is less than in the others."""
_PROMISED_ELSEWHERE = 0.95


class Outcome(Struct, frozen=True, kw_only=True):
    """How work ended: the last exit code, the files that are there, and the sign of the sandbox in words, ""
    for none."""

    exit_code: int | None
    files: frozenset[str]
    sign: str
    output: str


class Table:
    """What became of the work in each sandbox."""

    def __init__(self) -> None:
        self.works: dict[str, int] = {}
        self.of: dict[str, int] = {}
        self.failures: list[str] = []

    def note(self, sandbox: str, work: Work, outside: Outcome, inside: Outcome) -> None:
        """Take down one outcome beside that of the same work outside."""
        is_same = (outside.exit_code, outside.files) == (inside.exit_code, inside.files)
        self.of[sandbox] = self.of.get(sandbox, 0) + 1
        self.works[sandbox] = self.works.get(sandbox, 0) + is_same
        if not is_same:
            self.failures.append(f"{sandbox}: {work}: {_difference(outside, inside)}")

    def rows(self) -> Iterator[str]:
        """In Markdown."""
        yield "| sandbox | work | of | % |"
        yield "|---|---|---|---|"
        for name, of in self.of.items():
            yield f"| {name} | {self.works[name]} | {of} | {100 * self.works[name] / of:.0f} |"

    @property
    def keeps_the_promise(self) -> bool:
        return all(
            self.works[name] >= of * _PROMISED.get(name, _PROMISED_ELSEWHERE) for name, of in self.of.items()
        )


def _difference(outside: Outcome, inside: Outcome) -> str:
    told = inside.sign or "nothing is said about the sandbox"
    if outside.exit_code != inside.exit_code:
        last = inside.output.strip().rpartition("\n")[0].rpartition("\n")[2]
        return f"exit {inside.exit_code} in place of {outside.exit_code} ({told}; {last[:100]})"
    changed = sorted(outside.files ^ inside.files)
    return f"other files: {', '.join(changed[:4])} ({told})"


async def _outcome(work: Work, make: Callable[[Policy], Sandbox | str] | None) -> Outcome | str:
    """Do the work in a new project. Gives why there is no such sandbox here."""
    with tempfile.TemporaryDirectory(prefix="keen-workday-", dir=Path.cwd() / OUT) as place:
        folder = Path(os.path.realpath(place)) / "shop"
        folder.mkdir()
        make_project(folder)
        found = OFF
        if make:
            sandbox = make(policy_here(folder, os.environ))
            if isinstance(sandbox, str):
                return sandbox
            found = ProbeResult(sandbox=sandbox)
        network = CommandNetwork(setting="ask")
        bash = Bash(Workspace(folder), SandboxFinder(lambda: found), network=network)
        for command in work.commands:
            prepared = await bash.prepare({"command": command, "timeout": _PATIENCE})
            result = await prepared.run(lambda *_: None)
        sign = prepared.outside.reason(result) if prepared.outside else ""
        return Outcome(exit_code=result.exit_code, files=files_of(folder), sign=sign, output=result.text)


async def _campaign(works: Sequence[Work], names: Sequence[str]) -> Table:
    table = Table()
    missing: dict[str, str] = {}
    for work in works:
        outside = await _outcome(work, None)
        assert isinstance(outside, Outcome)
        if outside.exit_code:
            print(f"not counted, since it fails outside too: {work} (exit {outside.exit_code})", flush=True)
            continue
        for name in names:
            inside = missing.get(name) or await _outcome(work, SANDBOXES[name])
            if isinstance(inside, str):
                missing[name] = inside
            else:
                table.note(name, work, outside, inside)
    for name, reason in missing.items():
        print(f"no {name} here: {reason}")
    return table


def main() -> int:
    """Run what was asked for; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.workday")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="commands with these words, or of this trade"
    )
    parser.add_argument("--sandbox", choices=[*SANDBOXES], help="only this one")
    given = parser.parse_args()
    works = [work for work in workday() if given.only in str(work) or given.only == work.people]
    OUT.mkdir(exist_ok=True)
    table = asyncio.run(_campaign(works, [given.sandbox] if given.sandbox else [*SANDBOXES]))
    told = "\n".join((*table.rows(), "", *(f"- {failure}" for failure in table.failures)))
    print(told)
    (OUT / "sandbox.md").write_text(told + "\n", encoding="utf-8")
    return int(not table.keeps_the_promise)


if __name__ == "__main__":
    raise SystemExit(main())
