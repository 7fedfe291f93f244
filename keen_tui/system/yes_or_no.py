"""A question in the plain terminal, for the time before there is a screen."""

from __future__ import annotations

import termios
from typing import TextIO


def answered_yes(question: str, keys: TextIO, out: TextIO) -> bool | None:
    """Ask, and return whether the answer is yes; None if the input ends before an answer.

    An empty line is a no, and whatever is neither yes nor no is asked for again. What was typed before the
    question appeared is no answer to it.
    """
    if keys.isatty():
        termios.tcflush(keys.fileno(), termios.TCIFLUSH)
    out.write(question)
    out.flush()
    while answer := keys.readline():
        match answer.strip().casefold():
            case "y" | "yes":
                return True
            case "" | "n" | "no":
                return False
        out.write("Please answer y or n: ")
        out.flush()
    return None
