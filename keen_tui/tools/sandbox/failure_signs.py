"""Tells whether a command failed because of its sandbox, from its exit code, the end of its output and its
words.

When in doubt it says no, since a yes leads to a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.messages import ToolResult
from keen_tui.tools.network.network_words import in_words, install_in
from keen_tui.tools.shell.mentions import mentioned_commands

TIMED_OUT: Final = 124
_LAST_WORDS: Final = 4_000
"""Characters at the end of the output that are checked: the cause of a failure is near the end."""

_NETWORK: Final = (
    r"could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|"
    r"network is unreachable|no route to host|failed to establish a new connection|getaddrinfo|"
    r"\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED)\b|connection refused|couldn't connect to|"
    r"could not connect to|cannot connect to the docker daemon|dial (tcp|udp|unix)|lookup .*: no such host|"
    r"failed to lookup address|socket: operation not permitted"
)
READ_ONLY: Final = (
    r"read-only file system|\bEROFS\b|attempt to write a readonly database|unable to open database file|"
    r"index\.lock': operation not permitted"
)
_SIGNING: Final = (
    r"gpg failed to sign|cannot run gpg|secret key not available|couldn't load public key|"
    r"no private key found for|user\.signingkey"
)
_CREDENTIALS: Final = (
    r"could not read (?:username|password) for|fatal: authentication failed|permission denied \(publickey|"
    r"host key verification failed|could not open a connection to your authentication agent"
)
_NOT_PERMITTED: Final = r"operation not permitted|\bEPERM\b"
DENIED: Final = r"permission denied|\bEACCES\b"
_HIDDEN: Final = r"may hold keys or passwords, so this command could not read it\]"
"""The words in the result of a command about a hidden file that it named."""
_WARNING: Final = r"(?i)[^\r\n]*warning:[^\r\n]*"
"""Warnings aren't the cause of a failure: pytest warns about a cache that it can't write."""

NO_NETWORK: Final = ", which the sandbox blocks"
"""The end of a reason about the network."""
_WANTS_NETWORK: Final = f"its output suggests that it needs the network{NO_NETWORK}"
_CURL_ENDS: Final = frozenset([5, 6, 7, 56])
"""Exit codes of curl: it can't resolve the proxy or the host, can't connect, or the proxy refused."""
_WGET_ENDS: Final = frozenset([4])


def stopped_by_sandbox(sandbox: str, result: ToolResult) -> str:
    """Returns the most likely action that this sandbox stopped, as a sentence without a full stop; "" for
    none."""
    code, said = result.exit_code, result.text[-_LAST_WORDS:]
    if not code:
        return ""
    if code == TIMED_OUT:
        return _hung(_commands_of(result))
    return _said(sandbox, said) or _silent(_commands_of(result), code, result)


def _said(sandbox: str, said: str) -> str:
    """The reason that the end of the output gives."""
    if _says(said, _HIDDEN):
        return "it may need a file that commands can't read, because it may hold keys or passwords"
    if _says(said, _SIGNING):
        return "git needs your signing key, which the sandbox hides"
    if _says(said, _CREDENTIALS):
        return "git needs your credentials, which the sandbox hides"
    if _says(said, _NETWORK):
        return _WANTS_NETWORK
    if _says(said, READ_ONLY):
        return "its output suggests that it writes where the sandbox is read-only"
    if sandbox == "landlock" and _says(without_warnings(said), DENIED):
        return "its output suggests that the sandbox blocked a file it needs"
    if _says(said, _NOT_PERMITTED):
        return "its output suggests that the sandbox blocked it"
    return ""


def named_among(files: Iterable[str], *texts: str) -> str:
    """The first of these files (paths in the workspace) that one of the texts names; "" for none."""
    for file in files:
        name = rf"(?<![\w.-])(?:{re.escape(file)}|{re.escape(PurePosixPath(file).name)})(?![\w.-]*\w)"
        if any(re.search(name, text) for text in texts):
            return file
    return ""


def _hung(commands: Sequence[Sequence[str]]) -> str:
    """The reason for an install that ran into its time limit: it has most likely tried to reach its
    registry."""
    install = install_in(commands)
    return f"{in_words(install)} took too long, as it does without the network" if install else ""


def _silent(commands: Sequence[Sequence[str]], code: int, result: ToolResult) -> str:
    """The reason that the exit code of a silent program gives, if the code surely comes from that program."""
    display = result.display
    if not commands or not isinstance(display, CommandDisplay) or display.output.strip():
        return ""
    name = commands[0][0] if len(commands) == 1 else ""
    if (name == "curl" and code in _CURL_ENDS) or (name == "wget" and code in _WGET_ENDS):
        return f"{name} ended with exit code {code}: it found no network{NO_NETWORK}"
    return ""


def _commands_of(result: ToolResult) -> Sequence[Sequence[str]]:
    display = result.display
    return mentioned_commands(display.command) if isinstance(display, CommandDisplay) else ()


def without_warnings(output: str) -> str:
    """The output without warning lines."""
    return re.sub(_WARNING, "", output)


def _says(words: str, pattern: str) -> bool:
    """Whether the text matches. Patterns are compiled only when something has failed, not at the start."""
    return re.search(pattern, words, re.IGNORECASE | re.MULTILINE) is not None
