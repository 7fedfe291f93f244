"""The keys of pages: each page handles its own and names them in its last row."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.frontends.shared.action import Action


def _key(action_id: str, keys: tuple[str, ...], label: str, help: str, *, in_browser: str = "") -> Action:
    return Action(
        id=action_id,
        keys=keys,
        label=label,
        where="pages",
        help=help,
        listed=False,
        in_browser=in_browser,
    )


def _told(action_id: str, keys: tuple[str, ...], label: str, help: str) -> Action:
    """A key that is the same everywhere, so that nobody needs to change it."""
    return replace(_key(action_id, keys, label, help), bound=False)


PAGE_ACTIONS: tuple[Action, ...] = (
    _told("page_back", ("escape",), "Back", "goes back; so does the key that opened the page"),
    _told(
        "page_choose",
        ("up", "down", "enter"),
        "Choose",
        "choose and confirm; page up, page down, home and end move further",
    ),
    _told(
        "page_filter", ("a", "…", "z"), "Filter", "Sessions, Models, Settings, Help: filters by what you type"
    ),
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
        "Changes, Review: opens your editor there. Next request: edits TurnMemory",
    ),
    replace(
        _told("page_file", (), "Open the file", "Settings: opens the file in your editor, at the setting"),
        follows="edit_draft",
    ),
    _key("page_policy", ("p",), "Use the policy", "Next request: uses the selected memory policy"),
    _key("page_usage", ("u",), "Usage", "Next request: shows tokens and cost, turn by turn; again goes back"),
    _key(
        "page_copy",
        ("ctrl+y",),
        "Copy",
        "Next request: copies the part as it is sent. Sign-in: copies the address",
    ),
    _key(
        "page_words",
        ("ctrl+f",),
        "Search words",
        "Sessions: searches for words in all of them",
        in_browser="alt+f",
    ),
    _key("page_folders", ("tab",), "All folders", "Sessions: shows all folders, or only this one"),
    _key(
        "page_fork",
        ("ctrl+k",),
        "Fork, or a key",
        "Sessions: continues in a copy. Models: enters an API key",
        in_browser="alt+k",
    ),
    _key("page_rename", ("ctrl+e",), "Rename", "Sessions: changes the title", in_browser="alt+e"),
    _key("page_delete", ("ctrl+d",), "Delete", "Sessions: deletes one, after asking", in_browser="alt+d"),
    _key(
        "page_check",
        ("ctrl+t",),
        "Test the connection",
        "Models: checks that the server in use answers",
        in_browser="alt+t",
    ),
    _key("page_view", ("s",), "Other view", "Changes: shows them side by side, or one below the other"),
    _key(
        "page_reset",
        ("ctrl+r", "delete"),
        "Reset",
        "Settings: back to the default",
        in_browser="alt+r",
    ),
    _key(
        "page_forget",
        ("x",),
        "Forget",
        "TurnMemory: forgets the entry, or restores it. Skills: unloads one",
    ),
    _key("page_task", ("t",), "Make it a task", "Review: puts the finding into the composer, as a task"),
    _key("page_note", ("n",), "Note", "TurnMemory: adds a note"),
    _key("page_sign_in", ("l",), "Sign in", "MCP servers: signs in to one"),
    _key("page_restart", ("r",), "Restart", "MCP servers: restarts one"),
    _key("page_stop", ("k",), "Stop", "MCP servers: stops one. Review: stops it"),
)
