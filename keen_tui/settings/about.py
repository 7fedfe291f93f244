"""The description of a setting and of its flags, where it is declared."""

from typing import Literal, NamedTuple

Completes = Literal[
    "", "file", "folder", "commands", "sessions", "worktrees", "models", "providers", "themes", "efforts"
]
"""The kind of values that a shell completes, "" for none: paths, names of programs, or a list that `keen-tui
completion` prints."""


class Flag(NamedTuple):
    """A flag of the command line: its name, the word for its value, and what `--help` says. `dest` is the
    name of what it gives, "" for the setting. A `switch` takes no value and gives that one; `repeats`: it can
    be given several times; `has_opposite`: there is a `--no-...` too."""

    name: str
    metavar: str | None
    help: str
    dest: str = ""
    switch: bool | None = None
    repeats: bool = False
    has_opposite: bool = False
    completes: Completes = ""


class About(NamedTuple):
    """The description of a setting.

    `group` is where it is shown. `meaning` explains it in the file and on the settings page. `at_once`: a
    change takes effect at once, else from the next start on. One that is `in_file` is too long for a line
    and changed in the file. `name` is its name in the file where that is not the setting's own:
    "memory.policy" stands in the table `memory`. `flags` are those of the command line. `example` is for a
    setting that is a table: what may stand in it.
    """

    group: str
    meaning: str
    flags: tuple[Flag, ...] = ()
    at_once: bool = False
    in_file: bool = False
    name: str = ""
    example: str = ""
