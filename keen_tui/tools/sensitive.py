"""Files that deserve a question of their own: those that make code run later, and those that hold secrets.

Pure: a path is judged by its name, in any case of letters, relative to the workspace or whole.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath

_RUNS_LATER_FOLDERS = frozenset(
    {
        ".git",
        ".githooks",
        ".husky",
        ".keen",
        ".vscode",
        ".idea",
        ".devcontainer",
        ".circleci",
        ".ci",
        ".buildkite",
        ".ssh",
    }
)
_RUNS_LATER_FILES = (
    "agents.md",
    "claude.md",
    "makefile",
    "gnumakefile",
    "*.mk",
    "justfile",
    "rakefile",
    ".envrc",
    ".gitmodules",
    ".gitconfig",
    ".gitattributes",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "sitecustomize.py",
    "usercustomize.py",
    "package.json",
    ".npmrc",
    ".pre-commit-config.yaml",
    "jenkinsfile",
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
)
_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".azure"})
_SECRET_FILES = (
    ".env",
    ".env.*",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "credentials.json",
)
_SECRET_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist")


def runs_code_later(path: str) -> bool:
    """Whether tools, hooks or a shell may run what is written there, without being told to."""
    parts = _parts(path)
    is_workflow = any(pair == (".github", "workflows") for pair in pairwise(parts))
    return is_workflow or _matches(parts, _RUNS_LATER_FOLDERS, _RUNS_LATER_FILES)


def holds_secrets(path: str) -> bool:
    """Whether keys or passwords usually stand in a file of that name."""
    parts = _parts(path)
    return (
        parts[-1:] != ()
        and parts[-1] not in _SECRET_EXAMPLES
        and _matches(parts, _SECRET_FOLDERS, _SECRET_FILES)
    )


def _matches(parts: tuple[str, ...], folders: frozenset[str], files: tuple[str, ...]) -> bool:
    return not folders.isdisjoint(parts) or any(fnmatchcase(parts[-1], name) for name in files if parts)


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.casefold()).parts
