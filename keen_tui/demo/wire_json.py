"""Server-sent events with JSON in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def sse(payload: Mapping[str, Any], name: str = "") -> bytes:
    """One server-sent event with the payload as JSON, and with an `event` field when it has a name."""
    head = f"event: {name}\n".encode() if name else b""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    try:
        data = text.encode()
    except UnicodeEncodeError:  # a lone surrogate: only an escape can carry it
        data = json.dumps(payload).encode()
    return head + b"data: " + data + b"\n\n"
