"""Tasks on the disk: a folder with prompts, the files to begin with, and a command that checks the result.

TASK/prompts.md    the prompts, one for each turn; a line of three dashes, `---`, separates them
TASK/start/        the files to begin with
TASK/check         a shell command; exit code 0 means success
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.errors import ConfigError

PROMPTS: Final = "prompts.md"
START: Final = "start"
CHECK: Final = "check"
SEPARATOR: Final = "---"

_SHIPPED: Final = "tasks"


class EvalTask(Struct, frozen=True, kw_only=True):
    """A task that can be run. `prompts` has one text for each turn, `start` is the folder that each run
    copies, `check` the shell command that decides whether a run passed."""

    name: str
    folder: Path
    prompts: tuple[str, ...]
    start: Path
    check: str


class BrokenTask(Struct, frozen=True, kw_only=True):
    """A folder that should be a task and isn't. `problem` is a sentence that says what is missing, and
    where."""

    name: str
    problem: str


def find_tasks(named: Sequence[str], shipped: Path | None = None) -> tuple[EvalTask | BrokenTask, ...]:
    """The tasks that were named, in order and each once; all that come with Keen if none was.

    A name is a task's folder, a folder of tasks, or a task that comes with Keen. `shipped` is the folder of
    those; None means the one of this installation.

    Raises:
        ConfigError: there is no such folder or task, the folder has no tasks, or two tasks have one name.
    """
    own = shipped or shipped_tasks()
    found: dict[str, Path] = {}
    for folder in (folder for name in named or [str(own)] for folder in _folders_of(name, own)):
        if found.setdefault(folder.name, folder) != folder:
            raise ConfigError(f"Two tasks have the name {folder.name}: {found[folder.name]} and {folder}.")
    return tuple(map(read_task, found.values()))


def shipped_tasks() -> Path:
    """The folder of the tasks that come with Keen, in an installed package or in the source."""
    package = Path(__file__).parent.parent
    installed = package / _SHIPPED
    return installed if installed.is_dir() else package.parent / _SHIPPED


def read_task(folder: Path) -> EvalTask | BrokenTask:
    """The task in that folder."""
    try:
        prompts = tuple(prompts_of(_text_of(folder / PROMPTS)))
        check = _text_of(folder / CHECK).strip()
        if not check:
            raise ConfigError(f"{folder / CHECK} is empty: it needs a shell command.")
        if not (folder / START).is_dir():
            raise ConfigError(f"{folder / START} is missing: it is the folder with the files to begin with.")
        if not prompts or not all(prompts):
            number = prompts.index("") + 1 if prompts else 1
            raise ConfigError(f"Prompt {number} in {folder / PROMPTS} is empty.")
    except ConfigError as problem:
        return BrokenTask(name=folder.name, problem=str(problem))
    return EvalTask(name=folder.name, folder=folder, prompts=prompts, start=folder / START, check=check)


def prompts_of(text: str) -> Iterator[str]:
    """The prompts of a file, without the space around them; "" for one that says nothing."""
    prompt: list[str] = []
    for line in (*text.splitlines(), SEPARATOR):
        if line.rstrip() == SEPARATOR:
            yield "\n".join(prompt).strip()
            prompt.clear()
        else:
            prompt.append(line)


def _folders_of(name: str, shipped: Path) -> Iterable[Path]:
    """The folders of the tasks that this name stands for."""
    folder = Path(name).absolute()
    if not folder.is_dir():
        if Path(name).name == name and (shipped / name).is_dir():
            return (shipped / name,)
        raise ConfigError(
            f"There is no folder {name}, and no task of that name. "
            f"The tasks that come with Keen are {', '.join(path.name for path in _below(shipped))}."
        )
    if any((folder / part).exists() for part in (PROMPTS, CHECK, START)):
        return (folder,)
    if found := _below(folder):
        return found
    raise ConfigError(f"{folder} has no tasks: each is a folder with {PROMPTS}, {START}/ and {CHECK}.")


def _below(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise ConfigError(f"{folder} can't be read: {error.strerror}.") from error


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{file} is missing.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} isn't UTF-8 text.") from None
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
