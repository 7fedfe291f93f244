"""A run in progress, in a few words."""

from __future__ import annotations

from keen_tui.agent.until.progress import RunProgress
from keen_tui.text.run_words import until_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, duration, first_line


def run_facts(run: RunProgress) -> tuple[str, ...]:
    """Returns the facts of a run for a row, the most important first: `turn 4 of 50`, `$0.32 of $5.00`."""
    limits = run.limits
    facts = [f"run continues {until_words(run.waiting)}"] if run.waiting else []
    most = f" of {limits.turns}" if limits.turns is not None else ""
    facts.append(f"{'' if facts else 'run: '}turn {run.turns}{most}")
    if limits.cost is not None:
        facts.append(f"{dollars(run.cost)} of {dollars(limits.cost)}")
    if limits.hours is not None:
        facts.append(f"{duration(run.seconds)} of {duration(limits.hours * 3600)}")
    return tuple(facts)


def run_sentence(run: RunProgress) -> str:
    """The same as a sentence, with the check: `Run until make test: turn 4 of 50, 3 checks failed.`"""
    facts = ", ".join(fact.removeprefix("run: ").removeprefix("run ") for fact in run_facts(run))
    failed = f", {counted(run.failed_checks, 'check')} failed" if run.failed_checks else ""
    return f"Run until {clean(first_line(run.check))}: {facts}{failed}."


def left_over(run: RunProgress) -> str:
    """Returns a sentence about the unfinished run of a resumed session."""
    return f'The run "until {clean(first_line(run.check))}" isn\'t finished; /until continues it.'
