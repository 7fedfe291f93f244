"""What became of the promises: a table for the terminal and for out/faults.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

PROMISES: Final[Mapping[str, str]] = {
    "R1": "every turn ends once, within a bound",
    "R2": "the next request is accepted",
    "R3": "no call runs twice or half",
    "R4": "nothing shown is lost",
    "R5": "a damaged session opens",
    "R6": "no process of a command is left",
    "R7": "an edit changes what it says",
    "R8": "text from outside does not drive the terminal",
    "R9": "what may write or reach the network asks",
    "R10": "the sandbox holds",
    "R11": "a repository can't raise its rights",
    "R12": "the key stays in",
    "R13": "the terminal is given back",
    "R14": "stop means stop",
    "R15": "a sentence is never a yes",
}

ELSEWHERE: Final[Mapping[str, str]] = {
    "R1": "tests/contract/test_any_script.py, tests/fuzz/test_streams.py",
    "R2": "tests/contract/test_any_script.py, tests/fuzz/test_streams.py",
    "R3": "tests/contract/test_stop_anywhere.py",
    "R4": "make crash: a thousand kills, and one at every write",
    "R5": "tests/fuzz/test_journals.py, tests/unit/storage/test_reading.py",
    "R6": "tests/unit/tools/test_bash.py",
    "R7": "tests/fuzz/test_edits.py, tests/unit/tools/test_changes.py",
    "R8": "tests/fuzz/test_drawing.py, tests/fuzz/test_markdown.py",
    "R9": "tests/fuzz/test_commands.py, tests/unit/tools/test_shell.py",
    "R10": "tests/unit/tools/test_sandbox.py, tests/unit/tools/test_sandbox_probe.py",
    "R11": "tests/e2e/test_hostile_repository.py",
    "R12": "tests/unit/test_keys.py, tests/contract/test_provider_faults.py",
    "R13": "tests/e2e/test_screen.py",
    "R14": "tests/contract/test_provider_stops.py",
    "R15": "tests/ui/test_typing_at_questions.py, tests/unit/ui/test_answering.py",
}
"""What else holds a promise, or holds it alone where the campaign has no cases of it."""

FUZZED: Final[Mapping[str, Sequence[str]]] = {
    "streams": ("R1", "R2", "R3"),
    "journals": ("R5",),
    "edits": ("R7",),
    "drawing": ("R8",),
    "markdown": ("R8",),
    "pages": ("R8",),
    "skills": ("R8",),
    "commands": ("R9",),
    "keys": ("R1",),
}
"""The promises that a file of tests/fuzz looks at, by its name without `test_`."""


class Row(Struct):
    """Counts of one promise. A case counts once, however often it looked."""

    cases: int = 0
    broken: list[str] = field(default_factory=list)


class Table(Struct):
    """The rows by promise, and the greatest value of each figure that was measured."""

    rows: dict[str, Row] = field(default_factory=lambda: {name: Row() for name in PROMISES})
    figures: dict[str, float] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def take(
        self, case: str, looked: Iterable[str], broken: Mapping[str, Sequence[str]], again: str
    ) -> list[str]:
        """Count a case. Gives a line for each promise that it broke, with what plays it `again`."""
        lines = [f"{name}: {case}: {words[0]}\n    {again}" for name, words in broken.items()]
        for name in {*looked, *broken}:
            self.rows[name].cases += 1
        for name in broken:
            self.rows[name].broken.append(case)
        self.words += lines
        return lines

    @property
    def is_broken(self) -> bool:
        """Whether any promise is."""
        return any(row.broken for row in self.rows.values())

    def markdown(self, title: str) -> str:
        """All of it."""
        head = ["| promise | | cases | held | broken | held elsewhere by |", "|---|---|--:|--:|--:|---|"]
        rows = [
            f"| {name} | {PROMISES[name]} | {row.cases:,} | {row.cases - len(row.broken):,} "
            f"| {len(row.broken):,} | {ELSEWHERE[name]} |"
            for name, row in self.rows.items()
        ]
        figures = [f"- {name}: {value:.2f} s" for name, value in sorted(self.figures.items())]
        parts = [f"# {title}", "\n".join(head + rows)]
        if figures:
            parts.append("The longest that was measured:\n\n" + "\n".join(figures))
        if self.words:
            parts.append("## Broken\n\n" + "\n".join(f"```\n{line}\n```" for line in self.words))
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """The rows for a terminal."""
        lines = [f"{'':<52}{'cases':>8}{'held':>8}{'broken':>8}"]
        for name, row in self.rows.items():
            numbers = f"{row.cases:>8,}{row.cases - len(row.broken):>8,}{len(row.broken):>8,}"
            lines.append(f"{name:<5}{PROMISES[name]:<47}{numbers}   {'' if row.cases else ELSEWHERE[name]}")
        lines += [f"{name}: at most {value:.2f} s" for name, value in sorted(self.figures.items())]
        return "\n".join(lines)
