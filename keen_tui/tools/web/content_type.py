"""The type of content that a server declares, and how its bytes become text. Pure."""

from __future__ import annotations

import codecs
import re
from email.message import Message
from typing import Final

from msgspec import Struct

_HTML: Final = frozenset(("text/html", "application/xhtml+xml"))
_TEXT: Final = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|jsonl?|x-sh|sql)"
    r"|message/.+|image/svg\+xml"
)
_UNSAID: Final = frozenset(("", "application/octet-stream", "binary/octet-stream"))
_HTML_START: Final = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_CODECS: Final = re.compile(
    r"utf-(?:8|16|32)(?:-sig|-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb\w+|hz|big5\w*|euc_\w+|shift_jis\w*"
    r"|iso2022_\w+|tis-620|johab"
)
"""Codecs of characters: Python knows others, which turn text into something else."""
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class ContentType(Struct, frozen=True, kw_only=True):
    """`name` is a media type in small letters, "" for none; `charset` the name of a codec, "" if unsaid."""

    name: str
    charset: str = ""

    @classmethod
    def of(cls, header: str) -> ContentType:
        """The type that a header Content-Type says."""
        parsed = Message()
        parsed["Content-Type"] = header.replace("\n", " ").replace("\r", " ")
        name = parsed.get_content_type() if "/" in header.partition(";")[0] else ""
        return cls(name=name[:80], charset=_codec(str(parsed.get_param("charset") or "")))

    @property
    def is_unsaid(self) -> bool:
        """Whether the server doesn't say what it is."""
        return self.name in _UNSAID

    @property
    def problem(self) -> str:
        """The kind of content in words if it isn't text; "" if it may be text."""
        if self.is_unsaid or _TEXT.fullmatch(self.name) or self.name in _HTML:
            return ""
        if self.name == "application/pdf":
            return "a PDF"
        return f"a file of type {re.sub(r'[^a-z0-9.+/-]', '?', self.name)}"

    def is_html(self, content: bytes) -> bool:
        """Whether the content is HTML, by the server's word or, without one, by its beginning."""
        return self.name in _HTML or (self.is_unsaid and _HTML_START.match(content[:4_096]) is not None)

    def text(self, content: bytes) -> str | None:
        """The content as text; None if it is binary."""
        codec = next((codec for mark, codec in _BOMS if content.startswith(mark)), self.charset) or "utf-8"
        text = content.decode(codec, "replace")
        return None if "\0" in text[:8_192] else text


def _codec(name: str) -> str:
    """The codec of that name; "" if there is none, or none of characters."""
    try:
        codec = codecs.lookup(name.strip("\"' ")).name
    except (LookupError, ValueError):
        return ""
    return codec if _CODECS.fullmatch(codec) else ""
