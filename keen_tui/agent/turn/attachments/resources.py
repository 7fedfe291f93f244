"""The resources of MCP servers that a message names: `@github:issues://12`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.agent.turn.attachments.images import MOST_BYTES
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ResourceRefused
from keen_tui.domain.events import Notice, ResourcesAttached
from keen_tui.domain.messages import AttachedResource, Image

MOST_RESOURCES: Final = 20
"""The most resources of one message."""


class ReadResources(Struct, frozen=True):
    """The resources of a message, and a sentence for everything that can't be sent."""

    resources: tuple[AttachedResource, ...] = ()
    problems: tuple[str, ...] = ()


async def resources_of(text: str, images: Sequence[Image], setup: TurnSetup) -> ReadResources:
    """Ask the servers for the resources that a message names, all at once; waits for servers that are
    starting. `images` are those that go with it already."""
    servers = setup.toolbox.servers
    names = servers.resources_named(text) if servers and "@" in text else ()
    if servers is None or not names:
        return ReadResources()
    asked = (
        servers.resource(name, takes_images=setup.provider.takes_images) for name in names[:MOST_RESOURCES]
    )
    answers = await asyncio.gather(*asked, return_exceptions=True)
    found: list[AttachedResource] = []
    problems: list[str] = []
    room = MOST_BYTES - sum(len(image.content) for image in images)
    for name, answer in zip(names, answers, strict=False):
        if isinstance(answer, ResourceRefused):
            problems.append(f"{answer} The model gets only the name {name.shown}.")
            continue
        if isinstance(answer, BaseException):
            raise answer
        resource, room = await _within(answer.resource, room, setup)
        found.append(resource)
        problems += answer.problems
        if resource.images != answer.resource.images:
            problems.append(f"Images of {name.shown} aren't sent: those of the message would be over 15 MB.")
    if len(names) > MOST_RESOURCES:
        problems.append(f"A message takes {MOST_RESOURCES} resources: the model gets only the others' names.")
    return ReadResources(tuple(found), tuple(problems))


async def _within(resource: AttachedResource, room: int, setup: TurnSetup) -> tuple[AttachedResource, int]:
    """The resource without API keys and without the images that there is no room for, and the room left."""
    images = []
    for image in resource.images:
        if len(image.content) <= room:
            room -= len(image.content)
            images.append(image)
    text = await setup.toolbox.without_keys(resource.text)
    return replace(resource, text=text, images=tuple(images)), room


def publish_resources(turn: int, read: ReadResources, setup: TurnSetup) -> None:
    """Placed after the message that they belong to."""
    if read.resources:
        setup.publish(ResourcesAttached(turn=turn, resources=read.resources))
    for problem in read.problems:
        setup.publish(Notice(turn=turn, text=problem))
