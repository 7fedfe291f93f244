"""A server's result: text for the model, text for the user, and images. Data that isn't text is saved to
files."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.errors import ImageRefused
from keen_tui.domain.messages import Image
from keen_tui.system.folders import make_private
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size
from keen_tui.tools.files.image_files import usable_image, without_extras
from keen_tui.tools.process.bounded_output import cleaned
from keen_tui.tools.process.spooled_output import capped

NewFile = Callable[[], Path | None]
"""Names a new file of the session; None: nothing is saved."""

MOST_IMAGES: Final = 20
"""The model gets at most this many images of one result."""

_SHOWN: Final = 16_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SUFFIXES: Final = {
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
    "audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf",
    "application/json": ".json",
}  # fmt: skip


class ServerResult(Struct, frozen=True, kw_only=True):
    """The result of a server: `text` for the model, `shown` for the user, and images."""

    text: str
    shown: str
    is_error: bool
    images: tuple[Image, ...] = ()


def server_result(result: Mapping[str, Any], new_file: NewFile) -> ServerResult:
    """Read a result of the protocol. A text that is too long is cut and saved whole to a file. Blocks."""
    parts = _Parts(new_file)
    for block in result.get("content") or ():
        if isinstance(block, Mapping):
            parts.add(block)
    structured = result.get("structuredContent")
    if structured is not None:
        parts.add_structured(structured)
    text = "\n\n".join(parts.texts)
    shown = "\n\n".join(parts.shown)
    return ServerResult(
        text=capped(text, new_file),
        shown=cleaned(shown[:_SHOWN]),
        is_error=result.get("isError") is True,
        images=tuple(parts.images),
    )


class _Parts:
    """The parts of a result so far: texts for the model, texts for the user, images."""

    def __init__(self, new_file: NewFile) -> None:
        self.texts: list[str] = []
        self.shown: list[str] = []
        self.images: list[Image] = []
        self._given: list[str] = []
        """The texts that are blocks of their own."""
        self._new_file = new_file

    def add(self, block: Mapping[str, Any]) -> None:
        """Add a block of content."""
        match block.get("type"):
            case "text":
                self._given.append(str(block.get("text", "")))
                self._say(self._given[-1])
            case "image":
                self._add_image(block)
            case "audio":
                self._add_file(block.get("data"), str(block.get("mimeType", "")), "audio")
            case "resource_link":
                self._say(_link(block))
            case "resource":
                self._add_resource(block.get("resource"))
            case other:
                self._say(f"[content of the type {clean(str(other))[:80]}, which can't be shown]")

    def add_structured(self, value: object) -> None:
        """Add the structured result, unless the texts already have all of it, perhaps without a wrapper such
        as {"result": ...}. Texts that are only its items are left out then."""
        if any(_says(text, value) for text in self._given):
            self.shown = [_pretty(value) if _says(text, value) else text for text in self.shown]
            return
        inner = next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value
        if any(_says(text, inner) for text in self._given):
            return
        items = list(_items(inner))
        if items and len(items) == len(self._given) and all(map(_says, self._given, items)):
            if items == inner:
                return
            less = frozenset(self._given)
            self.texts = [text for text in self.texts if text not in less]
            self.shown = [text for text in self.shown if text not in less]
        self.texts.append(json.dumps(value, ensure_ascii=False))
        self.shown.append(_pretty(value))

    def _say(self, text: str) -> None:
        self.texts.append(text)
        self.shown.append(text)

    def _add_image(self, block: Mapping[str, Any]) -> None:
        kind = str(block.get("mimeType", ""))
        content = decoded(block.get("data"))
        name = self._add_file(block.get("data"), kind, "image")
        if content and len(self.images) < MOST_IMAGES:
            try:
                self.images.append(_usable(content, name or "image"))
            except ImageRefused as error:
                self._say(f"[{error}]")

    def _add_resource(self, resource: object) -> None:
        if not isinstance(resource, Mapping):
            return
        uri = clean(str(resource.get("uri", "")))
        if "text" in resource:
            self._say(f"[resource {uri}]\n{resource['text']}")
        else:
            self._add_file(resource.get("blob"), str(resource.get("mimeType", "")), f"resource {uri}")

    def _add_file(self, data: object, kind: str, what: str) -> str:
        """Save base64 data to a file and say where. Returns the file's name; "" if it wasn't saved."""
        content = decoded(data)
        if content is None:
            self._say(f"[{what} that can't be decoded]")
            return ""
        words = ", ".join(filter(None, (what, clean(kind)[:80], size(len(content)))))
        path = _kept(content, kind, self._new_file)
        self._say(f"[{words}; it is in {path}]" if path else f"[{words}]")
        return str(path) if path else ""


def prompt_text(result: Mapping[str, Any], new_file: NewFile) -> str:
    """The messages of a server's prompt as one text. Blocks."""
    blocks = [
        each["content"] for each in result.get("messages") or () if isinstance(each.get("content"), Mapping)
    ]
    return server_result({"content": blocks}, new_file).text


def _usable(content: bytes, name: str) -> Image:
    """The image; the readable part of a damaged PNG. Raises ImageRefused."""
    try:
        return usable_image(content, name)
    except ImageRefused:
        if (bare := without_extras(content)) == content:
            raise
        return usable_image(bare, name)


def _link(block: Mapping[str, Any]) -> str:
    words = filter(None, (block.get("title") or block.get("name"), block.get("description")))
    return f"[resource {block.get('uri', '')}] {': '.join(map(str, words))}".rstrip()


def decoded(data: object) -> bytes | None:
    """The bytes of base64 data; None if it isn't valid."""
    with suppress(binascii.Error, ValueError):
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    return None


def _says(text: str, value: object) -> bool:
    """Whether the text is the value, or its JSON."""
    if text == value:
        return True
    with suppress(ValueError, RecursionError):
        return bool(json.loads(text) == value)
    return False


def _items(value: object) -> Iterator[object]:
    """The items of nested lists without the empty ones: servers often send each as a text."""
    if isinstance(value, list):
        for each in value:
            yield from _items(each) if isinstance(each, list) else () if each is None else (each,)


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _kept(content: bytes, kind: str, new_file: NewFile) -> Path | None:
    """Write the content to a new file; None if it can't be written."""
    path = new_file()
    if path is None:
        return None
    suffix = _SUFFIXES.get(kind.partition(";")[0].strip(), ".bin")
    with suppress(OSError):
        make_private(path.parent)
        for number in range(1, 1_000):
            place = path.with_name(f"{path.stem}-{number}{suffix}")
            with suppress(FileExistsError), os.fdopen(os.open(place, _NEW, 0o600), "wb") as file:
                file.write(content)
                return place
    return None
