"""Runs a command read-only first, and tells whether it has done its work, from how it ended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeVar

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.messages import ToolResult
from keen_tui.system.threads import raise_if_cancelled, to_the_end
from keen_tui.tools.sandbox.failure_signs import (
    DENIED,
    NO_NETWORK,
    READ_ONLY,
    TIMED_OUT,
    stopped_by_sandbox,
    without_warnings,
)

PATIENCE: Final = 8.0
"""Seconds after which a person is asked about a try that goes on."""
NOT_ENDED: Final = "it is still running read-only after 8 seconds; a yes starts it again, with write access"
"""Why it asks then."""

_Answer = TypeVar("_Answer")

_SEEN: Final = 20_000
"""Characters at the end of the output that are checked."""

_NO_DATABASE: Final = r"(?i)database is (?:locked|read-?only)"
_NAMED_BEFORE: Final = r"""['"‘`](?P<path>[^'"‘’`\n]{1,200})['"’`][^'"\n]{0,40}(?:READ_ONLY)"""
_NAMED_AFTER: Final = (
    r"""(?:READ_ONLY)(?: \(os error \d+\))?[:,]? (?:\w+ )?['"‘`](?P<path>[^'"‘’`\n]{1,200})['"’`]"""
)
_NAMED_BARE: Final = (
    r"""(?:^|[\s:])(?P<path>[\w@+-]{0,100}[./][\w./@+-]{0,200}): (?:cannot \w+: )?(?:READ_ONLY)"""
)
_NOT_MADE: Final = (
    r"(?im)(?:unable to|could not|cannot|can't|couldn't|failed to) (?:\(re\))?(?:create|write|save|make)\b"
    r"|ENOENT: no such file or directory, mkdir|^error: cannot open "
)
"""Some programs don't say why they can't write."""

_QUIET: Final = frozenset(
    """
    [ [[ cmp command diff egrep exit expr false fgrep find git grep let pgrep return rg test type which
    """.split()  # noqa: SIM905 - a list of names is easier to read so
)
"""Programs that say no with an exit code alone."""
_QUIET_GIT: Final = frozenset(
    ["diff", "show-ref", "merge-base", "check-ignore", "config", "rev-parse", "grep"]
)


def unfinished(sandbox: str, result: ToolResult, mentions: Sequence[Sequence[str]]) -> str:
    """Why it has to run again with write access, as the end of "because ..."; "" if it needn't.

    Args:
        sandbox: the name of its sandbox.
        mentions: the commands in its text.
    """
    exit_code, output = result.exit_code, result.text
    said = without_warnings(output[-_SEEN:])
    if exit_code == TIMED_OUT:
        return "it timed out in its read-only run"
    if re.search(rf"(?i){READ_ONLY}", said):
        return _what_was_written(said, READ_ONLY)
    if exit_code in (None, 0):
        return ""
    if re.search(_NO_DATABASE, said):
        return "it tried to write a database in its read-only run"
    if re.search(_NOT_MADE, said):
        return "it seems to have tried to write in its read-only run"
    if sandbox != "bubblewrap" and re.search(rf"(?i){DENIED}", said):
        return _what_was_written(said, DENIED)
    if reason := stopped_by_sandbox(sandbox, result):
        return reason.replace(NO_NETWORK, ", which it doesn't have in a read-only run")
    if _is_silent(result) and mentions and not _is_quiet(mentions[-1]):
        return "it failed without a message in its read-only run"
    return ""


def _what_was_written(said: str, sign: str) -> str:
    for pattern in (_NAMED_AFTER, _NAMED_BEFORE, _NAMED_BARE):
        found = re.search(f"(?im){pattern.replace('READ_ONLY', sign)}", said)
        if found:
            return f"it tried to write {found['path']} in its read-only run"
    return "it tried to write in its read-only run"


def _is_silent(result: ToolResult) -> bool:
    return not (isinstance(result.display, CommandDisplay) and result.display.output.strip())


def _is_quiet(words: Sequence[str]) -> bool:
    name, *arguments = words
    return name in _QUIET and (name != "git" or not _QUIET_GIT.isdisjoint(arguments))


async def tried(
    run: Callable[[], Coroutine[Any, Any, None]],
    ask: Callable[[], Coroutine[Any, Any, _Answer]],
    is_enough: Callable[[], bool],
) -> _Answer | None:
    """Run the try, and ask when it takes long. Returns the answer, which ends the try; None if the try has
    ended without a question, or before the answer and `is_enough`. A cancellation ends both."""
    raise_if_cancelled()
    trying = asyncio.ensure_future(run())
    begun: list[asyncio.Future[Any]] = [trying]
    try:
        await asyncio.wait({trying}, timeout=PATIENCE)
        if trying.done():
            trying.result()
            return None
        asking = asyncio.ensure_future(ask())
        begun.append(asking)
        await asyncio.wait({trying, asking}, return_when=asyncio.FIRST_COMPLETED)
        if trying.done() and not is_enough():
            await asyncio.wait({asking})
        if asking.done():
            return asking.result()
        trying.result()
        return None
    finally:
        for each in begun:
            each.cancel()
        await to_the_end(asyncio.wait(begun))
