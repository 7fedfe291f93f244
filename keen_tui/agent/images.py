"""The images that a message names go with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import Struct

from keen_tui.agent.parts import Agent
from keen_tui.errors import ImageRefused
from keen_tui.events import ImagesAttached, Notice
from keen_tui.messages import Image
from keen_tui.tools.image_files import named_images, read_image

MOST_IMAGES = 20
"""Images of one message. From there on APIs take smaller ones only."""


class ReadImages(Struct, frozen=True):
    """The images of a message, and a sentence for each that can't go with it."""

    images: tuple[Image, ...] = ()
    problems: tuple[str, ...] = ()


async def images_of(text: str, agent: Agent) -> ReadImages:
    """Read the images that a message names, in a thread."""
    names = named_images(text)
    if not names:
        return ReadImages()
    if not agent.provider.takes_images:
        return ReadImages((), (f"{agent.provider.model} takes no images: it is told only the path.",))
    return await asyncio.to_thread(_read, agent.workspace, names)


def publish_images(turn: int, read: ReadImages, agent: Agent) -> None:
    """Behind the message that they belong to."""
    if read.images:
        agent.publish(ImagesAttached(turn=turn, images=read.images))
    for problem in read.problems:
        agent.publish(Notice(turn=turn, text=problem))


def _read(workspace: Path, names: tuple[str, ...]) -> ReadImages:
    images: list[Image] = []
    problems: list[str] = []
    for name in names[:MOST_IMAGES]:
        try:
            images.append(read_image(workspace, name))
        except ImageRefused as refused:
            problems.append(f"{refused} The model is told only the path.")
    if len(names) > MOST_IMAGES:
        problems.append(f"{MOST_IMAGES} images go with a message: the model is told only the paths of more.")
    return ReadImages(tuple(images), tuple(problems))
