"""The user's rules: they allow, ask about or deny calls, whatever the mode says. Pure.

`bash(npm run *)`, `edit(docs/**)`, `read(~/notes/**)`, `net(*.example.org)`, `web(docs.python.org)`,
`mcp__github__*`, `bash`. Deny beats ask, ask beats allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

from keen_tui.domain.errors import ConfigError, ToolFailure
from keen_tui.text.hosts import EVERY_HOST, Host, HostPattern, host_pattern
from keen_tui.tools.access.access import Access
from keen_tui.tools.rules.globs import Glob
from keen_tui.tools.shell.patterns import CommandPattern, written

Ruling: TypeAlias = Literal["allow", "ask", "deny"]

_KINDS: Final = {"bash": "command", "read": "read", "edit": "write", "net": "net", "web": "web"}
_OF_SERVER: Final = re.compile(r"mcp__[\w*-]+", re.ASCII)
_RULE: Final = re.compile(r"(?P<kind>\w+)(?:\((?P<pattern>.+)\))?", re.DOTALL)


class Rule(Struct, frozen=True, kw_only=True):
    """A rule about matching calls of one `kind` (see `Access`), or about hosts of commands (`net`). `text` is
    the user's own text. `tools` are those of MCP servers, by their full name, with `*` for any characters."""

    ruling: Ruling
    kind: str
    text: str
    commands: CommandPattern | None = None
    paths: Glob | None = None
    from_root: bool = False
    hosts: HostPattern | None = None
    tools: str = ""

    @property
    def is_of_all(self) -> bool:
        """Whether it is about every call of its kind."""
        if self.hosts:
            return self.hosts == EVERY_HOST
        return self.paths is None and (self.commands is None or self.commands.words == ())

    def is_about(self, access: Access) -> bool:
        """Whether the rule matches the call in a wide sense, for ask and deny."""
        if access.kind == self.kind == "mcp":
            return fnmatchcase(access.subject, self.tools)
        if access.kind != self.kind or self.is_of_all:
            return access.kind == self.kind
        if self.commands:
            return any(self.commands.is_about(words) for words in access.mentions)
        if self.hosts:
            return access.host is not None and self.hosts.is_about(access.host)
        return self.names(access.subject, access.path, inside=access.inside)

    def names(self, subject: str, path: str, *, inside: bool) -> bool:
        """Whether the pattern matches a path: from the root, or in the workspace; a bare name matches
        anywhere."""
        assert self.paths is not None
        if self.from_root:
            return self.paths.matches(path.lstrip("/"))
        return self.paths.matches(subject if inside else path.lstrip("/"))


class Rules:
    """All rules of the user."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = tuple(rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def first(self, ruling: Ruling, access: Access) -> Rule | None:
        """The first rule that asks about or denies the call."""
        return next((rule for rule in self._rules if rule.ruling == ruling and rule.is_about(access)), None)

    def allow_path(self, access: Access) -> bool:
        """Whether a rule allows the call to read or change its path."""
        return any(rule.ruling == "allow" and rule.is_about(access) for rule in self._rules)

    def allow_tool(self, access: Access) -> bool:
        """Whether a rule allows the call of a tool of an MCP server."""
        return any(rule.ruling == "allow" and rule.is_about(access) for rule in self._rules)

    def allow_all_commands(self) -> bool:
        """Whether a rule allows every command."""
        return any(
            rule.ruling == "allow" and rule.kind == "command" and rule.is_of_all for rule in self._rules
        )

    def allow_page(self, access: Access) -> bool:
        """Whether a rule allows reading pages of this host at its port."""
        return _allow_host(self._of("web"), access.host)

    def allowed_commands(self) -> tuple[CommandPattern, ...]:
        """The commands that rules allow."""
        return tuple(rule.commands for rule in self._rules if rule.ruling == "allow" and rule.commands)

    def about_host(self, ruling: Ruling, host: Host) -> Rule | None:
        """The first rule that asks about or denies that commands reach a host."""
        rules = (rule for rule in self._of("net") if rule.ruling == ruling)
        return next((rule for rule in rules if rule.hosts and rule.hosts.is_about(host)), None)

    def allow_host(self, host: Host) -> bool:
        """Whether a rule allows commands to reach the host."""
        return _allow_host(self._of("net"), host)

    def allow_all_hosts(self) -> bool:
        """Whether commands may reach every host: a rule allows all, and no rule asks about or denies any."""
        about_hosts = list(self._of("net"))
        is_open = any(rule.ruling == "allow" and rule.hosts == EVERY_HOST for rule in about_hosts)
        return is_open and all(rule.ruling == "allow" for rule in about_hosts)

    def _of(self, kind: str) -> Iterator[Rule]:
        return (rule for rule in self._rules if rule.kind == kind)

    def withhold(self, subject: str, path: str, *, inside: bool) -> bool:
        """Whether a rule asks about or denies the file, so that searches and commands skip it."""
        access = Access(kind="read", subject=subject, path=path, inside=inside)
        return bool(self.first("deny", access) or self.first("ask", access))


def _allow_host(rules: Iterable[Rule], host: Host | None) -> bool:
    return host is not None and any(
        rule.ruling == "allow" and rule.hosts and rule.hosts.fits(host) for rule in rules
    )


def parse_rules(ruling: Ruling, texts: Sequence[str], where: str) -> tuple[Rule, ...]:
    """The rules from the settings. `where` is for messages.

    Raises:
        ConfigError: a text isn't a rule.
    """
    return tuple(_rule(ruling, text, where) for text in texts)


def _rule(ruling: Ruling, text: str, where: str) -> Rule:
    if _OF_SERVER.fullmatch(text.strip()):
        return Rule(ruling=ruling, kind="mcp", text=text, tools=_of_server(text.strip()))
    found = _RULE.fullmatch(text.strip())
    kind = _KINDS.get(found["kind"]) if found else None
    if not found or not kind:
        raise ConfigError(
            f"{where}: {text!r} isn't a rule. Rules look like bash(npm run *), edit(docs/**), read(.env*), "
            "net(example.org), web(example.org) or mcp__github__*."
        )
    pattern = (found["pattern"] or "").strip()
    try:
        if kind in ("net", "web"):
            return Rule(ruling=ruling, kind=kind, text=text, hosts=host_pattern(pattern or EVERY_HOST.name))
        if kind == "command" or not pattern:
            return Rule(ruling=ruling, kind=kind, text=text, commands=written(pattern) if pattern else None)
        home = str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern
        from_root = home.startswith("/")
        paths = Glob(home.lstrip("/") if from_root else home)
        return Rule(ruling=ruling, kind=kind, text=text, paths=paths, from_root=from_root)
    except (ValueError, RuntimeError, ToolFailure) as error:
        raise ConfigError(f"{where}: the rule {text!r} can't be read: {error}.") from error


def _of_server(text: str) -> str:
    """The pattern of tools. `mcp__github` means all tools of that server."""
    _, _, rest = text.partition("__")
    return text if "__" in rest or rest.endswith("*") else f"{text}__*"


RULINGS: Final[tuple[Ruling, ...]] = get_args(Ruling)
NO_RULES: Final = Rules()
