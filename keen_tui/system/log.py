"""What went wrong and nobody need see: keen.log in the settings folder, for the user alone, without keys."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from keen_tui.system.paths import home_folder
from keen_tui.text.redaction import keep_secrets_of, masked

MOST_BYTES: Final = 1_000_000
"""Bytes of the file; then it becomes keen.log.1 and another one begins."""

_FORM: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def begin_log(environ: Mapping[str, str]) -> None:
    """Write warnings and errors to the log from now on. The file is made with the first of them."""
    keep_secrets_of(environ)
    logging.raiseExceptions = False  # a log that can't be written is no reason to write on the screen
    handler = LogFile(home_folder(environ) / "keen.log")
    handler.setFormatter(_Masked(_FORM))
    logging.getLogger().addHandler(handler)


class LogFile(logging.Handler):
    """Appends records to a file that only the user can read. What can't be written is lost in silence."""

    def __init__(self, file: Path) -> None:
        super().__init__(logging.WARNING)
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._turn_over()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(f"{text}\n")
        except Exception:
            self.handleError(record)

    def _turn_over(self) -> None:
        if self._file.exists() and self._file.stat().st_size > MOST_BYTES:
            self._file.replace(self._file.with_name(f"{self._file.name}.1"))


class _Masked(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))
