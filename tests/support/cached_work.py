"""A scripted model that counts tokens and has a prompt cache, and a session of a few turns with it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keen_tui.demo.script import Call, RecordedRequest, Reply, Say
from keen_tui.domain.messages import TokenUsage

BYTES_PER_TOKEN = 4
FILES = {
    "cart.py": "class Cart:\n" + "    # the total of all lines, in cents\n" * 160,
    "money.py": "def rounded(cents):\n" + "    # half up, as the tax office wants it\n" * 240,
    "tests.py": "def test_total():\n" + "    # one line, two lines, a discount\n" * 120,
}
"""The workspace of the session."""


def _read(*names: str) -> Reply:
    return Reply([Say("I'll read these files."), *(Call("read_file", {"path": name}) for name in names)])


def _write(name: str, text: str) -> Reply:
    return Reply([Say(f"I'll write {name}."), Call("write_file", {"path": name, "content": text})])


def _done(text: str) -> Reply:
    return Reply([Say(text)])


TURNS: Sequence[tuple[str, Sequence[Reply]]] = (
    ("What does this project do?", (_read("cart.py", "money.py"), _done("It adds up carts, in cents."))),
    ("Where is tax rounded?", (_read("money.py"), _done("In rounded(), half up."))),
    ("Round the total once, at the end", (
        _read("cart.py", "tests.py"),
        _write("rounding.py", "ONCE = True\n"),
        _done("Totals are rounded once."),
    )),
    ("Add a test for a discount", (
        _read("tests.py"),
        _write("test_discount.py", "def test_discount(): ...\n"),
        _done("The test is there."),
    )),
    ("Are there other callers of rounded()?", (
        _read("cart.py"), _read("money.py"), _read("tests.py"), _done("Only Cart.total."),
    )),
    ("Then make it private", (_read("money.py"), _write("names.py", "PRIVATE = True\n"), _done("It is."))),
    ("Write down what changed", (_write("NOTES.md", "- rounding\n- discount\n"), _done("See NOTES.md."))),
    ("Check the whole once more", (_read("cart.py", "money.py", "tests.py"), _done("All of it fits."))),
)  # fmt: skip
"""The user's message in each turn, and the replies of its steps."""


class CachingModel:
    """The script of a server: returns the replies in order, and counts how much of each request its cache
    had."""

    def __init__(self, replies: Sequence[Reply], *, delay: float = 0.0) -> None:
        self._replies = list(replies)
        self._before = b""
        self._delay = delay

    def __call__(self, request: RecordedRequest) -> Reply:
        cached = _alike(self._before, request.raw)
        self._before = request.raw
        reply = self._replies.pop(0) if self._replies else _done("That is all.")
        used = TokenUsage(
            input_tokens=len(request.raw) // BYTES_PER_TOKEN,
            output_tokens=sum(len(str(part)) for part in reply.parts) // BYTES_PER_TOKEN,
            cached_tokens=cached // BYTES_PER_TOKEN,
        )
        return replace(reply, usage=used, wait=self._delay)


def _alike(one: bytes, other: bytes) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def all_replies() -> list[Reply]:
    """The replies of all turns."""
    return [reply for _, replies in TURNS for reply in replies]
