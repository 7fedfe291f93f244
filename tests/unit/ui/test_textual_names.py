"""Names that Textual keeps to itself and that the program uses all the same.

They may change with any version of Textual. When one of these tests fails after an update, look at the
module of `frontends/tui/terminal` that uses the name; docs/decisions/020-painting.md says what for.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from textual._compositor import Compositor, CompositorUpdate
from textual._queue import Queue
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

import keen_tui.frontends.tui
from keen_tui.frontends.tui import terminal

METHODS: Mapping[tuple[type, str], tuple[str, ...]] = {
    (App, "_close_messages_no_wait"): (),
    (App, "_fatal_error"): (),
    (App, "_get_screen"): ("screen",),
    (App, "_refresh_truecolor_filter"): ("theme",),
    (Compositor, "_regions_to_spans"): ("regions",),
    (Compositor, "reflow"): ("parent", "size"),
    (Compositor, "render_full_update"): ("simplify",),
    (Compositor, "render_partial_update"): (),
    (Compositor, "render_strips"): ("size",),
    (Compositor, "render_update"): ("full", "screen_stack", "simplify"),
    (LinuxDriver, "_sigcont_application"): ("_",),
    (LinuxDriver, "_sigtstp_application"): ("_",),
    (Screen, "_refresh_layout"): ("size", "scroll"),
    (TextArea, "_delete_via_keyboard"): ("start", "end"),
    (TextArea, "_replace_via_keyboard"): ("insert", "start", "end"),
    (Widget, "_size_updated"): ("size", "virtual_size", "container_size", "layout"),
}
"""With the names of their parameters."""

ATTRIBUTES: Mapping[tuple[type, str], str] = {
    (App, "_driver"): "Driver | None",
    (App, "_exception"): "Exception | None",
    (Compositor, "_dirty_regions"): "set[Region]",
    (Compositor, "_full_map_invalidated"): "",
    (LinuxDriver, "_app"): "",
    (LinuxDriver, "_debug"): "",
    (LinuxDriver, "_file"): "",
    (LinuxDriver, "_loop"): "",
    (LinuxDriver, "_must_signal_resume"): "",
    (LinuxDriver, "_writer_thread"): "WriterThread | None",
    (Screen, "_compositor"): "",
    (WriterThread, "_queue"): "Queue[str | None]",
    (XTermParser, "_timeout_time"): "float | None",
}
"""With their types, where Textual says them."""

PROPERTIES: Mapping[tuple[type, str], type] = {(MessagePump, "_message_queue"): Queue}
"""With their types."""

MODULES = {"textual._compositor", "textual._parser", "textual._xterm_parser"}

HERE = Path(terminal.__file__).parent
PAGE = Path(__file__).parents[3] / "docs/decisions/020-painting.md"


@pytest.mark.parametrize(("owner", "name"), METHODS)
def test_a_method_takes_what_it_is_given(owner: type, name: str) -> None:
    parameters = [*inspect.signature(getattr(owner, name)).parameters]
    is_bound = isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod)
    assert tuple(parameters if is_bound else parameters[1:]) == METHODS[owner, name]


@pytest.mark.parametrize(("owner", "name"), ATTRIBUTES)
def test_an_attribute_is_there_with_its_type(owner: type, name: str) -> None:
    types = [found for source in _sources(owner) for found in re.findall(_SET.format(name), source)]
    assert types, f"{owner.__name__} sets no {name}"
    wanted = ATTRIBUTES[owner, name]
    assert not wanted or any(said == wanted for said in types), types


@pytest.mark.parametrize(("owner", "name"), PROPERTIES)
def test_a_property_has_its_type(owner: type, name: str) -> None:
    assert isinstance(getattr(owner(), name), PROPERTIES[owner, name])


def test_a_queue_of_messages_has_an_event_that_its_reader_waits_for() -> None:
    assert isinstance(Queue().ready_event, asyncio.Event)
    assert not asyncio.Event()._waiters
    assert "await self.ready_event.wait()" in inspect.getsource(Queue.get)


def test_regions_are_cut_into_spans_of_rows() -> None:
    spans = Compositor._regions_to_spans([Region(3, 1, 4, 2)])
    assert [*spans] == [(1, 3, 7), (2, 3, 7)]


def test_a_screen_paints_with_the_compositor_that_it_holds() -> None:
    screen: Screen[None] = Screen()
    assert isinstance(screen._compositor, Compositor)


def test_an_app_writes_what_an_update_says() -> None:
    assert [*inspect.signature(CompositorUpdate.render_segments).parameters] == ["self", "console"]
    assert "renderable.render_segments(console)" in inspect.getsource(App._display)


def test_the_queue_of_output_has_room_for_giving_the_terminal_back() -> None:
    assert 30 <= MAX_QUEUED_WRITES <= 100
    for used in ("self._queue.get", "self._file.write", "self._file.flush"):
        assert used in inspect.getsource(WriterThread.run)


def test_the_tables_and_the_page_name_all_that_the_program_uses() -> None:
    used = {name for path in HERE.glob("*.py") for name in _private_of_textual(path)}
    tables = {name for _, name in (*METHODS, *ATTRIBUTES, *PROPERTIES) if name.startswith("_")}
    assert used == tables
    page = PAGE.read_text()
    assert [name for name in sorted(tables | MODULES) if f"`{name}`" not in page] == []


def test_nothing_private_of_textual_is_used_elsewhere() -> None:
    package = Path(keen_tui.frontends.tui.__file__).parent
    elsewhere = [path for path in package.rglob("*.py") if path.parent != HERE]
    used = {str(path.relative_to(package)): sorted(_private_of_textual(path)) for path in elsewhere}
    assert {path: names for path, names in used.items() if names} == {}
    for path in package.rglob("*.py"):
        imported = set(re.findall(r"^from (textual\._\w+)", path.read_text(), re.MULTILINE))
        assert imported <= (MODULES if path.parent == HERE else set()), path


_SET = r"(?:self\.)?\b{}(?:: ([^=\n]+?))? ="


def _sources(owner: type) -> Iterator[str]:
    """The source of a class and its bases, as far as it is Textual's."""
    for base in owner.__mro__:
        if base.__module__.startswith("textual"):
            yield inspect.getsource(base)


def _private_of_textual(path: Path) -> set[str]:
    """The private names in a module that belong to Textual: those that a class of ours shares with its bases
    there, and those that are used of something else than `self` and that some class of Textual has."""
    module = import_module(_name_of(path))
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in tree.body:
        cls = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else None
        bases = [base for base in getattr(cls, "__mro__", ()) if base.__module__.startswith("textual")]
        theirs = {name for base in bases for name in _names_of(base)}
        names |= theirs & {*_defined_in(node), *_used_of(node, own=True)}
    return names | {name for name in _used_of(tree, own=False) if name in _ALL}


def _name_of(path: Path) -> str:
    package = Path(keen_tui.frontends.tui.__file__).parent
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join((keen_tui.frontends.tui.__name__, *(part for part in parts if part != "__init__")))


@cache
def _names_of(cls: type) -> set[str]:
    names = {*vars(cls), *re.findall(r"self\.(_\w+)", inspect.getsource(cls))}
    return {name for name in names if _is_private(name)}


def _defined_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each.name


def _used_of(node: ast.AST, *, own: bool) -> Iterator[str]:
    """The private attributes that are used of `self` (`own`) or of anything else."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and _is_private(each.attr):
            receiver = each.value
            is_own = isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")
            is_super = isinstance(receiver, ast.Call) and ast.unparse(receiver.func) == "super"
            if own == (is_own or is_super):
                yield each.attr


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _classes(of: type) -> Iterator[type]:
    yield of
    below: list[type] = type.__subclasses__(of)
    for each in below:
        if each.__module__.startswith("textual"):
            yield from _classes(each)


_ALL: set[str] = {
    name
    for top in (MessagePump, Compositor, XTermParser, LinuxDriver, WriterThread)
    for cls in _classes(top)
    for name in _names_of(cls)
}
