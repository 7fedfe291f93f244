"""Times, sizes, counts and money in words, the same wherever they are shown."""

from __future__ import annotations

_TITLE_LENGTH = 120
_BLANK_AT_MOST = 10_000
"""Characters of a message, from its beginning, in which something is said."""


def duration(seconds: float, *, running: bool = False) -> str:
    """`3 ms`, below ten seconds `1.4 s`, then `12 s`, from a minute `1:52`, from an hour `1:02:07`.

    A running clock shows whole seconds only, so that it never jumps in width within one.
    """
    seconds = max(seconds, 0.0)
    whole = int(seconds) if running else round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    if whole >= 60:
        return f"{whole // 60}:{whole % 60:02}"
    if running or seconds >= 9.95:
        return f"{whole} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{round(seconds * 1000)} ms"


def size(count: int) -> str:
    """A number of bytes: `87 B`, from 100 on `0.4 kB`, `18.2 kB`, `511 kB`, `1.3 MB`."""
    if count < 100:
        return f"{count} B"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if count < factor * 99.95:
            return f"{count / factor:.1f} {unit}"
        if count < factor * 999.5:
            return f"{count / factor:.0f} {unit}"
    return f"{count / 1e12:.1f} TB"


def part_of(part: int, whole: int) -> str:
    """Bytes of so many bytes: `0.2 of 4.1 kB`, `87 B of 4.1 kB`."""
    shown, of = size(part), size(whole)
    number, _, unit = shown.partition(" ")
    return f"{number if of.endswith(f' {unit}') else shown} of {of}"


def tokens(count: int) -> str:
    """A number of tokens: `950`, `10.4k`, `200k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 99_950:
        return f"{count / 1e3:.1f}k".replace(".0k", "k")
    return f"{count / 1e3:.0f}k" if count < 999_500 else f"{count / 1e6:.1f}M".replace(".0M", "M")


def dollars(amount: float) -> str:
    """An amount of US dollars: `$0.04`, below a cent `$0.004`, `<$0.001`, from a hundred on `$123`."""
    if amount >= 99.995:
        return f"${amount:.0f}"
    if amount >= 0.0095 or not amount:
        return f"${amount:.2f}"
    return f"${amount:.3f}" if amount >= 0.001 else "<$0.001"


def first_line(text: str) -> str:
    """The first line that says something, or its first characters: what a message is called in a list."""
    return text[:_BLANK_AT_MOST].strip().split("\n", 1)[0][:_TITLE_LENGTH]


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 call`, `4,000 calls`; `many` where the plural is not formed with s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
