"""Text that others wrote (models, tools, files, servers), made safe: it must not drive the terminal."""

from __future__ import annotations

import re
from typing import Final

TAB_CELLS: Final = 4

_ESCAPES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\]PX^_][^\n]*?(?:\x07|\x1b\\|(?=\n)|\Z)"  # OSC, DCS, SOS, PM, APC up to their end or that of the line
    r"|[ -/]*[0-~]"  # all others
    r")"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What acts on the terminal, or is not seen and turns or hides what is around it."""
_COMMAND: Final = re.compile(r"##(\w*)\[")
_SUSPECT = re.compile(HIDDEN.pattern[:-1] + "\t\n]")


def clean(text: str, *, newlines: bool = False, tabs: bool = False, escapes: bool = False) -> str:
    """Text from outside, safe to draw: what would act on the terminal or hide in the line is gone.

    Escape sequences are removed. Other control characters become `^X`, direction marks, tag and
    invisible characters `<U+202E>`. With `newlines` line ends stay (all as `\\n`), else they become a
    blank, except U+2028 and U+2029, which end a line in some languages only: they can be read. With `tabs`
    tabs stay, else they are filled with blanks up to the next multiple of four; with `escapes` escape
    sequences can be read, `^[[31m`.
    """
    if not _SUSPECT.search(text):
        return text
    text = text if escapes else _ESCAPES.sub("", text)
    text = text.replace("\r\n", "\n")
    if newlines:
        text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    else:
        text = re.sub(r"\s*\n\s*", " ", text)
    if not tabs:
        text = text.expandtabs(TAB_CELLS)
    return HIDDEN.sub(_shown, text)


def defused(line: str) -> str:
    """The line so that no build server takes it for a command of theirs. GitHub and Azure obey `##[` and
    `##vso[` anywhere in a line."""
    line = _COMMAND.sub(r"# #\1[", line)
    return f"| {line}" if line.lstrip().startswith("::") else line


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return "^" + chr(code + 0x40)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "^?" if code == 0x7F else f"<U+{code:04X}>"
