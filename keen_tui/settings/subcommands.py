"""The commands of the command line, and what its help says besides flags. All of it is declared here once:
the help, the man page and the completion of shells are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from keen_tui.settings.about import Completes


class Subcommand(NamedTuple):
    """A command. `usages` are how it is typed behind `keen-tui NAME`, each with its meaning; `takes` names
    what has to follow, for an error. `words` are those that may follow, `completes` is the kind of anything
    else that may. `has_settings`: the flags of settings have a meaning for it."""

    name: str
    usages: tuple[tuple[str, str], ...]
    takes: str = "no arguments"
    words: tuple[str, ...] = ()
    completes: Completes = ""
    has_settings: bool = False


SHELLS: Final = ("bash", "zsh", "fish")
"""The shells for which there is completion."""

SUBCOMMANDS: Final = (
    Subcommand("sessions", (("[--all]", "list the sessions of this folder, or all"),)),
    Subcommand("usage", (("[--days 7] [--json]", "tokens and cost, by day and model"),)),
    Subcommand(
        "review",
        (("[--base BRANCH]", "find bugs in changes; it only reads"),),
        has_settings=True,
    ),
    Subcommand(
        "eval",
        (("[TASK ...]", "try memory policies on tasks, as a table"),),
        takes="folders or names of tasks",
        completes="folder",
        has_settings=True,
    ),
    Subcommand(
        "export",
        (("ID [--format html]", "write a session to a file"),),
        takes="one session id",
        completes="sessions",
    ),
    Subcommand(
        "replay",
        (("FILE [--speed 4]", "play a session on the screen"),),
        takes="one file",
        completes="file",
        has_settings=True,
    ),
    Subcommand("settings", (("", "write a file that explains all settings"),)),
    Subcommand("schema", (("", "print the JSON schema of stream-json"),)),
    Subcommand("trust", (("", "answer again whether a project is trusted"),)),
    Subcommand(
        "worktrees",
        (("[remove NAME]", "list the work trees here, or remove one"),),
        takes="remove and a name, or no arguments",
        words=("remove",),
        completes="worktrees",
    ),
    Subcommand(
        "mcp",
        (
            ("list", "list the MCP servers and how they are"),
            ("--help", "add, remove and sign in to MCP servers"),
        ),
        takes="add, list, remove, login or logout",
    ),
    Subcommand(
        "acp",
        (("", "work in an editor that speaks ACP, such as Zed"),),
        has_settings=True,
    ),
    Subcommand(
        "serve",
        (("[--port 8000]", "the screen in a browser on this machine"),),
        has_settings=True,
    ),
    Subcommand(
        "completion",
        (("SHELL", "print the completion for bash, zsh or fish"),),
        takes="bash, zsh or fish",
        words=SHELLS,
    ),
)

SUBJECTS: Final[Mapping[str, str]] = {each.name: each.takes for each in SUBCOMMANDS}
"""The commands, and what stands behind them."""

PURPOSE: Final = "a terminal workspace for a coding agent"

EXAMPLES: Final = (
    ("keen-tui", "choose a model, then work in this folder"),
    ("keen-tui --demo", "the guided tour: no key, no network"),
    ("keen-tui --continue", "continue this folder's newest session"),
    ("keen-tui --worktree fix", "work beside this folder, on a branch"),
    ("keen-tui --plain", "line by line, for screen readers"),
    ("keen-tui --provider anthropic --model claude-opus-5 --effort high", ""),
    ("keen-tui --base-url http://localhost:11434/v1 --model qwen3-coder", ""),
    (
        'keen-tui -p "why does test_cart fail?" --mode plan',
        "one turn; the answer on standard output",
    ),
    (
        'keen-tui -p "make the tests pass" --until "make test" --mode auto',
        "a run: turns until the command succeeds",
    ),
    (
        'git diff | keen-tui -p "review this" --output json',
        "piped data is added to the prompt",
    ),
)
"""What one types first, and what it does."""

IDS: Final = "Name a session by its id, or by the beginning of its id."

ENVIRONMENT: Final = (
    (
        "OPENAI_API_KEY, ANTHROPIC_API_KEY and those of the other providers",
        "API keys; they can be entered in the program too",
    ),
    ("OPENAI_BASE_URL, ANTHROPIC_BASE_URL", "another server of that provider"),
    ("KEEN_HOME", "one folder for settings and sessions"),
    ("VISUAL, EDITOR", "the editor for ctrl+g and for files"),
    ("NO_COLOR", "no colours"),
)

EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done",
    1: "error",
    2: "wrong use",
    3: "the turn is incomplete, the run was stopped",
    4: "a limit of the run was reached",
    5: "the check fails in the same way",
    6: "something had to be asked",
}

SETTINGS_FILES: Final = (
    ("settings.toml", "your settings; flags override them"),
    ("AGENTS.md", "your instructions for the model in every project"),
    ("commands/ themes/ providers/", "your own slash commands, themes and model servers"),
)
"""What is in the folder of the settings."""

DATA_FILES: Final = (("sessions/", "everything said and done, one file per session"),)
"""What is in the folder of the data."""
