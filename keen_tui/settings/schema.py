"""Every setting, declared once: its meaning, its values, its default, its place in the file, its flag.

The settings file, the settings page, the command line, `--help` and the checks are made from `Settings`. It
is read before the first paint, so it needs nothing but the standard library.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

from keen_tui.domain.choices import Api, Mode, Network, Notify, PolicyName, Titles
from keen_tui.settings.about import About, Flag


class Settings(NamedTuple):
    """Everything that can be set, in the order in which it is shown. "" and 0 leave it to the model, its
    provider or the terminal."""

    provider: Annotated[
        str,
        About(
            "Model",
            "The provider of the model: openai, anthropic, google, deepseek, openrouter, ollama and others.",
            flags=(
                Flag(
                    "--provider",
                    "NAME",
                    "the provider: openai, anthropic, google, deepseek, openrouter, ollama and others",
                    completes="providers",
                ),
            ),
        ),
    ] = ""
    model: Annotated[
        str,
        About(
            "Model",
            "The model's name, as the server knows it.",
            flags=(Flag("--model", "NAME", "the model's name, as the server knows it", completes="models"),),
        ),
    ] = ""
    effort: Annotated[
        str,
        About(
            "Model",
            "The reasoning effort, if the model has levels: low, medium, high.",
            flags=(
                Flag(
                    "--effort", "LEVEL", "the reasoning effort, if the model has levels", completes="efforts"
                ),
            ),
        ),
    ] = ""
    base_url: Annotated[
        str,
        About(
            "Model",
            "The address of the server, if it isn't the provider's own.",
            flags=(Flag("--base-url", "URL", "the server, if it isn't the provider's own"),),
        ),
    ] = ""
    api: Annotated[
        Api | Literal[""],
        About(
            "Model",
            "The API to use, if it isn't the provider's usual one.",
            flags=(
                Flag(
                    "--api",
                    "API",
                    "openai-chat, openai-responses or anthropic (default: what the provider speaks)",
                ),
            ),
        ),
    ] = ""
    api_key_env: Annotated[
        str,
        About(
            "Model",
            "The environment variable that holds the API key. The key itself never goes here.",
            flags=(
                Flag(
                    "--api-key-env", "VARIABLE", "the variable that holds the key (default: the provider's)"
                ),
            ),
        ),
    ] = ""
    context_window: Annotated[
        int,
        About("Model", "The model's context window in tokens. 0: as its server or the catalogue says."),
    ] = 0
    stall_seconds: Annotated[
        float, About("Model", "Seconds of silence before a reply counts as cut off.")
    ] = 180.0
    retry_attempts: Annotated[
        int, About("Model", "How many times Keen tries a step before the turn ends incomplete.")
    ] = 4
    mode: Annotated[
        Mode,
        About(
            "Work",
            "What runs without asking. ask: reading only. auto-edit: edits too. plan: read-only. "
            "auto: everything except new web hosts.",
            flags=(
                Flag(
                    "--mode",
                    "MODE",
                    "what runs without asking: ask (default; reading only), auto-edit (edits too), plan "
                    "(read-only), auto (everything except new web hosts)",
                ),
            ),
            at_once=True,
        ),
    ] = "ask"
    sandbox: Annotated[
        bool,
        About(
            "Work",
            "Run commands in a sandbox, where the system has one.",
            flags=(
                Flag(
                    "--no-sandbox",
                    None,
                    "run commands without the sandbox; auto needs this where there is none",
                    switch=False,
                ),
            ),
        ),
    ] = True
    network: Annotated[
        Network,
        About(
            "Work",
            "When a sandboxed command wants to reach a host that no rule covers. ask: Keen asks you, and "
            "the command waits. off: no network at all. on: all public hosts.",
            flags=(
                Flag(
                    "--allow-net",
                    "HOST",
                    "let sandboxed commands reach this host: example.org, *.example.org, example.org:8443 "
                    "(can be repeated)",
                    dest="allow_net",
                    repeats=True,
                ),
                Flag(
                    "--allow-web",
                    "HOST",
                    "let the model read pages of this host, or of * for all (can be repeated)",
                    dest="allow_web",
                    repeats=True,
                ),
            ),
        ),
    ] = "ask"
    web_search: Annotated[
        bool,
        About(
            "Work",
            "Let the model search the web with its provider's own tool (Anthropic, OpenAI Responses). The "
            "provider may charge for each search.",
            flags=(
                Flag(
                    "--web-search",
                    None,
                    "let the model use its provider's web search (Anthropic, OpenAI Responses)",
                    has_opposite=True,
                ),
            ),
        ),
    ] = False
    max_steps: Annotated[
        int,
        About(
            "Work",
            "The number of model calls that a turn may make.",
            flags=(Flag("--max-steps", "N", "model calls per turn (default: 100)"),),
        ),
    ] = 100
    agents_at_once: Annotated[int, About("Work", "How many read-only sub-agents may run at once.")] = 4
    compact_at: Annotated[
        int,
        About(
            "Work",
            "Keen summarises the conversation at this percentage of the context window; above 100 turns it "
            "off.",
        ),
    ] = 85
    titles: Annotated[
        Titles,
        About(
            "Work",
            "Ask the model for a title after a session's first turn. remote: only if the model runs "
            "elsewhere, since a local one would have to reread the conversation.",
        ),
    ] = "remote"
    plain: Annotated[
        bool,
        About(
            "Screen",
            "A conversation line by line instead of the screen: for screen readers, and terminals "
            "that can only print.",
            flags=(
                Flag(
                    "--plain",
                    None,
                    "a conversation line by line, for screen readers and terminals that can only print",
                    has_opposite=True,
                ),
            ),
        ),
    ] = False
    theme: Annotated[
        str,
        About(
            "Screen",
            "The colours: keen-dark, keen-light, keen-contrast, keen-safe, keen-ansi16, or your own: "
            "a file in the folder themes beside this one. If not set: keen-dark, or keen-ansi16 with "
            "sixteen colours.",
            flags=(
                Flag(
                    "--theme",
                    "NAME",
                    "keen-dark, keen-light, keen-contrast, keen-safe, keen-ansi16, or your own (default: "
                    "what the terminal can show)",
                    completes="themes",
                ),
            ),
            at_once=True,
        ),
    ] = ""
    glyphs: Annotated[
        Literal["", "unicode", "ascii"],
        About(
            "Screen",
            "The symbols on the screen. If not set: those that the terminal can draw.",
            at_once=True,
        ),
    ] = ""
    reduced_motion: Annotated[bool, About("Screen", "No blinking or pulsing.", at_once=True)] = False
    mouse: Annotated[
        bool,
        About("Screen", "Keen handles the mouse. When off, the terminal does, with its own text selection."),
    ] = True
    notify: Annotated[
        Notify,
        About(
            "Screen",
            "How Keen tells you that a turn has ended or has a question while you are looking elsewhere. "
            "desktop: a notification if the terminal can show one, otherwise the bell.",
            at_once=True,
        ),
    ] = "desktop"
    notify_after: Annotated[
        float, About("Screen", "Only turns that take at least this many seconds are announced.", at_once=True)
    ] = 20.0
    tips: Annotated[bool, About("Screen", "Show a few tips, each once, when they first matter.")] = True
    memory_policy: Annotated[
        PolicyName,
        About(
            "Memory",
            "What later turns remember of a finished turn. summary: what was said, files changed, "
            "commands failed. in-band: notes that the model writes. full-trace: every call and its output.",
            flags=(
                Flag(
                    "--memory",
                    "POLICY",
                    "what later turns remember of a finished turn: summary (default), in-band or full-trace",
                ),
            ),
            at_once=True,
            name="memory.policy",
        ),
    ] = "summary"
    memory_watch_commands: Annotated[
        bool,
        About(
            "Memory",
            "Compare the files before and after each command, so that Keen can remember and undo its "
            "changes.",
            name="memory.watch_commands",
        ),
    ] = True
    instructions_fallbacks: Annotated[
        tuple[str, ...],
        About(
            "Instructions",
            "Instruction files for folders that have no AGENTS.md: names, or paths below the folder.",
            in_file=True,
            name="instructions.fallbacks",
        ),
    ] = ("CLAUDE.md", ".claude/CLAUDE.md")
    pending_durable: Annotated[
        bool,
        About(
            "Pending",
            "Keep the work of an incomplete turn on disk, so that it's still there after Keen ends.",
            name="pending.durable",
            at_once=True,
        ),
    ] = False
    permissions_allow: Annotated[
        tuple[str, ...],
        About(
            "Permissions",
            'Rules for what runs without asking, like "bash(npm run *)". Deny beats ask beats allow.',
            in_file=True,
            name="permissions.allow",
        ),
    ] = ()
    permissions_ask: Annotated[
        tuple[str, ...],
        About("Permissions", "Rules for what always asks.", in_file=True, name="permissions.ask"),
    ] = ()
    permissions_deny: Annotated[
        tuple[str, ...],
        About("Permissions", "Rules for what never runs.", in_file=True, name="permissions.deny"),
    ] = ()
    permissions_read_only_first: Annotated[
        bool,
        About(
            "Permissions",
            "Before Keen asks about a command, run it where it can't write, and ask only if that fails.",
            name="permissions.read_only_first",
        ),
    ] = True
    keys: Annotated[
        Mapping[str, tuple[str, ...]],
        About(
            "Keys",
            'Other keys for actions: retry = "f5", a list of keys, or "" for none. /help lists actions.',
            in_file=True,
            example='retry = "ctrl+r"',
        ),
    ] = {}
    mcp_servers: Annotated[
        Mapping[str, Mapping[str, Any]],
        About(
            "MCP servers",
            "Programs and addresses that offer tools by the Model Context Protocol, each in a table of its "
            "name. keen-tui mcp add writes one.",
            in_file=True,
            example='[mcp_servers.files]\ncommand = "npx"\n'
            'args = ["-y", "@modelcontextprotocol/server-filesystem", "."]',
        ),
    ] = {}


def _words(hint: Any) -> Iterator[str]:
    """The words in a type made of literals."""
    for part in get_args(hint):
        if isinstance(part, str):
            yield part
        else:
            yield from _words(part)


DEFAULTS: Final = Settings()

ABOUT: Final[Mapping[str, About]] = {
    name: hint.__metadata__[0] for name, hint in Settings.__annotations__.items()
}
"""The description of each setting, in the order in which they are shown."""

CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    name: words
    for name, hint in Settings.__annotations__.items()
    if (words := tuple(_words(hint.__origin__)))
}
"""The words that a setting may be, "" among them where it may be unset; none where they can't be listed."""

HOST_FLAGS: Final[Mapping[str, str]] = {"allow_net": "net", "allow_web": "web"}
"""Flags that name hosts, and the kind of rule that each one stands for."""


def name_in_file(name: str) -> str:
    """A setting's name as it stands in the file."""
    return (ABOUT[name].name if name in ABOUT else "") or name
