"""Turns the content blocks of a prompt into a message, which names the attached images and files."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from keen_tui.domain.errors import ImageRefused
from keen_tui.frontends.acp.tool_calls import fenced
from keen_tui.frontends.shared.mentions import mention
from keen_tui.frontends.shared.port import PromptsPort
from keen_tui.text.sanitize import clean

PromptBlock = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)
_NOT_KEPT: Final = "Keen can't take images here."


async def message_of(blocks: Sequence[PromptBlock], workspace: Path, prompts: PromptsPort | None) -> str:
    """The message: the words, then the texts that the editor attaches.

    Raises:
        ImageRefused: an image can't be used, or there is audio.
        StorageFailed: an image can't be saved.
    """
    words: list[str] = []
    behind: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                words.append(block.text)
            case ImageContentBlock():
                words.append(await _image(block.data, workspace, prompts))
            case ResourceContentBlock():
                words.append(_link(block, workspace))
            case EmbeddedResourceContentBlock(resource=TextResourceContents() as resource):
                words.append(_name(resource.uri, workspace))
                behind.append(f"{_name(resource.uri, workspace)}:\n{fenced(resource.text)}")
            case EmbeddedResourceContentBlock(resource=BlobResourceContents() as resource):
                is_image = (resource.mime_type or "").startswith("image/")
                name = _name(resource.uri, workspace)
                words.append(await _image(resource.blob, workspace, prompts) if is_image else name)
            case AudioContentBlock():
                raise ImageRefused("Keen doesn't take audio.")
    return "\n\n".join(filter(None, (_joined(words), *behind)))


def is_typed(blocks: Sequence[PromptBlock]) -> bool:
    """Whether the prompt begins with text of the person, so that it may call a slash command."""
    return bool(blocks) and isinstance(blocks[0], TextContentBlock)


def _joined(words: Sequence[str]) -> str:
    """The words joined; a space separates a name from its neighbours."""
    text = ""
    for word in words:
        touches = text and word and not (text[-1].isspace() or word[0].isspace())
        text += f" {word}" if touches and (word.startswith("@") or "@" in text[-200:]) else word
    return text


async def _image(data: str, workspace: Path, prompts: PromptsPort | None) -> str:
    """Save an image; returns its name in the message."""
    if prompts is None:
        raise ImageRefused(_NOT_KEPT)
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageRefused("An image of the prompt isn't base64.") from error
    kept = await prompts.keep_image(content)
    return mention(kept.path, workspace)


def _link(block: ResourceContentBlock, workspace: Path) -> str:
    name = _name(block.uri, workspace)
    return name if name.startswith("@") else f"[{clean(block.name)}]({name})"


def _name(uri: str, workspace: Path) -> str:
    """The name of a file in messages; other addresses unchanged."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return clean(uri)
    if parts.scheme == "file" and parts.hostname in (None, "localhost") and "\0" not in uri:
        return mention(Path(unquote(parts.path)), workspace)
    return clean(uri)
