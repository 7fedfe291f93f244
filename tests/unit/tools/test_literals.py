"""Texts from here-documents as quoted words: they have to mean the same to bash."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from keen_tui.tools.git.plan import plan_of
from keen_tui.tools.permissions.shell.literals import with_plain_texts

BODY = 'Fix it: ä – 100 %\n\n- Don\'t "quote" this) or $HOME `x` \\n\n\n  indented  \n'
TEXTS = (
    f"git add -A && git commit -m \"$(cat <<'EOF'\n{BODY}EOF\n)\" && git log --oneline",
    f"git commit -q -F - <<'EOF'\n{BODY}EOF\ngit log",
    f'git add a && git commit -F- <<"EOF" && git log\n{BODY}EOF\n',
    'git commit -m "$(cat <<EOF\nplain words\nEOF\n)"',
    "git commit --file - <<EOF\nplain words\nEOF",
    "git commit --file=- <<EOF\nplain words\n\n\nEOF",
    "git commit -m \"$(cat <<'EOF'\none\nEOF\n)\" -m \"$(cat <<'EOF'\ntwo\nEOF\n)\"",
)
GIT = """
git() {
    first=$1; shift; printf '%s' "$first"
    while [ $# -gt 0 ]; do
        case $1 in
            -F-|--file=-) printf '(%s)' "$(cat)" ;;
            -F|--file) shift; printf '(%s)' "$(cat)" ;;
            -m) shift; printf '(%s)' "$1" ;;
            *) printf '<%s>' "$1" ;;
        esac; shift
    done; echo
}
"""


def said(command: str) -> str:
    """What bash makes of a command of git."""
    bash = shutil.which("bash")
    if not bash:
        pytest.skip("no bash on this machine")
    return subprocess.run(
        (bash, "-c", f"{GIT}\n{command}"), capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("command", TEXTS)
def test_the_text_is_the_one_that_bash_gives(command: str) -> None:
    plain = with_plain_texts(command)
    assert "<<" not in plain
    assert said(plain) == said(command)


@pytest.mark.parametrize("command", [each for each in TEXTS if "–" not in each])
def test_a_commit_with_such_a_message_is_a_step(command: str) -> None:
    assert [step.git.verb for step in plan_of(command) if step.git and step.git.verb == "commit"] == [
        "commit"
    ]


@pytest.mark.parametrize(
    "command",
    [
        'git commit -m "$(cat <<EOF\n$(touch ran)\nEOF\n)"',
        'git commit -m "$(cat <<EOF\n`touch ran`\nEOF\n)"',
        'git commit -m "$(cat <<EOF\n$HOME\nEOF\n)"',
        'git commit -m "$(cat <<EOF\na\\\nb\nEOF\n)"',
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\ntouch ran)\"",
        "git commit -m \"$(cat <<'EOF' && touch ran\nx\nEOF\n)\"",
        "git commit -m \"$(cat file <<'EOF'\nx\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' >file\nx\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' | sh\nx\nEOF\n)\"",
        "git commit -m \"$(sh <<'EOF'\nx\nEOF\n)\"",
        "git commit -m \"before $(cat <<'EOF'\nx\nEOF\n)\"",
        "git commit -m $(cat <<'EOF'\nx y\nEOF\n)",
        "git commit -m \"$(cat <<-'EOF'\n\tx\n\tEOF\n)\"",
        "git commit -F - -a <<'EOF'\nx\nEOF",
        "git commit -F message <<'EOF'\nx\nEOF",
        "git commit -m - <<'EOF'\nx\nEOF",
        "git push -F - <<'EOF'\nx\nEOF",
        "sh -F - <<'EOF'\ntouch ran\nEOF",
        "git commit -F - <file <<'EOF'\nx\nEOF",
        "git commit -F - <<< x",
        "echo 'git commit -F - <<EOF'\nx\nEOF",
        "git commit -F - <<'EOF'\nno end",
        "git commit -F - <<'EOF'\nx\nEOF2\nEOF",
    ],
)
def test_all_else_stays_as_it_is(command: str) -> None:
    assert with_plain_texts(command) == command
    assert not plan_of(command)
