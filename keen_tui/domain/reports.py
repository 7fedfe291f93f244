"""Saved sessions, the changes of their turns, and the context of the next request, as plain values.

They are exchanged by the storage, the session and the screen, which don't know each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.spent import NOTHING, Spent

ContextKind = Literal[
    "system", "skills", "instructions", "tools", "compacted", "turn", "pending", "draft", "frame"
]


class SavedSession(Struct, frozen=True, kw_only=True):
    """One session in a list. Times are seconds since the epoch, `size` is in bytes.

    `title` is the user's own or the first line of the first message, "" while there is none. `in_use`:
    some program has it open now. `problem` says why it can't be opened, "" when it can. `is_empty`: the file
    has no whole record, so lists leave it out.
    """

    id: str
    title: str
    workspace: Path
    began: float
    last_used: float
    turns: int
    size: int
    in_use: bool = False
    forked_from: str = ""
    problem: str = ""
    is_empty: bool = False


class Earlier(Struct, frozen=True, kw_only=True):
    """What the user wrote before: messages sent from this workspace and from others, and drafts that earlier
    runs left behind here; each oldest first."""

    here: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()


class KeptImage(Struct, frozen=True, kw_only=True):
    """A pasted image: its file, and its size in pixels."""

    path: Path
    width: int
    height: int


class SearchHit(Struct, frozen=True, kw_only=True):
    """A search result in a session. `before`, `words` and `after` are the text around it on one line."""

    session: SavedSession
    turn: int
    before: str
    words: str
    after: str


class FileVersions(Struct, frozen=True, kw_only=True):
    """A file before and after a turn, or a session, changed it; None: it didn't exist.

    `changed_since`: it was changed after that, and not just restored. `unkept` says why its content wasn't
    saved, so that it can be neither shown nor undone; "" if it was.
    """

    path: str
    before: bytes | None
    after: bytes | None
    changed_since: bool = False
    unkept: str = ""


class Setting(Struct, frozen=True, kw_only=True):
    """A setting as the settings page shows it.

    `name` is that of the file ("memory.policy"). `value` and `default` are texts, "" where nothing is set;
    `source` says where the value comes from, "" for the default. `choices` are its values where they can be
    listed. `at_once`: a change takes effect now; one that is `in_file` is changed there only.
    """

    group: str
    name: str
    value: str
    default: str
    source: str
    meaning: str
    choices: tuple[str, ...] = ()
    at_once: bool = False
    in_file: bool = False


class Changes(Struct, frozen=True, kw_only=True):
    """The changes that one turn made, or all turns (`turn` 0).

    `unwatched` counts the commands of these turns whose changes aren't known. `undone`: the changes are
    already undone. `whose` names something else whose changes they are, "" for turns.
    """

    turn: int
    title: str
    files: tuple[FileVersions, ...]
    unwatched: int = 0
    undone: bool = False
    whose: str = ""


class TreeReport(Struct, frozen=True, kw_only=True):
    """What a git work tree of Keen's holds now. `changes` says what would be lost with it, "" for nothing.
    `ahead` commits of it are missing on `base`, the branch on which it was begun ("" if that is gone), and
    `follows` if that branch can simply be moved forward to it. `is_merged`: there is nothing to merge."""

    changes: str
    ahead: int
    base: str
    follows: bool
    is_merged: bool


class ModelUsage(Struct, frozen=True, kw_only=True):
    """What saved sessions used of one model on one `day` (local time, `2026-11-23`), or in all ("" for both).

    `sessions` used something then; `turns` are those that began then, `calls` all calls of the model. The
    cost in `spent` is None as soon as that of one call isn't known: `unpriced` counts those, and `known_cost`
    is that of the others, in US dollars.
    """

    day: str = ""
    model: str = ""
    sessions: int = 0
    turns: int = 0
    calls: int = 0
    spent: Spent = NOTHING
    known_cost: float = 0.0
    unpriced: int = 0


class UsageReport(Struct, frozen=True, kw_only=True):
    """What saved sessions used from `first_day` on, by day, oldest first, and by model; `total` is all of
    it."""

    first_day: str
    rows: tuple[ModelUsage, ...]
    total: ModelUsage


class PartSize(Struct, frozen=True, kw_only=True):
    """What one policy sends of a part. `text` is the whole text; `tokens` are estimated. `includes` says what
    came with its tool results: bytes of earlier turns that were recalled, files of instructions."""

    text: str
    bytes: int
    tokens: int
    left_out: str = ""
    includes: str = ""


class ContextPart(Struct, frozen=True, kw_only=True):
    """One row of the context view; `sizes` has one entry per policy, in the order of `POLICIES`.

    `label` says a little more: "9 tools", the first words of a turn. `frame` is what holds the parts
    together: field names, brackets, the model's name.
    """

    kind: ContextKind
    title: str
    label: str
    sizes: tuple[PartSize, PartSize, PartSize]
    turn: int = 0


class CacheReuse(Struct, frozen=True, kw_only=True):
    """What a prompt cache can reuse of the next request under one policy, and what its input costs.

    `bytes` and `tokens` (estimated) at the beginning of the request are the same as in the session's newest
    answered request; None before the first. `cost` is that of the whole input in US dollars if the cache has
    nothing of it, `reused_cost` if it has these tokens; None if a price isn't known.
    """

    bytes: int | None = None
    tokens: int | None = None
    cost: float | None = None
    reused_cost: float | None = None


_NO_REUSE = CacheReuse()


class NextSizes(Struct, frozen=True, kw_only=True):
    """The size of the next request without its message, and of the same request with the whole history, as
    `full-trace` would send it; in bytes. After a summary the history begins with that: `is_summarised`."""

    next_bytes: int
    whole_bytes: int
    is_summarised: bool = False


class ContextReport(Struct, frozen=True, kw_only=True):
    """The parts of the next request under each policy. `window` is in tokens, None if it isn't known.

    `totals` are the bytes of the whole request body, one per policy, in the order of `POLICIES`; `reuse` is
    what a prompt cache saves of each.
    """

    policy: PolicyName
    window: int | None
    parts: tuple[ContextPart, ...]
    totals: tuple[PartSize, PartSize, PartSize]
    reuse: tuple[CacheReuse, CacheReuse, CacheReuse] = (_NO_REUSE,) * 3


POLICIES: tuple[PolicyName, PolicyName, PolicyName] = ("summary", "in-band", "full-trace")
