"""Finds out which changes to review."""

from __future__ import annotations

import re
from typing import Final

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.review import ReviewScope, ReviewWish
from keen_tui.text.sanitize import clean
from keen_tui.tools.review.repository import SHALLOW, ReviewedRepository

_USUAL: Final = ("origin/main", "origin/master", "main", "master")
"""Usual names of default branches, tried if the remote doesn't name its own."""

_WHOLE_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LONGEST: Final = 60


def scope_of(wish: ReviewWish, repository: ReviewedRepository, *, has_uncommitted: bool) -> ReviewScope:
    """The changes that the user wants reviewed. Blocks.

    Raises:
        ConfigError: there is no such branch or commit, or nothing to compare with.
    """
    match wish.kind:
        case "uncommitted":
            return _uncommitted(repository)
        case "base":
            return _beside(wish.name, repository)
        case "commit":
            return _of_commit(wish.name, repository)
    return _uncommitted(repository) if has_uncommitted else _usual(repository)


def _uncommitted(repository: ReviewedRepository) -> ReviewScope:
    return ReviewScope(kind="uncommitted", title="uncommitted changes", old=repository.commit("HEAD"))


def _of_commit(name: str, repository: ReviewedRepository) -> ReviewScope:
    commit = repository.commit(name)
    if not commit:
        raise ConfigError(f"There is no commit {clean(name)!r} here.{_of_shallow(repository)}")
    title = clean(repository.title_of(commit)).strip()[:_LONGEST]
    return ReviewScope(
        kind="commit",
        title=f"commit {commit[:10]} ({title})" if title else f"commit {commit[:10]}",
        name=name,
        old=repository.parent(commit),
        new=commit,
    )


def _beside(name: str, repository: ReviewedRepository) -> ReviewScope:
    """The commits of this branch that another branch lacks."""
    base = _base(name, repository)
    if not base:
        raise ConfigError(f"There is no branch or commit {clean(name)!r} here.{_of_shallow(repository)}")
    head = repository.commit("HEAD")
    if not head:
        raise ConfigError("There is no commit yet: review the uncommitted changes.")
    common = repository.merge_base(base, head)
    if not common:
        raise ConfigError(f"HEAD and {clean(name)} have no commit in common.{_of_shallow(repository)}")
    branch = clean(repository.branch()) or "HEAD"
    title = f"{branch} compared with {clean(name)}"
    return ReviewScope(kind="base", title=title, name=name, old=common, new=head)


def _of_shallow(repository: ReviewedRepository) -> str:
    """What to do in a clone without the whole history; "" for other ones."""
    return f" {SHALLOW}" if repository.is_shallow() else ""


def _base(name: str, repository: ReviewedRepository) -> str:
    """The commit of a branch, or of anything else with that name; "" if there is none. A branch comes first:
    git prefers a tag, with which a change could name itself as what it is compared with."""
    if name and not _WHOLE_HASH.fullmatch(name):
        for place in ("refs/remotes/", "refs/heads/", "refs/remotes/origin/"):
            if commit := repository.commit(f"{place}{name}"):
                return commit
    return repository.commit(name)


def _usual(repository: ReviewedRepository) -> ReviewScope:
    """This branch compared with its upstream; if that has everything, with the default branch."""
    head = repository.commit("HEAD")
    known = (repository.upstream(), repository.default_branch(), *_USUAL)
    names = [name for name in dict.fromkeys(known) if _base(name, repository)]
    if not names:
        raise ConfigError(
            "Nothing is uncommitted, and there is no branch to compare with. Name one with --base, or a "
            "commit with --commit."
        )
    for name in names:
        scope = _beside(name, repository)
        if scope.old != head:
            return scope
    return _beside(names[0], repository)
