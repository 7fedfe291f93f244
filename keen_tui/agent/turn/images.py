"""The images that a message names go with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ImageRefused
from keen_tui.domain.events import ImagesAttached, Notice
from keen_tui.domain.messages import Image
from keen_tui.text.sanitize import clean
from keen_tui.tools.files.image_files import named_images, read_image

MOST_IMAGES = 20
"""Images of one message. From there on APIs take smaller ones only."""

MOST_BYTES = 15_000_000
"""Of the images of one message together: 20 MB in base64. The strictest API takes requests of 32 MB."""


class ReadImages(Struct, frozen=True):
    """The images of a message, and a sentence for each that can't go with it."""

    images: tuple[Image, ...] = ()
    problems: tuple[str, ...] = ()


async def images_of(text: str, setup: TurnSetup) -> ReadImages:
    """Read the images that a message names, in a thread. Whoever is cancelled waits for none of them, and
    after the one that is being read no other is."""
    names = await asyncio.to_thread(named_images, text) if "@" in text else ()
    if not names:
        return ReadImages()
    if not setup.provider.takes_images:
        return ReadImages((), (f"{setup.provider.model} takes no images: it gets only the path.",))
    images: list[Image] = []
    problems: list[str] = []
    for name in names[:MOST_IMAGES]:
        try:
            image = await asyncio.to_thread(read_image, setup.workspace, name)
            _require_room(image, images)
            images.append(image)
        except ImageRefused as refused:
            problems.append(f"{refused} The model gets only the path.")
    if len(names) > MOST_IMAGES:
        problems.append(f"{MOST_IMAGES} images go with a message: the model is told only the paths of more.")
    return ReadImages(tuple(images), tuple(problems))


def _require_room(image: Image, others: Sequence[Image]) -> None:
    if sum(len(each.content) for each in (image, *others)) > MOST_BYTES:
        raise ImageRefused(f"With {clean(image.name)} the images of the message would be over 15 MB.")


def publish_images(turn: int, read: ReadImages, setup: TurnSetup) -> None:
    """Behind the message that they belong to."""
    if read.images:
        setup.publish(ImagesAttached(turn=turn, images=read.images))
    for problem in read.problems:
        setup.publish(Notice(turn=turn, text=problem))
