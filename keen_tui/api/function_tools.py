"""Marks functions as tools for the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from keen_tui.tools.functions.signature import MARK, FunctionOptions

_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def tool(function: _Function, /) -> _Function: ...
@overload
def tool(*, name: str = "", reads_only: bool = False) -> Callable[[_Function], _Function]: ...
def tool(
    function: _Function | None = None, /, *, name: str = "", reads_only: bool = False
) -> _Function | Callable[[_Function], _Function]:
    """A decorator with options for a function that is a tool; it returns the function itself.

    Args:
        name: the tool's name, "" for the name of the function.
        reads_only: the function changes nothing, so its calls need no approval and may run at the same time
            as other calls that only read.
    """

    def marked(marked_function: _Function) -> _Function:
        setattr(marked_function, MARK, FunctionOptions(name=name, reads_only=reads_only))
        return marked_function

    return marked if function is None else marked(function)
