"""Files that need a question of their own: those that run code later, and those with secrets.

Pure: a path is judged by its name, ignoring case, relative to the workspace or absolute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from enum import IntFlag, auto
from fnmatch import translate
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final


def _each(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ACTS_FOLDERS: Final = _each(
    ".git .githooks .husky .keen .vscode .idea .devcontainer .circleci .ci .buildkite .woodpecker .gitea "
    ".forgejo .ssh .gnupg .hg .jj .zed .vs .cursor .agents .claude .codex .gemini .ipython"
)
"""Files in these folders act as soon as somebody opens or enters the folder, or at the next step of git, an
agent or a build server."""
_BUILD_FOLDERS: Final = _each(".cargo .mvn .yarn")
"""Files in these folders run when somebody builds or installs."""
_BUSY_FOLDERS: Final = _each(".git .hg .jj .yarn .vs")
"""Programs write to these folders all the time: a new file means nothing."""
_ACTS_PAIRS: Final = frozenset(
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
        ("keen-tui", "hooks.json"),
    }
)
_ACTS_FILES: Final = _each(
    "agents.md claude.md gemini.md copilot-instructions.md .cursorrules .mcp.json "
    ".envrc .tool-versions mise.toml .mise.toml "
    ".gitmodules .gitconfig .gitattributes .hgrc hgrc "
    ".pre-commit-config.yaml lefthook.yml .lintstagedrc* .huskyrc* "
    "jenkinsfile .gitlab-ci.yml .travis.yml azure-pipelines.yml azure-pipelines.yaml .drone.yml .cirrus.yml "
    ".appveyor.yml appveyor.yml bitbucket-pipelines.yml buildspec.yml cloudbuild.yaml "
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin "
    ".zlogout .kshrc .cshrc .tcshrc config.fish .xprofile .xinitrc .xsession .tmux.conf .screenrc "
    ".curlrc .wgetrc authorized_keys crontab "
    ".exrc .vimrc .nvimrc .nvim.lua .dir-locals.el *.code-workspace "
    ".pdbrc .gdbinit .lldbinit .ghci .irbrc .pryrc .rprofile .iex.exs "
    "sitecustomize.py usercustomize.py .user.ini .htaccess"
)
_BUILD_FILES: Final = _each(
    "makefile gnumakefile *.mk justfile rakefile taskfile.yml "
    "pyproject.toml setup.py setup.cfg tox.ini noxfile.py pip.conf pip.ini uv.toml poetry.toml pytest.ini "
    "mypy.ini .mypy.ini .pylintrc pylintrc .flake8 .coveragerc "
    "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml deno.json deno.jsonc "
    ".eslintrc* eslint.config.* .prettierrc* prettier.config.* "
    "gemfile *.gemspec .rspec .rubocop.yml vagrantfile composer.json "
    "build.rs rust-toolchain rust-toolchain.toml "
    "pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew mvnw "
    "gradle-wrapper.properties directory.build.props directory.build.targets .bazelrc flake.nix shell.nix "
    "*.desktop *.service *.timer"
)
_REPOSITORY_HEAD: Final = "head"
"""A file with this name makes a folder a repository, whose settings git obeys."""
_EDITED_ONLY: Final = frozenset({_REPOSITORY_HEAD, "*.pth"})
"""Names that ask only in edits. A `HEAD` from a command counts if it makes a repository; `*.pth` acts in
site-packages only, and elsewhere is a saved model."""
_SECRET_FOLDERS: Final = _each(".ssh .aws .gnupg .kube .azure .docker .password-store .mozilla")
_SECRET_PAIRS: Final = frozenset(
    {(".config", "gh"), (".config", "gcloud"), (".config", "op"), (".gem", "credentials")}
)
_SECRET_FILES: Final = _each(
    ".env .env.* *.env .envrc .flaskenv .netrc _netrc .authinfo .my.cnf .s3cfg .boto .htpasswd "
    ".dockercfg .vault-token .*_history kubeconfig .pgpass .pypirc .npmrc .git-credentials id_rsa* "
    "id_ed25519* id_ecdsa* id_dsa* *.pem *.key *.p12 *.pfx *.pkcs12 *.kdbx *.jks *.keystore *.ppk "
    "*.ovpn *.tfstate *.tfstate.backup *.tfvars credentials credentials.json credentials.toml "
    "credentials.tfrc.json application_default_credentials.json client_secret*.json "
    "service[-_]account*.json secrets.json secrets.toml secrets.yaml secrets.yml key4.db logins.json "
    "wallet.dat"
)
_SECRET_EXAMPLES: Final = _each(".env.example .env.sample .env.template .env.dist example.env sample.env")


_SYSTEM: Final = ("/etc", "/boot", "/dev", "/var/lib", "/var/log", "/var/spool", "/var/db", "/var/mail")
"""System folders where reading may reveal more than a program needs."""
_SYSTEM_WRITTEN: Final = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/opt", "/proc", "/sys", "/run", "/var/run",
    "/var/cache", "/System", "/Library", "/Applications", "/nix",
)  # fmt: skip
_READ_FREELY: Final = re.compile(
    r"/etc/(?:hosts|hostname|[\w-]*release|[\w-]*version|timezone|localtime|resolv\.conf|services|protocols|shells"
    r"|mime\.types|locale.*|nsswitch\.conf|ld\.so\..*)"
)
"""Public files that every system has: reading them asks like any file outside the workspace."""
_HARMLESS_DEVICES: Final = re.compile(
    "/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/.*|shm(?:/.*)?|tcp/.*|udp/.*)"
)


def is_of_system(path: str, *, writes: bool) -> bool:
    """Whether an absolute path belongs to the system and needs a question of its own."""
    if not path.startswith("/"):
        return False
    real = normpath(path).replace("//", "/").removeprefix("/private")
    folders = (*_SYSTEM, *_SYSTEM_WRITTEN) if writes else _SYSTEM
    is_below = any(real == folder or real.startswith(f"{folder}/") for folder in folders)
    is_harmless = _HARMLESS_DEVICES.fullmatch(real) or (not writes and _READ_FREELY.fullmatch(real))
    return is_below and not is_harmless


class EntryKind(IntFlag):
    """Why an entry of a folder matters, by its name.

    The entry may contain secrets; it acts as soon as somebody opens or enters the folder, or at the next step
    of git, an agent or a build server; it runs when somebody builds or tests; or it may make a folder a
    repository.
    """

    SECRET = auto()
    ACTS = auto()
    BUILDS = auto()
    REPOSITORY = auto()


NO_KIND: Final = EntryKind(0)
_NOTED: Final = (
    _ACTS_FOLDERS
    | _BUILD_FOLDERS
    | _ACTS_FILES
    | _BUILD_FILES
    | {_REPOSITORY_HEAD}
    | _SECRET_FOLDERS
    | _SECRET_FILES
)


def runs_code_later(path: str) -> bool:
    """Whether tools, hooks or a shell may run the file's content on their own."""
    parts = _parts(path)
    return not _ACTS_PAIRS.isdisjoint(pairwise(parts)) or _matches(
        parts, _ACTS_FOLDERS | _BUILD_FOLDERS, _ACTS_FILES | _BUILD_FILES | _EDITED_ONLY
    )


def holds_secrets(path: str) -> bool:
    """Whether files with that name usually contain keys or passwords."""
    parts = _parts(path)
    return (
        parts[-1:] != ()
        and parts[-1] not in _SECRET_EXAMPLES
        and not parts[-1].endswith(".pub")
        and (not _SECRET_PAIRS.isdisjoint(pairwise(parts)) or _matches(parts, _SECRET_FOLDERS, _SECRET_FILES))
    )


def entry_kinds(folder: str) -> Callable[[str, bool], EntryKind]:
    """A function that returns the kind of an entry of the folder; takes its name and whether it is a folder.

    `folder` is the path from the workspace. `HEAD` and `.git` may make a repository; a `.git` file leads to
    one. In a folder with secrets every file counts as secret. In folders that act, every file acts.
    """
    parts = _parts(folder)
    innermost = parts[-1] if parts else ""
    inside = _kind_inside(parts)
    in_pairs = {name for folder, name in _ACTS_PAIRS | _SECRET_PAIRS if folder == innermost}

    def kind_of(name: str, is_folder: bool) -> EntryKind:
        name = name.casefold()
        if not _is_among(_NOTED, name) and name not in in_pairs:  # the usual case first: this runs often
            return NO_KIND if is_folder else inside
        kind = _secret_kind(innermost, name, is_folder) | (NO_KIND if is_folder else inside)
        if name in _ACTS_FOLDERS or (innermost, name) in _ACTS_PAIRS:
            return kind | (EntryKind.REPOSITORY if name == ".git" and is_folder else EntryKind.ACTS)
        if is_folder:
            return kind | EntryKind.BUILDS if name in _BUILD_FOLDERS else kind
        if name == _REPOSITORY_HEAD:
            return kind | EntryKind.REPOSITORY
        if _is_among(_ACTS_FILES, name):
            return kind | EntryKind.ACTS
        return kind | EntryKind.BUILDS if _is_among(_BUILD_FILES, name) else kind

    return kind_of


def _kind_inside(parts: tuple[str, ...]) -> EntryKind:
    """The kind of all files in a folder, because of its place."""
    if not _BUSY_FOLDERS.isdisjoint(parts):
        return NO_KIND
    if not _ACTS_FOLDERS.isdisjoint(parts) or not _ACTS_PAIRS.isdisjoint(pairwise(parts)):
        return EntryKind.ACTS
    return NO_KIND if _BUILD_FOLDERS.isdisjoint(parts) else EntryKind.BUILDS


def _secret_kind(folder: str, name: str, is_folder: bool) -> EntryKind:
    if name in _SECRET_EXAMPLES or name.endswith(".pub"):
        return NO_KIND
    is_secret = name in _SECRET_FOLDERS if is_folder else _is_among(_SECRET_FILES, name)
    return EntryKind.SECRET if is_secret or (folder, name) in _SECRET_PAIRS else NO_KIND


def _matches(parts: tuple[str, ...], folders: Set[str], files: frozenset[str]) -> bool:
    return not folders.isdisjoint(parts) or (parts != () and _is_among(files, parts[-1]))


def _is_among(names: frozenset[str], name: str) -> bool:
    return name in names or _patterns(names).match(name) is not None


@cache
def _patterns(names: frozenset[str]) -> re.Pattern[str]:
    """One pattern for all names with wildcards: a search checks every file."""
    return re.compile("|".join(translate(name) for name in sorted(names) if set(name) & set("*?[")))


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.casefold()).parts
