"""Repositories inside the repository (gitlinks), whose settings git obeys when it looks for changes there.

Keen examines such repositories after each command, but not in folders of packages: so none may be tracked
there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.tools.sandbox.noted_entries import PACKAGES

GITLINK: Final = "160000"
"""The mode of such an entry, in octal digits."""

REPOSITORY_AMONG_PACKAGES: Final = "git would track a repository inside a folder of packages"

_NAMES: Final = "|".join(map(re.escape, PACKAGES)).encode()
_OF_PACKAGES: Final = re.compile(rb"(?:^|/)(?:%b)(?:/|$)" % _NAMES)
_LOG: Final = (
    *("log", "--stdin", "--ignore-missing", "--no-show-signature", "--format=", "--root", "-c", "-z"),
    *("--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--not", "--all"),
)


def is_among_packages(path: bytes) -> bool:
    """Whether this path of the repository is in a folder of packages, or is one."""
    return _OF_PACKAGES.search(path) is not None


def gitlinks_among_packages(ran: Callable[..., bytes], commits: Iterable[str]) -> Iterator[bytes]:
    """The paths of gitlinks among packages in these commits and in those before them, as far as no ref leads
    there yet. `ran` runs git in the repository. Raises WorkTreeFailed, also for the beginning of a hash that
    several objects have."""
    given = "\n".join(commits).encode()
    try:
        output = ran(*_LOG, given=given)
    except WorkTreeFailed:  # one of them doesn't exist
        rows = ran("cat-file", "--batch-check=%(objecttype) %(objectname)", given=given).splitlines()
        if several := [row for row in rows if row.endswith(b" ambiguous")]:
            raise WorkTreeFailed(f"git names several objects {several[0].decode()}") from None
        output = ran(
            *_LOG, given=b"\n".join(row.split()[1] for row in rows if row.startswith((b"commit", b"tag")))
        )
    fields = output.split(b"\0")
    for row, path in zip(fields[::2], fields[1::2], strict=False):
        modes = row.lstrip(b":").split(b" ")
        parents = len(row) - len(row.lstrip(b":"))
        if modes[parents] == GITLINK.encode() and is_among_packages(path):
            yield path
