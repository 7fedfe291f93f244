"""The messages of the transcript to the screen around it."""

from __future__ import annotations

from textual.message import Message

from keen_tui.frontends.tui.state.state import Block
from keen_tui.frontends.tui.transcript.finding import Tally


class Moved(Message, namespace="transcript"):
    """The view moved, or what can be done with the block at the cursor changed."""

    def can_replace(self, message: Message) -> bool:
        """Only the last of several in a row is handled."""
        return isinstance(message, Moved)


class LinkOpened(Message, namespace="transcript"):
    """A link in the text was clicked. `href` comes from the model: ask before acting on it."""

    def __init__(self, href: str) -> None:
        super().__init__()
        self.href = href


class FileWanted(Message, namespace="transcript"):
    """The user wants to open the file that the block names."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class LinkWanted(Message, namespace="transcript"):
    """The user wants to open the web page that the block names."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class RowWanted(Message, namespace="transcript"):
    """The user wants to see the block's row in Activity: that of the call `call_id`, else that of `turn`."""

    def __init__(self, turn: int, call_id: str | None) -> None:
        super().__init__()
        self.turn = turn
        self.call_id = call_id


class Copied(Message, namespace="transcript"):
    """`text` was copied to the clipboard; `told` says so in a few words, or why there was nothing to copy."""

    def __init__(self, text: str, told: str) -> None:
        super().__init__()
        self.text = text
        self.told = told


class HitsCounted(Message, namespace="transcript"):
    """The number of matches changed, or another match is shown."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self.tally = tally
