"""What each setting means: one table, read by the settings screen and by the file that explains itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from keen_tui.domain.choices import Api, Mode, Network, Notify, PolicyName, Titles
from keen_tui.settings.config import Settings, name_in_file

Effect = Literal["at once", "from the next start on"]


class About(Struct, frozen=True, kw_only=True):
    """What is known of a setting. `choices` are its values, () where they can't be listed; one that is
    `in_file` is too long for a line and changed in the file."""

    meaning: str
    choices: tuple[str, ...] = ()
    effect: Effect = "from the next start on"
    in_file: bool = False


GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Model": (
        "provider",
        "model",
        "effort",
        "base_url",
        "api",
        "api_key_env",
        "context_window",
        "stall_seconds",
        "retry_attempts",
    ),
    "Work": ("mode", "sandbox", "network", "max_steps", "compact_at", "titles"),
    "Screen": ("plain", "theme", "glyphs", "reduced_motion", "mouse", "notify", "notify_after", "tips"),
    "Memory": ("memory_policy",),
    "Pending": ("pending_durable",),
    "Permissions": (
        "permissions_allow",
        "permissions_ask",
        "permissions_deny",
        "permissions_read_only_first",
    ),
    "Keys": ("keys",),
}
"""The settings in the order in which they are shown; those of a table of the file make a group each."""

ABOUT: Final[Mapping[str, About]] = {
    "provider": About(
        meaning="Who serves the model: openai, anthropic, google, deepseek, openrouter, ollama and others."
    ),
    "model": About(meaning="The model's name, as its server knows it."),
    "effort": About(meaning="Reasoning effort, if the model has levels: low, medium, high."),
    "base_url": About(meaning="The address of the server, if it isn't the provider's own."),
    "api": About(meaning="The API to use, if it isn't the provider's usual one.", choices=get_args(Api)),
    "api_key_env": About(meaning="The environment variable with the key, which itself never goes here."),
    "context_window": About(
        meaning="Tokens that the model takes in all. 0: as its server or the catalogue says."
    ),
    "stall_seconds": About(meaning="Seconds that a reply may be silent before it counts as broken off."),
    "retry_attempts": About(meaning="How often a step is tried before the turn ends incomplete."),
    "mode": About(
        meaning="What runs without asking. ask: reading only. auto-edit: edits too. plan: read-only, "
        "nothing is changed. auto: everything.",
        choices=get_args(Mode),
        effect="at once",
    ),
    "sandbox": About(meaning="Commands run in a sandbox, where the system has one."),
    "network": About(
        meaning="Hosts that sandboxed commands want to reach and no rule is about. ask: you are asked while "
        "the command waits. off: no network at all. on: all public hosts.",
        choices=get_args(Network),
    ),
    "max_steps": About(meaning="Model calls that a turn may make."),
    "compact_at": About(
        meaning="At this percentage of the context window the conversation is summarised; above 100 never."
    ),
    "titles": About(
        meaning="Whether the model is asked for a session's title after its first turn. remote: not on this "
        "machine, where it would have to read the conversation anew.",
        choices=get_args(Titles),
    ),
    "plain": About(
        meaning="A conversation line by line in the place of the screen: for screen readers, and terminals "
        "that can only print."
    ),
    "theme": About(
        meaning="The colours: keen-dark, keen-light, keen-contrast, keen-safe, keen-ansi16, or one of yours: "
        "a file in the folder themes beside this one. Not set: keen-dark, with sixteen colours keen-ansi16.",
        effect="at once",
    ),
    "glyphs": About(
        meaning="The signs on the screen. Not set: those that the terminal can draw.",
        choices=("unicode", "ascii"),
        effect="at once",
    ),
    "reduced_motion": About(meaning="No blinking or pulsing.", effect="at once"),
    "mouse": About(meaning="The program takes the mouse. Off: selecting is the terminal's own."),
    "notify": About(
        meaning="How you are told, while you look elsewhere, that a turn has ended or asks. desktop: by a "
        "notification, where the terminal is known to show them, else by the bell.",
        choices=get_args(Notify),
        effect="at once",
    ),
    "notify_after": About(meaning="Seconds that a turn must have taken for that.", effect="at once"),
    "tips": About(meaning="The screen teaches a thing or two, each once, when it first matters."),
    "memory_policy": About(
        meaning="What later turns remember of a finished turn. summary: what was said, files changed, "
        "commands failed. in-band: notes of the model's own. full-trace: every call and its output.",
        choices=get_args(PolicyName),
        effect="at once",
    ),
    "pending_durable": About(
        meaning="The work of an incomplete turn is kept on the disk, beyond the program."
    ),
    "permissions_allow": About(
        meaning='Rules for what runs without asking, like "bash(npm run *)". Deny beats ask beats allow.',
        in_file=True,
    ),
    "permissions_ask": About(meaning="Rules for what always asks.", in_file=True),
    "permissions_deny": About(meaning="Rules for what never runs.", in_file=True),
    "permissions_read_only_first": About(
        meaning="A command that would ask runs first where it can write nothing, and asks if that fails."
    ),
    "keys": About(
        meaning='Other keys for actions: retry = "f5", a list of keys, or "" for none. /help lists actions.',
        in_file=True,
    ),
}
"""Every setting of `config.Settings`."""

_INTRODUCTION: Final = """\
# Settings of Keen TUI. Each setting is shown with its default; remove the "#" to change it.
# Keen writes its own changes here too, such as the chosen model; comments stay.
"""


def default_text() -> str:
    """A settings file that sets nothing and explains everything."""
    return "\n".join((_INTRODUCTION, *_sections())) + "\n"


def as_toml(value: Any) -> str:
    """A value as it is written in the file."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _sections() -> Iterator[str]:
    defaults = Settings()
    for group, names in GROUPS.items():
        in_table = group.lower() if "." in name_in_file(names[0]) or names == ("keys",) else ""
        yield f"[{in_table}]" if in_table else f"# {group}\n"
        for name in names:
            yield from _comment(ABOUT[name].meaning)
            written = name_in_file(name).rpartition(".")[2]
            default = getattr(defaults, name)
            yield f"# {written} = {as_toml(default)}\n" if name != "keys" else '# retry = "ctrl+r"\n'


def _comment(text: str) -> Iterator[str]:
    from textwrap import wrap  # noqa: PLC0415 - only where a file is written

    return (f"# {line}" for line in wrap(text, 106))
