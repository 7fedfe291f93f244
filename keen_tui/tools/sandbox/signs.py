"""Whether a command failed because of its sandbox, told from its exit code and its last words.

Rather not than wrongly: what is said here leads to a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

_TIMED_OUT: Final = 124
_LAST_WORDS: Final = 4_000
"""Characters of the output that are looked at: what stopped a command stands near its end."""

_NETWORK: Final = (
    r"could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|"
    r"network is unreachable|no route to host|failed to establish a new connection|getaddrinfo|"
    r"\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED)\b|connection refused|couldn't connect to|"
    r"could not connect to|cannot connect to the docker daemon|dial (tcp|udp|unix)|lookup .*: no such host|"
    r"failed to lookup address|socket: operation not permitted"
)
_READ_ONLY: Final = r"read-only file system|\bEROFS\b"
_NOT_SEEN: Final = r"^fatal: not a git repository"
"""The repository of a folder below its top, or of a work tree, stands outside of the workspace."""
_NOT_PERMITTED: Final = r"operation not permitted|\bEPERM\b"
_DENIED: Final = r"permission denied|\bEACCES\b"
_HIDDEN: Final = r"may hold keys or passwords, so this command could not read it\]"
"""What the result of a command says of a hidden file that it named."""
_WARNING: Final = r"(?i)[^\r\n]*warning:[^\r\n]*"
"""What is denied with a warning is not what a command failed of: pytest warns of a cache it can't write."""


def stopped_by_sandbox(sandbox: str, exit_code: int | None, output: str) -> str:
    """What the sandbox of that name most likely stopped, in a sentence without its stop; "" for nothing."""
    if exit_code in (None, 0, _TIMED_OUT):
        return ""
    said = output[-_LAST_WORDS:]
    if _says(said, _HIDDEN):
        return "it may need a file that commands can't read, because it may hold keys or passwords"
    if _says(said, _NETWORK):
        return "its output suggests that it needs the network, which the sandbox blocks"
    if _says(said, _READ_ONLY):
        return "its output suggests that it writes where the sandbox is read-only"
    if sandbox == "landlock" and _says(re.sub(_WARNING, "", said), _DENIED):
        return "its output suggests that the sandbox blocked a file it needs"
    if _says(said, _NOT_SEEN):
        return "its output suggests that it needs files the sandbox hides, such as a repository around it"
    if _says(said, _NOT_PERMITTED):
        return "its output suggests that the sandbox blocked what it does"
    return ""


def named_among(files: Iterable[str], *texts: str) -> str:
    """The first of these files, paths in the workspace, that one of the texts names; "" for none."""
    for file in files:
        name = rf"(?<![\w.-])(?:{re.escape(file)}|{re.escape(PurePosixPath(file).name)})(?![\w.-]*\w)"
        if any(re.search(name, text) for text in texts):
            return file
    return ""


def _says(words: str, pattern: str) -> bool:
    """Patterns are compiled when something has failed, not when the program starts."""
    return re.search(pattern, words, re.IGNORECASE | re.MULTILINE) is not None
