"""Splits a bash command into simple commands, with bash's own grammar.

It understands only what is unambiguous: plain words, quoted text without expansions, pipes, `&&`, `||`, `;`
and line ends, output to /dev/null; if asked for, also files that a command reads from or writes to.
Everything else raises NotUnderstood. Nothing here decides what a command may do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST: Final = 10_000
"""Characters of the longest command that is read."""

_PLAIN: Final = re.compile(r"(?:[A-Za-z0-9_./:=,@%+^*?-]|(?<=[A-Za-z0-9^])~)+")
"""Plain words. A `~` after a letter, as in HEAD~1, isn't a home folder for bash."""
_GLOB: Final = re.compile(r"[*?]")
_MORE_IN_QUOTES: Final = re.compile(r"[$`]|\\(?![A-Za-z0-9.()|+*?\[\]{}^/-])")
_UNSPOKEN: Final = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\xa0\u2000-\u2fff\ud800-\U0010ffff]")
"""Control characters, spaces that bash doesn't know as spaces, marks that hide or reverse text. A class of
everything but what is allowed takes three times as long to compile, at each start."""

_SAYINGS: Final = {
    "command_substitution": "Keen can't tell what $( ) or ` ` will insert",
    "process_substitution": "<( ) and >( ) run commands of their own",
    "simple_expansion": "Keen doesn't know the value of a variable",
    "expansion": "Keen doesn't know the value of a variable",
    "arithmetic_expansion": "$(( )) can run commands",
    "variable_assignment": "it sets a variable, which can change what the program does",
    "variable_assignments": "it sets a variable, which can change what the program does",
    "declaration_command": "it sets a variable, which can change what the program does",
    "unset_command": "it unsets a variable, which can change what the program does",
    "heredoc_redirect": "it passes text to a program, which may run it",
    "herestring_redirect": "it passes text to a program, which may run it",
    "subshell": "Keen doesn't check commands inside ( )",
    "compound_statement": "Keen doesn't check commands inside { }",
    "function_definition": "it defines a function",
    "if_statement": "Keen doesn't check commands inside if",
    "for_statement": "Keen doesn't check commands inside loops",
    "c_style_for_statement": "Keen doesn't check commands inside loops",
    "while_statement": "Keen doesn't check commands inside loops",
    "case_statement": "Keen doesn't check commands inside case",
    "test_command": "tests in [ ] can run commands",
    "ansi_c_string": "$'...' can stand for any character",
    "translated_string": '$"..." can stand for any text',
    "brace_expression": "braces expand to several words",
    "comment": "it contains a comment",
    "negated_command": "it uses `!`",
    "&": "it would keep running in the background",
}


_SPELLED: Final = re.compile(r"[^\0-\x7f]|Q")
_SPELLING: Final = re.compile("Q(?:Q|x([0-9a-f]+)q)")


_LONGEST_PATH: Final = 60
"""Characters of a file's name up to which a reason names it."""


class NotUnderstood(Exception):
    """A part of the command isn't understood; the text says which part, or why."""


class Word(Struct, frozen=True):
    """A word as the program gets it. `is_glob`: it is a pattern for file names, inside or outside the
    workspace."""

    text: str
    is_glob: bool = False


class SimpleCommand(Struct, frozen=True):
    """A program's name and its arguments."""

    name: str
    arguments: tuple[Word, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The name and the arguments, with patterns unexpanded."""
        return (self.name, *(word.text for word in self.arguments))


def simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """All commands that would run, in their order, at least one.

    Raises:
        NotUnderstood: it contains anything else.
    """
    if len(command) > LONGEST:
        raise NotUnderstood("it is too long to check")
    if found := _UNSPOKEN.search(command):
        raise NotUnderstood(f"it contains an invisible character (U+{ord(found[0]):04X})")
    root = parsed(command)
    if root.has_error:
        raise NotUnderstood("Keen can't parse it as a bash command")
    try:
        found_commands = tuple(_statements(root))
    except RecursionError:
        raise NotUnderstood("it is nested too deeply") from None
    if not found_commands:
        raise NotUnderstood("there is no command in it")
    return found_commands


def parsed(command: str) -> Node:
    """The root of the command's syntax tree. Get the text of its nodes with `text_of`.

    The parser is written in C and looks characters up in a table that ends at U+00FF; for others it reads
    past the end and may crash the program. So it gets ASCII. For bash, other characters are letters too.
    """
    return _parser().parse(spelled(command)).root_node


def spelled(command: str) -> bytes:
    """The command as the parser gets it; `original` reverses it. Positions of nodes refer to this text."""
    return _SPELLED.sub(_spelled, command).encode()


def stays_in_background(command: str) -> bool:
    """Whether it starts something with `&` without waiting for it."""
    todo, starts = [parsed(command[:LONGEST])], False
    while todo:
        node = todo.pop()
        todo.extend(node.children)
        starts |= node.type == "&"
        if node.type == "command_name" and text_of(node) == "wait":
            return False
    return starts


def text_of(node: Node) -> str:
    """The part of the command at the node."""
    return original(node.text or b"")


def original(parsed_text: bytes) -> str:
    """The original text of a part of a `spelled` command."""
    return _SPELLING.sub(_unspelled, parsed_text.decode())


def _spelled(found: re.Match[str]) -> str:
    return "QQ" if found[0] == "Q" else f"Qx{ord(found[0]):x}q"


def _unspelled(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else "Q"


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415 - not before the first command
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def _statements(node: Node) -> Iterator[SimpleCommand]:
    for child in _children(node):
        match child.type:
            case "command":
                yield _command(child)
            case "list" | "pipeline":
                yield from _statements(child)
            case "redirected_statement":
                yield from _redirected(child)
            case "&&" | "||" | "|" | ";" | "\n":
                pass
            case _:
                raise _unknown(child)


def _redirected(node: Node) -> Iterator[SimpleCommand]:
    body = [child for child in _children(node) if child.type != "file_redirect"]
    for child in node.children:
        if child.type == "file_redirect":
            _require_harmless(child)
    if len(body) != 1 or body[0].type not in ("command", "list", "pipeline"):
        raise _unknown(body[-1] if body else node)
    yield from [_command(body[0])] if body[0].type == "command" else _statements(body[0])


def _require_harmless(redirect: Node) -> None:
    """Raises NotUnderstood unless output goes to /dev/null, or one output into the other."""
    kinds = [child.type for child in redirect.children if child.type != "file_descriptor"]
    texts = [text_of(child) for child in redirect.children if child.type != "file_descriptor"]
    if len(texts) == 2:
        if kinds == [kinds[0], "word"] and texts[0] in (">", ">>", "&>", "&>>") and texts[1] == "/dev/null":
            return
        if texts[0] == ">&" and texts[1] in ("1", "2"):
            return
    if ">" in texts[0] and kinds[1:] == ["word"] and len(texts[1]) <= _LONGEST_PATH:
        raise NotUnderstood(f"it writes to {texts[1]}")
    raise NotUnderstood("it redirects its input or output")


def _command(node: Node) -> SimpleCommand:
    name, *rest = _children(node)
    if name.type != "command_name":
        raise _unknown(name)
    if len(name.children) != 1 or name.children[0].type != "word":
        raise NotUnderstood("Keen can't tell which program this runs")
    first = _plain(name.children[0])
    if first.is_glob:
        raise NotUnderstood("the name of its program is a pattern")
    return SimpleCommand(first.text, tuple(_word(child) for child in rest))


def _word(node: Node) -> Word:
    match node.type:
        case "word" | "number":
            return _plain(node)
        case "raw_string":
            return Word(text_of(node)[1:-1])
        case "string":
            return Word(_quoted(node))
        case "concatenation":
            return _joined(node)
    raise _unknown(node)


def _plain(node: Node) -> Word:
    text = text_of(node)
    if node.children or not _PLAIN.fullmatch(text):
        raise _unknown(node.children[0]) if node.children else NotUnderstood(f"{text!r} is ambiguous")
    return Word(text, is_glob=_GLOB.search(text) is not None)


def _quoted(node: Node) -> str:
    inner = text_of(node)[1:-1]
    for child in node.children:
        if child.type not in ('"', "string_content"):
            raise _unknown(child)
    if found := _MORE_IN_QUOTES.search(inner):
        raise NotUnderstood(f"{found[0]!r} in quotes is ambiguous")
    return inner


def _joined(node: Node) -> Word:
    """Pieces without spaces between them, as one word. Quoted text is never a pattern."""
    end = node.start_byte
    pieces: list[Word] = []
    for child in node.children:
        if child.start_byte != end:
            raise NotUnderstood("Keen can't parse it as a bash command")
        end = child.end_byte
        pieces.append(_word(child))
    is_glob = any(piece.is_glob for piece in pieces)
    if is_glob and any(child.type not in ("word", "number") for child in node.children):
        raise NotUnderstood("it combines a pattern with quotes")
    return Word("".join(piece.text for piece in pieces), is_glob)


def _children(node: Node) -> list[Node]:
    """The parts of a node, after checking that there is nothing else between them."""
    source, end = node.text or b"", node.start_byte
    for child in node.children:
        between = source[end - node.start_byte : child.start_byte - node.start_byte]
        joined = between.replace(b"\\\n", b"")
        if joined.strip(b" \t\n") or (between and not joined):  # bash joins `a\`, `b` into one word
            raise _unknown(node, original(between))
        end = child.end_byte
    return node.children


def _unknown(node: Node, text: str = "") -> NotUnderstood:
    """Why a node isn't understood: names its kind, that of a part, or the odd text."""
    for each in (node, *node.children):
        if each.type in _SAYINGS:
            return NotUnderstood(_SAYINGS[each.type])
    return NotUnderstood(f"Keen doesn't understand {(text or text_of(node)).strip()[:40]!r}")
