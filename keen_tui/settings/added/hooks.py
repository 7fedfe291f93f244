"""Hooks: commands of the user or of a project that run at certain events. They are written in the JSON form
that Claude Code and Codex share.

`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "..."}]}]}}`
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct, field

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.brought import Brought, first_names, in_question
from keen_tui.system.named_files import is_inside, named_paths
from keen_tui.system.safe_read import content_of
from keen_tui.text.units import counted

FILE: Final = "hooks.json"
"""The user's hooks, in the settings folder."""
PROJECT_FILES: Final = (".keen/hooks.json", ".claude/settings.json")
"""Where a project keeps its hooks. Only `hooks` is read in these files."""

HookPoint: TypeAlias = Literal[
    "Setup",
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
    "Notification",
    "TurnIncomplete",
    "TurnRetried",
    "TurnDiscarded",
]
"""The events at which hooks run. The last three are Keen's own."""

POINTS_IN_AGENTS: Final[frozenset[HookPoint]] = frozenset(
    (
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "SubagentStop",
    )
)
"""The events at which hooks run in sub-agents."""

MOST_SECONDS: Final = 60.0
"""A hook never runs longer, except one that sets the project up."""
MOST_SETUP_SECONDS: Final = 600.0

PROJECT_FOLDER: Final = ("CLAUDE_PROJECT_DIR", "KEEN_PROJECT_DIR")
"""Environment variables of hooks that hold the workspace."""

_POINTS: Final = frozenset(get_args(HookPoint))
_MOST_BYTES: Final = 1_000_000
_LARGEST_SCRIPT: Final = 50_000_000
_MOST_HOOKS: Final = 50
_LONGEST: Final = 2_000
"""Hooks of a project, and characters of each, that the question shows. It cuts nothing of what runs."""
_LONGEST_NAMED: Final = 60
"""Characters of the command by which a hook is named that isn't used."""
_SEPARATORS: Final = re.compile(r"&&|\|\||[;&|\n]")
"""The separators between the simple commands of a compound one."""
_NAMES: Final = re.compile(r"[\w|, -]*")
_FOLDER_VARIABLE: Final = re.compile(
    rf"\$(?:\{{(?:{'|'.join(PROJECT_FOLDER)})\}}|(?:{'|'.join(PROJECT_FOLDER)})\b)"
)


class HookScript(Struct, frozen=True, kw_only=True):
    """A file of the workspace that a hook's command names, and the SHA-256 of its content."""

    path: str
    digest: str


class Hook(Struct, frozen=True, kw_only=True):
    """A command and when it runs.

    `matcher` selects the subject of the event, for example the tool; "" matches all. `only_if` selects calls
    further, like "Bash(git push *)"; "" selects all. `timeout` is in seconds. `status` is shown while it
    runs. Nobody waits for a hook in the `background`. `scripts` are the files of a project's hook, as they
    were when the user was asked.
    """

    point: HookPoint
    matcher: str
    command: str
    only_if: str = ""
    timeout: float = MOST_SECONDS
    status: str = ""
    background: bool = False
    origin: Literal["yours", "project"] = "yours"
    scripts: tuple[HookScript, ...] = ()

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.status or self.command

    def fits(self, *names: str) -> bool:
        """Whether it runs for a subject with one of these names."""
        if self.matcher in ("", "*"):
            return True
        if _NAMES.fullmatch(self.matcher):
            wanted = {name.strip() for name in re.split(r"[|,]", self.matcher)}
            return not wanted.isdisjoint(names)
        return any(re.search(self.matcher, name) for name in names)

    def fits_call(self, name: str, subject: str) -> bool:
        """Whether it runs for a call of the tool with that usual name; `subject` is its command, path or
        address."""
        if not self.only_if:
            return True
        tool, _, pattern = self.only_if.strip().removesuffix(")").partition("(")
        if tool != name:
            return False
        pattern = pattern.removesuffix(":*") + " *" if pattern.endswith(":*") else pattern
        parts = (subject, *_SEPARATORS.split(subject)) if name == "Bash" else (subject,)
        texts = (text for part in parts for text in (part.strip(), f"{part.strip()} "))
        return not pattern or any(fnmatchcase(text, pattern) for text in texts)


class HookFile(Struct, frozen=True, kw_only=True):
    """The hooks of one or several files, and what of them isn't used: the `ignored` parts are events and
    kinds of hooks that Keen doesn't have, those `left_out` don't fit into the question."""

    found: tuple[Hook, ...] = ()
    ignored: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def unused(self) -> tuple[str, ...]:
        """The parts that aren't used, and why, in sentences without a full stop."""
        unknown = (
            f"Not used, since Keen doesn't know them: {first_names(self.ignored)}" if self.ignored else ""
        )
        return tuple(filter(None, (unknown, *(f"Not used: {each}" for each in self.left_out))))

    def notice(self, whose: str) -> tuple[str, ...]:
        """A sentence about what isn't used; nothing if all is."""
        if not self.unused:
            return ()
        run = f"Some of {whose} hooks don't run" if self.found else f"None of {whose} hooks run"
        return (f"{run}. {'. '.join(self.unused)}.",)


class _Handler(Struct, frozen=True):
    type: str = "command"
    command: str = ""
    args: tuple[str, ...] | None = None
    shell: str = "bash"
    timeout: Annotated[float, Meta(gt=0)] = MOST_SETUP_SECONDS
    statusMessage: str = ""
    is_async: bool = field(default=False, name="async")
    wakes: bool = field(default=False, name="asyncRewake")
    only_if: str = field(default="", name="if")

    @property
    def whole_command(self) -> str:
        """The command for a shell. With `args` none of the words is for the shell to read."""
        if self.args is None:
            return self.command
        return " ".join(map(_quoted, (self.command, *self.args)))

    @property
    def missing(self) -> str:
        """Why Keen can't run it, as the end of a phrase; "" if it can."""
        if self.type != "command":
            return f"of type {self.type}"
        return "for another shell" if self.shell != "bash" else "that wakes the model" if self.wakes else ""


class _HookGroup(Struct, frozen=True):
    hooks: tuple[_Handler, ...]
    matcher: str = ""


def read_own_hooks(file: Path) -> HookFile:
    """The user's hooks.

    Raises:
        ConfigError: the file is wrong. A hook that should guard something would be missing.
    """
    try:
        content = content_of(Path(os.path.realpath(file)), most=_MOST_BYTES)
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
    return HookFile() if content is None else _parsed(content, file, "yours", lambda _: ())


def read_project_hooks(folder: Path) -> HookFile:
    """The hooks of the project in the folder.

    Raises:
        ConfigError: a file is wrong or can't be read.
    """
    files = []
    for name in PROJECT_FILES:
        file = folder / name
        try:
            content = content_of(Path(os.path.realpath(file.parent)) / file.name, most=_MOST_BYTES)
        except OSError as error:
            raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
        if content is not None:
            files.append(_parsed(content, file, "project", partial(_agreed_scripts, file, folder)))
    hooks = tuple(hook for each in files for hook in each.found)
    fitting = [hook for hook in hooks if len(_shown(hook)) <= _LONGEST]
    left_out = [_too_long(hook) for hook in hooks if len(_shown(hook)) > _LONGEST]
    if (more := len(fitting) - _MOST_HOOKS) > 0:
        left_out.append(f"{counted(more, 'hook')} after the first {_MOST_HOOKS}")
    return HookFile(
        found=tuple(fitting[:_MOST_HOOKS]),
        ignored=tuple(dict.fromkeys(name for each in files for name in each.ignored)),
        left_out=tuple(left_out),
    )


def _too_long(hook: Hook) -> str:
    return (
        f"a {hook.point} hook that is longer than {_LONGEST:,} characters "
        f"({in_question(hook.command, _LONGEST_NAMED)}); move its command into a script"
    )


def brought_hooks(hooks: HookFile) -> Brought:
    """The hooks of a project for the question whether they may run."""
    rows = []
    for hook in hooks.found:
        rows.append(f"  {_shown(hook)}")
        rows += [f"      runs {in_question(script.path, longest=None)}" for script in hook.scripts]
    if rows:
        rows += [f"  {each[0].lower()}{each[1:]}" for each in hooks.unused]
    return Brought(
        name="hooks",
        title="hooks: commands that run without asking, outside the sandbox",
        rows=tuple(rows),
        content=tuple(msgspec.json.encode(hook) for hook in hooks.found),
    )


def _shown(hook: Hook) -> str:
    """All of the hook, for the question."""
    subject = f" of {in_question(hook.matcher, None)}" if hook.matcher not in ("", "*") else ""
    condition = f" if {in_question(hook.only_if, None)}" if hook.only_if else ""
    return f"{hook.point}{subject}{condition}: {in_question(hook.command, None)}"


def scripts_of(command: str, folder: Path) -> tuple[HookScript, ...]:
    """The files of the workspace that the command names, so that a change of one can be noticed.

    Raises:
        OSError: one can't be read, or is too large to be read each time.
    """
    written = _FOLDER_VARIABLE.sub(lambda _: str(folder), command)
    return tuple(
        HookScript(path=os.path.relpath(path, folder), digest=_digest(path, folder))
        for path in named_paths((written, command), str(folder), folder)
        if os.path.isfile(path)  # noqa: PTH113 - never raises
    )


def _agreed_scripts(file: Path, folder: Path, command: str) -> tuple[HookScript, ...]:
    """Those of a command in that file. Raises ConfigError."""
    try:
        return scripts_of(command, folder)
    except OSError as error:
        raise ConfigError(
            f"{file}: Keen can't compare the files that the command {in_question(command)!r} runs: "
            f"{error.strerror}."
        ) from error


def _quoted(word: str) -> str:
    """The word in quotes; variables with the workspace are still filled in."""
    pieces = _FOLDER_VARIABLE.split(word)
    return f'"${PROJECT_FOLDER[0]}"'.join(shlex.quote(piece) if piece else "" for piece in pieces) or "''"


def _digest(path: Path, folder: Path) -> str:
    """A digest of where the path leads, and of the file there if it is the project's."""
    real = Path(os.path.realpath(path))
    content = content_of(real, most=_LARGEST_SCRIPT) if is_inside(real, folder) else b""
    return hashlib.sha256(os.fsencode(real) + b"\0" + (content or b"")).hexdigest()


def _parsed(
    content: bytes,
    file: Path,
    origin: Literal["yours", "project"],
    scripts: Callable[[str], tuple[HookScript, ...]],
) -> HookFile:
    """Raises ConfigError."""
    try:
        whole: Any = json.loads(content)
        json.dumps(whole, ensure_ascii=False).encode()  # half of a pair of surrogates is no text
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file} isn't valid JSON: {error}.") from error
    by_point = whole.get("hooks", {}) if isinstance(whole, dict) else None
    if not isinstance(by_point, dict):
        raise ConfigError(f'{file}: "hooks" must be an object with the names of events, like "PreToolUse".')
    found: list[Hook] = []
    ignored: list[str] = [name for name in by_point if name not in _POINTS]
    for point, groups in _groups(by_point, file):
        for group in groups:
            _check_matcher(group.matcher, f"{file}: hooks.{point}")
            for handler in group.hooks:
                if handler.missing:
                    ignored.append(f"{point} {handler.missing}")
                elif not handler.command.strip():
                    raise ConfigError(f'{file}: a hook of {point} has no "command".')
                else:
                    found.append(
                        Hook(
                            point=point,
                            matcher=group.matcher,
                            command=handler.whole_command,
                            only_if=handler.only_if,
                            timeout=min(
                                handler.timeout, MOST_SETUP_SECONDS if point == "Setup" else MOST_SECONDS
                            ),
                            status=handler.statusMessage,
                            background=handler.is_async,
                            origin=origin,
                            scripts=scripts(handler.whole_command),
                        )
                    )
    return HookFile(found=tuple(found), ignored=tuple(ignored))


def _groups(by_point: Mapping[str, Any], file: Path) -> Iterator[tuple[HookPoint, tuple[_HookGroup, ...]]]:
    for point in get_args(HookPoint):
        if point in by_point:
            try:
                yield point, msgspec.convert(by_point[point], tuple[_HookGroup, ...])
            except msgspec.ValidationError as error:
                raise ConfigError(f"{file}: hooks.{point} is wrong: {error}.") from error


def _check_matcher(matcher: str, where: str) -> None:
    if matcher == "*" or _NAMES.fullmatch(matcher):
        return
    try:
        re.compile(matcher)
    except re.error as error:
        raise ConfigError(f"{where}: the matcher {matcher!r} isn't a regular expression: {error}.") from error
