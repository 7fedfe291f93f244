"""Changes of turns, for tests of the screen."""

from __future__ import annotations

from keen_tui.domain.reports import Changes, FileVersions

CART = """\
from money import Money


class Cart:
    def __init__(self) -> None:
        self.lines = []

    def total(self) -> Money:
        net = sum(line.net for line in self.lines)
        return self.discount(net + self.tax(net))

    def discount(self, amount: Money) -> Money:
        return amount - amount * self.rebate
"""
FIXED = CART.replace(
    "        return self.discount(net + self.tax(net))\n",
    "        # tax is due on what the customer pays\n"
    "        net = self.discount(net)\n"
    "        return net + self.tax(net)\n",
)


def file(path: str, before: str | bytes | None, after: str | bytes | None, **more: object) -> FileVersions:
    return FileVersions(path=path, before=_bytes(before), after=_bytes(after), **more)  # type: ignore[arg-type]


def turn_three(**more: object) -> Changes:
    """A fix, a new test, an image."""
    files = (
        file("src/cart.py", CART, FIXED),
        file("tests/test_cart.py", None, "def test_total() -> None:\n    assert Cart().total() == 0\n"),
        file("docs/cart.png", b"\x89PNG\x00" + b"1" * 300, b"\x89PNG\x00" + b"2" * 500),
    )
    fields = {"turn": 3, "title": "tax is wrong when there is a discount", "files": files, "unwatched": 2}
    return Changes(**(fields | more))  # type: ignore[arg-type]


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content
