"""What it costs to see what a command changed."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keen_tui.tools.work_tree.watch import CommandWatch
from tests.bench.table import Row

SIZES = {500: 10.0, 20_000: 50.0}
"""Files of a repository, and the milliseconds that a command which changes nothing may take longer there."""

ROUNDS = 15


def rows() -> Iterator[Row]:
    """Repositories of two sizes, with git's index up to date."""
    for files, budget in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            yield from _rows(Path(folder), files, budget)


def _rows(folder: Path, files: int, budget: float) -> Iterator[Row]:
    repository = folder / "repository"
    _make(repository, files)
    watch = CommandWatch(repository, folder / "scratch", None, tuple)
    what = f"a command in a repository of {files:,} files"
    began = time.thread_time()
    watch.begin()
    first = time.thread_time() - began
    added = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        watch.begin()
        watch.end(keeps=False)
        added.append(time.thread_time() - began)
    edited = []
    for number in range(ROUNDS):
        watch.begin()
        (repository / "folder_0" / "0.py").write_text(f"{number}\n")
        began = time.thread_time()
        watch.end(keeps=False)
        edited.append(time.thread_time() - began)
    yield Row(
        what=f"{what}: added where nothing changed",
        value=statistics.median(added) * 1000,
        unit="ms CPU",
        budget=budget,
    )
    yield Row(
        what=f"{what}: the look behind it, where a file changed",
        value=statistics.median(edited) * 1000,
        unit="ms CPU",
    )
    yield Row(what=f"{what}: the first look, while a reply arrives", value=first * 1000, unit="ms CPU")


def _make(repository: Path, files: int) -> None:
    for number in range(files):
        file = repository / f"folder_{number // 20}" / f"{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{number}\n")
    who = ("-c", "user.name=bench", "-c", "user.email=bench")
    time.sleep(1.1)  # git takes files that are as young as its index for changed
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "all"), ("status", "-s")):
        subprocess.run(["git", *words], cwd=repository, check=True, stdout=subprocess.DEVNULL)
