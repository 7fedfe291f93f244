"""Commands, hosts of commands and hosts of pages that the user always allows, each in one workspace: files in
the settings folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keen_tui.system.folder_records import ByFolder
from keen_tui.text.hosts import HostPattern, WebHosts
from keen_tui.tools.permissions.permissions import Allowance
from keen_tui.tools.shell.patterns import CommandPattern


class Allowances:
    """The allowances for `workspace`, stored with those for other workspaces: commands in `file`, hosts in
    `hosts.json` and hosts of pages in `web.json` beside it.

    Raises:
        ConfigError: a file can't be read. It stays unchanged, and allows nothing.
    """

    def __init__(self, file: Path, workspace: Path) -> None:
        self._kept = ByFolder(file, tuple[CommandPattern, ...])
        self._kept_hosts = ByFolder(file.with_name("hosts.json"), tuple[HostPattern, ...])
        self._kept_web = ByFolder(file.with_name("web.json"), tuple[WebHosts, ...])
        self.workspace = workspace
        self.commands = self._kept.get(workspace) or ()
        self.hosts = self._kept_hosts.get(workspace) or ()
        self.web = self._kept_web.get(workspace) or ()

    @property
    def all(self) -> tuple[Allowance, ...]:
        """The commands, then the hosts of commands, then those of pages."""
        return (*self.commands, *self.hosts, *self.web)

    def add(self, more: Sequence[Allowance]) -> None:
        """Allow these too. Blocking.

        Raises:
            ConfigError: they can't be saved; they still apply until the program ends.
        """
        self._change(tuple(dict.fromkeys((*self.all, *more))))

    def remove(self, one: Allowance) -> None:
        """Ask about this one again. Raises like `add`."""
        self._change(tuple(each for each in self.all if each != one))

    def _change(self, every: Sequence[Allowance]) -> None:
        commands = tuple(each for each in every if isinstance(each, CommandPattern))
        hosts = tuple(each for each in every if isinstance(each, HostPattern))
        web = tuple(each for each in every if isinstance(each, WebHosts))
        had_commands, had_hosts, had_web = self.commands, self.hosts, self.web
        self.commands, self.hosts, self.web = commands, hosts, web
        if commands != had_commands:
            self._kept.put(self.workspace, commands)
        if hosts != had_hosts:
            self._kept_hosts.put(self.workspace, hosts)
        if web != had_web:
            self._kept_web.put(self.workspace, web)
