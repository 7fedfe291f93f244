"""The fate of the changes that a command made in a shadow."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace


class BroughtBack(Struct, frozen=True):
    """The fate of a command's changes: sentences about those that stay in the shadow, and the `.git` files of
    work trees that it made. `is_done`: refs or HEAD changed, so running the command again might do that
    twice. `is_held`: nothing could be brought back yet."""

    sentences: tuple[str, ...] = ()
    trees: tuple[Path, ...] = ()
    is_done: bool = False
    is_held: bool = False

    def before(self, later: BroughtBack) -> BroughtBack:
        """This and what came back later, which alone decides about `is_done` and `is_held`."""
        sentences = (*self.sentences, *later.sentences)
        return replace(later, sentences=sentences, trees=(*self.trees, *later.trees))
