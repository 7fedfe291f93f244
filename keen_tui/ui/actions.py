"""Every action of the workspace, declared once. Key bindings, palette and help are read from here.

Keys are the ones that the program comes with: `keymap` knows those in use.
"""

from __future__ import annotations

from collections.abc import Iterable

from keen_tui.ui.action import Action
from keen_tui.ui.page_actions import PAGE_ACTIONS
from keen_tui.ui.pane_actions import PANE_ACTIONS

ACTIONS: tuple[Action, ...] = (
    Action(
        id="stop",
        keys=("escape",),
        label="Stop the turn",
        hint="stop",
        help="stops the turn; a second esc clears the composer",
    ),
    Action(
        id="retry",
        keys=("ctrl+r",),
        label="Retry the turn",
        slash=("retry",),
        hint="retry",
        help="goes on after an incomplete turn; no call runs twice",
    ),
    Action(
        id="discard",
        keys=("ctrl+x",),
        label="Discard the incomplete turn",
        slash=("discard",),
        hint="discard",
        help="gives the incomplete turn up (asks); takes a failed message back",
    ),
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
        help="gives the panels more columns; remembered",
    ),
    Action(
        id="narrower_panels",
        keys=("f7",),
        label="Narrower panels",
        help="gives the panels fewer columns; remembered",
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
        label="Fold or unfold tool details",
        hint="details",
        help="unfolds diffs, output and reasoning",
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
    Action(
        id="steer",
        keys=("ctrl+s",),
        label="Hand a message in now",
        slash=("steer",),
        takes="[message]",
        help="hands what you wrote, or the oldest queued message, to the running turn",
    ),
    Action(
        id="edit_draft",
        keys=("ctrl+g",),
        label="Write in your editor",
        hint="editor",
        slash=("edit",),
        help="opens what you write in $EDITOR; what you save there comes back",
    ),
    Action(
        id="paste_image",
        keys=("ctrl+v",),
        label="Paste an image",
        where="composer",
        help="takes the image on the clipboard into the message; @shot.png names one that is a file",
    ),
    Action(
        id="find_message",
        keys=("ctrl+up",),
        label="Find an earlier message",
        where="composer",
        slash=("history",),
        help="finds what you wrote before, in other sessions too, by words in it",
    ),
    Action(
        id="palette",
        keys=("ctrl+p",),
        label="Command palette",
        hint="actions",
        help="every action, found by a few letters",
        listed=False,
    ),
    Action(
        id="models",
        keys=("f2",),
        label="Choose a model",
        hint="models",
        slash=("model", "models"),
        help="chooses model and effort, tests the connection, takes keys",
    ),
    Action(
        id="check_connection",
        keys=(),
        label="Test the connection",
        slash=("check",),
        help="asks the model's server for a sign of life",
    ),
    Action(
        id="enter_key",
        keys=(),
        label="Enter an API key",
        slash=("key",),
        help="kept in the system keyring, or in a file that only you can read",
    ),
    Action(
        id="sessions",
        keys=("f3",),
        label="Sessions",
        hint="sessions",
        slash=("resume", "sessions"),
        takes="[words]",
        help="opens a saved session, found by its title or by words in it",
    ),
    Action(
        id="new_session",
        keys=(),
        label="New session",
        slash=("new", "clear"),
        help="begins an empty session; the one on the screen stays saved",
    ),
    Action(
        id="fork",
        keys=(),
        label="Fork this session",
        slash=("fork",),
        takes="[turn]",
        help="goes on with a copy, whole or up to a turn: /fork 3",
    ),
    Action(
        id="rename",
        keys=(),
        label="Rename this session",
        slash=("rename",),
        takes="[title]",
        help="gives this session a title: /rename a better title",
    ),
    Action(
        id="export",
        keys=(),
        label="Export this session",
        slash=("export",),
        takes="[markdown|json|html] [file]",
        help="writes this session to a file: Markdown, or /export html, or /export notes.json",
    ),
    Action(
        id="compact",
        keys=(),
        label="Compact the conversation",
        slash=("compact",),
        takes="[focus]",
        help="summarises the conversation to make room; words say what matters most",
    ),
    Action(
        id="context",
        keys=(),
        label="Next request",
        slash=("context",),
        help="what the model gets if you send now, part by part, under each memory policy",
    ),
    Action(
        id="memory",
        keys=(),
        label="Memory policy",
        slash=("memory",),
        help="how much of a finished turn later turns get; forgets and notes by hand",
    ),
    Action(
        id="permissions",
        keys=(),
        label="Permissions",
        slash=("permissions",),
        help="what runs unasked here: mode, your rules, what you allowed; takes it back",
    ),
    Action(
        id="usage",
        keys=(),
        label="Usage",
        slash=("usage", "cost"),
        help="tokens and cost of this session, turn by turn and in all",
    ),
    Action(
        id="settings",
        keys=(),
        label="Settings",
        slash=("settings", "config"),
        help="every setting with its value, where it comes from and what it means; changes it",
    ),
    Action(
        id="theme",
        keys=(),
        label="Theme",
        slash=("theme", "themes"),
        takes="[name]",
        help="changes the colours, seen while you choose; or one by its name: /theme keen-light",
    ),
    Action(
        id="diff",
        keys=(),
        label="Changes",
        slash=("diff", "changes"),
        takes="[turn]",
        help="shows what this session changed, file by file, or a turn: /diff 3",
    ),
    Action(
        id="undo",
        keys=(),
        label="Undo the changes of a turn",
        slash=("undo",),
        takes="[turn]",
        help="takes back what the newest turn changed, or another: /undo 3 (shows it and asks)",
    ),
    Action(id="help", keys=("f1",), label="Help", hint="help", slash=("help",), help="this page"),
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
        help="copies what is selected, else stops or puts away what is written; again within 2 s leaves",
        listed=False,
    ),
    Action(
        id="leave",
        keys=(),
        label="Leave",
        slash=("exit", "quit"),
        help="ends the program; asks where work is pending",
    ),
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
        id="bottom", keys=("ctrl+end",), label="Go to the end", help="goes to the newest, and stays there"
    ),
    *PANE_ACTIONS,
    *PAGE_ACTIONS,
)

BY_ID = {action.id: action for action in ACTIONS}


def listed() -> Iterable[Action]:
    """The actions that the palette offers."""
    return (action for action in ACTIONS if action.listed)
