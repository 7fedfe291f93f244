"""The settings file as it is first written: it sets nothing and explains everything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from keen_tui.settings.schema import ABOUT, DEFAULTS, name_in_file

_INTRODUCTION: Final = """\
# Settings of Keen TUI. Each setting is shown with its default; remove the "#" to change it.
# Keen writes its own changes here too, such as the chosen model; comments stay.
"""


def default_text() -> str:
    """A settings file that sets nothing and explains everything."""
    return "\n".join((_INTRODUCTION, *_sections())) + "\n"


def as_toml(value: Any) -> str:
    """A value as it is written in the file."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _sections() -> Iterator[str]:
    for group, settings in groupby(ABOUT.items(), lambda setting: setting[1].group):
        names = dict(settings)
        first, about = next(iter(names.items()))
        in_table = first if about.example else name_in_file(first).rpartition(".")[0]
        yield f"[{in_table}]" if in_table else f"# {group}\n"
        for name, about in names.items():
            yield from _comment(about.meaning)
            written = name_in_file(name).rpartition(".")[2]
            example = about.example or f"{written} = {as_toml(getattr(DEFAULTS, name))}"
            yield "".join(f"# {line}\n" for line in example.splitlines())


def _comment(text: str) -> Iterator[str]:
    from textwrap import wrap  # noqa: PLC0415 - only where a file is written

    return (f"# {line}" for line in wrap(text, 106))
