"""Finds what nobody should allow without reading: running a download, writing system files.

This uses bash's grammar, even if the command isn't fully understood. A text can hide its effects from every
reader, so this decides only what a question marks, never what runs without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from keen_tui.tools.access.access import Risk
from keen_tui.tools.access.sensitive import is_of_system
from keen_tui.tools.shell.grammar import parsed, text_of
from keen_tui.tools.shell.harmless_settings import is_harmless
from keen_tui.tools.shell.mentions import RUNNERS, SHELLS, mentioned_commands

if TYPE_CHECKING:
    from tree_sitter import Node

RUNS_DOWNLOAD: Final = "it runs code straight from the internet"

_DOWNLOADERS: Final = frozenset(
    """
    curl wget wget2 fetch aria2c axel http https xh httpie lynx w3m links nc ncat netcat socat ftp lftp tftp
    telnet invoke-webrequest iwr
    """.split()  # noqa: SIM905 - a list of twenty quoted names is no easier to read
)
_SHELL: Final = re.compile(r"(?:ba|da|z|k|mk|a|c|tc|fi|pw)?sh|busybox")
_OTHER: Final = re.compile(
    r"(?:i?python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|osascript|rscript|julia|groovy)[\d.]*"
)
_TAKES_TEXT: Final = frozenset(["eval", "source", "."])
_SUBSTITUTIONS: Final = ("command_substitution", "process_substitution")
_STANDARD_INPUT: Final = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_SAVES_AS: Final = re.compile(r"-\w*[oO]|--output(?:-document)?(?:=.*)?")
_WRITERS: Final = frozenset(
    """
    tee cp mv install ln rm rmdir unlink shred mkdir touch chmod chown chgrp chattr dd truncate rsync tar
    unzip patch sed ed ex vi vim nano visudo mount umount mkfs sysctl systemctl useradd usermod
    """.split()  # noqa: SIM905 - as above
)
_COPIERS: Final = frozenset(["cp", "install", "ln", "rsync"])
_PACKERS: Final = frozenset(["tar", "unzip", "dd", "mount", "umount"])
_REMOVERS: Final = frozenset(["rm", "rmdir", "unlink", "shred"])
_WRITES_REPOSITORY: Final = "it changes {}, where hooks and settings can run programs later"
_SETS_PROGRAM: Final = "it changes the setting {}, which can make git run programs later"
_SETTING_KEY: Final = re.compile(r"[\w-]+\.(?:.*\.)?[A-Za-z][\w-]*")
_FILE_OPTIONS: Final = ("-f", "--file", "--blob")
_READS_SETTINGS: Final = ("--get", "--list", "--unset", "--remove-section", "--edit")
_LONGEST: Final = 10_000
_MOST: Final = 20


def risks_of(command: str, root: Path) -> tuple[Risk, ...]:
    """The risky parts of a command that runs in the folder `root`, at most about twenty, each once."""
    text = command[:_LONGEST]
    found: list[Risk] = []
    for risk in (*_downloads_run(text), *_system_files(text, root), *_repository_files(text)):
        if not any(each.text.endswith(risk.text) for each in found):  # `sudo tee x` covers `tee x`
            found.append(risk)
    return tuple(found[:_MOST])


def _downloads_run(text: str) -> Iterator[Risk]:
    """Downloads that are piped into a shell or an interpreter, passed as its argument, or saved and then
    run."""
    for node in _nodes(parsed(text)):
        if _is_piped(node) or _is_put_in(node):
            yield Risk(text=text_of(node), note=RUNS_DOWNLOAD)
        elif node.type in ("string", "raw_string") and _is_for_a_shell(node):
            yield from _downloads_run(text_of(node)[1:-1])
    yield from _saved_and_run(text)


def _nodes(root: Node) -> Iterator[Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        todo.extend(reversed(node.children))
        yield node


def _is_piped(node: Node) -> bool:
    """Whether it is a pipeline with a download before a program that runs its input."""
    downloads = False
    for stage in node.named_children if node.type == "pipeline" else ():
        commands = mentioned_commands(text_of(stage))
        if downloads and any(_reads_code(words) for words in commands):
            return True
        downloads = downloads or _downloads(commands)
    return False


def _is_put_in(node: Node) -> bool:
    """Whether a download is substituted into the arguments or the input of an interpreter."""
    if node.type not in ("command", "redirected_statement"):
        return False
    names = _names(text_of(node).split())
    if not any(_is_interpreter(name) or name in _TAKES_TEXT for name in names):
        return False
    inner = (each for each in _nodes(node) if each.type in _SUBSTITUTIONS)
    return any(_downloads(mentioned_commands(text_of(each).strip("$<>()`"))) for each in inner)


def _is_for_a_shell(node: Node) -> bool:
    """Whether a quoted text is a script for a shell."""
    command = node.parent
    return (
        command is not None
        and command.type == "command"
        and any(name in SHELLS for name in _names(text_of(command).split()))
    )


def _saved_and_run(text: str) -> Iterator[Risk]:
    saved: set[str] = set()
    for words in mentioned_commands(text):
        if words[0] in _DOWNLOADERS:
            saved.update(_saved_names(words))
        else:
            run = (words[0], *(words[1:] if _is_interpreter(words[0]) or words[0] in _TAKES_TEXT else ()))
            if any(PurePosixPath(word).name in saved for word in run):
                yield Risk(text=" ".join(words), note=RUNS_DOWNLOAD)


def _saved_names(words: Sequence[str]) -> Iterator[str]:
    """The file names that a download may get: the given name, or the end of the URL."""
    for word, behind in zip(words, (*words[1:], ""), strict=True):
        if _SAVES_AS.fullmatch(word):
            yield PurePosixPath(word.partition("=")[2] or behind).name
        if "://" in word:
            yield PurePosixPath(re.split("[?#]", word)[0]).name


def _downloads(commands: Sequence[Sequence[str]]) -> bool:
    return any(words[0].lower() in _DOWNLOADERS for words in commands)


def _names(words: Sequence[str]) -> Iterator[str]:
    """The program of a command, and the programs that it may run."""
    names = [PurePosixPath(word.strip("\"'")).name or word for word in words]
    yield from names if names and names[0] in RUNNERS else names[:1]


def _is_interpreter(name: str) -> bool:
    return bool(_SHELL.fullmatch(name) or _OTHER.fullmatch(name.lower()))


def _reads_code(words: Sequence[str]) -> bool:
    """Whether it reads its program from standard input, because its arguments contain none."""
    name, *arguments = words
    if name in _TAKES_TEXT:
        return any(word in _STANDARD_INPUT for word in arguments)
    if not _is_interpreter(name):
        return False
    is_shell, is_value = bool(_SHELL.fullmatch(name)), False
    for word in arguments:
        if is_value:
            is_value = False
        elif word in _STANDARD_INPUT or (is_shell and re.fullmatch(r"-[a-zA-Z]*s[a-zA-Z]*", word)):
            return True
        elif re.match(r"-\w*c" if is_shell else r"-\w*[cemrnp]|--(?:eval|print|run)", word):
            return False
        elif not word.startswith(("-", "+")):
            return word == "run" and name in ("deno", "bun") and "-" in arguments
        else:
            is_value = is_shell and re.fullmatch(r"[-+]\w*[oO]", word) is not None
    return True


def _is_of_system(path: str, root: Path, *, writes: bool) -> bool:
    """Whether a path belongs to the system; a workspace may be below a system folder."""
    return is_of_system(path, writes=writes) and not Path(path).is_relative_to(root)


def _system_files(text: str, root: Path) -> Iterator[Risk]:
    """Redirections to system files, and commands with such arguments."""
    for text_of_redirect, path in _redirected_to(text):
        if _is_of_system(path, root, writes=True):
            yield Risk(text=text_of_redirect, note=f"it writes {path}, a system file")
    for name, *words in mentioned_commands(text):
        writes = any(program in _WRITERS for program in _names((name, *words)))
        for word in words:
            path = word.partition("=")[2] or word
            if _is_of_system(path, root, writes=writes):
                does = "may change" if writes else "reads"
                yield Risk(text=" ".join((name, *words)), note=f"it {does} {path}, a system file")
                break


def _repository_files(text: str) -> Iterator[Risk]:
    """Writes to `.git` or `.keen`: hooks and settings there run programs outside any sandbox."""
    for text_of_redirect, path in _redirected_to(text):
        if _is_of_repository(path):
            yield Risk(text=text_of_redirect, note=_WRITES_REPOSITORY.format(path))
    for words in mentioned_commands(text):
        if setting := _program_setting(words):
            yield Risk(text=" ".join(words), note=_SETS_PROGRAM.format(setting))
        if targets := [word for word in _written_by(words) if _is_of_repository(word)]:
            yield Risk(text=" ".join(words), note=_WRITES_REPOSITORY.format(targets[0]))


def _program_setting(words: Sequence[str]) -> str:
    """The setting written by `git config` that can make git run a program, "" for none."""
    if "config" not in words[1:] or PurePosixPath(words[0]).name != "git":
        return ""
    given = words[words.index("config", 1) + 1 :]
    if any(word.startswith(_READS_SETTINGS) for word in given):
        return ""
    keys = [
        place
        for place, (before, word) in enumerate(pairwise(("", *given)))
        if _SETTING_KEY.fullmatch(word) and before not in _FILE_OPTIONS
    ]
    if not keys or len(given) == keys[0] + 1:
        return ""  # without a value it only reads
    key = given[keys[0]]
    section, _, name = key.partition(".")
    harmless = is_harmless(section, name.rpartition(".")[2], given[keys[0] + 1])
    return "" if harmless else key


def _redirected_to(text: str) -> Iterator[tuple[str, str]]:
    """Each redirection into a file, with the file's path."""
    for node in _nodes(parsed(text)):
        if node.type == "file_redirect" and node.children and ">" in "".join(map(text_of, node.children)):
            yield text_of(node), text_of(node.children[-1]).strip("\"'")


def _written_by(words: Sequence[str]) -> Sequence[str]:
    """The words that may name files that a command writes; for a copy, the last one."""
    name, *rest = words
    if name not in _WRITERS or name in _PACKERS | _REMOVERS:
        return ()
    paths = [word.strip("\"'") for word in rest if not word.startswith("-")]
    return paths[-1:] if name in _COPIERS else paths


def _is_of_repository(path: str) -> bool:
    return not {".git", ".keen"}.isdisjoint(PurePosixPath(path).parts)
