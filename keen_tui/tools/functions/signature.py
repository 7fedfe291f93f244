"""Makes a tool of a typed function: its name, docstring and signature tell the model how to call it."""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.messages import ToolSpec
from keen_tui.domain.own_tools import OWN_TOOLS
from keen_tui.text.labels import SERVER_TOOLS
from keen_tui.tools.calls.schemas import SchemaRefused, usable_schema

MARK: Final = "__keen_tool__"
"""The attribute that holds the `FunctionOptions` of a function."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_PREFIX: Final = "#/$defs/"
_NAMED: Final = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_PLAIN: Final = (str, int, float, bool, type(None))

_SECTION = re.compile(r"[A-Z][\w ]*:")
_OF_ARGUMENTS = ("Args:", "Arguments:", "Parameters:")
_ARGUMENT = re.compile(r"(\w+)(?: *\([^)]*\))?: *(.*)")


class FunctionOptions(Struct, frozen=True, kw_only=True):
    """The options of the decorator `tool`: another `name`, "" for the function's own, and whether the
    function only reads."""

    name: str = ""
    reads_only: bool = False


class FunctionSpec(Struct, frozen=True, kw_only=True):
    """A function as a tool. `spec` is for the model; `arguments` is a struct with a field for each argument,
    to which the model's arguments are converted."""

    function: Callable[..., Any]
    spec: ToolSpec
    arguments: type[Struct]
    reads_only: bool


def function_specs(functions: Sequence[Callable[..., Any]]) -> tuple[FunctionSpec, ...]:
    """The functions as tools.

    Raises:
        ConfigError: the model couldn't call one of them, or its name is taken.
    """
    specs = tuple(map(function_spec, functions))
    names = [each.spec.name for each in specs]
    if taken := next((name for name in names if name in OWN_TOOLS or name.startswith(SERVER_TOOLS)), None):
        raise ConfigError(
            f"tools: {taken} is the name of one of Keen's own tools. Use @tool(name=...) to choose another."
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"tools: two functions are called {twice}. Rename one with @tool(name=...).")
    return specs


def function_spec(function: Callable[..., Any]) -> FunctionSpec:
    """The function as a tool. Raises ConfigError: the model couldn't call it."""
    options = getattr(function, MARK, FunctionOptions())
    if not callable(function):
        raise ConfigError(f"tools: {function!r:.80} isn't a function.")
    name = options.name or str(getattr(function, "__name__", ""))
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"tools: {name or repr(function)[:80]!r} can't be the name of a tool. A name has up to "
            "64 letters, digits, _ and -, and begins with a letter or _. Use @tool(name=...) to choose one."
        )
    doc = _described(inspect.getdoc(function) or "")
    if not doc.text:
        raise ConfigError(f"tools: {name} has no docstring, so the model can't know what it does.")
    arguments = _arguments(name, function, doc.arguments)
    spec = ToolSpec(name=name, description=doc.text, parameters=_parameters(name, arguments))
    return FunctionSpec(function=function, spec=spec, arguments=arguments, reads_only=options.reads_only)


def _arguments(name: str, function: Callable[..., Any], words: Mapping[str, str]) -> type[Struct]:
    """A struct with a field for each parameter."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise ConfigError(f"tools: the signature of {name} can't be read: {error}.") from error
    fields = [_field(name, each, hints, words.get(each.name, "")) for each in parameters]
    try:
        return msgspec.defstruct(f"{name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"tools: the signature of {name} can't be used: {error}.") from error


def _field(name: str, parameter: Parameter, hints: Mapping[str, Any], words: str) -> Any:
    if parameter.kind not in _NAMED:
        written = str(parameter.replace(annotation=Parameter.empty, default=Parameter.empty))
        raise ConfigError(f"tools: {name} takes {written} by position. The model passes arguments by name.")
    if parameter.name not in hints:
        raise ConfigError(f"tools: the argument {parameter.name} of {name} has no type.")
    hint = hints[parameter.name]
    if words:
        hint = Annotated[hint, Meta(description=words)]
    default = parameter.default
    if default is Parameter.empty:
        return parameter.name, hint
    if not isinstance(default, _PLAIN):
        default = msgspec.field(default_factory=lambda: parameter.default)
    return parameter.name, hint, default


def _parameters(name: str, arguments: type[Struct]) -> Mapping[str, Any]:
    """The JSON schema of the arguments."""
    try:
        (reference,), parts = msgspec.json.schema_components((arguments,), ref_template=f"{_PREFIX}{{name}}")
        own = parts.pop(reference["$ref"].removeprefix(_PREFIX))
        schema = {key: value for key, value in own.items() if key != "title"}
        return usable_schema(schema | ({"$defs": parts} if parts else {})).value
    except SchemaRefused as error:
        raise ConfigError(f"tools: {name} can't be called: {error}.") from error
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"tools: an argument of {name} has a type that JSON can't express. Use strings, numbers, "
            "booleans, lists, dicts, literals and dataclasses."
        ) from error


class _Described(Struct, frozen=True):
    """A docstring: `text` is all but the section of the arguments, `arguments` has the description of each by
    name."""

    text: str
    arguments: dict[str, str]


def _described(docstring: str) -> _Described:
    """Read a docstring whose indentation is removed. Arguments are below `Args:`, each as `name: words` or
    `name (type): words`; more indented lines continue the one before."""
    lines = docstring.splitlines()
    begins = next((number for number, line in enumerate(lines) if line in _OF_ARGUMENTS), None)
    if begins is None:
        return _Described(docstring.strip(), {})
    inside = lines[begins + 1 :]
    length = next((number for number, line in enumerate(inside) if _SECTION.fullmatch(line)), len(inside))
    text = "\n".join((*lines[:begins], *inside[length:])).strip()
    return _Described(text, _argument_words(textwrap.dedent("\n".join(inside[:length])).splitlines()))


def _argument_words(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if match := _ARGUMENT.fullmatch(line):
            name = match[1]
            found[name] = match[2]
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
