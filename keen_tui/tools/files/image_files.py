"""Images that a message names by path: found in its text, read, and made small enough for every model."""

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
"""Pixels of the longer edge. Beyond that models scale images down themselves, and charge for the rest."""

MOST_BYTES: Final = 3_500_000
"""Of an image: 5 MB in base64 is what the strictest API takes."""

LARGEST_FILE: Final = 100_000_000
"""Bytes of a file that is looked into at all."""

_MOST_UNPACKED: Final = 90_000_000
"""Pixels of a file that is unpacked at all."""

_NAMED = re.compile(r"""@(?:"([^"\n]+)"|([^\s"@][^\s"]*))""")
_BEFORE_NAMES = "([{<'\"`"
_BEHIND_WORDS = ".,;:!?)]}>'\"`"
_MEDIA_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_JPEG_QUALITY = 85
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
"""What a decoder raises for a damaged file depends on the damage."""


def named_images(text: str) -> tuple[str, ...]:
    """The paths behind an @ in the text that end as image files do, each once, in order."""
    return tuple(dict.fromkeys(path for path in _named_paths(text) if path.lower().endswith(IMAGE_SUFFIXES)))


def read_image(workspace: Path, name: str) -> Image:
    """The image of that path, which may begin with ~; others are relative to the workspace. One that is
    larger than models take is made smaller. Blocks, for up to a second: call it in a thread.

    Raises:
        ImageRefused: there is none, or it can't be used; the sentence says why.
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
    """The content of an image file as every model takes it. Blocks as `read_image` does.

    Raises:
        ImageRefused: it is no PNG, JPEG, GIF or WebP, or it is damaged.
    """
    from PIL import Image as Pictures  # noqa: PLC0415 - few messages name images
    from PIL import UnidentifiedImageError  # noqa: PLC0415

    # Decoders warn of odd files on stderr, where the screen is drawn. The filter stays: to set and take back
    # filters in one thread takes those of others back.
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


def _named_paths(text: str) -> Iterator[str]:
    for found in _NAMED.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if not before or before.isspace() or before in _BEFORE_NAMES:
            yield found[1] or found[2].rstrip(_BEHIND_WORDS)


def _usable(picture: Picture, content: bytes, name: str) -> Image:
    """The file as it is where it can be sent, else the picture anew: upright, smaller, and only once."""
    media_type = _MEDIA_TYPES.get(picture.format or "")
    is_still = not getattr(picture, "is_animated", False)
    if media_type and is_still and max(picture.size) <= MOST_PIXELS and len(content) <= MOST_BYTES:
        picture.load()
    else:
        picture, media_type, content = _smaller(picture)
    width, height = picture.size
    return Image(name=name, media_type=media_type, width=width, height=height, content=content)


def _smaller(picture: Picture) -> tuple[Picture, str, bytes]:
    """Made smaller before anything else: a photo is then never unpacked whole."""
    from PIL import ImageOps  # noqa: PLC0415

    format, smaller = picture.format, _blendable(picture)
    smaller.thumbnail((MOST_PIXELS, MOST_PIXELS))
    with suppress(*_DAMAGE):  # where nothing readable says which side is up, it is the upper one
        ImageOps.exif_transpose(smaller, in_place=True)
    if format == "PNG" or "A" in smaller.getbands():
        content = _written(smaller, "PNG")
        if len(content) <= MOST_BYTES:
            return smaller, "image/png", content
    return smaller, "image/jpeg", _written(smaller.convert("RGB"), "JPEG")


def _blendable(picture: Picture) -> Picture:
    """The picture with colours that can be mixed: of a palette, whole rows and columns would be left out,
    and small print with them."""
    if picture.mode not in ("P", "1"):
        return picture
    return picture.convert("RGBA" if "transparency" in picture.info else "RGB")


def _written(picture: Picture, format: str) -> bytes:
    file = BytesIO()
    picture.save(file, format, optimize=True, quality=_JPEG_QUALITY)
    return file.getvalue()
