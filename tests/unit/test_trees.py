"""Trees of folders, however deep."""

from __future__ import annotations

import os
from pathlib import Path

from keen_tui.system.trees import remove_tree, walk
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged
from tests.support.disk import deep_folders


def test_a_tree_of_any_depth_is_walked_and_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    with deep_folders(top, 3_000):
        walked = list(walk(top))
        assert len(walked) > 1_500
        assert walked[0] == (str(top), ["d"], [])
        remove_tree(top)
        assert not top.exists()


def test_folders_that_are_taken_out_are_not_entered_and_links_not_followed(tmp_path: Path) -> None:
    for name in ("a/inner", "b", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "b/file").touch()
    (tmp_path / "b/link").symlink_to(tmp_path)
    seen = []
    for folder, folders, files in walk(tmp_path):
        if "a" in folders:
            folders.remove("a")
        seen.append((os.path.relpath(folder, tmp_path), sorted(files)))
    assert sorted(seen) == [(".", []), ("b", ["file", "link"]), ("c", [])]


def test_a_command_that_reads_a_deep_tree_is_judged(tmp_path: Path) -> None:
    with deep_folders(tmp_path / "top", 1_500):
        access = judged("grep -r needle .", Workspace(tmp_path), sandboxed=True)
    assert access.reads_only
