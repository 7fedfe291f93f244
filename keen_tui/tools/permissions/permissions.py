"""Whether a call runs, asks or is refused, by the permission mode, the rules and earlier answers. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import NOBODY
from keen_tui.text.hosts import HostPattern, WebHosts, pattern_of
from keen_tui.text.sanitize import clean
from keen_tui.tools.access.access import Access
from keen_tui.tools.access.sensitive import holds_secrets, is_of_system, runs_code_later
from keen_tui.tools.access.server_tool_names import told_apart
from keen_tui.tools.rules.rules import NO_RULES, Rule, Rules
from keen_tui.tools.shell.patterns import CommandPattern, worth_saving
from keen_tui.tools.shell.removals import in_short, loss_in

Grant = tuple[str, str]
"""The scope of "allow this kind for the session": a kind of access, and a place or a command."""

_EDITS_HERE: Grant = ("write", "workspace")
_UNHELD: Grant = ("unheld", "commands")


Allowance = CommandPattern | HostPattern | WebHosts
"""A permission that can be given permanently in a workspace."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The decision about a call. The texts are for the question, or for the model (`refusal`); `refused` is
    the refusal in a few words for the person.

    `grant` says what "allow this kind" would allow, None if that isn't offered; if `grant_key` was allowed
    before, the call runs without a question. `saves` are the commands, and `hosts` the hosts, that can be
    allowed permanently in this workspace. If the call `is_risky`, neither is offered, and no answer may be
    preselected. `by_rule`: a rule of the user wants the question. `nobody` is the answer if there is no
    person, "" for the usual one. `try`: the call runs read-only first. If that isn't enough, it is refused if
    there is a `refusal`, else it asks.
    """

    decision: Literal["allow", "ask", "refuse", "try"]
    question: str = ""
    why: str = ""
    grant: str | None = None
    grant_key: Grant | None = None
    saves: tuple[CommandPattern, ...] = ()
    hosts: tuple[HostPattern | WebHosts, ...] = ()
    nobody: str = ""
    refusal: str = ""
    refused: str = "denied"
    is_risky: bool = False
    by_rule: bool = False

    @property
    def may_be_waived(self) -> bool:
        """Whether a hook may answer in place of the person: not where it always asks."""
        return self.decision in ("ask", "try") and not (self.is_risky or self.by_rule)

    @property
    def for_good(self) -> tuple[Allowance, ...]:
        """Everything that can be allowed permanently."""
        return (*self.saves, *self.hosts)

    @property
    def by_prefix(self) -> bool:
        """Whether more than exactly this command can be allowed."""
        return any(pattern.more for pattern in self.saves)

    def after_trial(self, reason: str) -> Verdict:
        """Returns the decision after a read-only run that failed for that reason."""
        if self.refusal:
            refusal = f"plan mode is on, so commands run read-only, and this was not enough: {reason}"
            return replace(self, decision="refuse", refusal=refusal)
        return replace(self, decision="ask", why=reason)


ALLOW = Verdict(decision="allow")
_PLAN_REFUSAL = Verdict(
    decision="refuse",
    refusal=(
        "Refused: plan mode is on, so you can only read inside the workspace. "
        "Work out what you would do, and propose it with propose_plan."
    ),
    refused="not in plan mode",
)


class Allowed(Struct, frozen=True, kw_only=True):
    """The person's permissions apart from the mode: rules of the settings, answers for this session, and
    commands and web hosts that are always allowed in this workspace."""

    rules: Rules = NO_RULES
    granted: Collection[Grant] = ()
    saved: Collection[CommandPattern] = ()
    saved_web: Collection[WebHosts] = ()


def judge(mode: Mode, access: Access, allowed: Allowed) -> Verdict:
    """Judge an access. Deny beats ask, ask beats allow. Calls that always ask, such as reading a file with
    keys, ask even if a rule allows them."""
    if access.kind == "nothing":
        return ALLOW
    if rule := allowed.rules.first("deny", access):
        return _denied(rule)
    rule = allowed.rules.first("ask", access)
    if access.kind == "web":
        return _web(mode, access, allowed, rule)
    if access.kind == "mcp":
        return _server_call(mode, access, allowed, rule)
    if access.kind == "function":
        return _function_call(mode, access, allowed)
    if mode == "plan" and access.kind == "command":
        return _PLAN_REFUSAL if rule else _planned(access)
    if mode == "plan" and (access.kind != "read" or not access.inside):
        return _PLAN_REFUSAL
    if rule:
        return _ruled(access, rule)
    verdict = _unheld(access) if mode == "auto" else _judged(mode, access, allowed)
    if verdict.grant_key in allowed.granted:
        return ALLOW
    return replace(verdict, decision="try") if verdict.decision == "ask" and access.tries else verdict


def _web(mode: Mode, access: Access, allowed: Allowed, rule: Rule | None) -> Verdict:
    """Pages are asked about by host in every mode: an address can carry out what the model has read."""
    assert access.host is not None
    host, web = str(access.host), WebHosts(pattern_of(access.host))
    if not rule and allowed.rules.allow_page(access):
        return ALLOW
    if mode == "plan":
        return replace(_PLAN_REFUSAL, refusal=_NO_RULE.format(host, web))
    grant_key = ("web", host)
    is_saved = any(each.hosts.fits(access.host) for each in allowed.saved_web)
    if not rule and (grant_key in allowed.granted or is_saved):
        return ALLOW
    asks = Verdict(
        decision="ask",
        question=f"Fetch a page from {host}?",
        why="you haven't allowed this host yet; it gets the whole address",
        nobody=f"{NOBODY}; --allow-web {host} or the rule {web} in your settings allows it",
    )
    if rule:
        return replace(asks, why=f"your rule {rule.text} says so")
    return replace(asks, grant=f"allow pages of {host} for this session", grant_key=grant_key, hosts=(web,))


_NO_RULE = "Refused: in plan mode only a rule allows pages of {}: the user can add {} to the settings."


def _server_call(mode: Mode, access: Access, allowed: Allowed, rule: Rule | None) -> Verdict:
    """A call of a tool of an MCP server. What the server says of the tool allows nothing."""
    is_ruled = rule is None and allowed.rules.allow_tool(access)
    if mode == "plan":
        return ALLOW if is_ruled else _PLAN_REFUSAL
    server, tool = told_apart(access.subject)
    question = f"Call {tool} of the MCP server {server}?"
    nobody = f"{NOBODY}; --mode auto or the rule {access.subject} allows it"
    if rule:
        why = f"your rule {rule.text} says so"
        return Verdict(decision="ask", question=question, why=why, nobody=f"{NOBODY}; {why}")
    key = (access.kind, access.subject)
    if mode == "auto" or is_ruled or key in allowed.granted:
        return ALLOW
    return Verdict(
        decision="ask",
        question=question,
        why=access.concern,
        grant=f"allow {access.subject} for this session",
        grant_key=key,
        nobody=nobody,
    )


def _function_call(mode: Mode, access: Access, allowed: Allowed) -> Verdict:
    """A call of a function of the program that runs Keen. Those that only read touch nothing and don't come
    here."""
    if mode == "plan":
        return _PLAN_REFUSAL
    key = (access.kind, access.subject)
    if mode == "auto" or key in allowed.granted:
        return ALLOW
    return Verdict(
        decision="ask",
        question=f"Call {access.subject}?",
        why="it runs in the program that started Keen, outside the sandbox",
        grant=f"allow {access.subject} for this session",
        grant_key=key,
    )


def _planned(access: Access) -> Verdict:
    """In plan mode a command runs if it only reads, or if it can do nothing else."""
    if access.reads_only and not access.insists:
        return ALLOW
    return replace(_PLAN_REFUSAL, decision="try") if access.tries else _PLAN_REFUSAL


def _judged(mode: Mode, access: Access, allowed: Allowed) -> Verdict:
    if access.kind == "command":
        is_held = access.sandboxed and mode == "auto-edit" and not access.insists
        is_allowed = _is_allowed(access, allowed) and not access.insists
        return ALLOW if is_held or access.reads_only or is_allowed else _command(access)
    if special := _special(access):
        return _path(access, special)
    if allowed.rules.allow_path(access):
        return ALLOW
    if not access.inside:
        return _path(access, access.concern or "it is outside the workspace")
    return ALLOW if access.kind == "read" or mode == "auto-edit" else _edit(access)


def _unheld(access: Access) -> Verdict:
    """In auto mode everything runs, but without a sandbox only commands that the user wants to run there."""
    if not access.unheld or access.reads_only:
        return ALLOW
    return Verdict(
        decision="ask",
        question="Run this command without a sandbox?",
        why=f"there is no sandbox here: {access.unheld}",
        grant=None if is_risky(access) else "run all commands without a sandbox in this session",
        grant_key=_UNHELD,
        is_risky=is_risky(access),
    )


def is_risky(access: Access) -> bool:
    """Whether a yes may lose something, run a download, or touch keys or system files."""
    if access.kind == "command":
        return bool(access.insists or access.risks or loss_in(access.mentions))
    paths = (access.subject, access.path)
    return any(map(holds_secrets, paths)) or (not access.inside and _is_of_system(access))


def _is_of_system(access: Access) -> bool:
    writes = access.kind == "write"
    later = writes and runs_code_later(access.subject)
    return later or is_of_system(access.path or access.subject, writes=writes)


def _is_allowed(access: Access, allowed: Allowed) -> bool:
    """Whether every part of a command only reads, or is allowed."""
    if allowed.rules.allow_all_commands():
        return True
    patterns = (*allowed.rules.allowed_commands(), *allowed.saved)
    return bool(access.parts) and all(
        not part.concern or any(pattern.fits(part.words) for pattern in patterns) for part in access.parts
    )


def _special(access: Access) -> str | None:
    """Why this path asks although others of its kind don't."""
    if holds_secrets(access.subject):
        return "it may hold keys or passwords, and the model's provider would see them"
    if access.kind == "write" and runs_code_later(access.subject):
        return "its content can run code later"
    if access.is_own_code:
        return "it is part of Keen itself, which runs it with your keys"
    return None


def _command(access: Access) -> Verdict:
    risk = access.insists or _risk(access) or loss_in(access.mentions)
    why = risk or access.concern or "commands can change anything that you can"
    if is_risky(access):
        return Verdict(decision="ask", question="Run this command?", why=why, is_risky=True)
    verdict = Verdict(
        decision="ask",
        question="Run this command?",
        why=why,
        grant="don't ask again for this command in this session",
        grant_key=("command", access.subject),
        saves=worth_saving(access.parts),
    )
    if not verdict.by_prefix:
        return verdict
    commands = ", ".join(map(str, verdict.saves))
    return replace(verdict, grant=f"don't ask again for {commands} in this session")


def _risk(access: Access) -> str:
    """The first risk, with its part if the command has several."""
    if not access.risks:
        return ""
    risk = access.risks[0]
    several = len(access.mentions) > 1 and risk.text != access.subject.strip()
    return f"{risk.note} ({in_short(risk.text.split())})" if several else risk.note


def _ruled(access: Access, rule: Rule) -> Verdict:
    question = "Run this command?" if access.kind == "command" else _question(access)
    why = f"your rule {rule.text} says so"
    return Verdict(decision="ask", question=question, why=why, is_risky=is_risky(access), by_rule=True)


def asked_by_hook(access: Access, reason: str) -> Verdict:
    """The question about a call that would run without one, if a hook wants it."""
    question = "Run this call?" if access.kind == "nothing" else _question(access)
    if access.kind == "command":
        question = "Run this command?"
    why = f"a hook wants you to decide: {reason.rstrip('.')}" if reason else "a hook wants you to decide"
    return Verdict(decision="ask", question=question, why=why, is_risky=is_risky(access))


def _denied(rule: Rule) -> Verdict:
    return Verdict(
        decision="refuse",
        refusal=f"Refused: the user's rule denies {rule.text}. Don't try it another way; say what you need.",
        refused="denied by your rule",
    )


def _edit(access: Access) -> Verdict:
    return Verdict(
        decision="ask",
        question=_question(access),
        why="every edit needs your approval in ask mode",
        grant="allow all edits in this workspace for this session",
        grant_key=_EDITS_HERE,
    )


def _path(access: Access, why: str) -> Verdict:
    if is_risky(access):
        return Verdict(decision="ask", question=_question(access), why=why, is_risky=True)
    return Verdict(
        decision="ask",
        question=_question(access),
        why=why,
        grant="allow this path for this session",
        grant_key=(access.kind, access.subject),
    )


def _question(access: Access) -> str:
    verb = "Read" if access.kind == "read" else "Create" if access.creates else "Change"
    return f"{verb} {clean(access.subject)}?"
