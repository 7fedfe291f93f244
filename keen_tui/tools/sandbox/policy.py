"""The limits of commands, as one value that each sandbox translates into its own terms. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.tools.files.git_place import GitPlace


def _each(names: str) -> tuple[str, ...]:
    return tuple(names.split())


SYSTEM = tuple(
    map(
        Path,
        _each(
            "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /snap /sys "
            "/var/lib/gems /var/lib/snapd/snap /run/current-system"
        ),
    )
)
"""System folders that programs need. Anything that is neither here nor in PATH is invisible."""

_SECRETS = _each(
    "shadow shadow- gshadow gshadow- sudoers sudoers.d ssl/private wireguard krb5.keytab "
    "ssh/ssh_host_rsa_key ssh/ssh_host_ecdsa_key ssh/ssh_host_ed25519_key "
    "NetworkManager/system-connections docker/key.json kubernetes"
)
"""Entries of /etc that no program of a project needs."""

_TOOLCHAINS = _each(
    ".pyenv .rbenv .nodenv .goenv .rustup .cargo/bin .cargo/registry .cargo/git .nvm .fnm .volta .asdf "
    ".sdkman .local/bin .local/lib .local/pipx .local/share/mise .local/share/uv .local/share/pnpm "
    ".local/share/fnm .bun/bin .deno/bin .nix-profile .juliaup .julia .ghcup .opam .m2/repository "
    ".gradle/wrapper .gradle/caches .npm-global go miniconda3 anaconda3 miniforge3 mambaforge"
)
"""Places of compilers, interpreters and their downloads in a home."""

_BESIDE_PROGRAMS = _each(
    "lib lib64 libexec share include pyvenv.cfg ssl/cacert.pem ssl/cert.pem ssl/openssl.cnf "
    "conda-meta condabin"
)
"""Readable names beside a folder `bin` of PATH: libraries, and what Python and conda look for there."""

_A_TOOLCHAIN = re.compile(
    r"(?i)(?:\.?linuxbrew|homebrew|python|pypy|go|node|jdk|jre|graalvm|openjdk|(?:apache-)?maven|gradle|kotlinc|dart-sdk|flutter|julia|llvm|clang"
    r"|swift|ruby|php|erlang|elixir|ghc|sbt|scala|rust|zig|cmake)(?:[-_.]?v?\d[-+_.\w]*)?"
)
"""Names of folders with one toolchain and nothing personal."""

_TOOLCHAIN_SECRETS = _each(
    ".local/share/uv/credentials .julia/servers miniconda3/.condarc anaconda3/.condarc"
)
"""Files with keys in there."""

ALWAYS_PROTECTED = (".git", ".keen")
"""Protected in the workspace, since programs run things from there: commands get a shadow of `.git`, and a
new `.keen` is set aside."""

PROTECTED_IF_THERE = _each(
    ".githooks .husky .vscode .idea .devcontainer .envrc .gitmodules AGENTS.md CLAUDE.md"
)
"""Read-only in the workspace if they exist."""


class Policy(Struct, frozen=True, kw_only=True):
    """The limits of a command. It writes to `workspace` and to its own home and tmp, and has no network.

    `readable` are other paths that it may read, if they exist. `hidden` paths are never visible, even inside
    readable ones. `skills` are folders outside the workspace that it may read even inside hidden ones, except
    for hidden files in them. `protected` paths in the workspace are read-only even if they are missing
    (Keen's own code is among them), and `protected_if_there` only if they exist. All paths are absolute;
    `workspace` and `home` are resolved. `scratch` is the folder of the homes and tmps; None means the
    system's folder for temporary files. `in_tree`: the workspace is in a work tree that Keen made in its data
    folder. `git` is the repository of the workspace, if it has one at the start.
    """

    workspace: Path
    home: Path
    readable: tuple[Path, ...]
    hidden: tuple[Path, ...]
    protected: tuple[Path, ...]
    protected_if_there: tuple[Path, ...]
    scratch: Path | None = None
    skills: tuple[Path, ...] = ()
    in_tree: bool = False
    git: GitPlace | None = None

    @property
    def objection(self) -> str:
        """Why a sandbox would be useless in this workspace, as the end of a sentence; "" if it wouldn't."""
        if self.workspace == self.home or self.workspace in self.home.parents:
            return "the workspace contains your home folder"
        if any(self.workspace == folder or self.workspace in folder.parents for folder in SYSTEM):
            return "the workspace contains system folders"
        if self.workspace in self.hidden or not all(map(self._is_unseen, self.hidden_around)):
            return "the workspace is in Keen's settings folder"
        if self.workspace in self.protected:
            return "Keen itself is loaded from the workspace (install it elsewhere, for example with pipx)"
        return ""

    @property
    def hidden_around(self) -> tuple[Path, ...]:
        """The hidden folders that the workspace is in."""
        return tuple(folder for folder in self.hidden if folder in self.workspace.parents)

    def _is_unseen(self, around: Path) -> bool:
        """Whether a hidden folder around the workspace stays hidden although commands see the workspace: it
        is the data folder around a work tree, and nothing else shows it."""
        return self.in_tree and not any(around.is_relative_to(folder) for folder in self.readable)

    @property
    def top(self) -> Path:
        """The folder whose files commands may read: the workspace, or the work tree that it is in."""
        around = self.git.top if self.git else self.workspace
        return around if around in self.workspace.parents else self.workspace

    def moved_to(self, workspace: Path) -> Policy:
        """The same policy for another workspace."""

        def moved(paths: Iterable[Path]) -> tuple[Path, ...]:
            return tuple(workspace / path.relative_to(self.workspace) for path in paths)

        return replace(
            self,
            workspace=workspace,
            git=None,
            protected=moved(self.protected),
            protected_if_there=moved(self.protected_if_there),
        )


def policy_for(
    workspace: Path,
    home: Path,
    own: tuple[Path, ...],
    environ: Mapping[str, str],
    *,
    code: Iterable[Path] = (),
    scratch: Path | None = None,
    skills: Iterable[Path] = (),
    secrets: Iterable[Path] = (),
    resolved: Callable[[str], str] = os.path.normpath,
) -> Policy:
    """The policy for commands in `workspace`.

    Args:
        own: folders with Keen's settings, sessions and keys.
        environ: of the commands; folders in PATH are readable.
        code: the folders from which Keen itself is loaded.
        scratch: a folder for the homes of commands, inside one of `own`.
        skills: folders of the user's skills, and `secrets` the files in them that no command may read.
        resolved: resolves a path: PATH may name a home by a link or through another folder.
    """

    def is_around(folder: Path) -> bool:
        return Path(resolved(str(folder))) in around

    around = {workspace, home, *workspace.parents, *home.parents}
    programs = (Path(entry) for entry in environ.get("PATH", "").split(":") if entry.startswith("/"))
    outside = (folder for folder in programs if not _is_system(folder))
    found = (path for folder in outside for path in _installation(folder, is_around))
    return Policy(
        workspace=workspace,
        home=home,
        readable=(
            *SYSTEM,
            *(home / name for name in _TOOLCHAINS),
            *dict.fromkeys(folder for folder in found if not is_around(folder)),
        ),
        hidden=(
            *own,
            *(home / name for name in _TOOLCHAIN_SECRETS),
            *(Path("/etc", name) for name in _SECRETS),
            *secrets,
        ),
        protected=(
            *(workspace / name for name in ALWAYS_PROTECTED),
            *_outermost(path for path in code if path.is_relative_to(workspace)),
        ),
        protected_if_there=tuple(workspace / name for name in PROTECTED_IF_THERE),
        scratch=scratch,
        skills=_outermost(
            path for path in skills if not (path.is_relative_to(workspace) or workspace.is_relative_to(path))
        ),
    )


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths that aren't inside others."""
    paths = dict.fromkeys(paths)
    return tuple(path for path in paths if not any(parent in paths for parent in path.parents))


def _installation(programs: Path, is_around: Callable[[Path], bool]) -> Iterator[Path]:
    """The paths that programs in a folder of PATH need: for x/bin also the libraries beside it, and all of x
    only if its name says that it is a toolchain, such as go1.22."""
    above = programs.parent
    is_mixed = is_around(above) or (is_around(above.parent) and above.name.startswith("."))
    if programs.name not in ("bin", "sbin", "shims", "condabin") or is_mixed:
        yield programs
    elif _A_TOOLCHAIN.fullmatch(above.name):
        yield above
    else:
        yield programs
        yield from (above / name for name in _BESIDE_PROGRAMS)


def _is_system(folder: Path) -> bool:
    return any(folder == each or each in folder.parents for each in SYSTEM)
