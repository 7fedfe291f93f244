"""Commands that only look: in ask and in plan mode they run without a question, and end as outside."""

from __future__ import annotations

_TEXT = """
ls
ls -la
ls -R src
ls *.md
cat README.md
cat README.md notes.txt
head -n 2 notes.txt
tail -n 1 notes.txt
wc -l notes.txt
wc -c src/*
grep -rn total src
grep -c one notes.txt
grep -q absent notes.txt
grep -E 'o(n|w)' notes.txt
grep -l import $(find . -name '*.py')
find . -name '*.py'
find . -type f -newer README.md
find src -type f -exec wc -l {} +
find . -maxdepth 1 -type d | sort
find . -name '*.py' | xargs wc -l
find . -name '*.py' -print0 | xargs -0 grep -n def
sort notes.txt
sort -u notes.txt | uniq -c
sort -t, -k2 -n data.csv
cut -d, -f1 data.csv
cut -d, -f1 data.csv | sort | uniq -c | sort -rn
tr a-z A-Z < notes.txt
sed -n 1,2p notes.txt
sed s/one/two/ notes.txt
sed -e '/^$/d' README.md
awk -F, '{s += $2} END {print s}' data.csv
awk 'NR % 2' notes.txt
paste notes.txt notes.txt
join data.csv data.csv || true
comm notes.txt notes.txt
diff README.md notes.txt
diff -u README.md notes.txt | head -5
diff -r src tests
diff <(sort notes.txt) notes.txt
cmp README.md README.md
cmp -s README.md notes.txt
nl README.md
tac notes.txt
rev notes.txt
fold -w 10 README.md
column -t -s, data.csv
od -c notes.txt | head -3
xxd notes.txt | head -2
strings README.md
base64 notes.txt
md5sum README.md
sha256sum src/*
stat README.md
stat -c %s README.md
file README.md src/app.py
du -sh src
du -a src | sort -n
df -h . | tail -1
tree src || ls -R src
basename /a/b.c .c
dirname /a/b/c
realpath src/../README.md
readlink -f src
pwd
pwd && ls
cd src && ls
cd src && cat app.py
(cd src && pwd)
{ echo a; echo b; }
echo $((1 + 2))
echo "$(wc -l < notes.txt) lines"
echo `date +%Y` | grep -c 20
x=1; echo $x
for f in *.md; do echo "$f"; done
for f in src/*; do wc -l "$f"; done
while read -r line; do echo "> $line"; done < notes.txt
if [ -f README.md ]; then echo yes; else echo no; fi
test -d src && echo folder
[ -e absent ]
[[ -f README.md && -d src ]] && echo both
case x in x) echo x;; esac
printf '%s\\n' a b c | head -2
seq 5 | paste -sd+ | bc || seq 5
seq 3 | while read n; do echo $((n * 2)); done
yes | head -3
true
false
exit 3
date -u +%Y > /dev/null
env | grep -c PATH
printenv HOME > /dev/null
which sh
command -v ls
type cd
uname -s
nproc
id -u > /dev/null
whoami
hostname > /dev/null
tar tzf archive.tar.gz
tar xzOf archive.tar.gz
tar c src | tar t
tar c src | wc -c > /dev/null
gzip -c notes.txt | gunzip -c
zip -q - notes.txt | wc -c > /dev/null
unzip -v | head -1
mktemp > /dev/null
d=$(mktemp -d) && echo a > $d/x && cat $d/x
echo x > /tmp/x && cat /tmp/x
echo x > ~/note && cat ~/note
cat <<E
cat << 'E' | wc -l
timeout 5 echo quick
time ls > /dev/null
nice ls
xargs -n1 echo < notes.txt
seq 3 | xargs -I{} echo item {}
ps > /dev/null
sleep 0.1; echo slept
cat absent.txt
ls absent 2>/dev/null || echo none
jq .a data.json
bash -c 'echo inner'
sh -c 'ls | wc -l'
bash -n run.sh
sh run.sh
"""

_GIT = """
git status
git status --short
git log --oneline
git log -p | head -20
git log --graph --all --oneline
git log -1 --format=%s
git show --stat
git show HEAD:README.md
git diff
git diff --stat
git diff --cached
git diff HEAD
git diff main side
git diff --exit-code HEAD~0 -- src
git branch
git branch -a -vv
git tag
git remote -v
git rev-parse HEAD
git rev-parse --show-toplevel > /dev/null
git ls-files
git ls-files | wc -l
git ls-tree -r HEAD --name-only
git blame README.md
git grep -n total
git shortlog -sn HEAD
git reflog
git stash list
git describe --always
git merge-base main side
git cat-file -p HEAD
git config --get user.name
git config --list | grep user
git check-ignore src
git for-each-ref
git name-rev HEAD
git rev-list --count HEAD
git diff main...side --name-only
git log --since=yesterday --author=Tester --oneline
git worktree list
"""

_PROGRAMS = """
python3 --version
python3 -c 'print(1 + 1)'
python3 -c 'import json; print(json.load(open("data.json")))'
python3 -c 'import sys; sys.exit(4)'
python3 src/app.py
python3 -m json.tool data.json
python3 -m unittest discover -s tests
python3 -m unittest tests/test_app.py
python3 -m ast src/app.py > /dev/null
python3 -B -m tokenize src/app.py | head -2
python3 -m http.server --help | head -1
python3 -c 'open("absent")'
python3 - < src/app.py
python3 shared.py
python3 -c 'import tempfile; f = tempfile.NamedTemporaryFile(); f.write(b"x"); print("ok")'
python3 -c 'import subprocess; subprocess.run(["ls"], check=True)'
python3 -c 'import csv; print(list(csv.reader(open("data.csv"))))'
python3 -c 'import os; print(sum(len(f) for _, _, f in os.walk("src")))'
python3 -c 'import sqlite3; print(sqlite3.connect(":memory:").execute("select 1").fetchone())'
node --version
node -e 'console.log(1)'
node src/app.js
node --test app.test.js > /dev/null
node --check src/app.js
node -p 'require("./package.json").name'
npm --version
npm pkg get name
npm run
npm test > /dev/null
npm ls || true
make -n
make -n clean
cc -fsyntax-only hello.c
cc -E hello.c | wc -l > /dev/null
cc -o /tmp/hello hello.c && /tmp/hello
perl -ne 'print if /one/' notes.txt
perl -e 'print 1 + 1, "\\n"'
tclsh hello.tcl
cargo --version
go version
go vet ./go/... || true
rustc --version
java -version
ruby -e 'puts 1'
php -r 'echo 1;'
sqlite3 :memory: 'select 1'
"""


def harmless() -> tuple[str, ...]:
    """All of them."""
    lines = "\n".join((_TEXT, _GIT, _PROGRAMS)).strip().split("\n")
    here = {"cat <<E": "cat <<E\ntext\nE", "cat << 'E' | wc -l": "cat << 'E' | wc -l\ntext\nE"}
    return tuple(here.get(line, line) for line in lines if line)
