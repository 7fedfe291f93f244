"""The files of a workspace and the user's earlier texts, for tests of the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from keen_tui.domain.reports import Earlier, KeptImage
from keen_tui.tools.files.image_files import usable_image

PATHS = ("src/cart.py", "src/cash box.py", "src/")


class FakeFiles:
    """Offers the paths that contain the letters, in the given order, once for each of the `rounds`. `asked`
    are the letters so far."""

    def __init__(self, *rounds: Sequence[str]) -> None:
        self.rounds = rounds or (PATHS,)
        self.asked: list[str] = []

    async def matching(self, letters: str, most: int) -> AsyncIterator[Sequence[str]]:
        self.asked.append(letters)
        for paths in self.rounds:
            yield [path for path in paths if letters in path][:most]


class FakePrompts:
    """Returns `earlier`, whose drafts it passes on once. `kept` are the sent messages, `drafts` the unsent
    texts, `images` the pasted images by path."""

    def __init__(self, earlier: Earlier | None = None) -> None:
        self._earlier = earlier or Earlier()
        self.kept: list[str] = []
        self.drafts: list[str] = []
        self.images: dict[Path, bytes] = {}
        self.is_closed = False

    async def earlier(self) -> Earlier:
        now = self._earlier
        self._earlier = replace(now, here=(*now.here, *now.drafts[:-1]), drafts=())
        return replace(now, here=(*now.here, *self.kept))

    def sent(self, text: str) -> None:
        self.kept.append(text)

    def keep_draft(self, text: str) -> None:
        self.drafts.append(text)

    async def keep_image(self, content: bytes) -> KeptImage:
        image = usable_image(content, "the image")
        path = Path(f"/pasted/{len(self.images)}.png")
        self.images[path] = image.content
        return KeptImage(path=path, width=image.width, height=image.height)

    async def close(self) -> None:
        self.is_closed = True
