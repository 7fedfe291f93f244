"""Whether a command failed because of its sandbox, told from its exit code and its last words.

Rather not than wrongly: what is said here leads to a question.
"""

from __future__ import annotations

import re
from typing import Final

_TIMED_OUT: Final = 124
_LAST_WORDS: Final = 4_000
"""Characters of the output that are looked at: what stopped a command stands near its end."""

_NETWORK: Final = re.compile(
    r"could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|"
    r"network is unreachable|no route to host|failed to establish a new connection|getaddrinfo|"
    r"EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|connection refused|couldn't connect to|"
    r"could not connect to|cannot connect to the docker daemon|dial (tcp|udp|unix)|lookup .*: no such host|"
    r"failed to lookup address|socket: operation not permitted",
    re.IGNORECASE,
)
_READ_ONLY: Final = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_NOT_SEEN: Final = re.compile(r"^fatal: not a git repository", re.MULTILINE)
"""The repository of a folder below its top, or of a work tree, stands outside of the workspace."""
_NOT_PERMITTED: Final = re.compile(r"operation not permitted|\bEPERM\b", re.IGNORECASE)
_DENIED: Final = re.compile(r"permission denied|\bEACCES\b", re.IGNORECASE)


def stopped_by_sandbox(sandbox: str, exit_code: int | None, output: str) -> str:
    """What the sandbox of that name most likely stopped, in a sentence without its stop; "" for nothing."""
    if exit_code in (None, 0, _TIMED_OUT):
        return ""
    said = output[-_LAST_WORDS:]
    if _NETWORK.search(said):
        return "it seems to need the network, which the sandbox has not"
    if _READ_ONLY.search(said) or (sandbox == "landlock" and _DENIED.search(said)):
        return "it seems to write where the sandbox is read-only"
    if _NOT_SEEN.search(said):
        return "it seems to need what the sandbox does not show, such as a repository around this folder"
    if _NOT_PERMITTED.search(said):
        return "it seems to do what the sandbox does not permit"
    return ""
