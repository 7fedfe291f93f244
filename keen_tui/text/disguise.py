"""What hides in a text that others wrote: shown to whom it is to be allowed by, taken out of what is read.

A module of its own, as its patterns take longer to compile than all of `plain`, which every start needs.
"""

from __future__ import annotations

import re
import unicodedata

from keen_tui.text.sanitize import HIDDEN, clean

_BLANKS = re.compile(
    "[\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\ufe00-\ufe0f]"
)
_LOOK_ALIKES = re.compile(
    "[\u0131\u0250-\u036f\u0370-\u058f\u13a0-\u13ff\u2010-\u2013\u2024\u2044\u2100-\u218f\u2212\u2215\u2223\u2236"
    "\u29f8\u2c80-\u2cff\ua4d0-\ua4ff\uff01-\uff5e\U0001d400-\U0001d7ff]"
)
_TWINS = re.compile(
    "[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf\u0405\u0406\u0408\u0410"
    "\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb"
    "\u0501\u051b\u051d]{2,}"
)
"""A whole word of letters each of which has a twin among the Latin ones."""
_OURS = re.compile(r"<(?=(?:tab|U\+[0-9A-F]{4,6}|\d+ (?:blank|empty line)s?)>)")
"""What is written as our own marks are."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u034f\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2028\u2029"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
_INVISIBLE = re.compile(
    "(?!\t|\n)(?:" + HIDDEN.pattern + "|" + _UNSEEN.pattern.replace("\u200c\u200d", "") + ")"
    "|[\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0d]"
    "|[\u200c\u200d\ufe0e\ufe0f]{3,}"
)
"""What takes no room. Joiners and the two signs behind an emoji are that only where many come at once."""
_JAMO = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u1161-\u11ff\ud7b0-\ud7ff]")
"""A syllable of Korean in its parts, or a part that stands alone: it then takes no room."""
_MANY_BLANKS = re.compile(" {40,}")
_MANY_LINES = re.compile("\n{6,}")
_WORD = re.compile(r"[^\s'\"]+")
_TRAILING = re.compile(r" +(?=\n|\Z)")


def revealed(text: str) -> str:
    """All of a text that somebody is asked about, so that two texts that differ look different: what is not
    seen, blanks at the end of a line, blanks that are none, letters that look like those of the word they
    stand in, many blanks or empty lines that would push the rest away. Its line ends stay.
    """
    text = _OURS.sub("<U+003C>", text)
    text = _UNSEEN.sub(_named, text).replace("\t", "<tab>")
    text = clean(text, newlines=True, escapes=True)
    text = _JAMO.sub(lambda found: found[0] if len(found[0]) > 1 else _named(found), text)
    text = _without_marks_on_ascii(text)
    text = _WORD.sub(lambda word: _LOOK_ALIKES.sub(_named, word[0]) if _mixed(word[0]) else word[0], text)
    text = _BLANKS.sub(_named, text)
    text = _MANY_LINES.sub(lambda found: f"\n<{len(found[0]) - 1} empty lines>\n", text)
    text = _MANY_BLANKS.sub(lambda found: f"<{len(found[0])} blanks>", text)
    return _TRAILING.sub(lambda found: f"<{len(found[0])} blank{'s' * (len(found[0]) > 1)}>", text)


def _without_marks_on_ascii(text: str) -> str:
    """The text with combining marks named that stand on an ASCII character: no language needs them in a
    command, and many of them are drawn as nothing."""
    if text.isascii():
        return text
    shown, base = [], " "
    for character in text:
        is_mark = not character.isascii() and unicodedata.category(character) in ("Mn", "Me")
        base = base if is_mark else character
        shown.append(_code(character) if is_mark and base.isascii() else character)
    return "".join(shown)


def without_hidden(text: str) -> tuple[str, int]:
    """A text without the characters that nobody sees in an editor, and how many these were. All its line ends
    are `\\n`; what makes up emoji and scripts of right to left stays."""
    text = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    found = 0

    def dropped(run: re.Match[str]) -> str:
        nonlocal found
        found += len(run[0])
        return ""

    return _INVISIBLE.sub(dropped, text), found


def _mixed(word: str) -> bool:
    if word.isascii():
        return False
    letters = "".join(filter(str.isalpha, word))
    return re.search("[A-Za-z]", word) is not None or _TWINS.fullmatch(letters) is not None


def _named(match: re.Match[str]) -> str:
    return _code(match[0])


def _code(character: str) -> str:
    return f"<U+{ord(character):04X}>"
