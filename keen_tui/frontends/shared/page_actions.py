"""The keys of pages that lie over the workspace: each page handles its own and names them in its last row."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.frontends.shared.action import Action


def _key(action_id: str, keys: tuple[str, ...], label: str, help: str) -> Action:
    return Action(id=action_id, keys=keys, label=label, where="pages", help=help, listed=False)


def _told(action_id: str, keys: tuple[str, ...], label: str, help: str) -> Action:
    """One that is the same everywhere, so that nobody needs to give it another key."""
    return replace(_key(action_id, keys, label, help), bound=False)


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
    _key(
        "page_edit",
        ("e",),
        "Edit",
        "Changes, Settings: opens your editor there. Next request: edits what is remembered",
    ),
    _key("page_copy", ("ctrl+y",), "Copy", "Next request: copies the part as it is sent"),
    _key("page_words", ("ctrl+f",), "Search words", "Sessions: finds words in all of them"),
    _key("page_folders", ("tab",), "All folders", "Sessions: those of all folders, or of this one"),
    _key(
        "page_fork", ("ctrl+k",), "Fork, or a key", "Sessions: continues in a copy. Models: takes an API key"
    ),
    _key("page_rename", ("ctrl+e",), "Rename", "Sessions: gives another title"),
    _key("page_delete", ("ctrl+d",), "Delete", "Sessions: deletes one, after asking"),
    _key(
        "page_check", ("ctrl+t",), "Test the connection", "Models: asks the server in use for a sign of life"
    ),
    _key("page_view", ("s",), "Other view", "Changes: side by side, or one below the other"),
    _key(
        "page_reset",
        ("delete", "backspace"),
        "Reset",
        "Settings: back to the default",
    ),
    _key("page_forget", ("x",), "Forget", "What is remembered: forgets the entry, or takes that back"),
    _key("page_note", ("n",), "Note", "What is remembered: adds a note of yours"),
)
