"""Steps, summaries and expectations of tests about compaction."""

from __future__ import annotations

from keen_tui.demo.script import Break, Call, Reply, Say, Seen, Think
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import Message, TurnMemory
from keen_tui.memory.conversation import COMPACTED, Conversation
from tests.support.agent import Bench
from tests.support.faults import refused
from tests.support.waiting import until

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("close", after_deltas=2))
TOLD = "Two files were made, one command failed."
SUMMARY = Reply([Think("Hm."), Say(TOLD)])
FULL = refused(400, "maximum context length exceeded", code="context_length_exceeded")
SUMMARISED = Seen("user", COMPACTED)


def work(path: str) -> Reply:
    """A step that changes a file and runs a command that fails."""
    write = Call("write_file", {"path": path, "content": "x = 1\n"})
    return Reply([Say("I work."), write, Call("bash", {"command": f"ls no-{path}"})])


def user(text: str) -> Seen:
    return Seen("user", text)


def assistant(text: str) -> Seen:
    return Seen("assistant", text)


def memory(*paths: str) -> TurnMemory:
    """The TurnMemory of turns that did `work` on these paths."""
    failed = tuple(CommandFailed(command=f"ls no-{path}", exit_code=2) for path in paths)
    return TurnMemory(files_changed=paths, failed_bash=failed)


def block(*paths: str) -> str:
    """The same, rendered after a message."""
    failed = "".join(f"\n- Failed bash: ls no-{path} (exit 2)" for path in paths)
    return f"\n\nTool memory:\n- Files changed: {', '.join(paths)}{failed}"


def folded(bench: Bench) -> tuple[Message, ...]:
    """The conversation, folded from the events alone."""
    conversation = Conversation()
    for event in bench.log.events:
        conversation.take(event)
    return conversation.messages


def shape(bench: Bench) -> list[str]:
    """The last request: the user's texts, and the role of all other messages."""
    return [message.text if message.role == "user" else message.role for message in bench.messages()]


async def requested(bench: Bench, count: int) -> None:
    """Wait until the server has that many requests."""
    await until(lambda: len(bench.server.requests) >= count)
