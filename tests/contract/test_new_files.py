"""Files that commands make and that would run code later are set aside until a person has decided (R10)."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.events import (
    ApprovalRequested,
    Notice,
    SandboxFound,
    ToolFinished,
    ToolOutput,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.tools.rules.rules import NO_RULES, Rules, parse_rules
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.agent import Bench, at_work
from tests.support.jail import SANDBOXES, Jail
from tests.support.waiting import until

ACTING = (
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".devcontainer/devcontainer.json",
    ".envrc",
    ".husky/pre-commit",
    ".githooks/pre-commit",
    ".gitattributes",
    ".gitmodules",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/settings.json",
    ".cursor/rules/all.mdc",
    ".github/workflows/build.yml",
    ".gitlab-ci.yml",
    "sitecustomize.py",
    ".pre-commit-config.yaml",
    "work.code-workspace",
)
BUILDING = ("Makefile", "package.json", "pyproject.toml", ".cargo/config.toml", "build.rs", ".npmrc")
BARE = (
    "mkdir -p {0}/objects {0}/refs; echo 'ref: refs/heads/main' > {0}/HEAD; "
    "printf '[core]\\n\\trepositoryformatversion = 0\\n' > {0}/config; "
    "printf '\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch {1}; false\\n' >> {0}/config"
)


@pytest.fixture(params=SANDBOXES)
def jail(request: pytest.FixtureRequest, tmp_path: Path) -> Jail:
    return Jail(request.param, tmp_path)


@pytest.fixture(params=[name for name in SANDBOXES if name != "landlock"])
def any_name(request: pytest.FixtureRequest, tmp_path: Path) -> Jail:
    """A sandbox in which names can be made that Landlock's broker refuses."""
    return Jail(request.param, tmp_path)


def at(
    jail: Jail,
    *commands: str,
    mode: Mode = "auto-edit",
    attended: bool = True,
    rules: Rules = NO_RULES,
) -> AbstractAsyncContextManager[Bench]:
    script = [*(Reply([Call("bash", {"command": command})]) for command in commands), Reply([Say("Done.")])]
    return at_work(
        script,
        jail.workspace,
        mode=mode,
        attended=attended,
        rules=rules,
        sandbox=SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox)),
        set_aside=jail.own / "quarantine",
    )


NAMES = (*ACTING, *BUILDING)


def making(*names: str, text: str = "evil") -> str:
    """A command that makes these files and doesn't name them in one piece."""
    return "; ".join(
        f"a={name[:-3]} b={name[-3:]}; mkdir -p $(dirname $a$b); echo {text} > $a$b" for name in names
    )


async def asked(bench: Bench, *, allow: bool, count: int = 1, message: str = "") -> ApprovalRequested:
    request = await bench.log.wait_for(ApprovalRequested, count)
    bench.session.answer(request.id, allow=allow, message=message)
    return request


def kept(jail: Jail) -> set[str]:
    """The names that are in the quarantine, as its records say."""
    records = (jail.own / "quarantine").glob("*/record.json")
    return {
        entry["name"]
        for record in records
        for entry in json.loads(record.read_text())["entries"]
        if os.path.lexists(record.parent / entry["content"])
    }


def moved(name: str) -> str:
    """What of a name is moved: the folder, where that is new and acts."""
    first, _, rest = name.partition("/")
    return ".github/workflows" if first == ".github" else first if rest else name


async def no_to(jail: Jail, command: str, message: str = "") -> tuple[ApprovalRequested, str]:
    """Say no to what a command made; gives the question and what the model was told."""
    async with at(jail, command) as bench:
        bench.session.submit("go")
        request = await asked(bench, allow=False, message=message)
        await bench.log.wait_for_end()
        assert request.question.startswith("Keep ")
        assert len(bench.log.of(ApprovalRequested)) == 1
        [result] = bench.results()
        return request, result


async def unasked(jail: Jail, *commands: str, mode: Mode = "auto-edit") -> list[str]:
    """What the model was told of commands about which nothing was asked."""
    async with at(jail, *commands, mode=mode, attended=False) as bench:
        await bench.ask("go")
        assert not bench.log.of(ApprovalRequested)
        return bench.results()


async def test_new_names_that_run_code_later_are_set_aside(any_name: Jail) -> None:
    request, result = await no_to(any_name, making(*NAMES))
    assert request.question == f"Keep {len(NAMES)} new files?"
    assert not [name for name in NAMES if (any_name.workspace / name).exists()]
    assert kept(any_name) == set(map(moved, NAMES))
    assert "set aside, and no longer in the workspace: " in result
    assert f", {len(NAMES) - 20} more, because it can run code later" in result


async def test_in_a_folder_that_was_there_all_of_them_are(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    names = [f"sub/{name}" for name in NAMES]
    await no_to(jail, making(*names))
    assert not [name for name in names if (jail.workspace / name).exists()]
    assert kept(jail) == {f"sub/{moved(name)}" for name in NAMES}


async def test_in_a_new_folder_those_are_that_act_by_themselves(jail: Jail) -> None:
    """`cmake -B build` and `cargo new` make whole folders with files for builds."""
    names = [f"new/{name}" for name in NAMES]
    await no_to(jail, making(*names))
    assert kept(jail) == {f"new/{moved(name)}" for name in ACTING}
    assert all((jail.workspace / "new" / name).exists() for name in BUILDING)


async def test_a_folder_made_in_this_session_stays_the_commands_own(jail: Jail) -> None:
    await unasked(jail, "mkdir build", "cd build && touch Makefile cmake_install.cmake && mkdir CMakeFiles")
    assert (jail.workspace / "build/Makefile").exists()


async def test_what_was_there_before_asks_nothing(jail: Jail) -> None:
    for name in ("sub/AGENTS.md", "sub/.vscode/tasks.json", "Makefile"):
        path = jail.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    await unasked(jail, "mv Makefile M; mv M Makefile; mkdir sub/plain", making("sub/plain/a"))
    await unasked(jail, "echo changed > sub/AGENTS.md", "mv sub other")
    assert (jail.workspace / "other/AGENTS.md").read_text() == "changed\n" and not kept(jail)


async def test_a_new_file_in_a_folder_that_acts_is_set_aside(jail: Jail) -> None:
    for name in (".github/workflows/old.yml", ".claude/settings.json", "sub/.vscode/settings.json"):
        path = jail.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    new = {".github/workflows/new.yml", ".claude/hooks/run.sh", "sub/.vscode/tasks.json"}
    await no_to(jail, making(*sorted(new)))
    assert kept(jail) == new


async def test_moving_a_file_to_where_it_acts_is_like_making_it(jail: Jail) -> None:
    for name in ("fixtures/mcp.json", "fixtures/x/.github/workflows/a.yml", "fixtures/y/AGENTS.md"):
        path = jail.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    command = "mv fixtures/x/.github fixtures/y/AGENTS.md sub; mv fixtures/mcp.json sub/.mcp.json"
    (jail.workspace / "sub").mkdir()
    await no_to(jail, command)
    assert kept(jail) == {"sub/.mcp.json", "sub/.github/workflows", "sub/AGENTS.md"}


async def test_a_yes_moves_it_back_as_it_was(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    command = "mkdir sub/.husky; echo 'echo hooked' > sub/.husky/pre-commit; chmod 750 sub/.husky/pre-commit"
    async with at(jail, command, "cat sub/.husky/pre-commit") as bench:
        bench.session.submit("go")
        request = await asked(bench, allow=True)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        assert not end.turn_memory.files_changed, "commands change files, as ever, without being remembered"
        assert bench.results()[0].endswith("[created after the user approved: sub/.husky]")
        assert "echo hooked" in bench.results()[1]
    assert request.question == "Keep sub/.husky?"
    assert "can run code as soon as you open the folder" in request.why
    assert request.is_risky and request.grant is None
    assert isinstance(request.display, DiffDisplay)
    assert [row.text for row in request.display.hunks[0]] == ["echo hooked"]
    mode = (jail.workspace / "sub/.husky/pre-commit").stat().st_mode
    assert stat.S_IMODE(mode) == 0o750
    assert not list((jail.own / "quarantine").iterdir())


async def test_a_no_with_words_is_told_and_says_where_the_files_are(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    async with at(jail, making("sub/AGENTS.md")) as bench:
        bench.session.submit("go")
        await asked(bench, allow=False, message="not now")
        await bench.log.wait_for_end()
        [result], [notice] = bench.results(), bench.log.of(Notice)
    assert "the user said no and says: not now" in result
    [folder] = (jail.own / "quarantine").iterdir()
    assert notice.text == f"Set aside in {folder}: sub/AGENTS.md."
    assert stat.S_IMODE((jail.own / "quarantine").stat().st_mode) == 0o700


async def test_build_files_can_be_allowed_for_the_session(jail: Jail) -> None:
    for name in ("a", "b"):
        (jail.workspace / name).mkdir()
    commands = (making("a/package.json"), making("b/Makefile"), making("b/AGENTS.md"))
    async with at(jail, *commands) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        assert not request.is_risky
        assert request.grant == "allow build files that commands create, for this session"
        bench.session.answer(request.id, allow=True, scope="session")
        second = await asked(bench, allow=False, count=2)
        await bench.log.wait_for_end()
        assert "build files that commands create" in bench.session.permitted.session
    assert second.question == "Keep b/AGENTS.md?"
    assert (jail.workspace / "a/package.json").exists() and (jail.workspace / "b/Makefile").exists()


async def test_without_anybody_there_it_stays_set_aside(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    async with at(jail, making("sub/Makefile"), attended=False) as bench:
        await bench.ask("go")
        [result] = bench.results()
    assert kept(jail) == {"sub/Makefile"}
    [folder] = (jail.own / "quarantine").iterdir()
    assert f"it is in {folder}, and --mode auto allows it" in result


async def test_a_command_with_a_yes_of_its_own_may_make_them(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    async with at(jail, "touch sub/AGENTS.md", mode="ask") as bench:
        bench.session.submit("go")
        request = await asked(bench, allow=True)
        await bench.log.wait_for_end()
        assert len(bench.log.of(ApprovalRequested)) == 1
    assert request.question == "Run this command?"
    assert (jail.workspace / "sub/AGENTS.md").exists()


async def test_a_command_that_a_rule_allows_may_not(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    rules = Rules(parse_rules("allow", ("bash(touch *)",), "settings.toml"))
    async with at(jail, "touch sub/AGENTS.md", mode="ask", rules=rules) as bench:
        bench.session.submit("go")
        request = await asked(bench, allow=False)
        await bench.log.wait_for_end()
    assert request.question == "Keep sub/AGENTS.md?"


async def test_a_stop_at_the_question_loses_nothing_and_the_next_start_says_so(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    async with at(jail, making("sub/AGENTS.md")) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        [finished] = bench.log.of(ToolFinished)
    assert "the user hasn't decided about it yet" in finished.result.text
    assert kept(jail) == {"sub/AGENTS.md"}
    for times in (1, 0):  # it is said once
        async with at(jail, "true") as bench:
            bench.session.warm_up()
            await bench.ask("go")
            await bench.log.wait_for(SandboxFound)
            if times:
                await until(partial(_told_of, bench, "sub/AGENTS.md"))
            assert len(_told_of(bench, "sub/AGENTS.md")) == times


async def test_a_stop_while_the_command_runs_keeps_back_too(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    async with at(jail, making("sub/AGENTS.md") + "; echo made; sleep 600") as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        bench.session.stop()
        await bench.log.wait_for_end()
        [finished] = bench.log.of(ToolFinished)
    assert kept(jail) == {"sub/AGENTS.md"} and not (jail.workspace / "sub/AGENTS.md").exists()
    assert "sub/AGENTS.md" in finished.result.text


async def test_a_link_is_set_aside_itself(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    (jail.workspace / "notes").mkdir()
    (jail.outside / "file").write_text("secret")
    outside = jail.outside / "file"
    command = f"cd sub; ln -s ../notes .vscode; ln -s {outside} AGENTS.md; ln -s nowhere .mcp.json"
    request, _ = await no_to(jail, command)
    assert kept(jail) == {"sub/.vscode", "sub/AGENTS.md", "sub/.mcp.json"}
    assert (jail.workspace / "notes").is_dir() and outside.read_text() == "secret"
    assert isinstance(request.display, DiffDisplay)
    assert "secret" not in str(request.display) and f"(a link to {outside})" in str(request.display)


async def test_what_runs_on_in_the_background_makes_it_no_second_time(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    loop = "while :; do echo evil > sub/AGENTS.md; done"
    started = "; until test -e sub/AGENTS.md; do :; done"
    await no_to(jail, f"({loop}) & (setsid sh -c '{loop}') & :{started}")
    assert not (jail.workspace / "sub/AGENTS.md").exists()


async def test_a_folder_that_can_not_be_listed_or_written_hides_nothing(jail: Jail) -> None:
    (jail.workspace / "sub").mkdir()
    await no_to(jail, making("sub/in/AGENTS.md", "sub/on/CLAUDE.md") + "; chmod 111 sub/in; chmod 555 sub/on")
    assert kept(jail) == {"sub/in/AGENTS.md", "sub/on/CLAUDE.md"}
    assert [stat.S_IMODE((jail.workspace / "sub" / name).stat().st_mode) for name in ("in", "on")] == [
        0o111,
        0o555,
    ]


async def test_models_that_programs_save_stay(jail: Jail) -> None:
    await unasked(jail, "touch model.pth; mkdir -p node_modules/x/.vscode; touch node_modules/x/AGENTS.md")


def status(folder: Path, home: Path) -> None:
    """As a person would run it."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CEILING_DIRECTORIES": str(home.parent)}
    subprocess.run(("git", "status"), cwd=folder, env=environ, capture_output=True, check=False)


needs_git = pytest.mark.skipif(not shutil.which("git"), reason="no git on this machine")


@needs_git
@pytest.mark.parametrize("mode", ["auto-edit", "auto"])
@pytest.mark.parametrize("folder", [".", "sub", "sub/deep/x.git"])
async def test_a_folder_that_became_a_repository_runs_nothing_at_git_status(
    jail: Jail, folder: str, mode: Mode
) -> None:
    (jail.workspace / "sub").mkdir()
    ran = jail.outside / "ran"
    command = f"mkdir -p {folder}; {BARE.format(folder, ran)}; touch {folder}/.probe"
    async with at(jail, command, mode=mode) as bench:
        bench.session.submit("go")
        if mode == "auto-edit":
            request = await asked(bench, allow=False)
            assert "core.fsmonitor" in request.why and "makes a git repository" in request.question
            assert "touch" in str(request.display)
        await bench.log.wait_for_end()
        [result] = bench.results()
    status(jail.workspace / folder, jail.home)
    assert not ran.exists()
    assert "git would treat the folder as a repository and obey core.fsmonitor" in result
    assert (jail.workspace / folder / "config").exists()
    (jail.own / "quarantine").rename(jail.own / "moved")
    (head,) = (jail.own / "moved").glob("*/0")
    head.rename(jail.workspace / folder / "HEAD")
    status(jail.workspace / folder, jail.home)
    assert ran.exists(), "with its HEAD it would have run"


@needs_git
@pytest.mark.parametrize("mode", ["auto-edit", "auto"])
async def test_ordinary_repositories_ask_nothing(jail: Jail, mode: Mode) -> None:
    commands = (
        "git init --bare -q x.git && git clone -q x.git copy 2>/dev/null; ls copy/.git/HEAD x.git/HEAD",
        "git init -q sub && cd sub && git config user.name u && git config user.email u@example.org && "
        "git commit -q --allow-empty -m x && git log --oneline",
    )
    results = await unasked(jail, *commands, mode=mode)
    assert "copy/.git/HEAD" in results[0] and "set aside" not in "".join(results)
    assert (jail.workspace / "sub/.git/HEAD").exists()


@needs_git
async def test_a_repository_whose_settings_begin_to_name_programs_is_none_any_more(jail: Jail) -> None:
    commands = (
        "git init -q sub; git init -q other",
        "git -C sub config core.fsmonitor 'touch ran'",
        "printf '#!/bin/sh\\n' > other/.git/hooks/post-checkout; chmod +x other/.git/hooks/post-checkout",
    )
    async with at(jail, *commands) as bench:
        bench.session.submit("go")
        await asked(bench, allow=False)
        second = await asked(bench, allow=False, count=2)
        await bench.log.wait_for_end()
    assert kept(jail) == {"sub/.git/HEAD", "other/.git/HEAD"}
    assert "hooks/post-checkout" in second.why


@needs_git
async def test_what_git_brings_is_the_repositorys_own(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        done = ("git", "-c", "user.name=u", "-c", "user.email=u@example.org", *words)
        subprocess.run(done, cwd=jail.workspace, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("switch", "-q", "-c", "more")
    (jail.workspace / "sub").mkdir()
    for name in ("sub/AGENTS.md", "sub/Makefile"):
        (jail.workspace / name).touch()
    git("add", ".")
    git("commit", "-q", "-m", "second")
    git("switch", "-q", "main")
    await unasked(jail, "git switch more && ls sub")
    assert (jail.workspace / "sub/AGENTS.md").exists()


@needs_git
@pytest.mark.parametrize("begin", ["", "git init -q", "git init -q && git commit -q --allow-empty -m first"])
async def test_a_file_of_a_commit_that_a_command_made_is_set_aside(
    jail: Jail, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not begin and jail.sandbox.objects_of_git is None:
        pytest.skip("this sandbox can't mount a folder for a repository that isn't there yet")
    (jail.home / ".gitconfig").write_text("[user]\nname = u\nemail = u@example.org\n")
    monkeypatch.setenv("HOME", str(jail.home))
    subprocess.run(begin or "true", shell=True, cwd=jail.workspace, check=True)
    commands = (
        f"{'' if begin else 'git init -q; '} export GIT_INDEX_FILE=$PWD/index;"
        " git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),sub/AGENTS.md;"
        " git update-ref refs/heads/more $(git commit-tree -m x $(git write-tree)); rm index",
        "python3 -c 'import os, sys; os.unlink(sys.argv[1])' $(git rev-parse --git-path HEAD)",
        "mkdir sub; git show more:sub/AGENTS.md > sub/AGENTS.md",
    )
    async with at(jail, *commands) as bench:
        bench.session.submit("go")
        await asked(bench, allow=False)
        await bench.log.wait_for_end()
    assert kept(jail) == {"sub/AGENTS.md"}


@needs_git
@pytest.mark.parametrize(
    "change",
    ["echo gitdir: ../node_modules/evil > sub/.git", "rm sub/.git; ln -s ../node_modules/evil sub/.git"],
)
async def test_a_git_file_never_leads_elsewhere(any_name: Jail, change: str) -> None:
    jail = any_name
    init = "git init -q && mkdir -p sub .git/modules && git init -q --separate-git-dir .git/modules/sub sub"
    subprocess.run(init, shell=True, cwd=jail.workspace, check=True)
    (jail.workspace / "change.sh").write_text(change)
    async with at(
        jail, f"mkdir node_modules; {BARE.format('node_modules/evil', 'x')}; sh change.sh"
    ) as bench:
        bench.session.submit("go")
        await asked(bench, allow=False)
        await bench.log.wait_for_end()
    assert kept(jail) == {"sub/.git"}


@needs_git
async def test_what_is_set_aside_is_not_committed(jail: Jail) -> None:
    subprocess.run(("git", "init", "-q"), cwd=jail.workspace, check=True)
    (jail.workspace / "sub").mkdir()
    await no_to(jail, "touch sub/AGENTS.md sub/plain && git add -A")
    words = ("git", "status", "--short")
    status = subprocess.run(words, cwd=jail.workspace, check=True, capture_output=True, text=True).stdout
    assert status == "A  sub/plain\n"


@needs_git
async def test_a_file_that_is_set_aside_but_committed_is_reported(jail: Jail) -> None:
    subprocess.run(("git", "init", "-q"), cwd=jail.workspace, check=True)
    (jail.workspace / "sub").mkdir()
    who = "-c user.name=u -c user.email=u@example.org"
    _, result = await no_to(jail, f"touch sub/AGENTS.md && git add -A && git {who} commit -qm x")
    assert "[git: set aside, but already in the last commit: sub/AGENTS.md]" in result


async def test_a_command_in_the_background_has_its_files_set_aside_and_no_one_elses(any_name: Jail) -> None:
    go = any_name.workspace / "go"
    command = f"while ! test -e go; do sleep 0.05; done; {making('.envrc')}; touch made; sleep 600"
    script = [
        Reply([Call("bash", {"command": command, "background": True})]),
        Reply([Call("write_file", {"path": "Makefile", "content": "all:\n"})]),
        Reply([Say("Started.")]),
        Reply([Call("write_file", {"path": "more.txt", "content": "more"})]),
        Reply([Say("Done.")]),
    ]
    async with at_work(
        script,
        any_name.workspace,
        mode="auto-edit",
        sandbox=SandboxFinder(lambda: ProbeResult(sandbox=any_name.sandbox)),
        set_aside=any_name.own / "quarantine",
    ) as bench:
        bench.session.submit("start")
        await asked(bench, allow=True)
        await bench.log.wait_for_end()
        go.touch()
        await until((any_name.workspace / "made").exists)
        await bench.ask("more")
        assert kept(any_name) == {".envrc"}
        assert not (any_name.workspace / ".envrc").exists()
        assert (any_name.workspace / "Makefile").exists()
        assert any("Set aside in" in notice.text for notice in bench.log.of(Notice))
        assert any("set aside, and no longer in the workspace: .envrc" in line for line in bench.lines())


async def test_a_command_in_the_background_gets_no_file_past_the_calls_beside_it(any_name: Jail) -> None:
    command = f"while :; do {making('.envrc')}; sleep 0.01; done"
    script = [
        Reply([Call("bash", {"command": command, "background": True})]),
        Reply([Call("write_file", {"path": "Makefile", "content": "all:\n"})]),
        Reply([Call("read_file", {"path": "Makefile"})]),
        Reply([Call("task_stop", {"id": "t1"})]),
        Reply([Say("Done.")]),
    ]
    async with at_work(
        script,
        any_name.workspace,
        mode="auto-edit",
        sandbox=SandboxFinder(lambda: ProbeResult(sandbox=any_name.sandbox)),
        set_aside=any_name.own / "quarantine",
    ) as bench:
        bench.session.submit("start")
        await asked(bench, allow=True)
        await bench.log.wait_for_end()
        assert kept(any_name) == {".envrc"}
        assert not (any_name.workspace / ".envrc").exists()
        assert (any_name.workspace / "Makefile").exists()


def _told_of(bench: Bench, name: str) -> list[Notice]:
    return [each for each in bench.log.of(Notice) if name in each.text]
