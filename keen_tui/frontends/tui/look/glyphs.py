"""The signs on the screen, by what they mean, in Unicode and in plain ASCII."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import astuple

from keen_tui.frontends.tui.look.locales import locale_of


class Glyphs(Struct, frozen=True, kw_only=True):
    """One sign for each meaning. All are one cell wide, but for `queued` in ASCII, which has two."""

    running: str
    running_alt: str
    done: str
    failed: str
    look: str
    asks: str
    stopped: str
    none: str
    to_do: str
    more: str
    prompt: str
    queued: str
    changed: str
    called: str
    minus: str
    folded: str
    unfolded: str
    live: str
    bar: str
    caret: str
    hairline: str
    quote: str
    rule: str
    meter_full: str
    meter_half: str
    meter_cached: str
    meter_track: str
    bullet: str
    skill: str
    up: str
    down: str
    left: str
    right: str
    ascii: bool

    def of(self, sign: str) -> str:
        """What this set has for a sign of the Unicode set."""
        return _IN_ASCII[sign] if self.ascii else sign


UNICODE = Glyphs(
    running="●",
    running_alt="•",
    done="✓",
    failed="✗",
    look="▲",
    asks="?",
    stopped="■",
    none="–",
    to_do="○",
    more="…",
    prompt="›",
    queued="»",
    changed="±",
    called="→",
    minus="−",
    folded="▸",
    unfolded="▾",
    live="┊",
    bar="▌",
    caret="▌",
    hairline="│",
    quote="│",
    rule="─",
    meter_full="━",
    meter_half="╸",
    meter_cached="╍",
    meter_track="─",
    bullet="•",
    skill="◆",
    up="↑",
    down="↓",
    left="←",
    right="→",
    ascii=False,
)

ASCII = Glyphs(
    running="*",
    running_alt="*",
    done="+",
    failed="x",
    look="!",
    asks="?",
    stopped="#",
    none="-",
    to_do="o",
    more=".",
    prompt=">",
    queued=">>",
    changed="~",
    called=">",
    minus="-",
    folded=">",
    unfolded="v",
    live=":",
    bar="|",
    caret="|",
    hairline="|",
    quote="|",
    rule="-",
    meter_full="=",
    meter_half="=",
    meter_cached=":",
    meter_track="-",
    bullet="*",
    skill="$",
    up="^",
    down="v",
    left="<",
    right=">",
    ascii=True,
)


_IN_ASCII = dict(zip(astuple(UNICODE), astuple(ASCII), strict=True))


def choose_glyphs(setting: str | None, environ: Mapping[str, str], encoding: str) -> Glyphs:
    """The set that `setting` names ("unicode", "ascii"), else the one that the terminal can draw.

    `encoding` is that of the terminal's stream; anything but UTF-8 gets ASCII, and so do the C and the POSIX
    locale, in which Python writes UTF-8 all the same, and `TERM=linux` and `TERM=dumb`, whose fonts lack most
    of the signs.
    """
    if setting in ("unicode", "ascii"):
        return ASCII if setting == "ascii" else UNICODE
    utf8 = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    utf8 = utf8 and locale_of(environ) not in ("C", "POSIX")
    return UNICODE if utf8 and environ.get("TERM") not in ("linux", "dumb") else ASCII
