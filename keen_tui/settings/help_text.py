"""What `keen-tui --help` prints, 80 columns wide. Flags are those of the parser, which describes each."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from keen_tui.system.paths import data_folder, home_folder

_WIDTH: Final = 80
_SECOND_COLUMN: Final = 26
_HEADING: Final = re.compile(r"^(\S.*):$", re.MULTILINE)
"""As argparse writes it."""

_BEGINNING: Final = """\
Keen TUI, a terminal workspace for a coding agent. Start it in the folder that
you want to work in; press f1 there for help.

  keen-tui                            choose a model, then work in this folder
  keen-tui --demo                     the guided tour: no key, no network
  keen-tui --continue                 continue this folder's newest session
  keen-tui --plain                    line by line, for screen readers
  keen-tui --provider anthropic --model claude-opus-5 --effort high
  keen-tui --base-url http://localhost:11434/v1 --model qwen3-coder
  keen-tui -p "why does test_cart fail?" --mode plan
                                      one turn; the answer on standard output
  git diff | keen-tui -p "review this" --output json
                                      piped data is added to the prompt

Commands
  keen-tui sessions [--all]           list the sessions of this folder, or all
  keen-tui export ID [--format html]  write a session to a file
  keen-tui replay FILE [--speed 4]    play a session on the screen
  keen-tui settings                   write a file that explains all settings

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
  0 done   1 error   2 wrong use   3 the turn is incomplete

Files
  {settings}
    settings.toml         all settings; flags override them
    AGENTS.md             what you tell the model in every project
    commands/ themes/ providers/
                          slash commands, themes and model servers of yours
  {data}
    sessions/             everything said and done, one file a session
"""


def help_text(groups: Iterable[argparse._ArgumentGroup], environ: Mapping[str, str]) -> str:
    """The whole help: what one types first, the flags of these groups, then all else that one looks up."""
    formatter = _Formatter("keen-tui", max_help_position=_SECOND_COLUMN, width=_WIDTH)
    for group in groups:
        formatter.start_section(group.title)
        formatter.add_arguments(group._group_actions)
        formatter.end_section()
    flags = _HEADING.sub(r"\1", formatter.format_help())
    places = {"settings": _shown(home_folder(environ)), "data": _shown(data_folder(environ))}
    return f"{_BEGINNING}\n{flags}\n{_END.format(**places)}"


class _Formatter(argparse.HelpFormatter):
    """The value of a flag is named once, and names are not broken at their hyphens."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        flags = ", ".join(action.option_strings)
        value = self._format_args(action, action.dest.upper()) if action.nargs != 0 else ""
        return f"{flags} {value}".rstrip()

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)


def _shown(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
