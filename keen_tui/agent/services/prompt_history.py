"""The history of prompts, for a front end: saved in the background, in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.reports import Earlier, KeptImage
from keen_tui.storage.prompts import PromptStore, SavedPrompt
from keen_tui.tools.files.image_files import usable_image

log = logging.getLogger(__name__)

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


class PromptHistory:
    """Reads and writes in one thread. What can't be kept is told of in the log: the message itself goes its
    way."""

    def __init__(self, store: PromptStore, folder: str) -> None:
        self._store = store
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="prompts")

    async def earlier(self) -> Earlier:
        """Returns the earlier prompts, and the drafts that were left in this folder, which are deleted."""
        sent: Sequence[SavedPrompt] = await self._done(self._store.sent) or ()
        drafts: Sequence[str] = await self._done(self._store.take_drafts) or ()
        here = [each.text for each in sent if each.folder == self._folder]
        elsewhere = [each.text for each in sent if each.folder != self._folder]
        return Earlier(here=tuple(here), elsewhere=tuple(elsewhere), drafts=tuple(drafts))

    def sent(self, text: str) -> None:
        """A message was sent: remember it."""
        self._thread.submit(_logged, self._store.add, text)

    def keep_draft(self, text: str) -> None:
        """This is written and not sent; blank for nothing."""
        self._thread.submit(_logged, self._store.keep_draft, text)

    async def keep_image(self, content: bytes) -> KeptImage:
        """Keep an image that was pasted, so that a message can name it.

        Raises:
            ImageRefused: it is none that a model could be shown.
            StorageFailed: it can't be kept.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._kept_image, content)

    def _kept_image(self, content: bytes) -> KeptImage:
        image = usable_image(content, "what is in the clipboard")
        path = self._store.keep_image(image.content, image.media_type.removeprefix("image/"))
        return KeptImage(path=path, width=image.width, height=image.height)

    async def close(self) -> None:
        """Wait until all of it is on the disk."""
        self._thread.submit(_logged, self._store.close)
        await asyncio.to_thread(self._thread.shutdown)

    async def _done(self, read: Callable[[], _Got]) -> _Got | None:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, read)
        except StorageFailed as failed:
            log.warning("%s", failed)
            return None


def _logged(action: Callable[_Given, None], *given: _Given.args, **named: _Given.kwargs) -> None:
    try:
        action(*given, **named)
    except StorageFailed as failed:
        log.warning("%s", failed)
