"""Images that a message names by path: finds the names, reads the files, and makes them small enough for
every model."""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keen_tui.domain.errors import ImageRefused
from keen_tui.domain.messages import IMAGE_SUFFIXES, Image
from keen_tui.system.safe_read import NoFile, content_of
from keen_tui.text.sanitize import clean

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_PIXELS: Final = 1_568
"""Pixels of the longer edge. Models scale larger images down themselves, and charge for them."""

MOST_BYTES: Final = 3_500_000
"""Bytes of an image: the strictest API takes 5 MB in base64."""

LARGEST_FILE: Final = 100_000_000
"""Bytes of the largest file that is read."""

_MOST_UNPACKED: Final = 90_000_000
"""Pixels of the largest image that is decoded."""

_NAMED = re.compile(r"""@(?:"([^"\n]+)"|([^\s"@][^\s"]*))""")
_BEFORE_NAMES = "([{<'\"`"
_BEHIND_WORDS = ".,;:!?)]}>'\"`"
_MEDIA_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_JPEG_QUALITY = 85
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_DAMAGE: Final = (
    OSError,
    EOFError,
    ValueError,
    SyntaxError,
    ArithmeticError,
    LookupError,
    TypeError,
    MemoryError,
    AssertionError,
    struct.error,
)
"""The exceptions of decoders for damaged files; they depend on the damage."""


def named_paths(text: str) -> Iterator[str]:
    """Yields the names after each @ in the text: paths, and names of resources."""
    for found in _NAMED.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if not before or before.isspace() or before in _BEFORE_NAMES:
            yield found[1] or found[2].rstrip(_BEHIND_WORDS)


def named_images(text: str) -> tuple[str, ...]:
    """The paths after an @ in the text that end like image files, each once, in order."""
    return tuple(dict.fromkeys(path for path in named_paths(text) if path.lower().endswith(IMAGE_SUFFIXES)))


def read_image(workspace: Path, name: str) -> Image:
    """The image at that path, which may begin with ~; others are relative to the workspace. An image that is
    too large for models is made smaller. Blocks, for up to a second: call it in a thread.

    Raises:
        ImageRefused: there is no image, or it can't be used; the sentence says why.
    """
    try:
        path = (workspace / Path(name).expanduser()).resolve()
        content = content_of(path, most=LARGEST_FILE)
    except NoFile:
        raise ImageRefused(f"{clean(name)} isn't a file.") from None
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ImageRefused(f"{clean(name)} can't be read: {why}.") from None
    if content is None:
        raise ImageRefused(f"{clean(name)} is not there.")
    return usable_image(content, name)


def usable_image(content: bytes, name: str) -> Image:
    """An image in a form that every model takes, from the content of a file. Blocks like `read_image`.

    Raises:
        ImageRefused: it isn't a PNG, JPEG, GIF or WebP, or it is damaged.
    """
    from PIL import Image as Pictures  # noqa: PLC0415 - few messages name images
    from PIL import UnidentifiedImageError  # noqa: PLC0415

    # Decoders warn about odd files on stderr, where the screen is drawn. The filter stays: resetting filters
    # in one thread would reset those of other threads.
    warnings.filterwarnings("ignore", module=r"PIL\.")
    try:
        with Pictures.open(BytesIO(content), formats=tuple(_MEDIA_TYPES)) as picture:
            if picture.width * picture.height > _MOST_UNPACKED:
                raise Pictures.DecompressionBombError
            return _usable(picture, content, name)
    except Pictures.DecompressionBombError:
        raise ImageRefused(f"{clean(name)} has too many pixels.") from None
    except UnidentifiedImageError:
        raise ImageRefused(f"{clean(name)} isn't a PNG, JPEG, GIF or WebP image.") from None
    except _DAMAGE:
        raise ImageRefused(f"{clean(name)} is damaged: it can't be shown to a model.") from None


def without_extras(content: bytes) -> bytes:
    """A PNG without the parts that no picture needs, such as colour profiles and comments, one of which may
    be damaged. Other content comes back unchanged."""
    if not content.startswith(_PNG):
        return content
    kept, place = [_PNG], len(_PNG)
    while place + 12 <= len(content):
        end = place + 12 + int.from_bytes(content[place : place + 4], "big")
        is_needed = content[place + 4 : place + 5].isupper() or content[place + 4 : place + 8] == b"tRNS"
        if is_needed:
            kept.append(content[place:end])
        place = end
    return b"".join(kept)


def _usable(picture: Picture, content: bytes, name: str) -> Image:
    """The unchanged file if it can be sent, else the picture encoded again: upright, smaller, and one frame
    only."""
    media_type = _MEDIA_TYPES.get(picture.format or "")
    is_still = not getattr(picture, "is_animated", False)
    if media_type and is_still and max(picture.size) <= MOST_PIXELS and len(content) <= MOST_BYTES:
        picture.load()
    else:
        picture, media_type, content = _smaller(picture)
    width, height = picture.size
    return Image(name=name, media_type=media_type, width=width, height=height, content=content)


def _smaller(picture: Picture) -> tuple[Picture, str, bytes]:
    """Make the picture smaller before anything else, so that a photo is never decoded whole."""
    from PIL import ImageOps  # noqa: PLC0415

    format, smaller = picture.format, _blendable(picture)
    smaller.thumbnail((MOST_PIXELS, MOST_PIXELS))
    with suppress(*_DAMAGE):  # without readable orientation data, the picture is upright
        ImageOps.exif_transpose(smaller, in_place=True)
    if format == "PNG" or "A" in smaller.getbands():
        content = _written(smaller, "PNG")
        if len(content) <= MOST_BYTES:
            return smaller, "image/png", content
    return smaller, "image/jpeg", _written(smaller.convert("RGB"), "JPEG")


def _blendable(picture: Picture) -> Picture:
    """The picture with colours that can be mixed. Scaling a palette image would drop whole rows and columns,
    and small print with them."""
    if picture.mode not in ("P", "1"):
        return picture
    return picture.convert("RGBA" if "transparency" in picture.info else "RGB")


def _written(picture: Picture, format: str) -> bytes:
    file = BytesIO()
    picture.save(file, format, optimize=True, quality=_JPEG_QUALITY)
    return file.getvalue()
