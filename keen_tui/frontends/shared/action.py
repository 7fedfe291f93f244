"""An action: one thing that a person can do."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Where = Literal["anywhere", "composer", "transcript", "search", "panels", "question", "pages"]
"""Where the keys of an action work. `anywhere` includes the composer while it has the focus, but not `pages`,
which cover everything else."""


class Action(Struct, frozen=True, kw_only=True):
    """One thing that a person can do.

    `id` is its name in the settings and in the tables of the front ends; for `composer` and `transcript` that
    pane has a method `action_<id>`. `label` is shown in the palette, `hint` is the verb after its key on the
    screen, `slash` are the commands that run it from the composer. `takes` names its arguments, such as
    "[focus]"; "" for actions without arguments. An action that is not `listed`, such as a move inside a pane,
    comes in the palette only if letters ask for it. One that is not `bound` only describes keys that a pane
    handles itself; one that `follows` another has that one's keys. `in_browser` is another key for one that
    browsers take for themselves.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    where: Where = "anywhere"
    hint: str = ""
    slash: tuple[str, ...] = ()
    takes: str = ""
    listed: bool = True
    bound: bool = True
    follows: str = ""
    in_browser: str = ""
