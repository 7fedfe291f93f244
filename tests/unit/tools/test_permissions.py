"""Who may do what unasked, in each mode."""

from __future__ import annotations

from typing import Literal, get_args

import pytest
from msgspec.structs import replace

from keen_tui.domain.choices import Mode
from keen_tui.tools.access.access import Access, CommandPart
from keen_tui.tools.permissions.permissions import Allowed, judge

Decision = Literal["allow", "ask", "refuse", "try"]

READ = Access(kind="read", subject="src/a.py")
READ_OUTSIDE = Access(kind="read", subject="/etc/hosts", inside=False)
READ_SECRET = Access(kind="read", subject=".env")
WRITE = Access(kind="write", subject="src/a.py")
CREATE = Access(kind="write", subject="notes.md", creates=True)
WRITE_OUTSIDE = Access(kind="write", subject="/etc/hosts", inside=False)
WRITE_MAKEFILE = Access(kind="write", subject="Makefile")
WRITE_KEEN = Access(kind="write", subject="lib/a.py", is_own_code=True)
COMMAND = Access(kind="command", subject="make test")
COMMAND_READS = Access(kind="command", subject="ls", parts=(CommandPart(words=("ls",)),))
SANDBOXED = Access(kind="command", subject="make test", sandboxed=True)
TRIES = replace(SANDBOXED, tries=True)

UNHELD = Access(kind="command", subject="make test", unheld="bubblewrap is not installed")
UNHELD_READS = replace(COMMAND_READS, unheld="bubblewrap is not installed")
UNHELD_RISKY = replace(UNHELD, insists="it removes all files that it finds")

TABLE: list[tuple[Access, Decision, Decision, Decision, Decision]] = [
    # access          plan      ask      auto-edit  auto
    (READ, "allow", "allow", "allow", "allow"),
    (READ_OUTSIDE, "refuse", "ask", "ask", "allow"),
    (READ_SECRET, "ask", "ask", "ask", "allow"),
    (WRITE, "refuse", "ask", "allow", "allow"),
    (CREATE, "refuse", "ask", "allow", "allow"),
    (WRITE_OUTSIDE, "refuse", "ask", "ask", "allow"),
    (WRITE_MAKEFILE, "refuse", "ask", "ask", "allow"),
    (WRITE_KEEN, "refuse", "ask", "ask", "allow"),
    (COMMAND, "refuse", "ask", "ask", "allow"),
    (COMMAND_READS, "allow", "allow", "allow", "allow"),
    (SANDBOXED, "refuse", "ask", "allow", "allow"),
    (TRIES, "try", "try", "allow", "allow"),
    (UNHELD, "refuse", "ask", "ask", "ask"),
    (UNHELD_READS, "allow", "allow", "allow", "allow"),
]


@pytest.mark.parametrize(
    ("mode", "access", "decision"),
    [
        (mode, access, decision)
        for access, *decisions in TABLE
        for mode, decision in zip(("plan", "ask", "auto-edit", "auto"), decisions, strict=True)
    ],
    ids=str,
)
def test_what_each_mode_lets_run(mode: Mode, access: Access, decision: Decision) -> None:
    assert judge(mode, access, Allowed()).decision == decision


def test_commands_without_a_sandbox_are_asked_about_once_a_session_in_auto() -> None:
    verdict = judge("auto", UNHELD, Allowed())
    assert verdict.question == "Run this command without a sandbox?"
    assert verdict.why == "there is no sandbox here: bubblewrap is not installed"
    assert verdict.grant == "run all commands without a sandbox in this session"
    assert verdict.grant_key
    allowed = Allowed(granted={verdict.grant_key})
    for access in (UNHELD, UNHELD_RISKY):
        assert judge("auto", access, allowed).decision == "allow"
    assert judge("ask", UNHELD, allowed).decision == "ask"
    risky = judge("auto", UNHELD_RISKY, Allowed())
    assert (risky.decision, risky.grant, risky.is_risky) == ("ask", None, True)


def test_the_table_knows_all_modes() -> None:
    assert set(get_args(Mode)) == {"plan", "ask", "auto-edit", "auto"}


@pytest.mark.parametrize(
    ("access", "question"),
    [
        (WRITE, "Change src/a.py?"),
        (CREATE, "Create notes.md?"),
        (READ_OUTSIDE, "Read /etc/hosts?"),
        (COMMAND, "Run this command?"),
        (Access(kind="write", subject="a\x1b[2Jb\nc"), "Change ab c?"),
    ],
)
def test_the_question_names_what_it_is_about(access: Access, question: str) -> None:
    assert judge("ask", access, Allowed()).question == question


def test_refusals_tell_the_model_that_plan_mode_is_on() -> None:
    assert "plan mode is on" in judge("plan", COMMAND, Allowed()).refusal


@pytest.mark.parametrize(
    ("granted", "same_kind", "others"),
    [
        (WRITE, [CREATE], [WRITE_OUTSIDE, WRITE_MAKEFILE, COMMAND]),
        (COMMAND, [COMMAND], [Access(kind="command", subject="make test "), WRITE]),
        (READ_OUTSIDE, [READ_OUTSIDE], [WRITE_OUTSIDE, READ_SECRET]),
        (WRITE_MAKEFILE, [WRITE_MAKEFILE], [WRITE, Access(kind="write", subject="sub/Makefile")]),
    ],
)
def test_a_grant_allows_its_kind_and_nothing_else(
    granted: Access, same_kind: list[Access], others: list[Access]
) -> None:
    key = judge("ask", granted, Allowed()).grant_key
    assert key is not None
    assert [judge("ask", access, Allowed(granted={key})).decision for access in same_kind] == ["allow"] * len(
        same_kind
    )
    assert [judge("ask", access, Allowed(granted={key})).decision for access in others] == ["ask"] * len(
        others
    )


def test_a_grant_does_not_lift_plan_mode() -> None:
    key = judge("ask", COMMAND, Allowed()).grant_key
    assert key is not None
    assert judge("plan", COMMAND, Allowed(granted={key})).decision == "refuse"


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "sub/agents.md",
        ".keen/settings.toml",
        ".vscode/tasks.json",
        "makefile",
        ".git/hooks/pre-commit",
        ".github/workflows/test.yml",
        ".gitlab-ci.yml",
        "pyproject.toml",
        "package.json",
        "/home/somebody/.bashrc",
        ".github/actions/build/action.yml",
        ".config/systemd/user/x.service",
        ".venv/lib/python3.12/site-packages/x.pth",
        ".cargo/config.toml",
        "build.rs",
        "pytest.ini",
        ".dir-locals.el",
        "eslint.config.mjs",
        ".tool-versions",
        "vendor/bare.git/HEAD",
        "keen-tui/settings.toml",
    ],
)
def test_what_can_run_code_later_asks_even_under_auto_edit(path: str) -> None:
    verdict = judge(
        "auto-edit", Access(kind="write", subject=path), Allowed(granted={("write", "workspace")})
    )
    assert verdict.decision == "ask"
    assert "run code later" in verdict.why
    assert judge("auto-edit", Access(kind="read", subject=path), Allowed()).decision == "allow"


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "conf/.env.local",
        "deploy.pem",
        ".ssh/config",
        "ID_RSA",
        "id_rsa_work",
        ".config/gh/hosts.yml",
        "prod.env",
        ".envrc",
        "infra/terraform.tfstate",
        ".bash_history",
        ".docker/config.json",
        "service-account-1.json",
    ],
)
def test_secrets_are_not_read_unasked(path: str) -> None:
    assert judge("auto-edit", Access(kind="read", subject=path), Allowed()).decision == "ask"


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "src/environment.py",
        "keys.py",
        "docs/makefile.md",
        ".",
        "id_rsa.pub",
        "config.toml",
        "tests/conftest.py",
        "src/head.ts",
        "example.env",
        "src/config/index.ts",
        "vite.config.ts",
        "Dockerfile",
    ],
)
def test_ordinary_files_are_not_asked_about_twice(path: str) -> None:
    assert judge("auto-edit", Access(kind="read", subject=path), Allowed()).decision == "allow"
    assert judge("auto-edit", Access(kind="write", subject=path), Allowed()).decision == "allow"
