"""What was allowed or forbidden beside the permission mode, in words."""

from __future__ import annotations

from msgspec import Struct


class Permitted(Struct, frozen=True, kw_only=True):
    """`rules` of the settings, each as `deny bash(curl)`; what was allowed for this `session`; commands that
    were `saved` for this folder. `sandbox` is a sentence about what commands run in, "" while that isn't
    known. `kept_back` is what commands made and what lies in the quarantine, each with its folder."""

    rules: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    sandbox: str = ""
    kept_back: tuple[str, ...] = ()
