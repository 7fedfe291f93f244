"""The flags of the command line, in the order of `--help`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from keen_tui import __version__
from keen_tui.domain.choices import MOST_TURNS, PRIORITIES, ExportFormat
from keen_tui.settings.about import Completes, Flag
from keen_tui.settings.schema import ABOUT, CHOICES, DEFAULTS
from keen_tui.settings.subcommands import SUBJECTS


class LineFlag(NamedTuple):
    """A flag of the command line. `metavar` is the word for its value in the help, "" if it takes none;
    `options` are further arguments for argparse, `completes` is the kind of its value for shell completion.
    `is_setting`: it overrides a setting."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    options: Mapping[str, Any] = {}
    completes: Completes = ""
    is_setting: bool = False

    @property
    def dest(self) -> str:
        """The name of what it gives."""
        return str(self.options.get("dest") or self.names[-1].removeprefix("--").replace("-", "_"))

    @property
    def usage(self) -> str:
        """How it is typed: `-p, --prompt [TEXT]`."""
        has_opposite = self.options.get("action") is argparse.BooleanOptionalAction
        opposite = (self.names[-1].replace("--", "--no-", 1),) if has_opposite else ()
        value = f"[{self.metavar}]" if self.options.get("nargs") == "?" else self.metavar
        return f"{', '.join((*self.names, *opposite))} {value}".rstrip()


class FlagGroup(NamedTuple):
    """Flags below one title of the help."""

    title: str
    flags: Sequence[LineFlag]


def flag_groups() -> tuple[FlagGroup, ...]:
    """All flags, in the order of the help."""
    return (
        FlagGroup("Model", _of_settings(lambda group: group == "Model")),
        FlagGroup("Work", (*_of_settings(lambda group: group != "Model"), *_WORK)),
        FlagGroup("Saved sessions", _SAVED),
        FlagGroup("One turn without a screen", _ONE_TURN),
        FlagGroup("Review", _REVIEW),
        FlagGroup("Evaluation", _EVALUATION),
        FlagGroup("In a browser", _SERVE),
        FlagGroup("Other flags", _OTHERS),
    )


def _of_settings(is_wanted: Callable[[str], bool]) -> Sequence[LineFlag]:
    """The flags of settings, in the order in which the settings are declared."""
    return [
        LineFlag((flag.name,), flag.help, flag.metavar or "", _options(name, flag), flag.completes, True)
        for name, about in ABOUT.items()
        if is_wanted(about.group)
        for flag in about.flags
    ]


def _options(name: str, flag: Flag) -> dict[str, Any]:
    """The arguments for argparse for a setting's flag."""
    options: dict[str, Any] = {"dest": flag.dest or name}
    if flag.switch is not None:
        return options | {"action": "store_const", "const": flag.switch}
    if flag.has_opposite:
        return options | {"action": argparse.BooleanOptionalAction}
    if flag.repeats:
        return options | {"action": "append"}
    if choices := tuple(filter(None, CHOICES.get(name, ()))):
        options["choices"] = choices
    return options | ({"type": int} if isinstance(getattr(DEFAULTS, name), int) else {})


_SWITCH: Mapping[str, Any] = {"action": "store_true"}

_WORK = (
    LineFlag(
        ("--worktree",),
        "work in a separate git work tree, on the branch keen/NAME: opens the one called NAME, or creates it",
        "NAME",
        {"nargs": "?", "const": ""},
        "worktrees",
    ),
    LineFlag(("--init",), "run your Setup hooks and the project's first", options=_SWITCH),
)

_SAVED = (
    LineFlag(
        ("-c", "--continue"),
        "continue the newest session of this folder",
        options={**_SWITCH, "dest": "go_on"},
    ),
    LineFlag(
        ("-r", "--resume"),
        "continue that session (a prefix of the id is enough)",
        "ID",
        completes="sessions",
    ),
    LineFlag(("--fork",), "with --continue or --resume: continue in a copy", options=_SWITCH),
    LineFlag(("--all",), "with sessions or worktrees: list those of all folders", options=_SWITCH),
    LineFlag(
        ("--days",),
        "with usage: how many days, including today (default 30)",
        "N",
        {"type": int},
    ),
    LineFlag(("--json",), "with usage or eval: print JSON", options=_SWITCH),
    LineFlag(
        ("--format",),
        "with export: markdown (default), json or html",
        "FORM",
        {"choices": get_args(ExportFormat)},
    ),
    LineFlag(("-o", "--out"), "with export: the file to write", "FILE", completes="file"),
    LineFlag(
        ("--speed",),
        "with replay: 1 for the original speed (default), 0 for all at once",
        "N",
        {"type": float},
    ),
)

_ONE_TURN = (
    LineFlag(
        ("-p", "--prompt"),
        "the prompt; standard input is added to it, or is the prompt if there is no TEXT",
        "TEXT",
        {"nargs": "?", "const": "-"},
    ),
    LineFlag(
        ("--output",),
        "text (default), json, or stream-json: one event a line; with review: text, json, github or gitlab",
        "FORM",
    ),
    LineFlag(
        ("--input",),
        "stream-json: messages, answers to questions, stops and retries on standard input, one JSON object a "
        "line; with --output stream-json",
        "FORM",
        {"choices": ("stream-json",)},
    ),
    LineFlag(
        ("--until",),
        "run turns until this command exits with 0; with --continue, continue an interrupted run",
        "CMD",
        completes="commands",
    ),
    LineFlag(
        ("--max-turns",),
        f"with --until: end after this many turns (default {MOST_TURNS})",
        "N",
        {"type": int},
    ),
    LineFlag(
        ("--max-hours",), "with --until: end after this many hours, including waits", "H", {"type": float}
    ),
    LineFlag(("--max-cost",), "with --until or eval: end at this cost in US dollars", "USD", {"type": float}),
)

_REVIEW = (
    LineFlag(("--base",), "with review: the commits on this branch that aren't in BRANCH", "BRANCH"),
    LineFlag(("--commit",), "with review: one commit, or a range such as v1.0..HEAD", "REV"),
    LineFlag(("--uncommitted",), "with review: uncommitted changes, including new files", options=_SWITCH),
    LineFlag(
        ("--fail-on",),
        "with review: exit code 1 if a finding is this urgent or more: P0 (most urgent), P1, P2 or P3",
        "PRIO",
        {"choices": PRIORITIES},
    ),
)

_EVALUATION = (
    LineFlag(
        ("--policies",),
        "with eval: the memory policies to compare, such as summary,in-band (default: summary,full-trace)",
        "LIST",
    ),
    LineFlag(("--repeat",), "with eval: how often each task runs (default 1)", "N", {"type": int}),
    LineFlag(("--keep",), "with eval: keep the folders of the runs", options=_SWITCH),
)

_SERVE = (
    LineFlag(("--port",), "with serve: the port (default: a free one)", "N", {"type": int}),
    LineFlag(
        ("--address",),
        "with serve: the address to listen on (default: 127.0.0.1, which other machines can't reach)",
        "ADDRESS",
    ),
    LineFlag(("--clients",), "with serve: the most pages open at once (default 4)", "N", {"type": int}),
    LineFlag(
        ("--idle-minutes",),
        "with serve: end the program of a page after this many idle minutes (default 60); everything is "
        "saved",
        "N",
        {"type": float},
    ),
)

_OTHERS = (
    LineFlag(("--demo",), "play the guided tour in a scratch project", options=_SWITCH),
    LineFlag(
        ("--pace",),
        "with --demo: 1 for the usual speed, 2 for twice as fast, 0 for all at once",
        "N",
        {"type": float},
    ),
    LineFlag(
        ("--version",),
        "show the version",
        options={"action": "version", "version": f"keen-tui {__version__}"},
    ),
    LineFlag(
        ("-h", "--help"),
        "show the common flags and commands; --help all shows everything, --help COMMAND one command",
        "COMMAND",
        {"nargs": "?", "choices": ("all", *SUBJECTS)},
    ),
)


MOST_DAYS = 36_500
"""The most days that `--days` takes."""
