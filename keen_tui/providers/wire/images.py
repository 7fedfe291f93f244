"""Sending images, for every API, and how a server says that it takes none."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from keen_tui.domain.messages import Image, NativeMessage
from keen_tui.memory.projection import NativeTrace, Part, UserText
from keen_tui.providers.wire.provider import StepRequest
from keen_tui.text.units import counted

_BLOCK_TYPES = ("image", "image_url", "input_image")
"""The types of images in the content of a message."""

ImageBlock: TypeAlias = Callable[[Image], NativeMessage]
"""Makes an image a block of an API."""

_PIXELS_PER_TOKEN = 750
_MOST_TOKENS = 1_600
"""The most tokens that an image costs; models charge about that for the largest one that is sent."""

IMAGES = "images"
"""The option that a provider leaves out once the server has refused images."""

# The patterns are texts: compiling them would slow down every start, and few servers ever need them.
_ABOUT_IMAGES = r"image|vision|multi-?modal|mmproj|must be a string"
_ABOUT_ONE_IMAGE = (
    r"large|size|exceed|dimension|pixel|decode|process (?:the |this |your )?image\b|corrupt|base64"
    r"|media.?type|unsupported image\b|formats?\b|at most|flagged|policy|safety"
)
"""Words about one image that this server can't use; it may take others."""
_ABOUT_LATER = r"too many|rate.?limit|quota|overloaded|unavailable|try again|\(429\)"
"""Words of a server that may take the same image later."""


def base64_of(image: Image) -> str:
    """The content of the image as text."""
    return base64.b64encode(image.content).decode("ascii")


def data_url(image: Image) -> str:
    """The image in the form that both APIs of OpenAI take."""
    return f"data:{image.media_type};base64,{base64_of(image)}"


def without_images(text: str, images: Sequence[Image]) -> str:
    """The text with a line instead of its images, for a model that takes none."""
    names = ", ".join(image.name for image in images)
    return f"{text}\n\n[{counted(len(images), 'image')} not sent, since this model takes none: {names}]"


def text_without_images(message: NativeMessage) -> str | None:
    """The text of a trace's message, with a line instead of its images, for a model that takes none. None if
    the message has no images."""
    if not (images := _images_in(message)):
        return None
    texts = (block["text"] for block in message["content"] if isinstance(block.get("text"), str))
    note = f"[{counted(len(images), 'image')} not sent, since this model takes none]"
    return "\n\n".join((*texts, note))


def result_content(text: str, images: Sequence[Image], text_type: str, block: ImageBlock) -> Any:
    """The content of a tool result: its text, with its images behind it where there are any."""
    if not images:
        return text
    return [{"type": text_type, "text": text}, *map(block, images)]


def rewritten_content(content: Any, rewrite: Callable[[str], str]) -> Any:
    """The content of a tool result with its text rewritten. Its images go where the text changes."""
    if isinstance(content, str):
        return rewrite(content)
    text = "\n\n".join(block["text"] for block in content if isinstance(block.get("text"), str))
    shorter = rewrite(text)
    return content if shorter == text else shorter


def without_result_images(message: NativeMessage) -> NativeMessage:
    """The message without the images in its tool results, for a model that takes none. Their texts name
    them."""
    if isinstance(message.get("output"), list):
        return {**message, "output": [each for each in message["output"] if not _is_image(each)]}
    content = message.get("content")
    if not isinstance(content, list) or not any(_results_in(content)):
        return message
    return {**message, "content": [_without_images_inside(block) for block in content]}


def _without_images_inside(block: NativeMessage) -> NativeMessage:
    if not any(_results_in([block])):
        return block
    return {**block, "content": [each for each in block["content"] if not _is_image(each)]}


def _results_in(blocks: Sequence[NativeMessage]) -> Iterator[list[NativeMessage]]:
    """The contents of tool results that may have images."""
    for block in blocks:
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            yield block["content"]


def _is_image(block: NativeMessage) -> bool:
    return block.get("type") in _BLOCK_TYPES


def holds_images(request: StepRequest) -> bool:
    """Whether any message of the user in the request has images."""
    return any(_has_images(part) for part in request.parts)


class ImageSize(NamedTuple):
    """The bytes of an image in a request, and the approximate tokens that it costs."""

    bytes: int
    tokens: int


def image_sizes(parts: Iterable[Part], *, are_sent: bool = True) -> list[ImageSize]:
    """The sizes of the images in a request of these parts, those in native traces included."""
    return list(chain.from_iterable(_sizes_in(part, are_sent) for part in parts))


def _sizes_in(part: Part, are_sent: bool) -> Iterator[ImageSize]:
    if isinstance(part, UserText) and are_sent:
        for image in part.images:
            tokens = min(max(-(-image.width * image.height // _PIXELS_PER_TOKEN), 0), _MOST_TOKENS)
            yield ImageSize(4 * -(-len(image.content) // 3), tokens)
    if isinstance(part, NativeTrace) and are_sent:
        sent = chain.from_iterable(map(_all_images_in, part.messages))
        yield from (ImageSize(len(json.dumps(image)), _MOST_TOKENS) for image in sent)


def _has_images(part: Part) -> bool:
    if isinstance(part, NativeTrace):
        return any(map(_all_images_in, part.messages))
    return isinstance(part, UserText) and bool(part.images)


def _images_in(message: NativeMessage) -> list[NativeMessage]:
    """The images in a native message of the user, unchanged."""
    content = message.get("content")
    return [block for block in content if _is_image(block)] if isinstance(content, list) else []


def _all_images_in(message: NativeMessage) -> list[NativeMessage]:
    """The images in a native message, those in tool results included."""
    content, output = message.get("content"), message.get("output")
    results = [output] if isinstance(output, list) else []
    results += _results_in(content) if isinstance(content, list) else []
    return [*_images_in(message), *(block for result in results for block in result if _is_image(block))]


def refuses_images(words: str) -> bool:
    """Whether a server says that it takes no images at all."""
    return _says(_ABOUT_IMAGES, words) and not (_says(_ABOUT_ONE_IMAGE, words) or _says(_ABOUT_LATER, words))


def _says(pattern: str, words: str) -> bool:
    return re.search(pattern, words, re.IGNORECASE) is not None
