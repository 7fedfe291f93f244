"""What the APIs share in sending images, and how a server says that it takes none."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from keen_tui.measures import counted
from keen_tui.memory.projection import NativeTrace, Part, UserText
from keen_tui.messages import Image
from keen_tui.providers.base import StepRequest

_BLOCK_TYPES = ("image", "image_url", "input_image")
"""What images are called in the content of a message."""

_PIXELS_PER_TOKEN = 750
_MOST_TOKENS = 1_600
"""About what models charge for an image; for none of those that are sent more than that."""

IMAGES = "images"
"""The option of a provider that is given up when the server takes no images."""

_ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|mmproj|must be a string", re.IGNORECASE)
_ABOUT_ONE_IMAGE = re.compile(
    r"large|size|exceed|dimension|pixel|decode|process|corrupt|base64|media.?type|too many", re.IGNORECASE
)
"""Words about an image that this server can't use: it may well take others."""


def base64_of(image: Image) -> str:
    """The content of the image as text."""
    return base64.b64encode(image.content).decode("ascii")


def data_url(image: Image) -> str:
    """The image as the two APIs of OpenAI want it."""
    return f"data:{image.media_type};base64,{base64_of(image)}"


def without_images(text: str, images: Sequence[Image]) -> str:
    """The text with a line in the place of its images, for a model that takes none."""
    names = ", ".join(image.name for image in images)
    return f"{text}\n\n[{counted(len(images), 'image')} not sent, since this model takes none: {names}]"


def holds_images(request: StepRequest) -> bool:
    """Whether any message of the user in the request has images."""
    return any(isinstance(part, UserText) and part.images for part in request.parts)


class ImageSize(NamedTuple):
    """The bytes of an image in a request, and about how many tokens it makes."""

    bytes: int
    tokens: int


def image_sizes(parts: Iterable[Part], *, are_sent: bool = True) -> list[ImageSize]:
    """The sizes of the images in a request of these parts, those in native traces included."""
    return list(chain.from_iterable(_sizes_in(part, are_sent) for part in parts))


def _sizes_in(part: Part, are_sent: bool) -> Iterator[ImageSize]:
    if isinstance(part, UserText) and are_sent:
        for image in part.images:
            tokens = min(-(-image.width * image.height // _PIXELS_PER_TOKEN), _MOST_TOKENS)
            yield ImageSize(4 * -(-len(image.content) // 3), tokens)
    if isinstance(part, NativeTrace):
        contents = (message.get("content") for message in part.messages)
        blocks = chain.from_iterable(content for content in contents if isinstance(content, list))
        sent = (block for block in blocks if block.get("type") in _BLOCK_TYPES)
        yield from (ImageSize(len(json.dumps(block)), _MOST_TOKENS) for block in sent)


def refuses_images(words: str) -> bool:
    """Whether a server says that it takes no images at all."""
    return bool(_ABOUT_IMAGES.search(words)) and not _ABOUT_ONE_IMAGE.search(words)
