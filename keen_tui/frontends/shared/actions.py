"""Every action of the workspace, declared once. Key bindings, palette and help are read from here.

The keys are the defaults: `keymap` knows those in use.
"""

from __future__ import annotations

from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands import (
    agents,
    changes,
    memory,
    models,
    permissions,
    servers,
    sessions,
    settings,
    skills,
    tasks,
    turns,
    until,
)
from keen_tui.frontends.shared.commands.pages import HELP, USAGE
from keen_tui.frontends.shared.page_actions import PAGE_ACTIONS
from keen_tui.frontends.shared.pane_actions import PANE_ACTIONS

ACTIONS: tuple[Action, ...] = (
    Action(
        id="stop",
        keys=("escape",),
        label="Stop the turn",
        hint="stop",
        help="declines a question, or stops the turn; twice clears the composer",
    ),
    *turns.COMMANDS,
    Action(
        id="sidebar",
        keys=("ctrl+b",),
        label="Show or hide the panels",
        hint="panels",
        help="shows or hides Activity and TurnMemory",
    ),
    Action(
        id="wider_panels",
        keys=("f8",),
        label="Wider panels",
        help="makes the panels wider; remembered",
    ),
    Action(
        id="narrower_panels",
        keys=("f7",),
        label="Narrower panels",
        help="makes the panels narrower; remembered",
    ),
    Action(
        id="fold_memory",
        keys=("ctrl+t",),
        label="Fold or unfold TurnMemory",
        hint="TurnMemory",
        help="folds TurnMemory to one line",
    ),
    Action(
        id="details",
        keys=("ctrl+o",),
        label="More or less detail",
        hint="details",
        help="unfolds everything, folds everything, then goes back to the usual view",
    ),
    Action(
        id="find",
        keys=("ctrl+f",),
        label="Find words",
        hint="find",
        slash=("find",),
        takes="[words]",
        help="finds words in this session: /find discount",
    ),
    Action(
        id="copy",
        keys=(),
        label="Copy the newest reply",
        slash=("copy",),
        takes="[code|all]",
        help="copies the newest reply: /copy; its code: /copy code; the whole session: /copy all",
    ),
    Action(
        id="next_mode",
        keys=("shift+tab",),
        label="Next permission mode",
        hint="mode",
        help="permission mode: ask, auto-edit, plan, auto",
    ),
    turns.STEER,
    *until.COMMANDS,
    Action(
        id="edit_draft",
        keys=("ctrl+g",),
        label="Write in your editor",
        hint="editor",
        slash=("edit",),
        help="opens your text in $EDITOR; what you save there replaces it",
    ),
    Action(
        id="paste_image",
        keys=("ctrl+v",),
        label="Paste an image",
        where="composer",
        help="adds the image on the clipboard to the message; @shot.png names a file",
    ),
    Action(
        id="find_message",
        keys=("ctrl+up",),
        label="Find an earlier message",
        where="composer",
        slash=("history",),
        help="searches your earlier messages, from other sessions too",
    ),
    Action(
        id="palette",
        keys=("ctrl+p",),
        label="Command palette",
        hint="actions",
        help="lists every action; a few letters find one",
        listed=False,
    ),
    *models.COMMANDS,
    *sessions.COMMANDS,
    *memory.COMMANDS,
    *permissions.COMMANDS,
    *skills.COMMANDS,
    *agents.COMMANDS,
    *servers.COMMANDS,
    *tasks.COMMANDS,
    USAGE,
    *settings.COMMANDS,
    Action(
        id="theme",
        keys=(),
        label="Theme",
        slash=("theme", "themes"),
        takes="[name]",
        help="changes the colours, with a preview; or by name: /theme keen-light",
    ),
    *changes.COMMANDS,
    HELP,
    Action(
        id="next_pane",
        keys=("tab",),
        label="Next pane",
        hint="next pane",
        help="moves the focus: composer, transcript, panels",
    ),
    Action(
        id="interrupt",
        keys=("ctrl+c",),
        label="Stop, then leave",
        help="copies the selection, else stops or clears the composer; again within 2 s leaves",
        listed=False,
    ),
    Action(
        id="suspend",
        keys=("ctrl+z",),
        label="Suspend",
        help="suspends Keen; fg in the shell resumes it. A running turn is paused until then",
    ),
    turns.LEAVE,
    Action(
        id="page_up",
        keys=("pageup",),
        label="Page up",
        help="scrolls the transcript, from the composer too",
        listed=False,
    ),
    Action(
        id="page_down",
        keys=("pagedown",),
        label="Page down",
        help="scrolls the transcript down",
        listed=False,
    ),
    Action(id="top", keys=("ctrl+home",), label="Go to the beginning", help="goes to the first message"),
    Action(
        id="bottom",
        keys=("ctrl+end",),
        label="Go to the end",
        help="goes to the newest block and follows new output",
    ),
    *PANE_ACTIONS,
    *PAGE_ACTIONS,
)

BY_ID = {action.id: action for action in ACTIONS}
