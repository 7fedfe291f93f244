"""Files that deserve a question of their own: those that make code run later, and those that hold secrets.

Pure: a path is judged by its name, in any case of letters, relative to the workspace or whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

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
        ".woodpecker",
        ".gitea",
        ".forgejo",
        ".ssh",
        ".gnupg",
        ".hg",
        ".jj",
        ".cargo",
        ".mvn",
        ".yarn",
        ".zed",
        ".vs",
        ".cursor",
        ".claude",
        ".codex",
        ".gemini",
        ".ipython",
    }
)
_RUNS_LATER_PAIRS = frozenset(
    {
        (".github", "workflows"),
        (".github", "actions"),
        (".config", "autostart"),
        (".config", "systemd"),
        (".config", "fish"),
        (".config", "git"),
        (".config", "nvim"),
        (".local", "bin"),
        ("library", "launchagents"),
        ("keen-tui", "settings.toml"),
        ("keen-tui", "allowances.json"),
        ("keen-tui", "trust.json"),
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
    ".drone.yml",
    ".cirrus.yml",
    ".appveyor.yml",
    "appveyor.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    "config.fish",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".tmux.conf",
    ".screenrc",
    ".curlrc",
    ".wgetrc",
    ".hgrc",
    "head",  # makes a folder a repository, whose config git obeys
    "authorized_keys",
    "crontab",
    "*.desktop",
    "*.service",
    "*.timer",
    "*.pth",
    ".pdbrc",
    "pip.conf",
    "pip.ini",
    "uv.toml",
    "poetry.toml",
    "pytest.ini",
    "mypy.ini",
    ".mypy.ini",
    ".pylintrc",
    "pylintrc",
    ".flake8",
    ".coveragerc",
    "gemfile",
    "*.gemspec",
    ".rspec",
    ".irbrc",
    ".pryrc",
    ".rubocop.yml",
    "vagrantfile",
    "composer.json",
    ".user.ini",
    ".htaccess",
    "build.rs",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradlew",
    "mvnw",
    "gradle-wrapper.properties",
    "directory.build.props",
    "directory.build.targets",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    ".eslintrc*",
    "eslint.config.*",
    ".prettierrc*",
    "prettier.config.*",
    ".lintstagedrc*",
    ".huskyrc*",
    "lefthook.yml",
    "taskfile.yml",
    ".bazelrc",
    "flake.nix",
    "shell.nix",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    "*.code-workspace",
    ".gdbinit",
    ".lldbinit",
    ".ghci",
    ".rprofile",
    ".iex.exs",
    ".mcp.json",
    ".cursorrules",
    "gemini.md",
    "copilot-instructions.md",
)
_SECRET_FOLDERS = frozenset(
    {".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".password-store", ".mozilla"}
)
_SECRET_PAIRS = frozenset(
    {(".config", "gh"), (".config", "gcloud"), (".config", "op"), (".gem", "credentials")}
)
_SECRET_FILES = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".flaskenv",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".*_history",
    "kubeconfig",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    "id_dsa*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.kdbx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "*.ovpn",
    "*.tfstate",
    "*.tfstate.backup",
    "*.tfvars",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.tfrc.json",
    "application_default_credentials.json",
    "client_secret*.json",
    "service[-_]account*.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "key4.db",
    "logins.json",
    "wallet.dat",
)
_SECRET_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "example.env", "sample.env")


_SYSTEM: Final = ("/etc", "/boot", "/dev", "/var/lib", "/var/log", "/var/spool", "/var/db", "/var/mail")
"""Folders of the system in which reading may show more than a program needs."""
_SYSTEM_WRITTEN: Final = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/opt", "/proc", "/sys", "/run", "/var/run",
    "/var/cache", "/System", "/Library", "/Applications", "/nix",
)  # fmt: skip
_READ_FREELY: Final = re.compile(
    r"/etc/(?:hosts|hostname|[\w-]*release|[\w-]*version|timezone|localtime|resolv\.conf|services|protocols|shells"
    r"|mime\.types|locale.*|nsswitch\.conf|ld\.so\..*)"
)
"""What is known of every system: reading it is asked about like any file outside the workspace."""
_HARMLESS_DEVICES: Final = re.compile(
    "/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/.*|shm(?:/.*)?|tcp/.*|udp/.*)"
)


def is_of_system(path: str, *, writes: bool) -> bool:
    """Whether a whole path is one of the system that needs a question of its own."""
    if not path.startswith("/"):
        return False
    real = normpath(path).replace("//", "/").removeprefix("/private")
    folders = (*_SYSTEM, *_SYSTEM_WRITTEN) if writes else _SYSTEM
    is_below = any(real == folder or real.startswith(f"{folder}/") for folder in folders)
    is_harmless = _HARMLESS_DEVICES.fullmatch(real) or (not writes and _READ_FREELY.fullmatch(real))
    return is_below and not is_harmless


def runs_code_later(path: str) -> bool:
    """Whether tools, hooks or a shell may run what is written there, without being told to."""
    parts = _parts(path)
    return not _RUNS_LATER_PAIRS.isdisjoint(pairwise(parts)) or _matches(
        parts, _RUNS_LATER_FOLDERS, _RUNS_LATER_FILES
    )


def holds_secrets(path: str) -> bool:
    """Whether keys or passwords usually stand in a file of that name."""
    parts = _parts(path)
    return (
        parts[-1:] != ()
        and parts[-1] not in _SECRET_EXAMPLES
        and not parts[-1].endswith(".pub")
        and (not _SECRET_PAIRS.isdisjoint(pairwise(parts)) or _matches(parts, _SECRET_FOLDERS, _SECRET_FILES))
    )


def is_secret_entry(folder: str, name: str, is_folder: bool) -> bool:
    """`holds_secrets` for an entry of a folder of that name, where nothing above it holds secrets; of a
    folder: whether all files in it do."""
    name = name.casefold()
    if name in _SECRET_EXAMPLES or name.endswith(".pub"):
        return False
    if (folder.casefold(), name) in _SECRET_PAIRS:
        return True
    return name in _SECRET_FOLDERS if is_folder else _any_of(_SECRET_FILES).match(name) is not None


def _matches(parts: tuple[str, ...], folders: frozenset[str], files: tuple[str, ...]) -> bool:
    return not folders.isdisjoint(parts) or (parts != () and _any_of(files).match(parts[-1]) is not None)


@cache
def _any_of(names: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all: a search through folders asks for each of their files."""
    return re.compile("|".join(map(translate, names)))


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.casefold()).parts
