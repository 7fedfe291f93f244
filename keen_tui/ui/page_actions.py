"""The keys of pages that lie over the workspace: each page handles its own and names them in its last row."""

from __future__ import annotations

from keen_tui.ui.action import Action


def _told(action_id: str, keys: tuple[str, ...], label: str, help: str) -> Action:
    return Action(id=action_id, keys=keys, label=label, where="pages", help=help, listed=False, bound=False)


PAGE_ACTIONS: tuple[Action, ...] = (
    _told("page_back", ("escape",), "Back", "leads back; so does the key that opened the page"),
    _told(
        "page_choose",
        ("up", "down", "enter"),
        "Choose",
        "chooses and takes; page keys, home and end go further",
    ),
    _told("page_filter", ("a", "…", "z"), "Filter", "Sessions, Models, Help: finds by what you type"),
    _told(
        "page_turn",
        ("left", "right"),
        "Turn",
        "Models: the effort. Settings: the value. Next request: the policy",
    ),
    _told(
        "page_edit",
        ("e",),
        "Edit",
        "Changes, Settings: opens your editor there. Next request: edits what is remembered",
    ),
    _told("page_copy", ("ctrl+y",), "Copy", "Next request: copies the part as it is sent"),
    _told("page_words", ("ctrl+f",), "Search words", "Sessions: finds words in all of them"),
    _told("page_folders", ("tab",), "All folders", "Sessions: those of all folders, or of this one"),
    _told(
        "page_fork", ("ctrl+k",), "Fork, or a key", "Sessions: goes on with a copy. Models: takes an API key"
    ),
    _told("page_rename", ("ctrl+e",), "Rename", "Sessions: gives another title"),
    _told("page_delete", ("ctrl+d",), "Delete", "Sessions: deletes one, after asking"),
    _told(
        "page_check", ("ctrl+t",), "Test the connection", "Models: asks the server in use for a sign of life"
    ),
    _told("page_view", ("s",), "Other view", "Changes: side by side, or one below the other"),
    _told(
        "page_reset",
        ("delete",),
        "Reset",
        "Settings: back to the default. What is remembered: forgets the entry",
    ),
    _told("page_note", ("n",), "Note", "What is remembered: adds a note of yours"),
)
