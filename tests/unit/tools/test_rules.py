"""Rules of the user: deny beats ask beats allow, in every mode."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import ConfigError
from keen_tui.tools.access.access import Access
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.permissions.permissions import Allowed, judge
from keen_tui.tools.rules.rules import RULINGS, Rules, parse_rules


def allowed(**texts: str) -> Allowed:
    rules = (parse_rules(each, texts[each].split(";"), "here") for each in RULINGS if each in texts)
    return Allowed(rules=Rules(chain.from_iterable(rules)))


def decision(command: str, folder: Path, mode: Mode = "ask", **texts: str) -> str:
    return judge(mode, judged(command, Workspace(folder)), allowed(**texts)).decision


def path(subject: str, *, inside: bool = True, kind: str = "write") -> Access:
    whole = f"/home/me/shop/{subject}" if inside else subject
    return Access(kind=kind, subject=subject, path=whole, inside=inside)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm test", "allow"),
        ("npm test -- --watch", "allow"),
        ("npm test && ls", "allow"),
        ("npm test | tail -3", "allow"),
        ("npm tests", "ask"),
        ("npm run build", "ask"),
        ("npm test && rm x", "ask"),
        ("npm test > out.txt", "ask"),
        ("npm test $(rm x)", "ask"),
        ("X=1 npm test", "ask"),
        ("sudo npm test", "ask"),
        ("cd / && npm test", "ask"),
        ("/tmp/npm test", "ask"),
    ],
)
def test_a_command_runs_unasked_where_each_of_its_parts_is_allowed(
    tmp_path: Path, command: str, expected: str
) -> None:
    assert decision(command, tmp_path, allow="bash(npm test *)") == expected


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin main",
        "git -C . push",
        "/usr/bin/git push",
        "ls && git push",
        "echo $(git push)",
        "for x in 1; do git push; done",
        "sudo git push",
        "env A=1 git push",
        "bash -c 'git push'",
        "bash -c \"sh -c 'git push'\"",
        "xargs git push",
        "timeout 5 git push",
        "A=1 git push > out",
        'g"i"t pu\\sh',
        "f() { git push; }; f",
        "git push &",
        "(git push)",
        "sudo bash -c 'git push'",
        "timeout 5 bash -c 'git push'",
        "env -S 'git push'",
        "su -c 'git push'",
        "find . -exec git push +",
        "xargs -I{} sh -c 'git push'",
        "trap 'git push' EXIT",
        "coproc git push",
        "bash <<E\ngit push\nE",
        "bash <<< 'git push'",
        "git pu\\\nsh",
        "ls # \\\ngit push",
        f"true {'x' * 20_000}; git push",
    ],
)
@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
def test_what_is_denied_is_refused_wherever_it_stands(tmp_path: Path, command: str, mode: Mode) -> None:
    assert decision(command, tmp_path, mode, deny="bash(git push)", allow="bash") == "refuse"


@pytest.mark.parametrize("command", ["git status", "echo git", "ls push", "grep push git"])
def test_what_only_looks_like_it_is_not_denied(tmp_path: Path, command: str) -> None:
    assert decision(command, tmp_path, "auto", deny="bash(git push)") == "allow"


def test_ask_beats_allow_and_holds_in_auto_mode(tmp_path: Path) -> None:
    ask, allow = "bash(make deploy)", "bash(make *)"
    assert decision("make deploy", tmp_path, ask=ask, allow=allow) == "ask"
    assert decision("make deploy", tmp_path, "auto", ask=ask, allow=allow) == "ask"
    assert decision("make test", tmp_path, ask=ask, allow=allow) == "allow"


def test_what_throws_much_away_asks_also_where_a_rule_allows_it(tmp_path: Path) -> None:
    assert decision("git push", tmp_path, allow="bash(git *)") == "allow"
    assert decision("git push --force", tmp_path, allow="bash(git *)") == "ask"
    assert decision("git push --force", tmp_path, allow="bash") == "ask"
    assert judge("ask", judged("rm -rf .git", Workspace(tmp_path)), Allowed()).saves == ()


def test_what_a_rule_asks_about_can_not_be_granted_for_the_session(tmp_path: Path) -> None:
    verdict = judge("ask", judged("make deploy", Workspace(tmp_path)), allowed(ask="bash(make deploy)"))
    assert (verdict.grant, verdict.saves) == (None, ())
    assert "bash(make deploy)" in verdict.why


@pytest.mark.parametrize(
    ("rule", "access", "expected"),
    [
        ("edit(docs/**)", path("docs/a/b.md"), "allow"),
        ("edit(docs/**)", path("src/docs.py"), "ask"),
        ("edit(*.md)", path("a/b.md"), "allow"),
        ("edit", path("src/a.py"), "allow"),
        ("edit", path("Makefile"), "ask"),
        ("edit(/tmp/**)", path("/tmp/x/y", inside=False), "allow"),
        ("edit(docs/**)", path("/docs/x", inside=False), "allow"),
        ("edit(/tmp/**)", path("/tmpx/y", inside=False), "ask"),
        ("read(/usr/include/**)", path("/usr/include/stdio.h", inside=False, kind="read"), "allow"),
        ("read(/usr/include/**)", path("/usr/lib/x", inside=False, kind="read"), "ask"),
        ("read", path(".env", kind="read"), "ask"),
        ("read(docs/**)", path("docs/a.md"), "ask"),
    ],
)
def test_paths_that_are_allowed(rule: str, access: Access, expected: str) -> None:
    assert judge("ask", access, allowed(allow=rule)).decision == expected


@pytest.mark.parametrize(
    ("rule", "access"),
    [
        ("read(private/**)", path("private/a", kind="read")),
        ("read(*.sqlite)", path("/other/a.sqlite", inside=False, kind="read")),
        ("read(~/notes)", path(str(Path("~/notes/x").expanduser()), inside=False, kind="read")),
        ("edit(schema.sql)", path("db/schema.sql")),
    ],
)
@pytest.mark.parametrize("mode", ["plan", "ask", "auto-edit", "auto"])
def test_paths_that_are_denied(rule: str, access: Access, mode: Mode) -> None:
    verdict = judge(mode, access, allowed(deny=rule, allow="edit;read"))
    assert verdict.decision == "refuse"
    assert mode == "plan" or rule in verdict.refusal


def test_a_command_does_not_read_unasked_what_a_rule_is_about(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.txt").write_text("x")
    rules = Rules(parse_rules("deny", ["read(private/**)"], "here"))
    workspace = Workspace(tmp_path, rules=rules)
    assert "private/a.txt" in judged("cat private/a.txt", workspace).concern
    assert "one of your rules" in judged("grep -r x .", workspace).concern
    assert judged("grep -r x .", Workspace(tmp_path)).concern == ""


@pytest.mark.parametrize("text", ["", "shell(ls)", "bash(", "bash()", "bash ls", "bash('x)", "edit(\0)"])
def test_what_is_no_rule_is_said_with_its_place(text: str) -> None:
    with pytest.raises(ConfigError, match="the settings"):
        parse_rules("allow", [text], "the settings")
