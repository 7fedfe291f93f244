"""The parts of a repository that are data: an allow-list of what a shadow gets, and what may come back from
it. Pure.

Everything else in there can make git run a program or read another file: settings, hooks, attributes, `exec`
lines of a rebase, and whatever later versions of git will learn to obey.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_HASH: Final = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_WHOLE_HASH: Final = re.compile(rb"\b%b\b" % _HASH)
_SHORT_HASH: Final = rb"[0-9a-f]{4,64}"
_HASHES: Final = re.compile(rb"(?:%b\n?)*" % _HASH)
_TEXT: Final = re.compile(rb"[^\0]*")
_NUMBER: Final = re.compile(rb"\d*\n?")
_EMPTY: Final = re.compile(rb"\n?")
_REF: Final = rb"(?!-)[^\0-\x20\x7f~^:?*\[\\]+"
_NAMED: Final = re.compile(rb"(?:%b)?\n?" % _REF)
_BRANCH: Final = rb"refs/heads/[^\0-\x20\x7f~^:?*\[\\]+"
_ON_BRANCH: Final = re.compile(rb"(?:%b|detached HEAD)?\n?" % _BRANCH)
_BRANCHES: Final = re.compile(rb"(?:%b\n%b\n%b\n)*" % (_BRANCH, _HASH, _HASH))
_STRATEGY: Final = re.compile(rb"(?:ort|recursive|resolve|octopus|ours|subtree)?\n?")
_FLAGS: Final = re.compile(rb"(?:--?[\w=-]+\n?)?")
_QUOTED: Final = rb"'[^'\n\0]*'"
_AUTHOR: Final = re.compile(rb"(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)=(?:%b|\\[!'])*\n)*" % _QUOTED)
_PICK: Final = (
    rb"(?:pick|reword|edit|squash|fixup|drop|revert|[presfd])(?: -[cC])? %b\b[^\0\n]*" % _SHORT_HASH
)
_LABEL: Final = rb"(?:\[new root\]|[\w./\x80-\xff-]+)"
_JOIN: Final = rb"(?:label|reset|merge|[ltm])(?: -[cC] %b)?(?: %b)+(?: #[^\0\n]*)?" % (_SHORT_HASH, _LABEL)
_STEPS: Final = re.compile(
    rb"(?:[ \t]*(?:#[^\0\n]*|%b|%b|(?:break|noop|b)(?: #[^\0\n]*)?|(?:update-ref|u) %b)?[ \t]*\n)*"
    % (_PICK, _JOIN, _BRANCH)
)
"""The lines of a rebase or of a series of picks. `exec` isn't among them, and commits are named by hashes:
other names of a commit can't be checked."""
_IN_STEP: Final = re.compile(rb"(?m)^[ \t]*[a-z-]+(?: -[cC])? (%b)\b" % _SHORT_HASH)
_OPTIONS: Final = re.compile(
    rb"(?:\[options\]\n|\t(?:edit|signoff|record-origin|allow-ff|allow-empty|allow-empty-message"
    rb"|keep-redundant-commits|drop-redundant-commits|allow-rerere-auto) = (?:true|false)\n"
    rb"|\tmainline = \d+\n)*"
)


def _each(names: str, content: re.Pattern[bytes]) -> Mapping[str, re.Pattern[bytes]]:
    return dict.fromkeys(names.split(), content)


_STATE: Final[Mapping[str, re.Pattern[bytes]]] = {
    **_each(
        "ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD AUTO_MERGE MERGE_AUTOSTASH "
        "BISECT_HEAD BISECT_EXPECTED_REV",
        _HASHES,
    ),
    **_each("FETCH_HEAD MERGE_MSG SQUASH_MSG COMMIT_EDITMSG TAG_EDITMSG BISECT_LOG BISECT_RUN", _TEXT),
    **_each("BISECT_ANCESTORS_OK BISECT_FIRST_PARENT", _EMPTY),
    "MERGE_MODE": re.compile(rb"(?:no-ff)?\n?"),
    "BISECT_START": _NAMED,
    "BISECT_TERMS": re.compile(rb"[a-z][\w-]*\n[a-z][\w-]*\n?"),
    "BISECT_NAMES": re.compile(rb"(?: %b)*\n?" % _QUOTED),
}
"""Files of an operation in progress, directly in a repository, with what they may hold."""

_OF_SERIES: Final[Mapping[str, re.Pattern[bytes]]] = {
    **_each("git-rebase-todo git-rebase-todo.backup done todo", _STEPS),
    **_each(
        "onto orig-head stopped-sha squash-onto amend autostash head abort-safety original-commit", _HASHES
    ),
    **_each("msgnum end last next", _NUMBER),
    "head-name": _ON_BRANCH,
    "update-refs": _BRANCHES,
    **_each("message message-squash message-fixup patch info rewritten-list rewritten-pending", _TEXT),
    **_each("current-fixups refs-to-squash final-commit msg msg-clean", _TEXT),
    **_each("author-script", _AUTHOR),
    **_each("strategy", _STRATEGY),
    **_each("opts", _OPTIONS),
    **_each("allow_rerere_autoupdate", _FLAGS),
    **_each(
        "interactive verbose quiet signoff keep_redundant_commits drop_redundant_commits dropped applying "
        "cdate_is_adate ignore_date reschedule-failed-exec no-reschedule-failed-exec dirtyindex rebasing "
        "threeway utf8 keep scissors messageid quoted-cr",
        re.compile(rb"[\w-]*\n?"),
    ),
    **_each("no-messageid apply-opt", re.compile(rb"")),
}
"""Files of a rebase, or of a series of picks, in a folder of their own."""

FOLDERS_OF_SERIES: Final = ("rebase-merge", "rebase-apply", "sequencer")

_PATCH: Final = re.compile(r"\d{4,8}")

_COPIED: Final = frozenset(
    [
        "HEAD",
        "index",
        "config",
        "config.worktree",
        "shallow",
        "info",
        "logs",
        "description",
        "gitdir",
        "commondir",
        "locked",
    ]
)
COPIED_OF_OTHERS: Final = frozenset(["HEAD", "gitdir", "commondir", "locked"])
"""The files that are copied of a work tree which commands don't see."""

_BAD_REF: Final = re.compile(r"[\0-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[/.]$")
_VALUE: Final = re.compile(rb"%b\n?" % _HASH)
_SYMBOLIC: Final = re.compile(rb"ref:[ \t]*(refs/[^\0-\x20\x7f]+)[ \t]*\n?")
_LOG: Final = re.compile(rb"(?:%b %b [^\0\n]*\n)*" % (_HASH, _HASH))
_HOLDS_LIES: Final = "refs/replace/"
"""Replacements make git show different content for an object."""
_STASHES: Final = "logs/refs/stash"
_OF_WORK_TREE: Final = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")


def is_copied(first: str) -> bool:
    """Whether a shadow gets a copy of this entry, which is directly in a repository."""
    return first in _COPIED or first.startswith("sharedindex.") or is_name_of_state(first)


def is_state(name: str, content: bytes) -> bool:
    """Whether this file of an operation in progress, with its path in the repository, is data. A patch with a
    gitlink isn't: where it leads can't be checked."""
    if name.startswith("rebase-apply/") and b"160000" in content:
        return False
    pattern = _pattern_of(name)
    return pattern is not None and pattern.fullmatch(content) is not None


def _pattern_of(name: str) -> re.Pattern[bytes] | None:
    folder, _, file = name.rpartition("/")
    if folder not in FOLDERS_OF_SERIES:
        return _STATE.get(name)
    return _TEXT if folder == "rebase-apply" and _PATCH.fullmatch(file) else _OF_SERIES.get(file)


def is_name_of_state(name: str) -> bool:
    """Whether an entry directly in a repository belongs to an operation in progress."""
    return name in _STATE or name in FOLDERS_OF_SERIES


def is_ref(name: str) -> bool:
    """Whether it may be the name of a ref that comes back (git-check-ref-format(1))."""
    return name.startswith("refs/") and not _BAD_REF.search(name) and not name.startswith(_HOLDS_LIES)


def is_of_work_tree(ref: str) -> bool:
    """Whether each work tree has its own ref of that name."""
    return ref.startswith(_OF_WORK_TREE)


def ref_value(content: bytes) -> str | None:
    """Returns the value in the file of a ref: a hash, or `ref: refs/...`; None if it is neither."""
    if _VALUE.fullmatch(content):
        return content.strip().decode("ascii")
    symbolic = _SYMBOLIC.fullmatch(content)
    target = symbolic[1].decode("utf-8", "surrogateescape") if symbolic else ""
    return f"ref: {target}" if is_ref(target) else None


def is_autostash(name: str) -> bool:
    """Whether git keeps there, during an operation, the person's changes that it has set aside."""
    return name in ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")


def names_objects(name: str) -> bool:
    """Whether it is HEAD, a ref, the stash, or a file of an operation that names objects."""
    is_other = name in ("HEAD", _STASHES) or name.startswith("refs/")
    return is_other or _pattern_of(name) in (_HASHES, _STEPS)


def objects_in(name: str, content: bytes) -> frozenset[str]:
    """The objects that such a file names; the steps of a rebase may do it in short."""
    found = (_IN_STEP if _pattern_of(name) is _STEPS else _WHOLE_HASH).findall(content)
    return frozenset(each.decode() for each in found)


def only_names_objects(name: str) -> bool:
    """Whether this file of an operation holds nothing but hashes."""
    return _pattern_of(name) is _HASHES


def is_log(content: bytes) -> bool:
    """Whether it is a reflog, or a part of one."""
    return _LOG.fullmatch(content) is not None
