"""What `keen-tui --help` prints, 80 columns wide. Each flag describes itself."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from keen_tui.settings.flags import FlagGroup
from keen_tui.system.paths import data_folder, home_folder

_WIDTH: Final = 80
_SECOND_COLUMN: Final = 26

_BEGINNING: Final = """\
Keen TUI, a terminal workspace for a coding agent. Start it in the folder that
you want to work in; press f1 there for help.

  keen-tui                            choose a model, then work in this folder
  keen-tui --demo                     the guided tour: no key, no network
  keen-tui --continue                 continue this folder's newest session
  keen-tui --worktree fix             work beside this folder, on a branch
  keen-tui --plain                    line by line, for screen readers
  keen-tui --provider anthropic --model claude-opus-5 --effort high
  keen-tui --base-url http://localhost:11434/v1 --model qwen3-coder
  keen-tui -p "why does test_cart fail?" --mode plan
                                      one turn; the answer on standard output
  keen-tui -p "make the tests pass" --until "make test" --mode auto
                                      a run: turns until the command succeeds
  git diff | keen-tui -p "review this" --output json
                                      piped data is added to the prompt

Commands
  keen-tui sessions [--all]           list the sessions of this folder, or all
  keen-tui usage [--days 7] [--json]  tokens and cost, by day and model
  keen-tui eval [TASK ...]            try memory policies on tasks, as a table
  keen-tui export ID [--format html]  write a session to a file
  keen-tui replay FILE [--speed 4]    play a session on the screen
  keen-tui settings                   write a file that explains all settings
  keen-tui trust                      answer again whether a project is trusted
  keen-tui worktrees [remove NAME]    list the work trees here, or remove one
  keen-tui mcp list                   list the MCP servers and how they are
  keen-tui mcp --help                 add, remove and sign in to MCP servers

  Name a session by its id, or by the beginning of its id.
"""

_END: Final = """\
Environment
  OPENAI_API_KEY, ANTHROPIC_API_KEY and those of the other providers
                          API keys; they can be entered in the program too
  OPENAI_BASE_URL, ANTHROPIC_BASE_URL
                          another server of that provider
  KEEN_HOME               one folder for settings and sessions
  VISUAL, EDITOR          the editor for ctrl+g and for files
  NO_COLOR                no colours

Exit codes
  0 done   1 error   2 wrong use   3 the turn is incomplete, the run was stopped
  4 a limit of the run was reached   5 the check fails in the same way
  6 something had to be asked

Files
  {settings}
    settings.toml         your settings; flags override them
    AGENTS.md             your instructions for the model in every project
    commands/ themes/ providers/
                          your own slash commands, themes and model servers
  {data}
    sessions/             everything said and done, one file per session
"""


def help_text(groups: Iterable[FlagGroup], environ: Mapping[str, str]) -> str:
    """The whole help: what one types first, the flags of these groups, then all else that one looks up."""
    flags = "\n".join(line for group in groups for line in (group.title, *_rows(group), ""))
    places = {"settings": _shown(home_folder(environ)), "data": _shown(data_folder(environ))}
    return f"{_BEGINNING}\n{flags}\n{_END.format(**places)}"


def _rows(group: FlagGroup) -> Iterator[str]:
    """What each flag does, beside its name, or below a name that is too long for that."""
    for flag in group.flags:
        name = f"  {flag.usage}"
        meaning = textwrap.wrap(flag.help, _WIDTH - _SECOND_COLUMN, break_on_hyphens=False)
        if len(name) > _SECOND_COLUMN - 2:
            yield name
            name = ""
        for line in meaning:
            yield f"{name:{_SECOND_COLUMN}}{line}"
            name = ""


def _shown(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
