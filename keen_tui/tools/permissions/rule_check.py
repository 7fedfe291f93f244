"""The check of rules that stand in the settings of a project. Light: the grammar of rules is imported when
there is a rule to check, so that start-up doesn't pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence


def check_rules(texts: Sequence[str], where: str) -> None:
    """Check rules as they are written in settings. `where` is for messages.

    Raises:
        ConfigError: one of them isn't a rule.
    """
    if not texts:
        return
    from keen_tui.tools.permissions.rules import parse_rules  # noqa: PLC0415 - see above

    parse_rules("deny", texts, where)
