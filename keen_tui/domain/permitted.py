"""What was allowed or forbidden in addition to the permission mode, as text."""

from __future__ import annotations

from msgspec import Struct


class Permitted(Struct, frozen=True, kw_only=True):
    """`rules` are those of the settings, each as `deny bash(curl)`; `session` is what was allowed for this
    session; `saved` are the commands that were allowed permanently in this folder. `sandbox` is a sentence
    about the sandbox of commands, "" until it is known. `set_aside` are the files that commands created and
    Keen moved to quarantine, each with its folder."""

    rules: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    sandbox: str = ""
    set_aside: tuple[str, ...] = ()
