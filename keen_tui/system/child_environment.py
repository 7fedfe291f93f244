"""The environment of commands."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from keen_tui.system.executables import absolute_folders
from keen_tui.text.redaction import known_keys

_KEPT = frozenset(
    """
    HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY
    LC_NUMERIC LC_TIME VIRTUAL_ENV CONDA_PREFIX
    GOPATH GOROOT CARGO_HOME RUSTUP_HOME JAVA_HOME PYENV_ROOT NVM_DIR XDG_CACHE_HOME
    XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NO_COLOR
    """.split()  # noqa: SIM905 - a list of 24 quoted names is no easier to read
)
_FOLDERS = ("PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH")
"""Variables with lists of folders. In `:/opt/lib` the first folder is the current one, so every program would
load files from the workspace."""
_SET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "DEBIAN_FRONTEND": "noninteractive",
}


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the model's commands: an allow-list, so that no key or token gets in, and no pager
    or prompt."""
    kept = {name: value for name, value in environ.items() if name in _KEPT}
    folders = {name: absolute_folders(environ.get(name, "").replace(";", ":")) for name in _FOLDERS}
    kept |= {name: value for name, value in folders.items() if value}
    return kept | {"PATH": absolute_folders(environ.get("PATH", os.defpath))} | _SET


def own_environment(environ: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    """The environment of the user's commands: the user's own, without pagers and prompts, and without the
    variables `keys`."""
    return {name: value for name, value in environ.items() if name not in keys} | _SET


def key_variables(environ: Mapping[str, str], named: Iterable[str]) -> frozenset[str]:
    """The variables with API keys: the named ones, and those whose name says so."""
    return frozenset({*named, *(name for name in environ if name.upper().endswith("_API_KEY"))})


def api_keys(environ: Mapping[str, str], named: Iterable[str]) -> frozenset[str]:
    """The known API keys, including the values of `key_variables`."""
    values = (environ.get(name, "").strip() for name in key_variables(environ, named))
    return known_keys() | frozenset(filter(None, values))


def library_folders(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The folders where commands look for libraries before the system's."""
    return list(filter(None, child_environment(environ).get("LD_LIBRARY_PATH", "").split(os.pathsep)))
