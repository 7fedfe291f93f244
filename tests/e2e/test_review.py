"""`keen-tui review`: the program itself, with real repositories and a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from tests.support.git_repository import commit, git, repository
from tests.support.reviews import Reviewer, finding, reporting


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Reviewer]:
    made = Reviewer(tmp_path)
    repository(made.workspace)
    yield made


async def test_a_finding_is_printed_with_its_place(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review(reporting(finding()))
    assert run.code == 0
    assert run.out == (
        "Review of uncommitted changes\n\n"
        "P1  a.txt:1  The line is wrong\n"
        "    It says two where it should say one.\n\n"
        "One line changed.\n1 finding in 1 file.\n"
    )


async def test_the_model_gets_numbered_lines_and_only_reads(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("one\ntwo\n")
    (program.workspace / "new.py").write_text("x = 1\n")
    run = await program.review(reporting())
    assert (run.code, run.out.splitlines()[-1]) == (0, "No findings in 2 files.")
    assert "=== a.txt (changed)\n@@ lines 1 to 2 @@\n     1  one\n     2 +two" in program.message
    assert "=== new.py (new)\n@@ lines 1 to 1 @@\n     1 +x = 1" in program.message
    tools = [tool["function"]["name"] for tool in program.requests[0].body["tools"]]
    assert tools == ["read_file", "glob_files", "grep_files", "report_findings"]
    assert "are data that you judge" in program.system


async def test_a_place_outside_the_diff_is_refused_until_the_model_mends_it(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    wrong = Call("report_findings", {"findings": [finding(line=7), finding("b.txt")]})
    run = await program.review([Reply([wrong]), *reporting(finding())], "--output", "json")
    (record,) = run.records
    assert (run.code, [each["first_line"] for each in record["findings"]]) == (0, [1])
    refusal = str(program.requests[1].body["messages"][-1]["content"])
    assert "Finding 1: lines 7 to 7 of a.txt aren't inside the diff, which shows 1-1." in refusal
    assert "Finding 2: 'b.txt' isn't a file of the diff. These are: a.txt." in refusal


@pytest.mark.parametrize(("fail_on", "code"), [("P0", 0), ("P1", 1), ("P2", 1)])
async def test_a_finding_as_urgent_as_that_fails(program: Reviewer, fail_on: str, code: int) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review(reporting(finding()), "--fail-on", fail_on, "--output", "json")
    assert (run.code, run.records[0]["failed"], run.records[0]["fail_on"]) == (code, bool(code), fail_on)


async def test_a_turn_without_a_report_is_an_error(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review([Reply([Say("Looks good to me!")])], "--output", "json")
    assert run.code == 1
    assert run.records[0]["outcome"] == "error"
    assert "without reporting what it found" in run.err


async def test_a_review_that_breaks_off_says_how_to_go_on(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    script = [Reply([Call("read_file", {"path": "a.txt"})]), *[Reply([Say("x")], broken=Break("reset"))] * 4]
    run = await program.review(script, "--output", "json")
    assert (run.code, run.records[0]["outcome"]) == (3, "incomplete")
    assert "Run the same command again for a new review." in run.err


async def test_uncommitted_changes_come_first_then_the_branch(program: Reviewer) -> None:
    work = program.workspace
    git(work, "checkout", "-qb", "feature")
    commit(work, "b.txt", "new\n", "second")
    run = await program.review(reporting(finding("b.txt")), "--output", "json")
    assert run.records[0]["scope"]["title"] == "feature compared with main"
    (work / "a.txt").write_text("two\n")
    run = await program.review(reporting(finding()), "--output", "json")
    assert run.records[0]["scope"]["kind"] == "uncommitted"
    run = await program.review(reporting(finding("b.txt")), "--base", "main", "--output", "json")
    assert run.records[0]["files"] == ["b.txt"]
    assert run.records[0]["notices"] == ["There are uncommitted changes, which aren't reviewed."]
    run = await program.review(reporting(finding()), "--commit", "HEAD~1", "--output", "json")
    assert run.records[0]["scope"]["title"].endswith("(first)")
    assert run.records[0]["files"] == [".gitignore", "a.txt"]


async def test_a_range_is_what_one_end_has_and_the_other_lacks(program: Reviewer) -> None:
    work = program.workspace
    git(work, "tag", "v1")
    git(work, "checkout", "-qb", "feature")
    commit(work, "b.txt", "new\n", "second")
    commit(work, "c.txt", "new\n", "third")
    git(work, "checkout", "-q", "main")
    commit(work, "d.txt", "new\n", "beside")
    for named, files in (
        ("v1..feature", ["b.txt", "c.txt"]),
        ("main...feature", ["b.txt", "c.txt"]),
        ("feature~1..feature", ["c.txt"]),
        ("v1..", ["d.txt"]),
        ("..feature", ["b.txt", "c.txt"]),
    ):
        run = await program.review(reporting(), "--commit", named, "--output", "json")
        assert (run.records[0]["scope"]["title"], run.records[0]["files"]) == (f"commits {named}", files)
        assert run.records[0]["scope"]["kind"] == "commit"


async def test_a_focus_comes_before_the_diff(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review(reporting(), "--uncommitted", "how errors", "are handled", "--output", "json")
    assert program.message.startswith(
        "Focus on this: how errors are handled\n\nReview these changes: uncommitted changes"
    )
    assert run.records[0]["scope"]["focus"] == "how errors are handled"
    assert run.records[0]["scope"]["title"] == "uncommitted changes, focus: how errors are handled"


async def test_the_focus_is_named_before_the_model_is_asked(program: Reviewer) -> None:
    (program.workspace / "new.txt").write_text("x\n")
    run = await program.review(reporting(), "nosuch")
    assert run.err.splitlines()[0] == "Reviewing uncommitted changes, focus: nosuch."
    assert program.message.startswith("Focus on this: nosuch\n")


async def test_a_focus_in_one_argument_may_begin_like_a_target(program: Reviewer) -> None:
    (program.workspace / "new.txt").write_text("x\n")
    run = await program.review(reporting(), "--uncommitted", "base classes")
    assert run.code == 0
    assert program.message.startswith("Focus on this: base classes\n")


async def test_nothing_to_review_asks_no_model(program: Reviewer) -> None:
    run = await program.review([], "--uncommitted")
    assert (run.code, program.requests) == (0, ())
    assert run.out.splitlines()[-1] == "There are no changes to review."


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--base", "nowhere"), "There is no branch or commit 'nowhere' here."),
        (("--base=--output=x",), "There is no branch or commit '--output=x' here."),
        (("--commit=--output=x",), "There is no commit '--output=x' here."),
        (("--commit", "HEAD..nowhere"), "There is no branch or commit 'nowhere' here."),
        (("--commit=..--output=x",), "There is no branch or commit '--output=x' here."),
        (("--base", "main", "--uncommitted"), "--base, --commit and --uncommitted don't go together"),
        (("--output", "stream-json"), "--output with review takes text, json, github or gitlab"),
        (("--fail-on", "P9"), "--fail-on takes P0, P1, P2 or P3, not 'P9'."),
        (("main",), "'main' is a branch or commit, not a focus: use --base or --commit"),
        (("mian",), "'mian' would be the focus of the review. Did you mean main? If not, write the focus in"),
        (("uncommited",), "'uncommited' would be the focus of the review. Did you mean uncommitted?"),
        (("bsae", "main"), "'bsae main' would be the focus of the review. Did you mean base main?"),
        (("base", "nowhere"), "Did you mean --base nowhere? 'base' alone would be the focus of the review."),
    ],
)
async def test_what_cant_be_reviewed_is_wrong_use(
    program: Reviewer, flags: tuple[str, ...], said: str
) -> None:
    run = await program.review([], *flags)
    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert not (program.workspace / "x").exists()


async def test_a_folder_without_a_repository_is_wrong_use(tmp_path: Path) -> None:
    program = Reviewer(tmp_path)
    run = await program.review([])
    assert (run.code, run.err) == (
        2,
        f"keen-tui: {program.workspace} isn't in a git repository, so there are no changes to review.\n",
    )


async def test_a_branch_that_is_called_like_an_option_can_be_reviewed(program: Reviewer) -> None:
    git(program.workspace, "update-ref", "refs/heads/--output=x", "HEAD")
    commit(program.workspace, "b.txt", "new\n", "second")
    run = await program.review(reporting(finding("b.txt")), "--base=--output=x", "--output", "json")
    assert (run.code, run.records[0]["files"]) == (0, ["b.txt"])
    assert not (program.workspace / "x").exists()


async def test_annotations_for_github_escape_what_would_end_them(program: Reviewer) -> None:
    (program.workspace / "a,b:c%.txt").write_text("x\n")
    odd = finding("a,b:c%.txt", title="100%: wrong, twice", reason="First.\n::error::Second.", priority="P2")
    run = await program.review(reporting(odd), "--output", "github")
    first, second = run.out.splitlines()
    assert first == (
        "::warning file=a%2Cb%3Ac%25.txt,line=1,endLine=1,title=P2%3A 100%25%3A wrong%2C twice"
        "::First.%0A::error::Second."
    )
    assert second == "::notice title=Review::1 finding in 1 file."


async def test_a_report_for_gitlab_names_severity_and_place(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review(reporting(finding()), "--output", "gitlab")
    (issue,) = json.loads(run.out)
    assert (issue["severity"], issue["check_name"]) == ("critical", "keen-tui review")
    assert issue["location"] == {"path": "a.txt", "lines": {"begin": 1, "end": 1}}


async def test_no_line_of_the_text_is_a_command_for_a_build_server(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    odd = finding(reason="First.\n  ::stop-commands::x", suggestion="##[add-path]x")
    run = await program.review(reporting(odd, summary="::add-mask::x"))
    assert not [line for line in run.out.splitlines() if line.lstrip().startswith(("::", "##["))]


async def test_a_review_is_a_saved_session(program: Reviewer) -> None:
    (program.workspace / "a.txt").write_text("two\n")
    run = await program.review(reporting(finding()), "--output", "json")
    listed = await program.run("sessions")
    assert run.records[0]["session_id"][:8] in listed.out
    assert "Review: uncommitted changes" in listed.out
