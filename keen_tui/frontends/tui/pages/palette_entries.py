"""The entries of the command palette: actions of the workspace and its panes, commands, modes, themes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Protocol, get_args

from keen_tui.domain.choices import Mode
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.tui.keys.keymap import keys_of, shown_key
from keen_tui.frontends.tui.pages.palette import PaletteEntry
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.text.labels import MODES

_OF_PANELS: Final = ("show_row", "open_row", "diff_row")
"""Actions that the panels handle themselves, and that do something wherever they are run from."""
_NOT_OFFERED: Final = ("palette", "interrupt")
_OF_A_STATE: Final = ("stop", "retry", "discard", "keep_on_disk", "steer")
"""Actions that make sense in some states only. In the others they come last."""


class PaletteTarget(Protocol):
    """The workspace, as far as the entries use it."""

    @property
    def commands(self) -> SlashCommands:
        """All slash commands."""

    def run(self, action_id: str) -> None:
        """Run the action of that id."""

    def run_in_pane(self, action: Action) -> None:
        """Go to the pane of that action and run it there."""

    def offer_command(self, name: str) -> None:
        """Send a command of one's own, or have its words written first."""

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode."""

    def keep_theme(self, name: str) -> None:
        """Use a theme from now on."""


def palette_entries(
    workspace: PaletteTarget, themes: Sequence[str], first: Sequence[str] = ()
) -> list[PaletteEntry]:
    """All entries: those with the ids `first`, then those of the whole workspace. What the state doesn't call
    for comes last."""
    entries = [
        *_actions(workspace),
        *_own_commands(workspace),
        *(_other(f"Mode: {mode}", MODES[mode], partial(workspace.set_mode, mode)) for mode in _MODES),
        *(
            _other(f"Theme: {name}", "changes the colours", partial(workspace.keep_theme, name))
            for name in themes
        ),
        *_pane_actions(workspace),
    ]
    order = dict.fromkeys(_OF_A_STATE, len(first) + 1)
    order |= {entry_id: place for place, entry_id in enumerate(first)}
    return sorted(entries, key=lambda entry: order.get(entry.id, len(first)))


def applying(state: UiState) -> list[str]:
    """The ids of the actions that this state calls for."""
    changed = bool(state.turns and state.turns[-1].memory.files_changed)
    if state.running:
        retry = ["retry"] if state.phase == "retrying" else []
        return [*retry, "stop", "steer"] if state.turn_running else ["stop"]
    if state.pending or state.failed:
        on_disk = ["keep_on_disk"] if state.pending and not state.keeps_pending else []
        return ["retry", "discard", *on_disk, *(["diff"] if changed else [])]
    return ["undo", "diff"] if changed else []


_MODES: Final[tuple[Mode, ...]] = get_args(Mode)


def _actions(workspace: PaletteTarget) -> Iterator[PaletteEntry]:
    for action in ACTIONS:
        if action.listed or (action.where == "anywhere" and action.id not in _NOT_OFFERED):
            yield _entry(action, partial(workspace.run, action.id))


def _pane_actions(workspace: PaletteTarget) -> Iterator[PaletteEntry]:
    for action in ACTIONS:
        in_pane = action.bound and action.where in ("composer", "transcript")
        if not action.listed and (in_pane or action.id in _OF_PANELS):
            yield _entry(action, partial(workspace.run_in_pane, action))


def _entry(action: Action, run: partial[None]) -> PaletteEntry:
    keys = keys_of(action)
    key = shown_key(keys[0]) if keys else ""
    return PaletteEntry(action.id, action.label, key, action.slash, action.help, run, action.listed)


def _own_commands(workspace: PaletteTarget) -> Iterator[PaletteEntry]:
    for command in workspace.commands.own:
        label = f"/{command.name} {command.hint}".rstrip()
        run = partial(workspace.offer_command, command.name)
        yield PaletteEntry(label, label, "", (command.name,), command.description, run)


def _other(label: str, help: str, run: partial[None]) -> PaletteEntry:
    return PaletteEntry(label, label, "", (), help, run)
