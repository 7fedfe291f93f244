"""Rewrites texts from here-documents as quoted words: `-m "$(cat <<'EOF' ...)"`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from keen_tui.tools.permissions.shell.grammar import original, parsed, spelled, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DELIMITER: Final = re.compile(r"""(['"]?)(\w+)\1""")
_EXPANDS: Final = re.compile(r"[$`\\]")
_FROM_INPUT: Final = ("-F", "-F-", "--file", "--file=-")
"""The last word that the parser sees of `-F -`: it ignores a lone `-` before a redirection."""
_A_LONE_DASH: Final = re.compile(rb"[ \t]+-[ \t]*|[ \t]*")


class _Text(NamedTuple):
    """The text of a here-document, and the rest of the line where it begins."""

    content: str
    behind: bytes


class _Edit(NamedTuple):
    start: int
    end: int
    text: bytes


def with_plain_texts(command: str) -> str:
    """The same command with such texts as quoted words, if they are known to be plain text.

    That is `"$(cat <<'EOF' ... EOF)"`, which `cat` prints unchanged, and the input of `git commit -F -`. The
    result means the same to a shell where `cat` is cat; it is for parsing, not for running.
    """
    if "<<" not in command:
        return command
    source = spelled(command)
    root = parsed(command)
    if root.has_error:
        return command
    for edit in sorted(_edits(root, source), reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return original(source)


def _edits(node: Node, source: bytes) -> Iterator[_Edit]:
    edit = None
    if node.type == "string":
        edit = _of_string(node, source)
    elif node.type == "redirected_statement":
        edit = _of_input(node, source)
    if edit:
        yield edit
        return
    for child in node.children:
        yield from _edits(child, source)


def _of_string(node: Node, source: bytes) -> _Edit | None:
    """`"$(cat <<'EOF' ... )"` and nothing else between the quotes."""
    if [child.type for child in node.children] != ['"', "command_substitution", '"']:
        return None
    inner = node.children[1].children
    if [child.type for child in inner] != ["$(", "redirected_statement", ")"] or len(inner[1].children) != 2:
        return None
    cat, redirect = inner[1].children
    text = _text_in(redirect, source) if text_of(cat) == "cat" else None
    if text is None or text.behind or source[redirect.end_byte : inner[2].start_byte].strip(b" \t\n"):
        return None
    return _Edit(node.start_byte, node.end_byte, _quoted(text))


def _of_input(node: Node, source: bytes) -> _Edit | None:
    """`git commit -F - <<'EOF' ...`, also as the last one of a list."""
    if len(node.children) != 2:
        return None
    body, redirect = node.children
    last = body.children[-1] if body.type == "list" else body
    words = [text_of(child) for child in last.children] if last.type == "command" else []
    text = _text_in(redirect, source)
    if text is None or words[:2] != ["git", "commit"] or words[-1] not in _FROM_INPUT:
        return None
    between = source[last.end_byte : redirect.start_byte]
    needs_dash = not words[-1].endswith("-")
    if not _A_LONE_DASH.fullmatch(between) or (b"-" in between) != needs_dash:
        return None
    option = last.children[-1]
    return _Edit(option.start_byte, redirect.end_byte, b"-m " + _quoted(text) + text.behind)


def _text_in(redirect: Node, source: bytes) -> _Text | None:
    """The text of a here-document in which nothing is expanded; None if that isn't certain."""
    parts = {child.type: child for child in redirect.children}
    begin, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
    if redirect.type != "heredoc_redirect" or "<<" not in parts or not begin or not body or not end:
        return None
    delimiter = _DELIMITER.fullmatch(text_of(begin))
    content = text_of(body)
    if not delimiter or text_of(end) != delimiter[2] or delimiter[2] in content.split("\n"):
        return None
    if source[end.end_byte : end.end_byte + 1] not in (b"", b"\n"):
        return None
    if not delimiter[1] and _EXPANDS.search(content):
        return None
    behind = source[begin.end_byte : body.start_byte]
    if not behind.endswith(b"\n") or source[body.end_byte : end.start_byte]:
        return None
    return _Text(content.rstrip("\n"), behind.rstrip(b" \t\n"))


def _quoted(text: _Text) -> bytes:
    return spelled(shlex.quote(text.content))
