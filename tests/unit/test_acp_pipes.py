"""The transport of the front end of editors: what a hostile or broken editor writes ends nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from keen_tui.frontends.acp.pipes import PipeTransport


async def received(*lines: object) -> dict[str, Any] | None:
    """The first message of these lines that is passed on."""
    reader = asyncio.StreamReader()
    reader.feed_data("".join(f"{json.dumps(line)}\n" for line in lines).encode())
    reader.feed_eof()
    return await PipeTransport(reader, Unread()).receive()  # type: ignore[arg-type]


class Unread:
    """The end of a pipe that nobody reads any more."""

    def is_closing(self) -> bool:
        return True


@pytest.mark.parametrize("error", ["no", 5, [1], True])
async def test_an_error_without_the_form_of_one_is_an_error(error: object) -> None:
    message = await received({"id": 1, "error": error})
    assert message and isinstance(message["error"]["message"], str)


async def test_a_result_beside_an_error_does_not_count() -> None:
    error = {"code": 1, "message": "no"}
    assert await received({"id": 1, "result": {"a": 1}, "error": error}) == {"id": 1, "error": error}
    assert await received({"id": 1, "result": {"a": 1}, "error": None}) is not None


@pytest.mark.parametrize("id", [[1], {}, True, 1.5, float("inf")])
async def test_a_request_needs_an_id_that_can_be_answered(id: object) -> None:
    good = {"id": "x", "method": "initialize"}
    assert await received({"id": id, "method": "initialize"}, good) == good
