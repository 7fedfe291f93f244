"""The import of an SDK without most of its modules."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from keen_tui.providers.wire.lazy_packages import lazy_packages

INIT = """
from . import _ran
from ._client import Client, Reply as Answer
from .kinds import *
VERSION = "1"
"""
FILES = {
    "__init__.py": INIT,
    "_ran.py": "",
    "_client.py": "from .kinds import Word\nclass Client: pass\nclass Reply: pass\n",
    "heavy.py": "",
    "kinds/__init__.py": "from ._word import Word\nfrom . import _ran\nclass Kind: pass\n",
    "kinds/_word.py": "class Word: pass\n",
    "kinds/_ran.py": "",
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A library that was imported without running its `__init__`. A module `_ran` is imported only if the
    `__init__` beside it runs."""
    for name, text in FILES.items():
        (file := tmp_path / "alibrary" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with lazy_packages("alibrary"):
        yield importlib.import_module("alibrary")
    for name in [name for name in sys.modules if name.partition(".")[0] == "alibrary"]:
        del sys.modules[name]


def ran(package: str = "") -> bool:
    return f"alibrary{package}._ran" in sys.modules


def test_a_name_imports_only_the_module_it_comes_from(library: ModuleType) -> None:
    assert library.Client.__module__ == "alibrary._client"
    assert library.Answer.__name__ == "Reply"
    assert sys.modules["alibrary.kinds._word"].Word is library._client.Word
    assert not ran() and not ran(".kinds") and "alibrary.heavy" not in sys.modules


def test_a_name_of_init_itself_runs_it(library: ModuleType) -> None:
    client = library.Client
    assert library.VERSION == "1" and ran() and type(library) is ModuleType
    assert library.Client is client
    assert library.Word is library.kinds.Word and library.Kind is library.kinds.Kind


def test_modules_of_the_package_are_attributes(library: ModuleType) -> None:
    assert library.heavy is sys.modules["alibrary.heavy"] and not ran()
    from alibrary import kinds  # type: ignore[import-not-found]

    assert kinds.Word.__module__ == "alibrary.kinds._word" and not ran(".kinds")


def test_all_names_are_listed(library: ModuleType) -> None:
    assert {"Client", "Answer", "VERSION", "Word"} <= set(dir(library))


def test_a_name_that_the_package_does_not_have(library: ModuleType) -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = library.nothing
    assert not hasattr(library, "nothing") and library.VERSION == "1"


def test_what_is_set_is_not_overwritten_later(library: ModuleType) -> None:
    library.VERSION = "2"  # type: ignore[attr-defined]
    assert library.Word and library.VERSION == "2"


def test_the_error_of_an_init_that_fails_is_seen_each_time(library: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "alibrary" / "__init__.py").write_text("raise ValueError('no')")
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            _ = library.VERSION


@pytest.mark.parametrize(
    ("sdk", "client", "late"),
    [
        ("openai", "AsyncOpenAI", ("openai.types.chat", "openai.types.responses", "openai.resources")),
        ("anthropic", "AsyncAnthropic", ("anthropic.resources", "anthropic.lib.bedrock")),
    ],
)
def test_the_sdks_have_all_their_names(sdk: str, client: str, late: tuple[str, ...]) -> None:
    """Names that no request needs are imported on demand."""
    names = ran_alone(f"import {sdk}\nprint(*{sdk}.__all__)")
    shown = f"""
import types
for name in {names.split()!r}:
    found = getattr({sdk}, name)
    print(name, isinstance(found, types.ModuleType) or getattr(found, "__qualname__", type(found).__name__))
"""
    lazily = f"""
import sys
from keen_tui.providers.wire.lazy_packages import lazy_packages
with lazy_packages({sdk!r}):
    from {sdk} import {client}
loaded = set(sys.modules)
assert not loaded & set({late!r}), loaded & set({late!r})
import {sdk}
"""
    assert ran_alone(lazily + shown) == ran_alone(f"import {sdk}{shown}")
    ran_alone(f"{lazily}assert {sdk}.{client} is {client}\nfrom {sdk} import *")


def ran_alone(program: str) -> str:
    """The output of a program in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
