"""The texts of tests/corpora, and the ways that untrusted text is made worse."""

from __future__ import annotations

import json
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "corpora"


def _texts(name: str) -> tuple[str, ...]:
    return tuple(json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


COMMONMARK = _texts("commonmark")
"""The Markdown of each example of the CommonMark spec."""

COMMONMARK_HTML = _texts("commonmark_html")
"""The HTML of each of them."""

NAUGHTY = _texts("naughty_strings")
"""The Big List of Naughty Strings."""

DRIVING = (
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b]0;a title\x1b\\",
    "\x1b]8;;http://x.y\x1b\\a link\x1b]8;;\x1b\\",
    "\x1b]9;a notice\x07\x1b]777;notify;a;b\x07\x1b]1337;File=:\x07",
    "\x1bP+q544e\x1b\\",
    "\x1b_Gi=1\x1b\\",
    "\x1b^private\x1b\\\x1bXstring\x1b\\",
    "\x1bc\x1b[!p",
    "\x1b[?1049l\x1b[?25h",
    "\x1b[6n\x1b[c",
    "\x1b[2J\x1b[H\x1b[31mred",
    "\x9b2J\x9d0;title\x9c\x90q\x9c",
    "\x1b]0;without an end",
    "\x1b[",
    "\x1b",
    "\x1b\x1b[31m\x1b\x1b",
    "\x1b]0;two\nlines\x07",
    "bell\x07 back\x08\x08 return\rover\x0b\x0c\x7f",
    "\u202edrawkcab\u202c \u2066inner\u2069",
    "\U000e0041\U000e0042 tags",
    "zero\u200bwidth\u200d\ufeff\u2060",
    "line\u2028paragraph\u2029",
    "\ud800 lone \udfff",
)
"""What would act on a terminal, or hide in it."""

WIDE = (
    "漢字かな交じり文",
    "👩‍👩‍👧‍👦 family 🏳️‍🌈 flag 🇩🇪🇫🇷",
    "e\u0301\u0323\u0330 n\u0303 stacks " + "Z" + "\u0300\u0316\u0321" * 12,
    "שלום עולם مرحبا",
    "tab\tbetween\ttabs",
    "ambiguous ±×÷°§",
    "각 \u1100\u1161\u11a8",
    "क्षि ที่ ",
    "☺︎ ☺️ ❤ ❤️ ⌚",
)
"""What terminals count in columns of their own."""
