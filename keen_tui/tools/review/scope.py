"""Finds out which changes to review."""

from __future__ import annotations

import re
from typing import Final, get_args

from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.review import ReviewScope, ReviewWish, ScopeKind
from keen_tui.text.nearest import misspelt
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line
from keen_tui.tools.review.repository import SHALLOW, ReviewedRepository

_USUAL: Final = ("origin/main", "origin/master", "main", "master")
"""Usual names of default branches, tried if the remote doesn't name its own."""

_WHOLE_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LONGEST: Final = 60
_NAMED: Final = ("base", "commit")
"""The kinds of changes that need a name."""


def scope_of(wish: ReviewWish, repository: ReviewedRepository, *, has_uncommitted: bool) -> ReviewScope:
    """The changes that the user wants reviewed. Blocks.

    Raises:
        ConfigError: there is no such branch or commit, or nothing to compare with; or the focus is, or looks
            like, the name of what to review.
    """
    scope = _changes(wish, repository, has_uncommitted=has_uncommitted)
    if not (focus := wish.focus.strip()):
        return scope
    if repository.commit(focus):
        raise ConfigError(
            f"{clean(focus)!r} is a branch or commit, not a focus: use --base or --commit (after /review, "
            "base or commit)."
        )
    if meant := _looks_like(focus, repository):
        raise ConfigError(
            f"{clean(focus)!r} would be the focus of the review. Did you mean {clean(meant)}? If not, write "
            "the focus in other words."
        )
    return replace(scope, title=f"{scope.title}, focus: {clean(first_line(focus))[:_LONGEST]}", focus=focus)


def _looks_like(focus: str, repository: ReviewedRepository) -> str:
    """Returns the name that a focus looks like a misspelling of; "" for none."""
    match focus.split():
        case [word]:
            return next(iter(misspelt(word, (*get_args(ScopeKind), *repository.names()))), "")
        case [word, name] if repository.commit(name):
            return next((f"{kind} {name}" for kind in misspelt(word, _NAMED)), "")
    return ""


def _changes(wish: ReviewWish, repository: ReviewedRepository, *, has_uncommitted: bool) -> ReviewScope:
    match wish.kind:
        case "uncommitted":
            return _uncommitted(repository)
        case "base":
            return _beside(wish.name, repository)
        case "commit":
            commit = repository.commit(wish.name)
            if ".." in wish.name and not commit:
                return _of_range(wish.name, repository)
            return _of_commit(wish.name, commit, repository)
    return _uncommitted(repository) if has_uncommitted else _usual(repository)


def _uncommitted(repository: ReviewedRepository) -> ReviewScope:
    return ReviewScope(kind="uncommitted", title="uncommitted changes", old=repository.commit("HEAD"))


def _of_commit(name: str, commit: str, repository: ReviewedRepository) -> ReviewScope:
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
    base = _known_base(name, repository)
    head = repository.commit("HEAD")
    if not head:
        raise ConfigError("There is no commit yet: review the uncommitted changes.")
    branch = clean(repository.branch()) or "HEAD"
    common = _common(name, base, "HEAD", head, repository)
    title = f"{branch} compared with {clean(name)}"
    return ReviewScope(kind="base", title=title, name=name, old=common, new=head)


def _of_range(name: str, repository: ReviewedRepository) -> ReviewScope:
    """The commits that the second name has and the first lacks, with two dots or three. A missing name is
    HEAD."""
    first, _, second = name.partition("..")
    first, second = first or "HEAD", second.removeprefix(".") or "HEAD"
    base, new = (_known_base(each, repository) for each in (first, second))
    common = _common(first, base, second, new, repository)
    return ReviewScope(kind="commit", title=f"commits {clean(name)}", name=name, old=common, new=new)


def _common(name: str, commit: str, other: str, other_commit: str, repository: ReviewedRepository) -> str:
    """The newest commit that both commits have in common. Raises ConfigError: there is none."""
    if common := repository.merge_base(commit, other_commit):
        return common
    names = f"{clean(other)} and {clean(name)}"
    raise ConfigError(f"{names} have no commit in common.{_of_shallow(repository)}")


def _known_base(name: str, repository: ReviewedRepository) -> str:
    """The commit of a branch, or of anything else with that name. Raises ConfigError: there is none."""
    if base := _base(name, repository):
        return base
    raise ConfigError(f"There is no branch or commit {clean(name)!r} here.{_of_shallow(repository)}")


def _of_shallow(repository: ReviewedRepository) -> str:
    """Returns advice for a clone without the whole history; "" for other ones."""
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
