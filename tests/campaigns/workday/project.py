"""A project with a little of everything, as the commands find it. Each command has a fresh one."""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

_FILES: Mapping[str, str] = {
    "README.md": "# Shop\n\none\n",
    "notes.txt": "three\none\ntwo\n",
    "data.csv": "a,1\nb,2\na,3\n",
    "data.json": '{"a": [1, 2]}\n',
    "run.sh": "#!/bin/sh\necho ran\n",
    "old.tmp": "",
    "change.patch": "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n-three\n+3\n one\n two\n",
    "hello.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
    "hello.tcl": "puts hello\n",
    "Hello.java": 'class Hello { public static void main(String[] a) { System.out.println("hello"); } }\n',
    "Makefile": (
        "PREFIX ?= /usr/local\nall: hello\nhello: hello.c\n\tcc -o hello hello.c\nclean:\n\trm -f hello\n"
        "install: all\n\tmkdir -p $(PREFIX)/bin && cp hello $(PREFIX)/bin\n"
    ),
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x hello.c)\n",
    "src/app.py": "def total(values):\n    return sum(values)\n\n\nprint(total([1, 2]))\n",
    "src/app.js": "console.log('app')\n",
    "tests/test_app.py": (
        "import unittest\n\n\nclass AppTest(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(1, 1)\n"
    ),
    "app.test.js": "require('node:test')('one', () => {})\n",
    "server.py": (
        "import http.server, threading, urllib.request\n"
        "at = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
        "threading.Thread(target=at.serve_forever, daemon=True).start()\n"
        "opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))\n"
        "print(opener.open(f'http://127.0.0.1:{at.server_port}/README.md').read())\n"
    ),
    "shared.py": (
        "from multiprocessing import shared_memory\n"
        "memory = shared_memory.SharedMemory(create=True, size=9)\nmemory.close()\nmemory.unlink()\n"
    ),
    "made.py": (
        "from pathlib import Path\nPath('made/deep').mkdir(parents=True)\nPath('made/file').write_text('x')\n"
    ),
    "loopback.py": (
        "import socket\n"
        "at = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(at.getsockname()).close()\n"
    ),
    "made.js": "const fs = require('fs')\nfs.mkdirSync('dist/js', {recursive: true})\n"
    "fs.writeFileSync('dist/js/a.js', 'x')\n",
    "server.js": (
        "const http = require('http')\n"
        "const at = http.createServer((_, reply) => reply.end('x')).listen(0, '127.0.0.1', () =>\n"
        "  http.get(at.address(), reply => { reply.resume(); at.close() }))\n"
    ),
    "package.json": (
        '{"name": "shop", "version": "1.0.0", "files": ["src"], "scripts": {"test": "node --test", '
        '"build": "mkdir -p dist && cp src/app.js dist"}}\n'
    ),
    "local-package/package.json": '{"name": "local-package", "version": "1.0.0"}\n',
    "rust/Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "rust/src/main.rs": 'fn main() {\n    println!("hello");\n}\n\n#[test]\nfn one() {}\n',
    "go/go.mod": "module example.org/shop\n",
    "go/main.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n',
}

_VARYING = {".git", "__pycache__", "incremental"}
"""Folders of which the names in them, or whether they are there, differ from run to run."""

_HISTORY = """
git init -q -b main . && git config user.name Tester && git config user.email tester@example.org
git add -A && git commit -q -m first
git switch -q -c side && echo side > side.txt && git add -A && git commit -q -m side
git switch -q main && echo changed >> README.md && git add README.md
"""


def make_project(folder: Path) -> None:
    """Make it in a new folder, with a history of two branches and a staged change."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "empty").mkdir()
    with tarfile.open(folder / "archive.tar.gz", "w:gz") as archive:
        archive.add(folder / "data.csv", "unpacked/data.csv")
    environ = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(("/bin/sh", "-ec", _HISTORY), cwd=folder, env=environ, check=True)


def files_of(folder: Path) -> frozenset[str]:
    """The names of all files below, without what differs from run to run."""
    found = (path.relative_to(folder) for path in folder.rglob("*"))
    return frozenset(map(str, (path for path in found if not _VARYING & {*path.parts})))
