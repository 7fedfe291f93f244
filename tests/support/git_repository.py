"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """Run git as somebody without settings; returns its output."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ("git", *who, *words), cwd=folder, env=environ, check=True, capture_output=True, text=True
    ).stdout


def repository(folder: Path) -> Path:
    """A repository with one commit on `main`: a file `a.txt` with the line "one", and `*.log` ignored."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def commit(folder: Path, file: str, text: str, subject: str) -> str:
    """Write a file and commit it; returns the commit."""
    (folder / file).write_text(text)
    git(folder, "add", file)
    git(folder, "commit", "-qm", subject)
    return git(folder, "rev-parse", "HEAD").strip()
