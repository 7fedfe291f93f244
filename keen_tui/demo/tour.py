"""What the scripted model of the tour says. It reads each request as a real server would.

Nothing is played back: which answer comes next follows from what the request holds, so stopping,
denying, retrying and typing something else all work.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from msgspec.structs import replace

from keen_tui.demo.project import BUGGY_LINES, FIXED_LINES
from keen_tui.demo.script import Answer, Break, Call, RecordedRequest, Reply, Say, Seen, Think
from keen_tui.demo.wires import seen
from keen_tui.domain.messages import TokenUsage

MODEL = "tour"
CONTEXT_WINDOW = 32_000
"""Tokens of the scripted model; it is ours, so we say."""

FIRST_PROMPT = "fix the failing discount test"
SECOND_PROMPT = "what do you remember about that turn?"
_PROMPTS = (FIRST_PROMPT, SECOND_PROMPT)
ATTEMPTS = 2
"""Attempts a step in the tour: one automatic retry, so that the retry key is soon needed."""

_PACE = 0.035
"""Seconds between two deltas at pace 1."""


class TourModel:
    """Answers requests. The connection is reset in the middle of the first turn, in all its attempts.

    Args:
        pace: 1 reads comfortably, 2 is twice as fast, 0 is at once.
        test_command: how the project's tests are run.
    """

    def __init__(self, pace: float, test_command: str) -> None:
        self._delay = _PACE / pace if pace > 0 else 0.0
        self._test_command = test_command
        self._resets_left = ATTEMPTS

    def __call__(self, request: RecordedRequest) -> Answer:
        messages = seen(request)
        question = _question_in(messages)
        reply = self._reply(messages, question)
        used = TokenUsage(input_tokens=len(request.raw) // 4, output_tokens=_size(reply) // 4)
        return replace(reply, pace=self._delay, wait=self._delay * 12, usage=used)

    def _reply(self, messages: Sequence[Seen], question: int) -> Reply:
        asked, since = messages[question].text, messages[question + 1 :]
        if FIRST_PROMPT in asked:
            return _taking_note(self._fix(since), since)
        if SECOND_PROMPT in asked:
            return _what_is_remembered(messages[:question])
        return Reply(
            [
                Say(
                    "I'm the scripted model of this tour, and I know only two messages. "
                    f'One is "{FIRST_PROMPT}". The other is "{SECOND_PROMPT}" '
                    "For real answers, start `keen-tui --model NAME` in a folder of your own."
                )
            ]
        )

    def _fix(self, since: Sequence[Seen]) -> Reply:
        results = [each.text for each in since if each.role == "tool"]
        if any("denied" in result.lower()[:40] for result in results):
            return Reply([Say("You said no, so I stop here and leave everything as it is.")])
        step = sum(each.role == "assistant" for each in since)
        if step == 0:
            return self._look()
        if step == 1:
            return self._change(tests_pass="[exit code" not in results[-1])
        if self._resets_left:
            self._resets_left -= 1
            return _cut_off()
        return self._check() if step == 2 else _report()

    def _look(self) -> Reply:
        return Reply(
            [
                Think("The task names a test. I should see the test and the code, and watch it fail once."),
                Say("I'll read the test and the code it covers, then run it once."),
                Call("read_file", {"path": "test_cart.py"}),
                Call("read_file", {"path": "cart.py"}),
                Call("bash", {"command": self._test_command}),
            ]
        )

    def _change(self, *, tests_pass: bool) -> Reply:
        if tests_pass:
            return Reply([Say("All tests pass already: there is nothing to fix.")])
        return Reply(
            [
                Say(
                    "**Found it.** The order is wrong, not the arithmetic:\n\n"
                    "- the test takes the discount off *before* tax,\n"
                    "- `Cart.total()` takes it off after."
                ),
                Call("edit_file", {"path": "cart.py", "old_text": BUGGY_LINES, "new_text": FIXED_LINES}),
            ]
        )

    def _check(self) -> Reply:
        return Reply(
            [
                Say("The change is in place. I'll run the tests again."),
                Call("bash", {"command": self._test_command}),
            ]
        )


def _question_in(messages: Sequence[Seen]) -> int:
    """Where the message stands that is answered: words behind tool results were handed in on the way."""
    question, on_the_way = 0, False
    for index, each in enumerate(messages):
        if each.role != "user":
            on_the_way = each.role == "tool"
        elif not on_the_way or any(prompt in each.text for prompt in _PROMPTS):
            question = index
    return question


def _taking_note(reply: Reply, since: Sequence[Seen]) -> Reply:
    """The reply, which says first that words were handed in behind the newest results."""
    if not since or since[-1].role != "user":
        return reply
    note = (
        "I have what you just wrote, but I'm a script and continue as planned. A model would act on it.\n\n"
    )
    return replace(reply, parts=(Say(note), *reply.parts))


def _cut_off() -> Reply:
    text = "The discount now comes off before tax, so 10.00 off a cart of 100.00 gives a total of"
    return Reply([Say(text)], broken=Break("reset"))


def _report() -> Reply:
    return Reply(
        [
            Say(
                "**All tests pass.** The discount now comes off before tax:\n\n"
                f"```python\n{dedent(FIXED_LINES).rstrip()}\n```\n\n"
                "A discount of 10.00 on a cart of 100.00 with 19 % tax gives 107.10."
            )
        ]
    )


def _what_is_remembered(earlier: Sequence[Seen]) -> Reply:
    tools = sum(each.role == "tool" for each in earlier)
    size = sum(len(each.text.encode()) for each in earlier[1:])
    blocks = [
        each.text[each.text.index("Tool memory:") :]
        for each in earlier
        if each.role == "assistant" and "Tool memory:" in each.text
    ]
    quoted = "\n".join(blocks) or "(nothing: no turn has changed a file, and no command has failed)"
    return Reply(
        [
            Say(
                f"Your request reached me with {tools} tool results from earlier turns and {size} bytes of "
                "conversation. Apart from our messages it contains this:\n\n"
                f"```\n{quoted}\n```\n\n"
                "I'd re-read the files themselves; they may have changed."
            )
        ]
    )


def _size(reply: Reply) -> int:
    return sum(len(str(part)) for part in reply.parts)
