"""Tells from a command's words whether it may need the network, and which registry an install names. Pure.

Only programs that are known to work without the network get none: an unknown one might need it, and would
fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from keen_tui.text.hosts import Host, NotAHost, host_name

Words = Sequence[str]

_LOCAL: Final = frozenset(
    """
    : . [ [[ alias awk base64 basename break bzip2 cat cd chmod cksum clear cmp column comm continue cp cut
    date dd declare df diff dirname du echo egrep env exit expand export expr false fgrep file find fmt fold
    free gawk grep groups gunzip gzip head hexdump hostname iconv id install jobs join jq kill less let ln
    local ls lsof md5sum mkdir mkfifo mktemp more mv nl nohup nproc od paste patch pgrep printf ps
    pwd read readlink realpath readonly return rev rg rm rmdir sed seq set sha1sum sha256sum shift sleep sort
    split stat strings tac tail tar tee test time timeout touch tr tree trap true truncate tsort type ulimit
    umask uname unexpand uniq unset unxz unzip uptime wait wc which whoami xargs xxd xz yes zcat zip
    """.split()  # noqa: SIM905 - a list of some 150 quoted names is no easier to read
)
_REMOTE_GIT: Final = frozenset(
    "archive clone fetch fetch-pack lfs ls-remote pull push remote send-email submodule svn".split()  # noqa: SIM905
)
_GIT_VALUES: Final = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace"])
_OFFLINE: Final = frozenset(["--offline", "--no-index", "-h", "--help", "--version", "--dry-run"])
_REGISTRY_OPTION: Final = re.compile(
    r"(?:--registry|--index-url|--extra-index-url|--default-index|--index|-i|--source)(?:=(.*))?"
)
_NPMRC: Final = re.compile(r"(?m)^\s*(?:@[\w.-]+:)?registry\s*=\s*(\S+)")

_INSTALLS: Final[Mapping[str, str]] = {
    "npm": "install i ci add update up upgrade audit outdated view info create init install-test",
    "pnpm": "install i add update up dlx create outdated audit",
    "bun": "install i add update create",
    "yarn": "install add up upgrade dlx create",
    "pip": "install download wheel index",
    "pipx": "install run upgrade inject",
    "uv": "add sync lock tool",
    "poetry": "install add update lock",
    "pdm": "install add update lock sync",
    "cargo": "add install update fetch search",
    "go": "get install mod",
    "gem": "install update fetch",
    "bundle": "install update add lock",
    "mvn": "dependency:get dependency:resolve dependency:go-offline",
    "gradle": "--refresh-dependencies",
}
"""Programs that install, and their verbs for that."""

_READ_NPMRC: Final = frozenset(["npm", "pnpm", "bun", "yarn"])

_PIP: Final = re.compile(r"pip[\d.]*")
_PYTHON: Final = re.compile(r"python[\d.]*")


def may_want_network(mentions: Sequence[Words]) -> bool:
    """Whether a command may need the network, judging by all commands that its text mentions."""
    return not mentions or any(not _is_local(words) for words in mentions)


def _is_local(words: Words) -> bool:
    name, *rest = words
    if name == "git":
        verb = _git_verb(rest)
        return bool(verb) and verb not in _REMOTE_GIT
    return name in _LOCAL or "=" in name


def _git_verb(words: Words) -> str:
    """The git command, "" if it can't be found."""
    is_value = False
    for word in words:
        if is_value or word.startswith("-"):
            is_value = not is_value and word in _GIT_VALUES
            continue
        return word if word.replace("-", "").isalpha() else ""
    return ""


def install_in(mentions: Sequence[Words]) -> Words:
    """The words of the first install among the commands, with the usual name of its program; () for none."""
    return next((install for words in mentions if (install := _install(words))), ())


def _install(words: Words) -> Words:
    name, *rest = words
    if _PYTHON.fullmatch(name) and rest[:1] == ["-m"] and rest[1:]:
        name, *rest = rest[1:]
    if name == "uv" and rest[:1] == ["pip"]:
        name, *rest = rest
    name = "pip" if _PIP.fullmatch(name) else name
    name = {"gradlew": "gradle", "mvnw": "mvn"}.get(name, name)
    if name not in _INSTALLS or _OFFLINE.intersection(rest):
        return ()
    verbs = _INSTALLS[name].split()
    if name == "yarn" and not rest:
        return (name, "install")
    said = [word for word in rest if word in verbs]
    plain = next((word for word in rest if not word.startswith("-")), "")
    is_install = said and (plain in verbs or said[0].startswith("-"))
    return (name, *rest) if is_install else ()


def in_words(install: Words) -> str:
    """The install in two words, for a question: `npm install`."""
    verbs = _INSTALLS[install[0]].split()
    return " ".join([install[0], *[word for word in install[1:] if word in verbs][:1]])


def registries(install: Words, npmrc: str = "") -> tuple[Host, ...]:
    """The registries in an install's options or in the project's .npmrc; () if it uses the default one, which
    is known when it connects."""
    named = [*_named(install)]
    if not named and install[0] in _READ_NPMRC:
        named = _NPMRC.findall(npmrc)
    return tuple(dict.fromkeys(host for url in named for host in _hosts(url)))


def _named(words: Words) -> Iterator[str]:
    """The addresses in options."""
    for word, behind in zip(words, (*words[1:], ""), strict=True):
        if found := _REGISTRY_OPTION.fullmatch(word.strip("\"'")):
            yield (found[1] or behind).strip("\"'")


def _hosts(url: str) -> Iterator[Host]:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            usual = 443 if parts.scheme == "https" else 80
            yield Host(host_name(parts.hostname), parts.port or usual)
    except (NotAHost, ValueError):
        return  # the proxy reports what is wrong with it
