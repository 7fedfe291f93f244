"""The `in-band` policy: the block that the model is asked to write, and the filter that hides it.

The filter reads a reply piece by piece and lets through what the user may see. The words between
`<keen_memory>` and `</keen_memory>` stay hidden, however badly the model writes the tags: an open tag
counts from its name on, whatever follows it; nested ones are counted; without its close tag a block lasts
to the end. Only whole, well-formed close tags end a block, for hiding too much is the smaller fault.
"""

from __future__ import annotations

import re
from typing import Final

IN_BAND_PROMPT: Final = """\
- When you used tools in a turn, close your last message of that turn with one block, as its very end:

<keen_memory>
- what is different now, what you found out, what is left to do
</keen_memory>

  The user does not see it; it is all that you will have of this turn's work later. Note lasting outcomes \
only: files you changed and why, commands that failed and why, decisions, facts that were hard to find. \
Never copy tool input or output into it. Keep it under ten short lines. In a turn without tools write no \
block.
"""
"""Paragraph of the system prompt, an item of its list about memory."""

TAG_LIMIT: Final = 64
"""The most characters of a tag: at most this much text is held back while a tag may be beginning."""

_NAME = "keen_memory"
_NAME_BEGUN = "".join(f"(?:{char}" for char in _NAME) + ")?" * len(_NAME)
_OPEN = rf"<\s{{0,8}}{_NAME}(?![\w-])"
_CLOSE_BEGUN = rf"<\s{{0,8}}/\s{{0,8}}{_NAME}(?![\w-])[^<>]{{0,{TAG_LIMIT - len(_NAME) - 19}}}"
_FLAGS = re.IGNORECASE | re.ASCII

_TAG = re.compile(f"{_OPEN}|(?P<close>{_CLOSE_BEGUN}>)", _FLAGS)
_BEGUN = re.compile(rf"<\s{{0,8}}(?:/\s{{0,8}})?{_NAME_BEGUN}|{_CLOSE_BEGUN}", _FLAGS)
"""Text that may become a tag when more text follows."""


class InBandFilter:
    """Passes on the visible text of one reply. It makes no difference how the text is cut into pieces.

    White space is held back until visible text follows, so that a block also hides the empty lines before it.
    Never raises.
    """

    def __init__(self) -> None:
        self._unread = ""
        self._blanks = ""
        self._depth = 0
        self._behind_tag = False

    def feed(self, text: str) -> str:
        """The visible part of this piece and of the text held back before it."""
        text = self._unread + text
        begun = text.rfind("<")
        if begun < 0 or not _BEGUN.fullmatch(text, begun):
            begun = len(text)
        self._unread = text[begun:]
        return self._read(text[:begun])

    def finish(self) -> str:
        """The visible rest of the held-back text. To be called once, at the end of the reply."""
        if "keen_" in self._unread.lower():  # the end of the reply cut a tag off
            return ""
        shown = self._read(self._unread)
        return shown if self._behind_tag else shown + self._blanks

    def _read(self, text: str) -> str:
        """The visible part of `text`, which doesn't end in the beginning of a tag."""
        visible: list[str] = []
        position = 0
        for tag in _TAG.finditer(text):
            visible.append(self._shown(text[position : tag.start()]))
            self._depth = max(self._depth - 1, 0) if tag["close"] else self._depth + 1
            self._behind_tag = True
            position = tag.end()
        visible.append(self._shown(text[position:]))
        return "".join(visible)

    def _shown(self, text: str) -> str:
        """`text` between two tags, without the white space at its end, which is held back."""
        if self._depth:
            return ""
        text = self._blanks + text
        shown = text.rstrip()
        self._blanks = text[len(shown) :]
        if shown:
            self._behind_tag = False
        return shown
