"""The conversation line by line, in a terminal, against the scripted server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.messages import TokenUsage
from tests.e2e.test_screen import CTRL_C, CTRL_D, program
from tests.support.mcp import PROGRAMS
from tests.support.processes import called_with
from tests.support.terminal import TerminalProgram

CTRL_U = "\x15"
CUT = Reply([Say("Half a sentence that")], broken=Break("close"))
PROMPT = "\n> "


def rows(terminal: TerminalProgram) -> list[str]:
    """All that was written so far, line by line."""
    return bytes(terminal.output).decode().replace("\r\n", "\n").split("\n")


def ready(terminal: TerminalProgram, *, since: int = 0) -> None:
    """Wait until a message can be written."""
    terminal.wait_for("\r\n> ", since=since)


def say(terminal: TerminalProgram, line: str, *answers: str) -> None:
    """Write a line, and wait until all of the answers were told behind it."""
    since = len(terminal.output)
    terminal.type(f"{line}\r")
    for answer in answers:
        terminal.wait_for(answer, since=since)


def answer(terminal: TerminalProgram, question: str, number: str, since: int = 0) -> None:
    """Wait for the question and its prompt, then answer."""
    terminal.wait_for(question, since=since)
    begun = bytes(terminal.output).rfind(question.encode())
    terminal.wait_for("Answer, 1 to", since=begun)
    terminal.settle(0.5)  # what is typed right away counts as typed before
    terminal.type(f"{number}\r")


def test_a_turn_that_is_cut_off_goes_on_by_retry_and_nothing_runs_twice(tmp_path: Path) -> None:
    counter = Call("bash", {"command": "echo ran >> counter; exit 3"})
    edit = Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "two"})
    script = [
        Reply([Say("I look."), Call("read_file", {"path": "a.py"}), edit, counter]),
        CUT,
        Reply([Say("All is well.")]),
    ]
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("one\n")
    with program(tmp_path, script, "--plain", controls=True) as (terminal, server):
        ready(terminal)
        terminal.type("change it\r")
        answer(terminal, "Question: Change a.py?", "1")
        answer(terminal, "Question: Run this command?", "1")
        terminal.wait_for("Turn 1 incomplete: the reply was cut off.")
        terminal.wait_for("Kept: 3 calls, 2 changed files")
        ready(terminal, since=bytes(terminal.output).rfind(b"/discard drops the turn"))
        say(terminal, "/retry", "Turn 1 continues from 3 calls.", "Reply: All is well.")
        terminal.wait_for("Memory: changed a.py, counter; failed: echo ran")
        assert (tmp_path / "work" / "counter").read_text() == "ran\n", "nothing ran twice"
        told = rows(terminal)
        for line in (
            "Reply: I look.",
            "Tool read: a.py",
            "Line 1 removed: one",
            "Line 1 added: two",
            "Tool edit finished: 1 line added, 1 removed.",
            "Tool bash finished: exit code 3, 0 lines of output.",
            "The unfinished text above is not carried over.",
        ):
            assert line in told
        assert len(server.requests) == 3


def test_nothing_but_words_is_written(tmp_path: Path) -> None:
    evil = "a\x1b[31mred\x1b]0;title\x07 \x9b2J b\u202ec\r\n"
    script = [
        Reply(
            [
                Say(f"**Strong** {evil}"),
                Call("bash", {"command": f"printf '%s' '{evil}'; exit 1", "changes_files": True}),
            ]
        ),
        Reply([Say(f"# End\n```python\nx = 1{evil}```\n")]),
    ]
    with program(tmp_path, script, "--plain", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type("go\r")
        answer(terminal, "Question: Run this command?", "1")
        terminal.wait_for("Turn 1 done")
        written = bytes(terminal.output).decode()
        assert not [sign for sign in written if sign < " " and sign not in "\r\n"]
        assert not [sign for sign in written if "\x7f" <= sign <= "\x9f" or sign == "\u202e"]
        told = rows(terminal)
        assert "Reply: Heading: End" in told
        assert "Code in python:" in told
        assert "End of code." in told
        assert any(line.startswith("Reply: Strong a") for line in told)


@pytest.mark.parametrize(("before", "after"), [("1", ""), ("use ", "1")], ids=["a number", "a sentence"])
def test_a_line_that_was_begun_before_a_question_does_not_answer_it_and_is_kept(
    tmp_path: Path, before: str, after: str
) -> None:
    script = [Reply([Call("bash", {"command": "touch ran"})], wait=1.5), Reply([Say("Fine.")])]
    with program(tmp_path, script, "--plain", controls=True) as (terminal, _):
        ready(terminal)
        say(terminal, "go", "Turn 1 begins.")
        terminal.type(before)
        terminal.wait_for("Answer, 1 to 5: ")  # somebody thought about how to go on
        say(
            terminal,
            after,
            "You started typing before the question appeared, so this doesn't answer it. Your text is kept.",
        )
        answer(terminal, "Your text is kept.", "4: do it by hand")
        terminal.wait_for("Tool bash denied: do it by hand.")
        terminal.wait_for("Reply: Fine.")
        terminal.wait_for(f"> {before}{after}")
        assert not (tmp_path / "work" / "ran").exists()


def test_a_sentence_typed_over_a_question_answers_nothing(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "touch ran"})]), Reply([Say("Fine.")])]
    with program(tmp_path, script, "--plain", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type("go\r")
        terminal.wait_for("Question: Run this command?")
        for piece in ("use ", "1", "\r"):  # not all at once
            terminal.type(piece)
            terminal.settle(0.4)
        terminal.settle(2.0)  # it is asked again, and what is typed right away counts as typed before
        answer(terminal, "Question: Run this command?", "4")
        terminal.wait_for("Tool bash denied.")
        terminal.wait_for("Reply: Fine.")
        assert not (tmp_path / "work" / "ran").exists()


def test_a_wrong_answer_is_no_part_of_the_next_message_and_comes_back_by_up(tmp_path: Path) -> None:
    call = Reply([Call("bash", {"command": "touch ran"})])
    script = [call, Reply([Say("Fine.")]), Reply([Say("Read.")]), Reply([Say("Again.")])]
    with program(tmp_path, script, "--plain", controls=True) as (terminal, server):
        ready(terminal)
        terminal.type("go\r")
        answer(terminal, "Question: Run this command?", "yess please")
        answer(terminal, "Your text is kept: press up when you write the next message.", "4")
        terminal.wait_for("Reply: Fine.")
        ready(terminal, since=bytes(terminal.output).rfind(b"Reply: Fine."))
        terminal.type("next\r")
        terminal.wait_for("Reply: Read.")
        assert server.requests[-1].body["messages"][-1]["content"] == "next"
        ready(terminal, since=bytes(terminal.output).rfind(b"Reply: Read."))
        terminal.type("\x1b[A\x1b[A\r")
        terminal.wait_for("Reply: Again.")
        assert server.requests[-1].body["messages"][-1]["content"] == "yess please"


def test_a_message_written_while_a_turn_runs_is_queued_and_told(tmp_path: Path) -> None:
    script = [Reply([Say("First.")], wait=1.5), Reply([Say("Second.")])]
    with program(tmp_path, script, "--plain", controls=True) as (terminal, server):
        ready(terminal)
        say(terminal, "one", "Turn 1 begins.")
        say(terminal, "two", "Queued. 1 message waits")
        terminal.wait_for("You: two")
        terminal.wait_for("Reply: Second.")
        assert server.requests[1].body["messages"][-1]["content"] == "two"


def test_a_backslash_goes_on_in_the_next_line(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Read.")])], "--plain", controls=True) as (terminal, server):
        ready(terminal)
        say(terminal, "first \\", "More: ")
        say(terminal, "second", "Reply: Read.")
        assert server.requests[0].body["messages"][-1]["content"] == "first \nsecond"


def test_lines_that_come_at_once_are_one_message(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Read.")])], "--plain", controls=True) as (terminal, server):
        ready(terminal)
        say(terminal, "one\rtwo\rthree", "Reply: Read.")
        assert server.requests[0].body["messages"][-1]["content"] == "one\ntwo\nthree"


def test_the_first_ctrl_c_stops_the_turn_and_its_command_the_second_asks_before_it_leaves(
    tmp_path: Path,
) -> None:
    asleep = f"sleep 600.{os.getpid()}"
    script = [Reply([Call("bash", {"command": asleep})])]
    with program(tmp_path, script, "--plain", "--mode", "auto", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type("go\r")
        terminal.wait_until(lambda: bool(called_with(asleep)), "the command")
        terminal.type(CTRL_C)
        terminal.wait_for("Turn 1 incomplete: you stopped it.")
        assert not called_with(asleep)
        terminal.type(CTRL_C)
        answer(terminal, "Question: Quit Keen TUI?", "3")
        assert terminal.wait_for_exit() == 0
        assert terminal.modes == terminal.modes_before
        assert "Continue with: keen-tui --plain --continue" in bytes(terminal.output).decode()


def test_lines_that_come_at_once_answer_no_approval(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "mkdir made"})]), Reply([Say("Ok.")])]
    with program(tmp_path, script, "--plain", "--no-sandbox", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type("go\r")
        terminal.wait_for("Answer, 1 to 5")
        terminal.settle(1)
        terminal.type("1\rof these\r")
        terminal.wait_for("Please answer 1 to 5")
        assert not list(tmp_path.rglob("made"))


def test_ctrl_d_leaves_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with program(tmp_path, [], "--plain", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type(CTRL_D)
        assert terminal.wait_for_exit() == 0
        assert terminal.modes == terminal.modes_before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_program_and_its_command(tmp_path: Path, number: signal.Signals) -> None:
    asleep = f"sleep 601.{os.getpid()}{number}"
    script = [Reply([Call("bash", {"command": asleep})])]
    with program(tmp_path, script, "--plain", "--mode", "auto", controls=True) as (terminal, _):
        ready(terminal)
        terminal.type("go\r")
        terminal.wait_until(lambda: bool(called_with(asleep)), "the command")
        os.kill(terminal.pid, number)
        assert terminal.wait_for_exit() == 0
        assert not called_with(asleep)
        assert terminal.modes == terminal.modes_before


def test_a_session_goes_on_where_it_was_left(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Noted.")])], "--plain", controls=True) as (terminal, _):
        ready(terminal)
        say(terminal, "remember seven", "Turn 1 done")
        ready(terminal, since=bytes(terminal.output).rfind(b"Turn 1 done"))
        say(terminal, "/exit")
        assert terminal.wait_for_exit() == 0
    with program(tmp_path, [Reply([Say("Seven.")])], "--plain", "--continue", controls=True) as (
        terminal,
        server,
    ):
        terminal.wait_for("It has 1 turn.")
        terminal.wait_for("Reply: Noted.")
        ready(terminal, since=bytes(terminal.output).rfind(b"Turn 1 done"))
        say(terminal, "which number?", "Reply: Seven.")
        contents = [message["content"] for message in server.requests[0].body["messages"][1:]]
        assert contents == ["remember seven", "Noted.", "which number?"]


@pytest.mark.parametrize(("term", "said"), [("dumb", "TERM=dumb"), ("", "TERM is not set")])
def test_a_terminal_without_a_screen_is_told_of_plain_mode(tmp_path: Path, term: str, said: str) -> None:
    home = tmp_path / "home"
    environ = {"KEEN_HOME": str(home), "TERM": term}
    argv: Sequence[str] = (sys.executable, "-P", "-m", "keen_tui")
    with TerminalProgram(argv, folder=tmp_path, environ=environ) as terminal:
        assert terminal.wait_for_exit() == 2
        assert said in bytes(terminal.output).decode()
        assert "keen-tui --plain" in bytes(terminal.output).decode()
        assert b"\x1b" not in terminal.output


def test_the_setting_begins_plain_mode_and_without_a_model_it_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("plain = true\n")
    keyless = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "KEEN_HOME": str(tmp_path), "TERM": "dumb"}
    argv: Sequence[str] = (sys.executable, "-P", "-m", "keen_tui")
    with TerminalProgram(argv, folder=tmp_path, environ=keyless, controls=True) as terminal:
        terminal.wait_for("No model is chosen yet.")
        ready(terminal)
        say(terminal, "hello", "No model is chosen yet: choose one with /model. Your message is kept.")
        terminal.wait_for("\r\n> hello", since=bytes(terminal.output).rfind(b"Your message is kept"))
        terminal.type(CTRL_C)
        terminal.wait_for("Cleared.")


def test_usage_and_the_next_request_are_told_in_words(tmp_path: Path) -> None:
    used = TokenUsage(input_tokens=1_000, output_tokens=20, cached_tokens=400)
    with program(tmp_path, [Reply([Say("Ok.")], usage=used)], "--plain", controls=True) as (terminal, _):
        ready(terminal)
        say(terminal, "/usage", "Nothing used yet.")
        say(terminal, "/context", "tokens, none of them in a prompt cache yet. The price isn't known.")
        say(terminal, "hello", "Reply: Ok.", "Turn 1 done")
        say(
            terminal,
            "/usage",
            "Turn 1: 600 new tokens and 400 from the cache sent, 1,000 with the whole history, 20 received",
            "Sent: 1,000 tokens, 100 % of the whole history (1,000).",
        )
        say(terminal, "/context", "Under full-trace: a prompt cache can reuse ")


def test_prompts_and_resources_of_a_server_go_with_messages_and_a_dead_server_is_told(
    tmp_path: Path,
) -> None:
    talk = f"[mcp_servers.talk]\ncommand = {sys.executable!r}\nargs = [{str(PROGRAMS / 'talkative.py')!r}]\n"
    script = [Reply([Say(f"Reply {number}.")]) for number in range(3)]
    settings = f"retry_attempts = 1\ntitles = 'off'\n{talk}startup_timeout_sec = 60\n"
    with program(tmp_path, script, "--plain", settings=settings) as (terminal, server):
        ready(terminal)
        say(terminal, "/mcp:talk:compare", "/mcp:talk:compare needs first.")
        ready(terminal, since=bytes(terminal.output).rfind(b"needs first"))
        say(terminal, f"{CTRL_U}/mcp:talk:compare mine", "You: Compare mine with main.", "Turn 1 done")
        say(terminal, "see @talk:notes://today", "With the resource talk:notes://today, 11 B.", "Turn 2 done")
        sent = [str(request.body["messages"][-1]["content"]) for request in server.requests]
        assert sent[0] == "Compare mine with main."
        assert "milk, bread" in sent[1]
        say(
            terminal, "/mcp:talk:last", "The MCP server talk didn't fill in the prompt: the connection to the"
        )
        ready(terminal, since=bytes(terminal.output).rfind(b"in the prompt"))
        say(terminal, f"{CTRL_U}see @talk:notes://nothing", "The model gets only the name", "Turn 3 done")


def test_sub_agents_are_told_with_what_they_may_do_and_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "agents"
    folder.mkdir(parents=True)
    fields = "name: {name}\ndescription: Reviews changes.\ntools: Read, Bash\nhooks: {{}}"
    (folder / "reviewer.md").write_text(f"---\n{fields.format(name='reviewer')}\n---\nRead the diff.\n")
    (folder / "wrong.md").write_text(f"---\n{fields.format(name='wrong')}\nmode: fast\n---\nDo it.\n")
    with program(tmp_path, [], "--plain") as (terminal, _):
        ready(terminal)
        say(
            terminal,
            "/agents",
            "explore, built in: Looks for things",
            "Rights: reads only.",
            "/agents/reviewer.md: Reviews changes. Rights: 2 tools.",
            "About reviewer: Keen ignores hooks in it.",
            "/agents/wrong.md isn't used: its mode is fast; write one of ask, auto-edit, plan, auto.",
        )


def test_a_question_mark_alone_shows_the_help_and_one_with_words_is_sent(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Because.")])], "--plain", controls=True) as (terminal, server):
        ready(terminal)
        say(terminal, "?", "/undo", "/help")
        assert not server.requests
        say(terminal, "? why", "Reply: Because.")
