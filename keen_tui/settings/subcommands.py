"""The commands of the command line, and the parts of its help other than flags. The help, the man page and
the shell completions are generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from keen_tui.settings.about import Completes


class Subcommand(NamedTuple):
    """A command. `brief` is its meaning in a few words; `usages` are its arguments after `keen-tui NAME`,
    each with its meaning; `takes` describes its arguments, for errors. `words` are fixed words among them,
    `completes` is the kind of all others, for shell completion. `has_settings`: it accepts the flags of
    settings."""

    name: str
    brief: str
    usages: tuple[tuple[str, str], ...]
    takes: str = "no arguments"
    words: tuple[str, ...] = ()
    completes: Completes = ""
    has_settings: bool = False


SHELLS: Final = ("bash", "zsh", "fish")
"""The shells that have a completion script."""

SUBCOMMANDS: Final = (
    Subcommand("sessions", "list sessions", (("[--all]", "list the sessions of this folder, or all"),)),
    Subcommand("usage", "tokens and cost", (("[--days 7] [--json]", "tokens and cost, by day and model"),)),
    Subcommand(
        "review",
        "find bugs in changes",
        (("[--base BRANCH] [FOCUS]", "find bugs in changes; it only reads"),),
        takes="what to look for above all",
        has_settings=True,
    ),
    Subcommand(
        "eval",
        "compare memory policies",
        (("[TASK ...]", "compare memory policies on tasks"),),
        takes="folders or names of tasks",
        completes="folder",
        has_settings=True,
    ),
    Subcommand(
        "export",
        "write a session to a file",
        (("ID [--format html]", "write a session to a file"),),
        takes="one session id",
        completes="sessions",
    ),
    Subcommand(
        "replay",
        "play a session",
        (("FILE [--speed 4]", "play a session on the screen"),),
        takes="one file",
        completes="file",
        has_settings=True,
    ),
    Subcommand("settings", "write a settings file", (("", "write a file that explains all settings"),)),
    Subcommand("schema", "schema of stream-json", (("", "print the JSON schema of stream-json"),)),
    Subcommand("trust", "trust a project, or not", (("", "decide again whether to trust a project"),)),
    Subcommand(
        "worktrees",
        "list or remove work trees",
        (("[remove NAME]", "list the work trees here, or remove one"),),
        takes="remove and a name, or no arguments",
        words=("remove",),
        completes="worktrees",
    ),
    Subcommand(
        "mcp",
        "manage MCP servers",
        (
            ("list", "list the MCP servers and their states"),
            ("--help", "add, remove and sign in to MCP servers"),
        ),
        takes="add, list, remove, login or logout",
    ),
    Subcommand(
        "acp",
        "connect to an editor",
        (("", "connect to an editor that speaks ACP"),),
        has_settings=True,
    ),
    Subcommand(
        "serve",
        "show it in a browser",
        (("[--port 8000]", "show the screen in a browser here"),),
        has_settings=True,
    ),
    Subcommand(
        "completion",
        "completion for a shell",
        (("SHELL", "print completion for bash, zsh or fish"),),
        takes="bash, zsh or fish",
        words=SHELLS,
    ),
)

SUBJECTS: Final[Mapping[str, str]] = {each.name: each.takes for each in SUBCOMMANDS}
"""Each command with its `takes`."""

PURPOSE: Final = "a terminal workspace for a coding agent"

EXAMPLES: Final = (
    ("keen-tui", "choose a model, then work in this folder"),
    ("keen-tui --demo", "the guided tour: no key, no network"),
    ('keen-tui -p "why do tests fail?"', "one turn; the answer on standard output"),
    ("keen-tui --continue", "continue this folder's newest session"),
    ("keen-tui --worktree fix", "work on a branch in a separate folder"),
    ("keen-tui --plain", "line by line, for screen readers"),
    ("keen-tui --provider anthropic --model claude-opus-5 --effort high", ""),
    ("keen-tui --base-url http://localhost:11434/v1 --model qwen3-coder", ""),
    (
        'keen-tui -p "make the tests pass" --until "make test" --mode auto',
        "a run: turns until the command succeeds",
    ),
    (
        'git diff | keen-tui -p "review this" --output json',
        "piped data is added to the prompt",
    ),
)
"""Examples, each with its meaning, "" for none. `--help` shows the first three, `--help all` every one."""

IDS: Final = "Name a session by its id, or by a prefix of its id."

ENVIRONMENT: Final = (
    (
        "OPENAI_API_KEY, ANTHROPIC_API_KEY and those of the other providers",
        "API keys; you can also enter them in the program",
    ),
    ("OPENAI_BASE_URL, ANTHROPIC_BASE_URL", "another server of that provider"),
    ("KEEN_HOME", "one folder for settings and sessions"),
    ("VISUAL, EDITOR", "the editor for ctrl+g and for files"),
    ("NO_COLOR", "no colours"),
)

EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done",
    1: "error",
    2: "usage error",
    3: "the turn is incomplete, or the run was stopped",
    4: "the run reached a limit",
    5: "the check keeps failing in the same way",
    6: "a question went unanswered",
}

SETTINGS_FILES: Final = (
    ("settings.toml", "your settings; flags override them"),
    ("AGENTS.md", "your instructions for the model in every project"),
    ("commands/ themes/ providers/", "your own slash commands, themes and model servers"),
)
"""The files in the settings folder."""

DATA_FILES: Final = (("sessions/", "everything said and done, one file per session"),)
"""The files in the data folder."""
