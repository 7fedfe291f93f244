"""What an action of the screen is."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Where = Literal["anywhere", "composer", "transcript", "search", "panels", "question", "pages"]
"""Where the keys of an action work. `anywhere` includes the composer while it has the focus, but not `pages`,
which lie over all of that."""


class Action(Struct, frozen=True, kw_only=True):
    """One thing a person can do.

    `id` is its name in the settings and in the tables of the front ends; for `composer` and `transcript` that
    pane has a method `action_<id>`. `label` is what the palette shows, `hint` the verb after its key on the
    screen, `slash` the commands that run it from the composer. `takes` names what may be written behind them,
    "[focus]", which it is given then; "" for actions that take nothing. Actions that are not `bound` only
    tell of keys which a pane handles itself; one that `follows` another has that one's keys.
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
