"""What the shadow of a repository costs a command in CPU time: Keen itself, and the git that it runs."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keen_tui.tools.files.git_place import GitPlace
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.shadow import Shadow
from tests.bench.table import Row
from tests.support.git_repository import git, repository

ROUNDS = 15
_COMMIT = "git -c user.name=u -c user.email=u@example.org commit -qam x"


def rows() -> Iterator[Row]:
    """A small repository, and one with 50,000 files whose names fill an index of 40 MB, and 10,000 refs."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        small = _made(Path(folder, "small"), files=500, name="f")
        yield from _measured(small, Path(folder, "s"), "500 files", budget=15.0)
        large = _made(Path(folder, "large"), files=50_000, name="/".join("n" * 120 for _ in range(6)))
        head = git(large, "rev-parse", "HEAD").strip()
        refs = "".join(f"create refs/tags/t{number} {head}\n" for number in range(10_000))
        subprocess.run(("git", "update-ref", "--stdin"), cwd=large, input=refs.encode(), check=True)
        yield from _measured(large, Path(folder, "l"), "50,000 files and 10,000 refs", budget=60.0)


def _made(folder: Path, *, files: int, name: str) -> Path:
    repository(folder)
    blob = git(folder, "hash-object", "-w", "a.txt").strip()
    entries = "".join(f"100644 {blob}\t{name}/{number // 100}/{number}\n" for number in range(files))
    subprocess.run(("git", "update-index", "--index-info"), cwd=folder, input=entries.encode(), check=True)
    git(folder, "commit", "-qm", "many")
    git(folder, "read-tree", "HEAD")
    git(folder, "config", "core.sparseCheckout", "true")
    (folder / ".git/info/sparse-checkout").write_text("/a.txt\n")
    git(folder, "read-tree", "-m", "HEAD")
    return folder


def _measured(top: Path, folder: Path, what: str, budget: float) -> Iterator[Row]:
    folder.mkdir()
    place = GitPlace(top, top / ".git", top / ".git")
    shadow = Shadow(place, top, folder, place.common / "objects", OwnGit())
    environ = {**os.environ, "GIT_DIR": str(shadow.path), "GIT_WORK_TREE": str(top)}
    for command, does, limit in (("true", "nothing", 5.0), (_COMMIT, "a commit", budget)):
        spent = []
        for number in range(ROUNDS):
            (top / "a.txt").write_text(f"{number}\n" if command is _COMMIT else "one\n")
            begin = _cpu()
            shadow.refresh(())
            between = _cpu()
            subprocess.run(command, shell=True, cwd=top, env=environ, check=True)
            after = _cpu()
            shadow.bring_back()
            spent.append(_cpu() - after + between - begin)
        size = (top / ".git/index").stat().st_size / 1_000_000
        yield Row(
            what=f"sandbox: git's shadow, {does} in {what} (an index of {size:.1f} MB), processor time",
            value=statistics.median(spent) * 1000,
            unit="ms",
            budget=limit,
        )


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
