"""The fakes of the files and of the earlier texts do what they stand for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keen_tui.agent.services.prompt_history import PromptHistory
from keen_tui.domain.errors import ImageRefused
from keen_tui.domain.reports import Earlier
from keen_tui.frontends.shared.port import FilesPort, PromptsPort
from keen_tui.storage.prompts import PromptStore
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.search.file_names import FileNames
from keen_tui.tools.search.search import Searcher
from tests.support.fake_writing import PATHS, FakeFiles, FakePrompts
from tests.support.images import png


@pytest.fixture(params=["real", "fake"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def files(kind: str, tmp_path: Path) -> FilesPort:
    if kind == "fake":
        return FakeFiles()
    for path in PATHS:
        if not path.endswith("/"):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).touch()
    return FileNames(Searcher(Workspace(tmp_path), None))


@pytest.mark.parametrize(
    ("letters", "found"), [("cart", ["src/cart.py"]), ("cash", ["src/cash box.py"]), ("none", [])]
)
async def test_letters_find_the_paths_that_contain_them(
    files: FilesPort, letters: str, found: list[str]
) -> None:
    answers = [list(paths) async for paths in files.matching(letters, 50)]
    assert answers[-1] == found


async def test_a_folder_ends_with_a_slash(files: FilesPort) -> None:
    answers = [paths async for paths in files.matching("src", 50)]
    assert "src/" in answers[-1]


async def test_no_answer_has_more_paths_than_wanted(files: FilesPort) -> None:
    answers = [paths async for paths in files.matching("src", 1)]
    assert len(answers[-1]) == 1
    assert all(len(paths) <= 1 for paths in answers)


@pytest.fixture
async def prompts(kind: str, tmp_path: Path) -> PromptsPort:
    """Texts of a workspace in which two runs left drafts behind."""
    drafts = ("older draft", "newer draft")
    if kind == "fake":
        return FakePrompts(Earlier(here=("first",), drafts=drafts))
    earlier_run, later_run = (PromptStore(tmp_path / "data", tmp_path) for _ in drafts)
    earlier_run.add("first")
    earlier_run.keep_draft(drafts[0])
    for file in (tmp_path / "data").rglob("*.json"):
        os.utime(file, (1, 1))
    later_run.keep_draft(drafts[1])
    earlier_run.close()
    later_run.close()
    return _history(tmp_path)


def _history(folder: Path) -> PromptHistory:
    return PromptHistory(PromptStore(folder / "data", folder), str(folder))


async def test_sent_messages_come_back(prompts: PromptsPort) -> None:
    prompts.sent("second")
    assert (await prompts.earlier()).here == ("first", "second")
    await prompts.close()


async def test_drafts_are_passed_on_once(prompts: PromptsPort) -> None:
    assert (await prompts.earlier()).drafts == ("older draft", "newer draft")
    again = await prompts.earlier()
    assert again.drafts == ()
    assert again.here == ("first", "older draft"), "what isn't the draft any more is a message"
    await prompts.close()


async def test_a_pasted_image_has_a_file_and_a_size(prompts: PromptsPort) -> None:
    kept = await prompts.keep_image(png(40, 30))
    assert (kept.width, kept.height, kept.path.suffix) == (40, 30, ".png")
    await prompts.close()


async def test_something_that_is_no_image_is_refused(prompts: PromptsPort) -> None:
    with pytest.raises(ImageRefused):
        await prompts.keep_image(b"not an image")
    await prompts.close()
