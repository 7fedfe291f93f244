"""What developers type in a day. All of it works in a shell, so it should work in a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct


class Work(Struct, frozen=True, kw_only=True):
    """Commands that are run one after another in the project of `project.py`, and whose work that is."""

    people: str
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return "; then ".join(self.commands)


_BY_PEOPLE = {
    "shell": """
        mkdir build && touch build/x && rm -r build
        mkdir -p a/b/c && touch a/b/c/d
        touch new.txt
        cp README.md COPY.md
        cp -r src src2
        cp -p README.md kept.md
        mv README.md READ.md
        mv -n README.md other.md
        mv src lib
        rm notes.txt
        rmdir empty
        ln -s README.md link.md
        ln README.md hard.md
        chmod +x run.sh && ./run.sh
        echo hello > out.txt
        echo more >> notes.txt
        cat README.md notes.txt > both.txt
        sed -i s/one/two/ notes.txt
        sed -i.bak s/one/two/ notes.txt
        perl -pi -e s/one/two/ notes.txt
        awk -F, '{print $1}' data.csv > first.txt
        sort -o notes.txt notes.txt
        tee copy.txt < notes.txt > /dev/null
        tar czf out.tar.gz src && tar tzf out.tar.gz
        tar xzf archive.tar.gz
        zip -qr out.zip src && unzip -l out.zip
        gzip -k notes.txt
        split -l 1 notes.txt part-
        find . -name '*.tmp' -delete
        find src -name '*.py' | xargs wc -l
        patch -p1 < change.patch
        diff README.md notes.txt || true
        install -m 755 run.sh bin-run
        dd if=/dev/zero of=zeros bs=1k count=4 status=none
        truncate -s 10 ten.bin
        mktemp && mktemp -d
        x=$(mktemp) && echo a > $x && cat $x && rm $x
        echo x > /tmp/x-$$ && cat /tmp/x-$$
        echo x > /tmp/keen-workday ;; cat /tmp/keen-workday
        echo x > ~/.keen-workday ;; rm ~/.keen-workday
        sleep 0.1 & wait
        (sleep 0.1; echo done) | cat
        mkfifo p && (echo a > p &) && cat p
        flock lockfile true
        timeout 5 true
        nproc && uname -a && id -u
        ps aux | head -3
        df -h . && du -sh src
        date +%F && env | sort | head -3
        openssl rand -hex 4 && openssl dgst -sha256 README.md
        xxd README.md | head -2
        yes | head -1000 | wc -l
        bash -c 'echo $$; exec true'
        cat <<< hello && diff <(echo a) <(echo a)
        ulimit -n && ulimit -c 0
        kill -0 $$ && sh -c 'kill -TERM $$' || true
    """,
    "python": """
        python3 -c "print(1)"
        python3 -m compileall -q src
        python3 -m unittest discover -s tests
        python3 -m venv .venv && .venv/bin/python -c "import sys; print(sys.prefix)"
        python3 -m zipfile -c app.zip src
        python3 -m json.tool data.json out.json
        python3 -m pip --version
        python3 -m pip list
        python3 -m timeit -n 1 -r 1 pass
        python3 -m cProfile -o profile.out src/app.py
        python3 src/app.py
        python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"
        python3 -c "import multiprocessing as m; q = m.Queue(); q.put(1); print(q.get())"
        python3 shared.py
        python3 -c "from concurrent.futures import ProcessPoolExecutor as P; print(list(P(2).map(abs, [-1])))"
        python3 -c "import subprocess; subprocess.run(['git', 'status'], check=True)"
        python3 -c "import tempfile; print(tempfile.mkdtemp())"
        python3 -c "import sqlite3; d = sqlite3.connect('app.db'); d.execute('create table t(x)'); d.commit()"
        python3 -c "import asyncio; asyncio.run(asyncio.sleep(0))"
        python3 made.py
        python3 -c "import shutil; shutil.copytree('src', 'copied'); shutil.rmtree('copied')"
        python3 -c "import os; os.replace('notes.txt', 'renamed.txt')"
        python3 -c "import pty, os; m, s = pty.openpty(); os.write(s, b'x')"
        python3 server.py
        python3 loopback.py
        python3 -c "import socket as s; a, b = s.socketpair(); a.send(b'x'); print(b.recv(1))"
        python3 -c "import socket as s; a = s.socket(s.AF_UNIX); a.bind('app.sock')"
        python3 -c "import mmap; f = open('notes.txt', 'r+b'); mmap.mmap(f.fileno(), 0).close()"
        python3 -c "import fcntl; fcntl.flock(open('lock', 'w'), fcntl.LOCK_EX)"
        python3 -c "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
        python3 -c "import os; os.utime('notes.txt', (1, 1)); os.chmod('notes.txt', 0o600)"
    """,
    "javascript": """
        node -e "console.log(1)"
        node src/app.js
        node --test
        node made.js
        node -e "new (require('worker_threads').Worker)('1', {eval: true}).on('exit', c => process.exit(c))"
        node -e "require('child_process').execSync('ls')"
        node -e "require('fs').rmSync('empty', {recursive: true})"
        node server.js
        npm --version
        npm run build
        npm test
        npm init -y --scope=x
        npm pack
        npm install --offline --no-audit ./local-package
        npm pkg set description=x
        npm ls
        npx --no-install --offline local-tool || true
    """,
    "rust": """
        cargo --version && rustc --version
        cargo build --offline --manifest-path rust/Cargo.toml
        cargo test --offline --manifest-path rust/Cargo.toml
        cargo run --offline --quiet --manifest-path rust/Cargo.toml
        cargo clean --manifest-path rust/Cargo.toml
        rustc -o hello rust/src/main.rs && ./hello
    """,
    "go": """
        go version
        go mod init example.org/x
        go vet ./go
        go build -o app ./go
        go test ./go
    """,
    "c": """
        gcc -o hello hello.c && ./hello
        gcc -c hello.c && ar rcs libhello.a hello.o
        gcc -g -fsanitize=address -o hello hello.c && ./hello
        make
        make -j2 clean all
        make install PREFIX=$PWD/installed
        cmake -S . -B out && cmake --build out
        g++ -x c++ -o hello hello.c
        valgrind -q --error-exitcode=1 true
        gdb --batch -ex 'print 1'
    """,
    "java": """
        java -version
        javac -d classes Hello.java && java -cp classes Hello
        java Hello.java
        jar cf app.jar README.md
    """,
    "data": """
        sqlite3 shop.db "create table t(x); insert into t values (1); select * from t"
        sqlite3 shop.db ".backup copy.db"
        jq .name package.json
        jq '.x = 1' data.json > new.json && mv new.json data.json
        cut -d, -f2 data.csv | sort | uniq -c | sort -rn > counts.txt
        paste -d, data.csv data.csv | head -2
        column -s, -t data.csv
        iconv -f utf-8 -t latin1 README.md > latin.md
        psql --version
        tclsh hello.tcl
        perl -ne 'print if /one/' notes.txt
    """,
    "git": """
        git status
        git diff
        git log --oneline
        git add -A
        git add -A && git commit -q -m change
        git commit -q -am change
        git stash && git stash pop
        git switch -q -c feature
        git checkout -q -b feature
        git branch feature && git branch -d feature
        git tag v1
        git rm -q notes.txt
        git mv notes.txt moved.txt
        git merge -q side
        git restore --staged README.md
        git show HEAD:README.md
        git blame README.md
        git grep one
        git init -q nested
        git reset -q --soft HEAD~0
        git stash list
        git rev-parse HEAD
        git ls-files | wc -l
        git archive HEAD | tar t
        git format-patch -1 --stdout > last.patch
    """,
}


def workday() -> Iterator[Work]:
    """All of it. A line holds one command, or several with `;;` between them."""
    for people, lines in _BY_PEOPLE.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            yield Work(people=people, commands=tuple(map(str.strip, line.split(";;"))))
