"""Commands whose words say that they write or download packages: running them read-only first is pointless.

This uses bash's grammar, even if the command isn't fully understood. A command that is missed here fails
read-only and then asks; it is only slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from keen_tui.tools.shell.grammar import parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

WRITERS: Final = frozenset(
    """
    chgrp chmod chown cp dd install ln mkdir mv patch rm rmdir rsync shred tee touch truncate unlink
    """.split()  # noqa: SIM905 - a list of names is easier to read so
)
_VERBS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(verbs.split())
    for names, verbs in {
        "git": "add am apply checkout cherry-pick clean clone commit gc init merge mv rebase reset restore "
        "revert rm switch",
        "npm pnpm yarn bun": "add ci i install link remove uninstall update upgrade",
        "pip pip3 pipx poetry uv": "add download install remove sync uninstall update",
        "cargo go gem bundle composer": "add get install remove require update",
        "apt apt-get brew conda dnf": "install remove uninstall update upgrade",
    }.items()
    for name in names.split()
}
_STASH_READS: Final = frozenset(["list", "show"])
_IN_PLACE: Final = re.compile(r"-[a-zA-Z]*i.*|--in-place.*")
_NOT_KEPT: Final = re.compile(r"[\d-]+|/dev/.*|/tmp/.*|/var/tmp/.*|\$\{?TMPDIR\b.*")
"""Destinations of output that nobody expects to last."""


def writes_plainly(command: str, mentions: Iterable[Sequence[str]]) -> bool:
    """Whether its words say that it writes; `mentions` are its commands."""
    return any(map(_writes, mentions)) or _sends_output_to_a_file(parsed(command))


def _writes(words: Sequence[str]) -> bool:
    name, *arguments = words
    if name in WRITERS:
        return True
    if name in ("sed", "perl"):
        return any(_IN_PLACE.fullmatch(word) for word in arguments)
    verb = next((word for word in arguments if not word.startswith("-")), "")
    if name == "git" and verb == "stash":
        return _STASH_READS.isdisjoint(arguments)
    return verb in _VERBS.get(name, ()) or (name == "yarn" and not verb)


def _sends_output_to_a_file(root: Node) -> bool:
    todo = [root]
    while todo:
        node = todo.pop()
        todo.extend(node.children)
        if node.type == "file_redirect" and any(">" in child.type for child in node.children):
            target = text_of(node.children[-1]).strip("\"'")
            if not _NOT_KEPT.fullmatch(target):
                return True
    return False
