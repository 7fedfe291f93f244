"""Glob patterns for files: like lines of .gitignore, and with braces, as models write them."""

from __future__ import annotations

import re

from keen_tui.domain.errors import ToolFailure

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_FILE_TYPE = re.compile(r"(?:.*/)?([\w*-][\w*.-]*\.\w+)")
_MOST_PATTERNS = 200


class Glob:
    """`*.py` matches in every folder, `src/*.py` from here, `*.{ts,tsx}` either, `!*.md` all others.

    Args:
        pattern: a pattern from the model. It is matched against paths relative to the folder of the search.

    Raises:
        ToolFailure: the pattern is invalid.
    """

    def __init__(self, pattern: str) -> None:
        if not pattern.strip("!./ ") or "\0" in pattern:
            raise ToolFailure(
                "The glob pattern is empty, or contains a NUL character. `**` names every file."
            )
        self._negated = pattern.startswith("!")
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 30 ms that the first paint need not pay

        patterns = _without_braces(pattern.removeprefix("!").removeprefix("./"))
        try:
            self._spec = GitIgnoreSpec.from_lines(re.sub(r"^(?=[#!])", r"\\", each) for each in patterns)
        except ValueError as error:
            raise ToolFailure(f"{pattern[:200]!r} isn't a glob pattern: {error}.") from error
        self._patterns = patterns

    def matches(self, path: str) -> bool:
        """Whether the pattern matches this file."""
        return self._spec.match_file(path) is not self._negated

    @property
    def file_names(self) -> tuple[str, ...]:
        """Globs for bare file names that every match fits, such as `*.py`; () if there are none."""
        names = [name[1] for pattern in self._patterns if (name := _FILE_TYPE.fullmatch(pattern))]
        return tuple(names) if len(names) == len(self._patterns) and not self._negated else ()


def _without_braces(pattern: str) -> list[str]:
    """All patterns that the braces stand for."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        if len(done) + len(todo) > _MOST_PATTERNS:
            raise ToolFailure(f"The glob pattern expands to more than {_MOST_PATTERNS} patterns.")
        each = todo.pop(0)
        braces = _BRACES.search(each)
        if braces is None:
            done.append(each)
        else:
            todo[:0] = [each[: braces.start()] + one + each[braces.end() :] for one in braces[1].split(",")]
    return done
