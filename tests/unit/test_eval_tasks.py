"""Tasks for `keen-tui eval` on the disk, and those that come with Keen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.events import Usage
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.spent import NOTHING
from keen_tui.evaluation.check import run_check
from keen_tui.evaluation.command import policies_of
from keen_tui.evaluation.evaluation import EvaluationPlan, EvaluationReport
from keen_tui.evaluation.figures import RunFigures, RunResult
from keen_tui.evaluation.table import table_lines
from keen_tui.evaluation.tasks import BrokenTask, EvalTask, find_tasks, prompts_of, read_task, shipped_tasks

SHIPPED = find_tasks(())


def make_task(folder: Path, prompts: str = "Do it.", check: str = "true") -> Path:
    (folder / "start").mkdir(parents=True)
    (folder / "prompts.md").write_text(prompts)
    (folder / "check").write_text(check)
    return folder


def test_a_line_of_three_dashes_separates_the_prompts() -> None:
    text = "First,\nin two lines.\n\n---\n\n# Second\n--- not a separator\n----\n---  \nThird.\n"
    assert list(prompts_of(text)) == [
        "First,\nin two lines.",
        "# Second\n--- not a separator\n----",
        "Third.",
    ]


def test_a_task_is_read(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "one", "A\n---\nB", "grep -q x file\n")
    assert read_task(folder) == EvalTask(
        name="one", folder=folder, prompts=("A", "B"), start=folder / "start", check="grep -q x file"
    )


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("prompts.md", "{}/prompts.md is missing."),
        ("check", "{}/check is missing."),
        ("start", "{}/start is missing: it is the folder with the files to begin with."),
    ],
)
def test_a_missing_part_is_named_with_its_place(tmp_path: Path, missing: str, problem: str) -> None:
    folder = make_task(tmp_path / "one")
    part = folder / missing
    part.rmdir() if part.is_dir() else part.unlink()
    assert read_task(folder) == BrokenTask(name="one", problem=problem.format(folder))


@pytest.mark.parametrize(
    ("prompts", "check", "problem"),
    [
        ("", "true", "Prompt 1 in {}/prompts.md is empty."),
        ("A\n---\n\n---\nC", "true", "Prompt 2 in {}/prompts.md is empty."),
        ("A", " \n", "{}/check is empty: it needs a shell command."),
    ],
)
def test_an_empty_part_is_named(tmp_path: Path, prompts: str, check: str, problem: str) -> None:
    folder = make_task(tmp_path / "one", prompts, check)
    assert read_task(folder) == BrokenTask(name="one", problem=problem.format(folder))


def test_what_is_not_text_is_named(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "one")
    (folder / "prompts.md").write_bytes(b"\xff\xfe")
    assert read_task(folder) == BrokenTask(name="one", problem=f"{folder}/prompts.md isn't UTF-8 text.")


def test_tasks_are_named_by_their_folder_by_the_one_above_or_by_name(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    make_task(shipped / "own")
    mine = [make_task(tmp_path / "mine" / name) for name in ("b", "a")]
    (tmp_path / "mine" / ".git").mkdir()

    def names(*named: str) -> list[str]:
        return [task.name for task in find_tasks(named, shipped)]

    assert names() == ["own"]
    assert names(str(tmp_path / "mine")) == ["a", "b"]
    assert names(str(mine[0]), "own", str(tmp_path / "mine")) == ["b", "own", "a"]


@pytest.mark.parametrize("name", ["nothing", "../shipped", ""])
def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path, name: str) -> None:
    make_task(tmp_path / "shipped" / "own")
    with pytest.raises(ConfigError, match=r"no folder .*Keen are own\.$|has no tasks|Two tasks"):
        find_tasks((name or str(tmp_path / "gone"),), tmp_path / "shipped")


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    folders = [str(make_task(tmp_path / above / "one")) for above in ("a", "b")]
    with pytest.raises(ConfigError, match="Two tasks have the name one: "):
        find_tasks(folders)


def test_policies_are_checked_and_each_counts_once() -> None:
    assert policies_of("summary, full-trace,summary") == ("summary", "full-trace")
    for wrong in ("all", "", ",", "summary,none"):
        with pytest.raises(ConfigError, match="The policies are summary, in-band, full-trace"):
            policies_of(wrong)


def test_six_tasks_come_with_keen_and_three_of_them_have_several_turns() -> None:
    assert len(SHIPPED) == 6 and all(isinstance(task, EvalTask) for task in SHIPPED)
    assert sum(len(task.prompts) > 1 for task in SHIPPED if isinstance(task, EvalTask)) >= 3
    assert all(task.folder.parent == shipped_tasks() for task in SHIPPED if isinstance(task, EvalTask))


@pytest.mark.parametrize("task", SHIPPED, ids=lambda task: task.name)
async def test_the_check_fails_while_nothing_is_done(task: EvalTask | BrokenTask, tmp_path: Path) -> None:
    assert isinstance(task, EvalTask)
    work = tmp_path / "work"
    shutil.copytree(task.start, work)
    result = await run_check(task, work, ())
    assert result.code == 1 and result.problem == "The check failed with exit code 1."


async def test_a_check_knows_the_folder_of_its_task_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    task = read_task(
        make_task(tmp_path / "one", check='cmp "$KEEN_TASK/check" "$KEEN_TASK/check"; echo "<$MINE>"')
    )
    assert isinstance(task, EvalTask)
    result = await run_check(task, tmp_path, ("MINE",))
    assert (result.code, result.output, result.problem) == (0, "<>\n", "")


def test_a_table_has_the_mean_of_the_runs() -> None:
    def run(task: str, number: int, sent: int, problem: str = "") -> RunResult:
        usage = Usage(turn=1, step=1, tokens=TokenUsage(input_tokens=sent, output_tokens=10), cost=0.5)
        figures = RunFigures(spent=NOTHING.plus(usage), steps=number, repeated_reads=2, failed_edits=0)
        return RunResult(
            task=task, policy="summary", number=number, problem=problem, figures=figures, turns=1, seconds=1.0
        )

    report = EvaluationReport(
        model="m",
        plan=EvaluationPlan(tasks=(), policies=("summary", "full-trace"), repeat=2),
        results=(run("a", 1, 100), run("a", 2, 300, "The check failed."), run("b", 1, 50)),
        stopped="Stopped.",
        spent=NOTHING,
    )
    heads, rule, *rows, _, total, means, stopped = table_lines(report)
    assert len({len(line) for line in (heads, rule, *rows)}) == 1
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells == [
        ["a", "summary", "1/2", "200", "0", "10", "$0.50", "1.5", "2", "0"],
        ["b", "summary", "1/1", "50", "0", "10", "$0.50", "1", "2", "0"],
        ["all", "summary", "2/3", "150", "0", "10", "$0.50", "1.3", "2", "0"],
    ]
    assert total.startswith("m: 3 runs, 2 passed, ")
    assert "mean" in means and stopped == "Incomplete: Stopped."
