"""Git commands that only read, and the options with which they stay harmless.

Git runs programs that the repository names (`core.fsmonitor`, filters, drivers for diffs), so this table
counts only inside a sandbox, where such programs reach nothing. Options that name a program or a file (`-c`,
`--ext-diff`, `--output`), and abbreviated options, are unknown here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from keen_tui.tools.shell.grammar import NotUnderstood, Word
from keen_tui.tools.shell.readers import Arguments, Reader, known, paths_given

_DIFF_NAMES: Final = (
    "stat numstat shortstat dirstat summary compact-summary name-only name-status patch no-patch unified raw "
    "word-diff color-words color no-color color-moved no-color-moved ignore-all-space ignore-space-change "
    "ignore-space-at-eol ignore-blank-lines minimal patience histogram diff-algorithm find-renames "
    "no-renames find-copies diff-filter relative no-relative exit-code quiet function-context check "
    "full-index abbrev text merge-base cached staged no-ext-diff no-textconv submodule ignore-submodules "
    "no-prefix inter-hunk-context pickaxe-all pickaxe-regex "
)
_LOG_NAMES: Final = (
    "oneline graph all branches tags remotes decorate no-decorate format pretty abbrev-commit "
    "no-abbrev-commit max-count skip since until after before author committer grep invert-grep all-match "
    "regexp-ignore-case extended-regexp fixed-strings merges no-merges first-parent reverse follow "
    "topo-order date-order author-date-order date relative-date parents children left-right cherry-pick "
    "cherry-mark cherry notes no-notes source full-history simplify-merges ancestry-path patch-with-stat "
)
_LIST_NAMES: Final = (
    "list contains no-contains merged no-merged points-at sort format column no-column color no-color "
    "ignore-case "
)
_LOG: Final = known("pguiEFPqzctmMCRabwsW0123456789", "nSGUl", _LOG_NAMES + _DIFF_NAMES)

_COMMANDS: Final[Mapping[str, Reader]] = {
    "status": known(
        "sbvz",
        "",
        "short branch show-stash porcelain long verbose untracked-files ignored ignore-submodules column "
        "no-column ahead-behind no-ahead-behind renames no-renames find-renames",
    ),
    "diff": known("pusRabwzMCW", "UlSG", _DIFF_NAMES),
    "log": _LOG,
    "show": _LOG,
    "blame": known(
        "lstefwcnb",
        "L",
        "porcelain line-porcelain incremental show-name show-number show-email root date since abbrev "
        "first-parent color-lines color-by-age",
    ),
    "ls-files": known(
        "cdmouskztvf",
        "x",
        "cached deleted modified others ignored stage unmerged killed exclude-standard full-name "
        "error-unmatch abbrev deduplicate eol recurse-submodules directory no-empty-directory",
    ),
    "ls-tree": known("rdtlz", "", "name-only name-status full-name full-tree long abbrev object-only"),
    "rev-parse": known(
        "q",
        "",
        "abbrev-ref short verify quiet show-toplevel show-prefix show-cdup git-dir absolute-git-dir "
        "is-inside-work-tree is-inside-git-dir is-bare-repository symbolic-full-name symbolic all branches "
        "tags remotes show-superproject-working-tree git-common-dir",
    ),
    "rev-list": known("q0123456789", "n", _LOG_NAMES + "count objects left-only right-only"),
    "describe": known(
        "", "", "tags all always dirty long abbrev match exclude contains candidates exact-match"
    ),
    "merge-base": known("a", "", "is-ancestor all fork-point octopus independent"),
    "shortlog": known("snec", "", "summary numbered email group format merges no-merges since until"),
    "branch": known("arvli", "", _LIST_NAMES + "all remotes verbose show-current abbrev no-abbrev"),
    "tag": known("li", "n", _LIST_NAMES),
    "remote": known("v", "", "verbose"),
}
_MAKES_WHAT_IT_IS_GIVEN: Final = frozenset(("branch", "tag"))
"""These list only with one of the options below; given a bare name, they create it."""

_LISTS: Final = ("--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")

_SHOW_CONTENT: Final = frozenset(("diff", "show"))
_PATCHES: Final = frozenset(("-p", "-u", "--patch", "-S", "-G", "-c", "-m", "--patch-with-stat", "-W"))


def git_paths(arguments: Arguments) -> Iterator[Word]:
    """The paths that a read-only git command names. A revision counts as a path too.

    Raises:
        NotUnderstood: it may do more than read.
    """
    name, rest = _command(arguments)
    reader = _COMMANDS.get(name)
    if reader is None:
        raise NotUnderstood(f"git {name} can change files".replace("  ", " "))
    given = list(paths_given(f"git {name}", reader, rest))
    listing = any(word.text.partition("=")[0] in _LISTS for word in rest)
    if given and (name == "remote" or (name in _MAKES_WHAT_IT_IS_GIVEN and not listing)):
        raise NotUnderstood(f"git {name} may change the repository with these arguments")
    for word in given:
        yield word
        _, colon, path = word.text.partition(":")
        if colon:  # the path in a revision, such as HEAD:src/a.py
            yield Word(path or ".", word.is_glob)


def git_shows_content(arguments: Arguments) -> bool:
    """Whether it shows the content of files that it doesn't name."""
    name, rest = _command(arguments)
    return name in _SHOW_CONTENT or (
        name == "log" and any(word.text in _PATCHES or word.text[:2] in _PATCHES for word in rest)
    )


def _command(arguments: Arguments) -> tuple[str, Arguments]:
    """The git command and its arguments."""
    rest = list(arguments)
    while rest and rest[0].text == "--no-pager":
        rest.pop(0)
    return (rest[0].text, rest[1:]) if rest else ("", ())
