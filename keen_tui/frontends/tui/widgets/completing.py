"""Completions of the word at the cursor: slash commands, or, after an @, paths of files and resources of MCP
servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, Literal

from msgspec import Struct

from keen_tui.domain.servers import ServerResource
from keen_tui.frontends.shared.commands.slash import Offered
from keen_tui.text.units import counted

CompletionKind = Literal["command", "file"]

_FIRST: Final = ("model", "new", "resume", "compact", "diff", "undo", "context", "review", "help")
"""The commands that the list begins with while no letters are typed."""
_COMMAND: Final = re.compile(r"/([\w:-]*)$")
_PATH: Final = re.compile(r"""(?:^|(?<=[\s(\[{<'"`]))@(?:"([^"]*)|([^\s"@]*))$""")


class Wanted(Struct, frozen=True):
    """The unfinished word in a line: where it stands, from `start` to `end`, and its letters without the
    sign that it begins with."""

    kind: CompletionKind
    start: int
    end: int
    letters: str

    @property
    def written(self) -> str:
        """As the name of an offer that says the same."""
        return f"/{self.letters}" if self.kind == "command" else self.letters


class Completion(Struct, frozen=True):
    """A completion. `label` and `detail` are shown, `text` is inserted. `is_whole`: nothing has to be added
    after it. `called` is the word to which it has nothing to add, "" for the label's first word."""

    label: str
    detail: str
    text: str
    is_whole: bool = True
    called: str = ""

    @property
    def name(self) -> str:
        """The word to which this completion has nothing to add."""
        return self.called or self.label.split(" ")[0]


def wanted(line: str, column: int, *, is_first: bool) -> Wanted | None:
    """The word at the cursor that can be completed; None for any other. `is_first`: of the whole message."""
    before = line[:column]
    if is_first and (found := _COMMAND.match(before)):
        return Wanted("command", 0, column, found[1])
    if found := _PATH.search(before):
        quoted, plain = found.groups()
        return Wanted("file", found.start(), column, plain if quoted is None else quoted)
    return None


def fitting_commands(letters: str, commands: Iterable[Offered]) -> list[Completion]:
    """The commands whose names begin with the letters, then those that hold them, in their order; without
    letters all of them, the most useful first. Each is offered once, by the name that fits best."""
    asked = letters.lower()
    fitting = [(command, name) for command in commands if (name := _best_name(command, asked))]
    if asked:
        fitting.sort(key=lambda each: not each[1].startswith(asked))
    else:
        fitting.sort(key=lambda each: _FIRST.index(each[1]) if each[1] in _FIRST else len(_FIRST))
    return [_command_completion(command, name) for command, name in fitting]


def fitting_messages(words: str, texts: Iterable[str]) -> list[Completion]:
    """The earlier messages that hold all of the words, in their order, each once."""
    asked = words.lower().split()
    fitting = (text for text in texts if all(word in text.lower() for word in asked))
    return [_message_completion(text) for text in dict.fromkeys(fitting)]


def file_completions(paths: Sequence[str]) -> list[Completion]:
    """The paths, as they are written behind an @; folders end in a slash and can be gone on with."""
    return [_file_completion(path) for path in paths]


def with_servers(found: Sequence[Completion], letters: str, servers: Iterable[str]) -> list[Completion]:
    """The files, and behind the best one the servers with resources whose names begin with the letters."""
    asked = letters.lower()
    named = [
        Completion(f"{name}:", "resources of the MCP server", f"@{name}:", is_whole=False)
        for name in servers
        if name.lower().startswith(asked)
    ]
    return [*found[:1], *named, *found[1:]]


def fitting_resources(
    server: str, letters: str, resources: Iterable[ServerResource], most: int
) -> list[Completion]:
    """The resources of the server whose addresses begin with the letters, then those that hold them there or
    in their titles, in their order."""
    asked = letters.lower()
    fitting = [each for each in resources if asked in each.uri.lower() or asked in each.title.lower()]
    fitting.sort(key=lambda each: not each.uri.lower().startswith(asked))
    return [_resource_completion(server, each) for each in fitting[:most]]


def _best_name(command: Offered, asked: str) -> str:
    beginning = (name for name in command.names if name.startswith(asked))
    holding = (name for name in command.names if asked in name)
    return next(chain(beginning, holding), "")


def _command_completion(command: Offered, name: str) -> Completion:
    takes = f" {command.takes}" if command.takes else ""
    text = f"/{name} " if command.takes else f"/{name}"
    is_whole = not command.takes or command.takes.startswith("[")  # what stands in brackets may be missing
    return Completion(f"/{name}{takes}", command.help, text, is_whole=is_whole)


def _file_completion(path: str) -> Completion:
    is_folder = path.endswith("/")
    if any(character.isspace() for character in path):
        return Completion(path, "", f'@"{path}' if is_folder else f'@"{path}" ', is_whole=not is_folder)
    return Completion(path, "", f"@{path}" if is_folder else f"@{path} ", is_whole=not is_folder)


def _resource_completion(server: str, resource: ServerResource) -> Completion:
    name = f"{server}:{resource.uri}"
    ends_plain = name[-1].isalnum() or name[-1] in "/_-"
    is_plain = ends_plain and not any(character.isspace() for character in name)
    label, detail = (resource.title, resource.uri) if resource.title else (resource.uri, "")
    return Completion(label, detail, f"@{name} " if is_plain else f'@"{name}" ', called=name)


def _message_completion(text: str) -> Completion:
    first, *more = text.strip().splitlines() or [""]
    return Completion(first, counted(len(more), "more line") if more else "", text)
