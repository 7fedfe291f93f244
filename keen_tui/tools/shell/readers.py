"""Programs that only read, and the options with which they stay harmless.

A program that isn't listed asks. For a program that can also write or run something (`sort -o`, `rg --pre`)
only the options listed here are known: GNU programs also take abbreviated options, so a list of bad ones
would be useless.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.tools.shell.grammar import NotUnderstood, SimpleCommand, Word

Arguments = Sequence[Word]


class Reader(Struct, frozen=True, kw_only=True):
    """The known facts about a program. After `texts` arguments, everything that isn't an option is a path.

    `letters` are its short options, `with_value` those with a value, and `names` its long options, which may
    all have one; None allows any option except those beginning with `never`. `most` is the largest number of
    paths. If the program parses options in an unusual way (`bundles` is False), an option with a value has to
    stand alone.
    """

    letters: str | None = None
    with_value: str = ""
    names: frozenset[str] = frozenset()
    texts: int = 0
    most: int | None = None
    never: re.Pattern[str] | None = None
    bundles: bool = True


_HARMLESS: Final = Reader()
_TEXT_ONLY: Final = Reader(texts=1_000)


def known(
    letters: str,
    with_value: str = "",
    names: str = "",
    *,
    texts: int = 0,
    most: int | None = None,
    bundles: bool = True,
) -> Reader:
    return Reader(
        letters=letters,
        with_value=with_value,
        names=frozenset(names.split()),
        texts=texts,
        most=most,
        bundles=bundles,
    )


def _all_but(never: str) -> Reader:
    return Reader(never=re.compile(never))


_GREP: Final = known(
    "abcEFGHhiLlnoPqrsTUvwxyZz0123456789",
    "ABCDm",  # not d: `-d recurse` searches folders
    "count color colour ignore-case invert-match line-number with-filename no-filename files-with-matches "
    "files-without-match only-matching quiet silent no-messages recursive extended-regexp fixed-strings "
    "basic-regexp perl-regexp word-regexp line-regexp max-count after-context before-context context "
    "include exclude exclude-dir null text byte-offset",
    texts=1,
)

READERS: Final[Mapping[str, Reader]] = {
    **dict.fromkeys(
        """
        cat head nl tac rev fold expand unexpand fmt pwd stat df cmp comm join paste
        readlink realpath id whoami uname arch nproc true false which od column
        """.split(),  # noqa: SIM905 - a list of quoted names is no easier to read
        _HARMLESS,
    ),
    "ls": _all_but(r"-[^-]*L|--de"),  # follows links to folders
    "du": _all_but(r"-[^-]*[LDHX]|--(?:de|f|exclude-)"),
    "wc": _all_but(r"--f"),  # reads the names of its files from another file
    "cksum": _all_but(r"-[^-]*c|--c"),
    "tail": _all_but(r"-[^-]*[fF]|--[fr]|\+.*f"),  # never ends
    "hexdump": _all_but(r"-[^-]*f|--f"),  # shows the content of its file of formats
    **dict.fromkeys(("basename", "dirname", "sleep"), _TEXT_ONLY),
    "cut": known("s", "bcdf", "bytes characters delimiter fields only-delimited output-delimiter complement"),
    "echo": _TEXT_ONLY,
    "seq": _TEXT_ONLY,
    "tr": _TEXT_ONLY,
    "type": _TEXT_ONLY,
    "cd": known("", most=1),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": known(
        "cFHilnNopPqsSuUvVwx0123456789",
        "ABCgMmtTj",
        "count files-with-matches files-without-match fixed-strings glob iglob heading no-heading hidden "
        "ignore-case smart-case case-sensitive line-number no-line-number max-count max-depth multiline "
        "no-ignore no-ignore-vcs no-messages null only-matching quiet sort sortr stats type type-not "
        "type-list vimgrep with-filename no-filename word-regexp line-regexp after-context before-context "
        "context color json no-config trim max-columns max-filesize count-matches invert-match",
        texts=1,
    ),
    "sort": known(
        "bdfghiMnRrVcCmsuz",
        "kt",
        "reverse numeric-sort unique key field-separator human-numeric-sort version-sort ignore-case check "
        "general-numeric-sort month-sort stable zero-terminated ignore-leading-blanks dictionary-order",
    ),
    "uniq": known("cdDiuz", "fsw", "count repeated unique ignore-case", most=1),
    "diff": known(
        "abBEiNqstuwyZ", "UCW", "unified context brief ignore-all-space side-by-side color", most=2
    ),
    "file": known("bikNr", "", "brief mime mime-type mime-encoding"),
    "tree": known("adfpshugDFQrtin", "LIP", "noreport dirsfirst prune gitignore", bundles=False),
    "md5sum": known("bt", "", "binary text tag"),
    "sha1sum": known("bt", "", "binary text tag"),
    "sha256sum": known("bt", "", "binary text tag"),
    "sha512sum": known("bt", "", "binary text tag"),
    "xxd": known("abCeipu", "cglos", most=1, bundles=False),
}

_FIND_TESTS: Final = frozenset(
    """
    -name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime
    -cmin -newer -empty -not -o -a -or -and ! ( ) -print -print0 -prune -regex -iregex -regextype -perm
    -user -group -depth -xdev -mount -true -false -readable -writable -executable
    """.split()  # noqa: SIM905
)
_TELL_VERSION: Final = frozenset(("python", "python3", "node", "gcc", "clang", "ruby", "perl", "bash"))
"""With `--version` alone these do nothing else, in any folder. rustc isn't one of them: rustup reads in the
folder which version to run, and may download it."""
_PRINTF_SETS: Final = re.compile(r"%[^A-Za-z%]*[hjlLtz]*n")
"""`printf %n PATH` sets a variable."""
_SED_PRINT: Final = re.compile(r"(\d+|\$)(,(\d+|\$))?p(;(\d+|\$)(,(\d+|\$))?p)*")


def paths_of(command: SimpleCommand) -> Iterator[Word]:
    """The paths that a read-only command names.

    Raises:
        NotUnderstood: it may do more than read.
    """
    if command.name in _TELL_VERSION and [word.text for word in command.arguments] == ["--version"]:
        return iter(())
    special = _SPECIAL.get(command.name)
    if special:
        return special(command.arguments)
    reader = READERS.get(command.name)
    if reader is None:
        raise NotUnderstood(f"{command.name} can change files")
    return paths_given(command.name, reader, command.arguments)


def paths_given(name: str, reader: Reader, arguments: Arguments) -> Iterator[Word]:
    texts, paths = reader.texts, 0
    options, value_follows = True, False
    for word in arguments:
        if reader.never and options and reader.never.match(word.text):
            raise NotUnderstood(f"{name} {word.text} may do more than read these files")
        if value_follows:
            value_follows = False
        elif options and word.text == "--":
            options = False
        elif options and word.text.startswith("-") and word.text != "-":
            value_follows = _option(name, reader, word)
            if reader.letters is None or "=" in word.text:
                yield Word(word.text.partition("=")[2] or word.text.lstrip("-"), word.is_glob)
        elif texts:
            texts -= 1
        else:
            if word.is_glob and reader.letters is not None and re.match(r"[*?\[-]", word.text) and options:
                raise NotUnderstood(f"{word.text} may match a file that is named like an option of {name}")
            paths += 1
            yield word
            if reader.most is not None and (word.is_glob or paths > reader.most):
                raise NotUnderstood(f"{name} may write to one of its arguments")


def _option(name: str, reader: Reader, word: Word) -> bool:
    """Check an option. Returns whether the next word is its value."""
    if reader.letters is None:
        return False
    text = word.text
    unknown = NotUnderstood(f"{name} {text} may do more than read")
    if word.is_glob:
        raise unknown
    if text.startswith("--"):
        if text[2:].partition("=")[0] not in reader.names:
            raise unknown
        return False
    for place, letter in enumerate(text[1:], 1):
        if letter in reader.with_value:
            if not reader.bundles and not re.fullmatch(r"-.\d*", text):
                raise unknown
            return place == len(text) - 1
        if letter not in reader.letters:
            raise unknown
    return False


def _find(arguments: Arguments) -> Iterator[Word]:
    starts = True
    for word in arguments:
        text = word.text
        if text.startswith("-") or text in ("(", ")", "!"):
            starts = False
            if text not in _FIND_TESTS or word.is_glob:
                raise NotUnderstood(f"find {text} may do more than read")
        elif word.is_glob and (starts or text.startswith(("*", "?", "["))):
            raise NotUnderstood(f"{text} may match a file that is named like an option of find")
        else:
            yield word


def _sed(arguments: Arguments) -> Iterator[Word]:
    """`sed -n 1,20p`: other sed scripts can write files and run commands, this one can't."""
    texts = [word.text for word in arguments]
    if texts[:1] != ["-n"] or not _SED_PRINT.fullmatch("".join(texts[1:2])):
        raise NotUnderstood("a sed script can write files and run commands")
    files = arguments[2:]
    for word in files:
        if word.text.startswith("-") or (word.is_glob and word.text.startswith(("*", "?", "["))):
            raise NotUnderstood(f"sed {word.text} may do more than read")
    yield from files


def _date(arguments: Arguments) -> Iterator[Word]:
    """`date`, `date -u +%F`: other arguments would set the clock."""
    for word in arguments:
        if word.text not in ("-u", "-I", "-R", "--utc", "--iso-8601") and not word.text.startswith("+"):
            raise NotUnderstood(f"date {word.text} may do more than read")
    return iter(())


def _printf(arguments: Arguments) -> Iterator[Word]:
    """`-v` sets an element of an array and evaluates its index; `%n` sets a variable too."""
    texts = [word.text for word in arguments]
    if texts[:1] != ["--"] and any(text.startswith("-") for text in texts[:1]):
        raise NotUnderstood(f"printf {texts[0]} may do more than print")
    if any(_PRINTF_SETS.search(text.replace("%%", "")) for text in texts):
        raise NotUnderstood("printf sets a variable with %n")
    return iter(())


_SPECIAL: Final[Mapping[str, Callable[[Arguments], Iterator[Word]]]] = {
    "find": _find,
    "sed": _sed,
    "date": _date,
    "printf": _printf,
}


def wants_files(command: SimpleCommand) -> bool:
    """Whether it would show everything in a folder, also behind links, if it got one."""
    return command.name == "diff"


def reads_below(command: SimpleCommand) -> bool:
    """Whether it shows the contents of files that it finds in folders."""
    if command.name in ("grep", "egrep", "fgrep"):
        short = [word.text for word in command.arguments if re.match(r"-[^-]", word.text)]
        return any("r" in text for text in short) or any(
            word.text.startswith("--recursive") for word in command.arguments
        )
    return command.name == "rg"
