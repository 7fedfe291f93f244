"""A program that makes system calls on files in its current folder and prints the result of each.

Run it twice, in equal folders: the broker and the kernel must give the same results. The folder `old` must
exist.
"""

# mypy: disable-error-code="func-returns-value, misc"

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import stat
from collections.abc import Callable
from contextlib import suppress

libc = ctypes.CDLL(None, use_errno=True)
NEW = os.O_CREAT | os.O_WRONLY


def told(name: str, deed: Callable[[], object]) -> None:
    try:
        print(name, deed())
    except OSError as error:
        print(name, errno.errorcode[error.errno or 0])


def mode(path: str | bytes) -> str:
    return oct(os.lstat(path).st_mode)


def opened(path: str | bytes, flags: int = NEW, made: int = 0o666, folder: int | None = None) -> object:
    descriptor = os.open(path, flags, made, dir_fd=folder)
    kept = fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~os.O_NOFOLLOW
    os.close(descriptor)
    return descriptor, oct(kept)


def inherited(path: bytes, flags: int) -> int:
    descriptor = checked(libc.open(path, flags))
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFD)
    finally:
        os.close(descriptor)


def checked(ended: int) -> int:
    if ended < 0:
        raise OSError(ctypes.get_errno(), "")
    return ended


def renamed(source: bytes, target: bytes, flags: int) -> int:
    return checked(libc.renameat2(-100, source, -100, target, flags))


def at(address: int) -> int:
    return checked(libc.mkdir(ctypes.c_void_p(address), 0o777))


def opening() -> None:
    told("new", lambda: (opened("a", NEW | os.O_EXCL), mode("a")))
    told("not new", lambda: opened("a", NEW | os.O_EXCL))
    for umask in (0o077, 0, 0o022):
        os.umask(umask)
        told(f"umask {umask:o}", lambda name=f"u{umask}": (opened(name, NEW, 0o777), mode(name)))
        told("sticky", lambda name=f"s{umask}": (os.mkdir(name, 0o1777), mode(name)))
    for name, flags in (("append", os.O_APPEND), ("no wait", os.O_NONBLOCK), ("direct", os.O_DIRECT)):
        told(name, lambda flags=flags: opened("a", os.O_WRONLY | flags))
    told("inherited", lambda: (inherited(b"a", os.O_RDWR), inherited(b"a", os.O_RDWR | os.O_CLOEXEC)))
    told("folder", lambda: opened("s0", os.O_WRONLY))
    told("folder made", lambda: opened("s0"))
    told("slash", lambda: opened("new/"))
    told("no folder", lambda: opened("no/x"))
    told("file as folder", lambda: opened("a/x"))
    told("nothing", lambda: opened("nothing", os.O_WRONLY))
    told("too long", lambda: opened("x" * 256))
    told("long", lambda: opened("x" * 255))
    told("long path", lambda: opened("x/" * 3_000))
    told("newline", lambda: opened("new\nline"))
    told("no text", lambda: opened(b"\xff\xfe"))
    told("empty", lambda: os.mkdir(""))
    told("no address", lambda: at(1))
    told("of the kernel", lambda: at(0xFFFF_FFFF_8000_0000))
    told("set uid", lambda: opened("uid", NEW, 0o777))


def links() -> None:
    told("link", lambda: os.symlink("target", "link"))
    told("link again", lambda: os.symlink("target", "link"))
    told("behind it", lambda: (opened("link"), mode("target")))
    told("not behind it", lambda: opened("link", os.O_WRONLY | os.O_NOFOLLOW))
    told("new link", lambda: opened("link", NEW | os.O_EXCL))
    os.symlink("loop", "loop")
    told("loop", lambda: opened("loop"))
    told("in a loop", lambda: opened("loop/x"))
    told("mkdir", lambda: os.mkdir("link"))
    told("second name", lambda: (os.link("a", "second"), os.stat("a").st_nlink))
    told("second name again", lambda: os.link("a", "second"))
    told("of a folder", lambda: os.link("s0", "third"))
    told("of a link", lambda: (os.link("link", "fourth", follow_symlinks=False), mode("fourth")))
    os.mkdir("there")
    os.symlink("there", "to")
    os.symlink(f"{os.getcwd()}/there", "absolute")
    told("through a link", lambda: (opened("to/x"), opened("absolute/y"), sorted(os.listdir("there"))))


def folders() -> None:
    for path in ("s0", "d/", ".", "no/.", "old", "old/"):
        told(f"mkdir {path}", lambda path=path: os.mkdir(path))
    os.mkdir("d/sub")
    told("not empty", lambda: os.rmdir("d"))
    told("rmdir file", lambda: os.rmdir("a"))
    told("unlink folder", lambda: os.unlink("d"))
    told("unlink slash", lambda: os.unlink("a/"))
    for path in ("d/sub/", "d/.", "d/..", "nothing"):
        told(f"rmdir {path}", lambda path=path: os.rmdir(path))


def moving() -> None:
    for source, target in (
        ("a", "b"), ("nothing", "c"), ("d", "b"), ("b", "d"), ("s0", "s0/x"), ("d/", "e/"), ("b/", "c"),
        ("b", "c/"),
    ):  # fmt: skip
        told(f"{source} to {target}", lambda source=source, target=target: os.rename(source, target))
    told("not there", lambda: renamed(b"b", b"c", 1))
    told("there", lambda: renamed(b"c", b"target", 1))
    told("exchanged", lambda: (renamed(b"c", b"e", 2), mode("c"), mode("e")))
    told("both", lambda: renamed(b"c", b"e", 3))
    told("to old and back", lambda: (opened("old/f"), os.rename("old/f", "f"), os.rename("f", "old/g")))
    told("old", lambda: (os.rename("old", "older"), opened("older/x"), os.mkdir("old"), opened("old/x")))
    told("into old", lambda: (os.rename("there", "older/there"), opened("older/there/z")))
    told("over", lambda: (os.replace("older/x", "target"), sorted(os.listdir("older"))))


def sizes() -> None:
    told("truncate", lambda: (os.truncate("target", 77), os.stat("target").st_size))
    told("behind a link", lambda: (os.truncate("link", 5), os.stat("target").st_size))
    told("folder", lambda: os.truncate("s0", 1))
    told("nothing", lambda: os.truncate("nothing", 1))
    told("less than none", lambda: os.truncate("target", -1))
    told("mknod", lambda: (os.mknod("m", 0o640), mode("m")))
    told("mknod file", lambda: (os.mknod("n", stat.S_IFREG | 0o640), mode("n")))


def from_folders() -> None:
    here, file = os.open(".", os.O_PATH), os.open("target", os.O_RDONLY)
    os.mkdir("made")
    made = os.open("made", os.O_RDONLY)
    told("here", lambda: opened("h", folder=here))
    told("made", lambda: (opened("i", folder=made), os.mkdir("j", dir_fd=made), os.listdir("made")))
    told("no descriptor", lambda: opened("h", folder=99))
    told("a file", lambda: opened("h", folder=file))
    told("absolute", lambda: opened(f"{os.getcwd()}/k", folder=99))
    top = os.getcwd()
    os.chdir("made")
    told("below", lambda: (opened("l"), opened("../m2"), opened("./../made/./m3"), sorted(os.listdir("."))))
    os.mkdir("../gone")
    os.chdir("../gone")
    os.rmdir("../gone")
    told("gone", lambda: opened("x"))
    os.chdir(top)


def many() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, hard))
    held: list[int] = []

    def endless() -> None:
        while True:
            held.append(os.open("target", os.O_WRONLY))

    told("too many", endless)
    for each in held:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def main() -> None:
    for part in (opening, links, folders, moving, sizes, from_folders, many):
        part()
    for root, below, files in sorted(os.walk(".")):
        for name in sorted(below + files):
            with suppress(OSError):
                print(ascii(os.path.join(root, name)), mode(os.path.join(root, name)))


if __name__ == "__main__":
    main()
