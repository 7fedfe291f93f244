"""Imports an SDK without most of its modules.

The `__init__` modules of an SDK import its types and resources: hundreds of modules that no request needs,
and most of the time of the import. Neither SDK offers a lighter one (docs/decisions/010-performance.md).
`lazy_packages` imports packages without running their `__init__`. The first access to a name imports only the
module that defines it; any other name runs `__init__`.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import InspectLoader, Loader
from importlib.machinery import ModuleSpec, PathFinder
from threading import get_ident
from types import ModuleType
from typing import Any, NamedTuple


@contextmanager
def lazy_packages(library: str) -> Iterator[None]:
    """While this is open, the packages of `library` are imported without running their `__init__`. Where
    Python doesn't look for modules in folders, they are imported as always."""
    finder = _Finder(library)
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    # A new list each time: other threads that import at this moment go through the old one.
    sys.meta_path = [*sys.meta_path[:place], finder, *sys.meta_path[place:]]
    try:
        yield
    finally:
        sys.meta_path = [each for each in sys.meta_path if each is not finder]


class _Finder:
    """Finds the packages of one library."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if name.partition(".")[0] != self._library:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.submodule_search_locations and isinstance(spec.loader, InspectLoader):
            spec.loader = _LateLoader(spec.loader)
        return spec


class _LateLoader(Loader):
    """Defers the `real` loader of a package until an unknown name is needed."""

    def __init__(self, real: InspectLoader) -> None:
        self._real = real

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        module.__class__ = _LazyPackage


class _ImportedName(NamedTuple):
    """Where `__init__` imports a name from: a module of its package, and the name there."""

    module: str
    name: str


class _LazyPackage(ModuleType):
    """A package whose `__init__` hasn't run."""

    def __getattr__(self, name: str) -> Any:
        origins: Mapping[str, _ImportedName] | None = vars(self).get("__origins__")
        if origins is None:
            origins = self.__origins__ = _imported_names(self)
        if name in origins:
            module, there = origins[name]
            found = getattr(importlib.import_module(f"{self.__name__}.{module}"), there)
            vars(self)[name] = found
            return found
        if not name.startswith("__") and PathFinder.find_spec(f"{self.__name__}.{name}", self.__path__):
            return importlib.import_module(f"{self.__name__}.{name}")
        self._run()
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name. `__init__` runs first, because it would set its own value later."""
        if not (name.startswith("__") or isinstance(value, ModuleType)):
            self._run()
        ModuleType.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        self._run()
        return sorted(vars(self))

    def _run(self) -> None:
        """Run `__init__`, unless this thread runs it already. Then the package is an ordinary module."""
        assert isinstance(self.__loader__, Loader)
        if vars(self).get("__runs_in__") == get_ident():
            return
        self.__runs_in__ = get_ident()
        try:
            self.__loader__.exec_module(self)
            self.__class__ = ModuleType  # type: ignore[assignment]
        finally:
            vars(self).pop("__runs_in__", None)  # another thread may have run it at the same time


def _imported_names(package: ModuleType) -> dict[str, _ImportedName]:
    """The names that the `__init__` of a package imports from modules of the package."""
    assert isinstance(package.__loader__, InspectLoader)
    source = package.__loader__.get_source(package.__name__) or ""
    return {
        alias.asname or alias.name: _ImportedName(statement.module, alias.name)
        for statement in ast.parse(source).body
        if isinstance(statement, ast.ImportFrom) and statement.level == 1 and statement.module
        for alias in statement.names
    }


def load_anyio() -> None:
    """Import the parts of anyio that the SDK's client would import in the first request, on the event loop.
    Call it in a thread that runs no event loop."""
    import anyio  # noqa: PLC0415 - comes with the SDK

    for name in ("Event", "Lock", "connect_tcp"):  # each is imported when it is looked up
        getattr(anyio, name)
    anyio.run(anyio.sleep, 0)  # imports the part for asyncio
