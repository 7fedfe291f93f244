"""Reads the images that a message names."""

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
"""The most images in one message. Beyond that, APIs take only smaller ones."""

MOST_BYTES = 15_000_000
"""The most bytes of all images of one message: 20 MB in base64. The strictest API takes requests of 32 MB."""


class ReadImages(Struct, frozen=True):
    """The images of a message, and a sentence for each one that can't be sent."""

    images: tuple[Image, ...] = ()
    problems: tuple[str, ...] = ()


async def images_of(text: str, setup: TurnSetup) -> ReadImages:
    """Read the images that a message names, in a thread. A cancelled caller doesn't wait, and no further
    image is read after the current one."""
    names = await asyncio.to_thread(named_images, text) if "@" in text else ()
    if names and (servers := setup.toolbox.servers):
        names = tuple(name for name in names if not servers.names_resource(name))
    if not names:
        return ReadImages()
    if not setup.provider.takes_images:
        return ReadImages((), (f"{setup.provider.model} doesn't take images: it gets only the path.",))
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
        problems.append(f"A message takes {MOST_IMAGES} images: the model gets only the paths of the others.")
    return ReadImages(tuple(images), tuple(problems))


def _require_room(image: Image, others: Sequence[Image]) -> None:
    if sum(len(each.content) for each in (image, *others)) > MOST_BYTES:
        raise ImageRefused(f"With {clean(image.name)} the images of the message would be over 15 MB.")


def publish_images(turn: int, read: ReadImages, setup: TurnSetup) -> None:
    """Placed after the message that they belong to."""
    if read.images:
        setup.publish(ImagesAttached(turn=turn, images=read.images))
    for problem in read.problems:
        setup.publish(Notice(turn=turn, text=problem))
