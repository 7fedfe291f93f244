"""Small images for messages."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from PIL import Image as Pictures


def png(width: int = 40, height: int = 30, colour: str = "#305080") -> bytes:
    """A picture of one colour."""
    return written("PNG", width, height, colour)


def written(format: str, width: int = 40, height: int = 30, colour: str = "#305080", **options: Any) -> bytes:
    """A picture of one colour, as a file of that format."""
    file = BytesIO()
    Pictures.new("RGB", (width, height), colour).save(file, format, **options)
    return file.getvalue()


def opened(content: bytes) -> Pictures.Image:
    """The picture in a file."""
    return Pictures.open(BytesIO(content))
