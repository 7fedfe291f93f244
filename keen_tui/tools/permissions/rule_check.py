"""Checks the rules in a project's settings. It imports the grammar of rules only if there is a rule to check,
so that start-up stays fast.
"""

from __future__ import annotations

from collections.abc import Sequence


def check_rules(texts: Sequence[str], where: str) -> None:
    """Check rules from settings. `where` is for messages.

    Raises:
        ConfigError: one of them isn't a rule.
    """
    if not texts:
        return
    from keen_tui.tools.rules.rules import parse_rules  # noqa: PLC0415 - see above

    parse_rules("deny", texts, where)
