"""Where kept files go, how they get there, and which repositories would run programs."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.named_entries import NamedEntries
from keen_tui.system.paths import QUARANTINE
from keen_tui.tools.access.sensitive import EntryKind, entry_kinds, runs_code_later
from keen_tui.tools.quarantine.diff_of_files import shown
from keen_tui.tools.quarantine.new_entries import NewEntryFinder
from keen_tui.tools.quarantine.repositories import programs_of
from keen_tui.tools.quarantine.store import Quarantine


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def quarantine(tmp_path: Path, work: Path) -> Quarantine:
    return Quarantine(tmp_path / "data" / QUARANTINE, work)


def put(path: Path, text: str = "evil\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def another_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be renamed into a folder that isn't its own."""
    rename: Callable[..., None] = os.rename

    def refusing(name: str, to: str, **folders: Any) -> None:
        if folders and not os.path.samestat(os.fstat(folders["src_dir_fd"]), os.fstat(folders["dst_dir_fd"])):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(name, to, **folders)

    monkeypatch.setattr(os, "rename", refusing)


def test_what_is_taken_comes_back_as_it_was(work: Path, quarantine: Quarantine) -> None:
    put(work / ".husky/pre-commit").chmod(0o750)
    (work / ".husky/link").symlink_to("/etc/passwd")
    kept, problems = quarantine.take([work / ".husky", put(work / "sub/Makefile")], "make it")
    assert not problems and kept.names == (".husky", "sub/Makefile")
    assert sorted(path.name for path in work.iterdir()) == ["sub"] and not list((work / "sub").iterdir())
    assert [each.names for each in quarantine.all()] == [kept.names]
    assert quarantine.put_back(kept) == {}
    assert stat.S_IMODE((work / ".husky/pre-commit").stat().st_mode) == 0o750
    assert (work / ".husky/link").readlink() == Path("/etc/passwd")
    assert quarantine.all() == ()


@pytest.mark.usefixtures("another_disk")
def test_so_it_does_between_disks(work: Path, quarantine: Quarantine) -> None:
    test_what_is_taken_comes_back_as_it_was(work, quarantine)


@pytest.mark.usefixtures("another_disk")
def test_what_no_disk_takes_is_renamed_where_it_is(work: Path, quarantine: Quarantine) -> None:
    folder = work / ".claude"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    kept, problems = quarantine.take([folder], "make it")
    assert not problems
    [entry] = kept.entries
    assert Path(entry.content).parent == work and Path(entry.content).name.startswith(".claude.kept-back-")
    assert quarantine.put_back(kept) == {}
    assert folder.is_dir()


def test_without_a_place_in_the_data_folder_it_is_renamed_too(tmp_path: Path, work: Path) -> None:
    kept, problems = Quarantine(put(tmp_path / "file") / "in", work).take(
        [put(work / "AGENTS.md")], "make it"
    )
    assert not problems and not (work / "AGENTS.md").exists()
    assert Path(kept.entries[0].content).read_text() == "evil\n"


def test_a_link_in_the_way_leads_nothing_elsewhere(
    tmp_path: Path, work: Path, quarantine: Quarantine
) -> None:
    elsewhere = put(tmp_path / "elsewhere/AGENTS.md")
    (work / "sub").symlink_to(elsewhere.parent)
    kept, problems = quarantine.take([work / "sub/AGENTS.md"], "make it")
    assert list(problems) == [work / "sub/AGENTS.md"] and not kept.entries
    assert elsewhere.exists()


def test_nothing_is_put_over_what_is_there_now(work: Path, quarantine: Quarantine) -> None:
    kept, _ = quarantine.take([put(work / "AGENTS.md")], "make it")
    put(work / "AGENTS.md", "mine\n")
    assert list(quarantine.put_back(kept)) == ["AGENTS.md"]
    assert (work / "AGENTS.md").read_text() == "mine\n"
    assert quarantine.all()[0].names == ("AGENTS.md",), "it stays where it is"


def test_a_folder_without_the_right_to_write_lets_it_go(work: Path, quarantine: Quarantine) -> None:
    for path in (put(work / "sub/.vscode/tasks.json").parent, work / "sub"):
        path.chmod(0o555)
    _, problems = quarantine.take([work / "sub/.vscode"], "make it")
    assert not problems and not (work / "sub/.vscode").exists()
    assert stat.S_IMODE((work / "sub").stat().st_mode) == 0o555


def test_nobody_decided_is_said_once_and_another_workspace_says_nothing(
    tmp_path: Path, work: Path, quarantine: Quarantine
) -> None:
    quarantine.take([put(work / "AGENTS.md")], "make it")
    assert Quarantine(tmp_path / "data" / QUARANTINE, tmp_path).undecided() == ()
    assert [each.names for each in quarantine.undecided()] == [("AGENTS.md",)]
    assert quarantine.undecided() == ()
    assert quarantine.all()


def test_a_damaged_record_is_passed_over(tmp_path: Path, quarantine: Quarantine) -> None:
    put(tmp_path / "data" / QUARANTINE / "x/record.json", "{")
    assert quarantine.all() == ()


def test_it_goes_after_thirty_days_however_large_it_is(
    tmp_path: Path, work: Path, quarantine: Quarantine
) -> None:
    subprocess.run(("mkdir", "-p", "/".join([".claude", *["d"] * 1_500])), cwd=work, check=True)
    old, _ = quarantine.take([work / ".claude"], "make it")
    new, _ = quarantine.take([put(work / "AGENTS.md")], "make it")
    os.utime(Path(old.folder) / "record.json", (1.0, 1.0))
    os.truncate(put(Path(new.folder) / "large"), 3_000_000_000)
    SessionStore(tmp_path / "data").forget_old()
    assert not Path(old.folder).exists() and Path(new.folder).exists()


def test_one_file_is_shown_as_an_edit_would_be(work: Path, quarantine: Quarantine) -> None:
    kept, _ = quarantine.take([put(work / "AGENTS.md", "one\ntwo\n")], "make it")
    display = shown([kept])
    assert (display.path, display.added, display.total_lines) == ("AGENTS.md", 2, 2)
    assert [(row.sign, row.number, row.text) for row in display.hunks[0]] == [
        ("+", 1, "one"),
        ("+", 2, "two"),
    ]


def test_several_files_are_shown_with_their_names(work: Path, quarantine: Quarantine) -> None:
    put(work / ".vscode/tasks.json", "{}\n")
    (work / ".vscode/binary").write_bytes(b"\0" * 9)
    (work / ".vscode/out").symlink_to("/etc")
    kept, _ = quarantine.take([work / ".vscode", put(work / "Makefile", "x\n" * 900)], "make it")
    display = shown([kept])
    rows = [row.text for hunk in display.hunks for row in hunk]
    assert rows[:6] == [
        ".vscode/binary:",
        "(9 bytes that aren't text)",
        ".vscode/out:",
        "(a link to /etc)",
        ".vscode/tasks.json:",
        "{}",
    ]
    assert display.added == 901 and len(rows) + display.left_out == 907


CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


def repository(folder: Path, config: str = CONFIG) -> Path:
    for name in ("objects/pack", "refs/heads", "hooks"):
        (folder / name).mkdir(parents=True)
    put(folder / "HEAD", "ref: refs/heads/main\n")
    put(folder / "hooks/pre-commit.sample").chmod(0o755)
    put(folder / "config", config)
    return folder


@pytest.mark.parametrize(
    "more",
    [
        "",
        '[remote "origin"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[branch "main"]\r\n\tremote = origin\r\n\tmerge = refs/heads/main\r\n; a comment\n# another\n\n',
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[advice]\n\tdetachedHead = false\n",
        '[submodule "x y"]\n\tactive = true\n\turl = https://example.org/x\n',
    ],
)
def test_settings_that_name_no_program_are_harmless(tmp_path: Path, more: str) -> None:
    assert not programs_of(repository(tmp_path / "x.git", CONFIG + more))


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("\tfsmonitor = touch ran\n", "core.fsmonitor"),
        ("\tFsMonitor=touch ran\n", "core.fsmonitor"),
        ("\tfsmonitor\n", "core.fsmonitor"),
        ("[core] fsmonitor = touch ran\n", "a line in config"),
        ("\thooksPath = elsewhere\n", "core.hookspath"),
        ("\tbare = \\\n fsmonitor = x\n", "core.bare"),
        ("[include]\n\tpath = ../evil\n", "include.path"),
        ('[includeIf "gitdir:/"]\n\tpath = ../evil\n', "includeif.path"),
        ('[filter "x"]\n\tclean = touch ran\n', "filter.clean"),
        ("[filter.x]\n\tclean = touch ran\n", "a line in config"),
        ("[alias]\n\tst = !touch ran\n", "alias.st"),
        ('[remote "o"]\n\turl = ext::sh -c evil\n', "remote.url"),
        ('[remote "o"]\n\tuploadpack = evil\n', "remote.uploadpack"),
        ('[submodule "x"]\n\tupdate = !evil\n', "submodule.update"),
        ("[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig"),
        ("[unknown]\n\tthing = 1\n", "unknown.thing"),
        ("\v[core]\n", "a line in config"),
    ],
)
def test_settings_that_may_name_one_are_not(tmp_path: Path, more: str, name: str) -> None:
    found = programs_of(repository(tmp_path / "x.git", CONFIG + more))
    assert name in {program.name for program in found}


def test_hooks_that_can_run_count_and_others_do_not(tmp_path: Path) -> None:
    folder = repository(tmp_path / "x.git")
    hook = put(folder / "hooks/post-checkout")
    assert not programs_of(folder), "git passes over it"
    hook.chmod(0o755)
    (before,) = programs_of(folder)
    assert before.name == "hooks/post-checkout"
    hook.write_text("another")
    assert programs_of(folder) != {before}


def test_what_leads_elsewhere_counts(tmp_path: Path) -> None:
    for name in ("config", "hooks", "commondir"):
        folder = repository(tmp_path / f"{name}.git")
        if name != "commondir":
            (folder / name).rename(folder / "away")
        (folder / name).symlink_to("away")
        assert [program.name for program in programs_of(folder)] == [name]
    bare = tmp_path / "head-only"
    put(bare / "HEAD")
    assert not programs_of(bare)
    put(bare / "commondir", "../elsewhere\n")
    assert [program.name for program in programs_of(bare)] == ["commondir"]


def test_the_repositories_of_submodules_count(tmp_path: Path) -> None:
    folder = repository(tmp_path / ".git")
    repository(folder / "modules/lib/x", CONFIG + "\tfsmonitor = x\n")
    assert [program.name for program in programs_of(folder)] == ["core.fsmonitor"]


def test_every_name_for_looks_is_one_that_edits_ask_about() -> None:
    """What acts by itself and what runs in builds are the names that edits ask about, but for two."""
    for name in ("AGENTS.md", "Makefile", ".vscode/x", "sub/.github/workflows/a.yml", "a/HEAD", "m.pth"):
        assert runs_code_later(name)
    kind_of = entry_kinds("sub")
    assert kind_of("agents.MD", False) == EntryKind.ACTS
    assert kind_of("Makefile", False) == EntryKind.BUILDS
    assert kind_of(".envrc", False) == EntryKind.ACTS | EntryKind.SECRET
    assert kind_of(".git", True) == kind_of("HEAD", False) == EntryKind.REPOSITORY
    assert kind_of(".git", False) == EntryKind.ACTS, "a file .git leads to a repository elsewhere"
    assert not kind_of("m.pth", False) and not kind_of("conftest.py", False) and not kind_of("Makefile", True)
    assert entry_kinds(".github")("workflows", True) == EntryKind.ACTS
    assert entry_kinds(".cursor/rules")("x.mdc", False) == EntryKind.ACTS
    assert entry_kinds(".hg/store")("x", False) == 0 and entry_kinds(".hg")("hgrc", False) == EntryKind.ACTS


def test_files_that_another_program_makes_in_read_only_folders_stay(work: Path) -> None:
    """Commands can't write to `.idea` in the workspace's own folder: an editor made what is new there."""
    put(work / ".idea/workspace.xml")
    put(work / ".keen/hooks.json")
    entries = NamedEntries(work, entry_kinds)
    look = NewEntryFinder(work, entries)
    entries.look()
    before = look.before("everything")
    put(work / ".idea/shelf/x.xml")
    put(work / ".git/HEAD")
    put(work / ".keen/settings.toml")
    assert look.new(before, "everything") == ()
    put(work / "sub/.idea/x.xml")
    assert [each.path for each in look.new(before, "everything")] == [work / "sub/.idea"]


def test_a_record_names_contents_from_its_own_folder(work: Path, quarantine: Quarantine) -> None:
    kept, _ = quarantine.take([put(work / "AGENTS.md")], "make it")
    quarantine.settle(kept)
    record = json.loads((Path(kept.folder) / "record.json").read_text())
    assert record["entries"] == [{"name": "AGENTS.md", "path": str(work / "AGENTS.md"), "content": "0"}]
    assert record["command"] == "make it" and record["workspace"] == str(work) and not record["open"]
    assert stat.S_IMODE(Path(kept.folder).stat().st_mode) == 0o700
