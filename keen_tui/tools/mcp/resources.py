"""Resources of servers, which a message names as `@server:uri`: which are offered, and what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.errors import ImageRefused, ResourceRefused, ServerFailed
from keen_tui.domain.messages import AttachedResource, Image
from keen_tui.domain.servers import ServerResource
from keen_tui.text.disguise import without_hidden
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.server_tool_names import LONGEST_LINE, shown_line
from keen_tui.tools.files.image_files import named_paths, usable_image
from keen_tui.tools.mcp.results import MOST_IMAGES, NewFile, decoded
from keen_tui.tools.mcp.server import ServerConnection
from keen_tui.tools.process.spooled_output import capped

MOST_RESOURCES: Final = 2_000
"""Keen offers at most this many resources of a server."""

MOST_SECONDS: Final = 30.0
"""How long a server may take to answer while the user waits for a list, a resource or a prompt."""

_LIST_SECONDS: Final = 60.0
_MOST_PARTS: Final = 200
_LONGEST_URI: Final = 1_000


class ResourceName(Struct, frozen=True):
    """A resource as a message names it: the server's own name, and the text after the colon."""

    server: str
    uri: str

    @property
    def shown(self) -> str:
        """Short and safe to show."""
        return clean(f"{self.server}:{self.uri}")[:LONGEST_LINE]


class ResourceContent(Struct, frozen=True):
    """The part of a resource that is sent, and a sentence for each part that isn't."""

    resource: AttachedResource
    problems: tuple[str, ...] = ()


def resource_named(path: str, servers: Iterable[str]) -> ResourceName | None:
    """The resource that a name after an @ means; None for a file. The case of the server's name doesn't
    matter."""
    part, colon, uri = path.partition(":")
    name = next((each for each in servers if each.lower() == part.lower()), None)
    return ResourceName(name, uri) if colon and uri and name is not None else None


def resources_named(text: str, servers: Iterable[str]) -> tuple[ResourceName, ...]:
    """The resources that the text names, each once, in order."""
    servers = tuple(servers)
    found = (resource_named(path, servers) for path in named_paths(text))
    return tuple(dict.fromkeys(each for each in found if each))


def server_resources(listed: Iterable[Mapping[str, Any]]) -> tuple[ServerResource, ...]:
    """The listed resources that a message can name, in the server's order, each once."""
    found: dict[str, ServerResource] = {}
    for each in listed:
        uri = str(each.get("uri", ""))
        if _can_be_written(uri) and uri not in found:
            words = each.get("title") or each.get("name") or each.get("description") or ""
            found[uri] = ServerResource(uri=uri, title=shown_line(words))
        if len(found) == MOST_RESOURCES:
            break
    return tuple(found.values())


class ResourceLists:
    """The resources that servers list. Keen asks a server when the user begins to name one, and keeps its
    list for a minute, or until `forget`."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[float, asyncio.Task[tuple[ServerResource, ...]]]] = {}

    async def of(self, connection: ServerConnection) -> tuple[ServerResource, ...]:
        """The resources of that server; none if it isn't ready or doesn't answer. If the caller is cancelled,
        the request goes on for the next caller."""
        name, now = connection.server.name, asyncio.get_running_loop().time()
        asked_at, listing = self._asked.get(name, (0.0, None))
        if listing is None or now - asked_at > _LIST_SECONDS:
            listing = asyncio.create_task(_listed(connection), name=f"resources of {name}")
            self._asked[name] = now, listing
        return await asyncio.shield(listing)

    def forget(self) -> None:
        """Drop all lists, as one may have changed."""
        self._asked.clear()


async def _listed(connection: ServerConnection) -> tuple[ServerResource, ...]:
    try:
        async with asyncio.timeout(MOST_SECONDS):
            return server_resources(await connection.resources())
    except (ServerFailed, TimeoutError):
        return ()


async def content_of_resource(
    connection: ServerConnection, name: ResourceName, new_file: NewFile, *, takes_images: bool
) -> ResourceContent:
    """Read a resource; waits while its server is starting. The text is cut like a tool's result.

    Raises:
        ResourceRefused: the server doesn't return it, or nothing in it can be sent.
    """
    seconds = min(connection.server.tool_timeout, MOST_SECONDS)
    try:
        await connection.link()
    except ServerFailed as error:
        raise ResourceRefused(f"The MCP server {name.server} isn't ready: {_reason(error)}.") from error
    try:
        async with asyncio.timeout(seconds):
            result = await connection.resource(name.uri)
    except TimeoutError:
        raise ResourceRefused(f"The MCP server {name.server} didn't answer in {seconds:g} seconds.") from None
    except ServerFailed as error:
        raise ResourceRefused(f"{name.shown} can't be read: {_reason(error)}.") from error
    return await asyncio.to_thread(_content, result, name, new_file, takes_images=takes_images)


def _content(
    result: Mapping[str, Any], name: ResourceName, new_file: NewFile, *, takes_images: bool
) -> ResourceContent:
    parts = _ContentParts(name, takes_images=takes_images)
    contents = [each for each in result.get("contents") or () if isinstance(each, Mapping)]
    for each in contents[:_MOST_PARTS]:
        parts.add(each, names_itself=len(contents) > 1)
    parts.left_out += max(len(contents) - _MOST_PARTS, 0)
    problems = [*parts.problems]
    if parts.left_out:
        what = counted(parts.left_out, "part")
        problems.append(f"{what} of {name.shown} can't be sent: neither text nor an image.")
    if not parts.texts:
        raise ResourceRefused(" ".join(problems) or f"{name.shown} is empty.")
    text = capped("\n\n".join(parts.texts), new_file).strip("\n")
    resource = AttachedResource(
        server=name.server, uri=name.uri, text=text, bytes=parts.bytes, images=tuple(parts.images)
    )
    return ResourceContent(resource, tuple(problems))


class _ContentParts:
    """The parts of a resource so far: texts, images, and what can't be sent."""

    def __init__(self, name: ResourceName, *, takes_images: bool) -> None:
        self.texts: list[str] = []
        self.images: list[Image] = []
        self.problems: list[str] = []
        self.bytes = 0
        self.left_out = 0
        self._name = name
        self._takes_images = takes_images

    def add(self, content: Mapping[str, Any], *, names_itself: bool) -> None:
        """Add one part of the result. `names_itself`: put its address before its text."""
        head = f"[{shown_line(content.get('uri') or '')}]\n" if names_itself else ""
        if isinstance(text := content.get("text"), str):
            self.bytes += len(text.encode("utf-8", "replace"))
            if text.strip():
                self.texts.append(f"{head}{text}")
            return
        blob = decoded(content.get("blob"))
        kind = str(content.get("mimeType", "")).lower()
        if blob is None or not kind.startswith("image/"):
            self.left_out += 1
        elif not self._takes_images:
            self.problems.append(f"{self._name.shown} is an image, which the model doesn't take.")
        elif len(self.images) == MOST_IMAGES:
            self.left_out += 1
        else:
            self._add_image(blob, head)

    def _add_image(self, blob: bytes, head: str) -> None:
        try:
            image = usable_image(blob, self._name.shown)
        except ImageRefused as refused:
            self.problems.append(str(refused))
            return
        self.images.append(image)
        self.bytes += len(blob)
        self.texts.append(f"{head}[an image, {image.width} × {image.height}]")


def _can_be_written(uri: str) -> bool:
    """Whether a message can contain the address: it has no hidden characters and no quote."""
    is_plain = uri == clean(uri) == without_hidden(uri)[0]
    return 0 < len(uri) <= _LONGEST_URI and is_plain and '"' not in uri


def _reason(error: ServerFailed) -> str:
    return clean(str(error))[:LONGEST_LINE].rstrip(".")
