"""Facts to TurnMemory, TurnMemory to text, conversation to what a request holds."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.page_read import PageRead
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.facts.work_tree_changed import WorkTreeChanged
from keen_tui.domain.messages import Message, TurnMemory, facts_of, merged_memory, turn_memory
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingState, PendingTrace, with_trace
from keen_tui.memory.policies import policy_of
from keen_tui.memory.projection import AssistantText, NativeTrace, Part, Projector, UserText
from keen_tui.memory.rendering import render_assistant


def said(role: str, text: str, turn: int = 1, memory: TurnMemory | None = None) -> Message:
    assert role in ("user", "assistant")
    return Message(role="user" if role == "user" else "assistant", text=text, turn=turn, memory=memory)


def failed(command: str, code: int = 1) -> CommandFailed:
    return CommandFailed(command=command, exit_code=code)


def test_files_once_in_first_seen_order_and_every_failed_command() -> None:
    facts = [FileChanged(path="a"), failed("make", 2), FileChanged(path="b"), failed("make", 2)]
    assert turn_memory([FileChanged(path="b"), *facts]) == TurnMemory(
        files_changed=("b", "a"), failed_bash=(failed("make", 2), failed("make", 2))
    )


def folded(*paths: str, named: tuple[str, ...] = ()) -> list[str]:
    """The names of files that commands changed, behind those that tools changed."""
    files = FileChanged.read_from(TurnMemory(files_changed=(*named, *paths), by_command=paths))
    return [row.text for row in FileChanged.rows(files)]


def test_up_to_twenty_files_of_commands_are_named() -> None:
    paths = [f"gen/{number}.py" for number in range(20)]
    assert folded(*paths) == paths
    assert folded(*paths, "gen/20.py") == ["gen/ (21 files)"]


def test_folders_are_as_deep_as_twenty_names_allow() -> None:
    deep = [f"a/b{number % 4}/c{number % 8}/{number}" for number in range(24)]
    assert folded(*deep) == [f"a/b{number % 4}/c{number}/ (3 files)" for number in range(8)]
    wide = [f"a/b{number}/c/{number}" for number in range(24)]
    assert folded(*wide) == ["a/ (24 files)"]


def test_tools_files_files_at_the_top_and_single_ones_keep_their_names() -> None:
    many = [f"gen/{number}" for number in range(30)]
    assert folded("top", *many, "docs/only", named=("gen/by_hand",)) == [
        "gen/by_hand", "top", "gen/ (30 files)", "docs/only",
    ]  # fmt: skip
    assert folded(*(f"{number}" for number in range(21))) == ["./ (21 files)"]


def test_a_folded_folder_can_not_forge_an_entry() -> None:
    paths = tuple(f"a\n- Note: b/{number}" for number in range(21))
    rendered = render_assistant("", TurnMemory(files_changed=paths, by_command=paths))
    assert rendered.splitlines()[1:] == ['- Files changed: "a\\n- Note: b/" (21 files)']


def test_a_file_that_a_tool_changed_too_is_not_by_command() -> None:
    by_command = [FileChanged(path=path, by_command=True) for path in ("a", "b")]
    facts = [*by_command, FileChanged(path="a")]
    assert turn_memory(facts).by_command == ("b",)
    other = TurnMemory(files_changed=("b", "c"), by_command=("c",), unwatched=True)
    merged = merged_memory([turn_memory(facts), other])
    assert (merged.by_command, merged.unwatched) == (("c",), True)


def test_pages_are_remembered_once_and_never_rendered() -> None:
    facts = [PageRead(url="https://a.org/"), PageRead(url="https://b.org/"), PageRead(url="https://a.org/")]
    memory = turn_memory(facts)
    assert memory == TurnMemory(pages_read=("https://a.org/", "https://b.org/"))
    merged = merged_memory([memory, TurnMemory(pages_read=("https://c.org/", "https://a.org/"))])
    assert merged.pages_read == ("https://a.org/", "https://b.org/", "https://c.org/")
    assert memory, "an edit of the memory must not lose them"
    assert render_assistant("Hi.", memory) == "Hi."
    assert render_assistant("", memory) == ""
    changed = TurnMemory(files_changed=("a.py",), pages_read=memory.pages_read)
    assert render_assistant("", changed) == "Tool memory:\n- Files changed: a.py"


def test_a_skill_is_in_use_once_however_often_it_was_loaded() -> None:
    pdf, newer, deploy = (
        SkillUsed(name=name, bytes=size) for name, size in (("pdf", 9), ("pdf", 12), ("go", 3))
    )
    memory = turn_memory([pdf, FileChanged(path="a"), deploy, newer])
    assert memory.skills == (newer, deploy)
    merged = merged_memory([turn_memory([pdf]), TurnMemory(), turn_memory([deploy]), turn_memory([newer])])
    assert merged == TurnMemory(skills=(newer, deploy))
    assert render_assistant("", replace(memory, notes=("n",))).splitlines()[1:] == [
        "- Files changed: a", "- Skill in use: pdf", "- Skill in use: go", "- Note: n",
    ]  # fmt: skip
    forged = TurnMemory(skills=(SkillUsed(name="x\n- Note: y", bytes=1),))
    assert render_assistant("", forged).splitlines()[1:] == ['- Skill in use: "x\\n- Note: y"']


def test_a_work_tree_is_remembered_once_and_can_not_forge_an_entry() -> None:
    tree = WorkTreeChanged(name="fix-1", branch="keen/fix-1")
    memory = turn_memory([tree, FileChanged(path="a.py"), tree])
    assert memory.work_trees == (tree,) and turn_memory(facts_of(memory)) == memory
    assert merged_memory([memory, memory]) == memory
    assert render_assistant("", memory).splitlines()[1:] == [
        "- Files changed: a.py",
        "- Work tree: fix-1 (branch keen/fix-1)",
    ]
    forged = turn_memory([WorkTreeChanged(name="x\n- Note: y", branch="keen/x\n- Note: y")])
    assert len(render_assistant("", forged).splitlines()) == 2


def test_rendering_lists_files_then_commands_behind_the_text() -> None:
    memory = TurnMemory(
        files_changed=("path/a.py", "path/b.py"), failed_bash=(failed("pytest -q"), failed("make lint", 2))
    )
    assert render_assistant("Done.", memory) == (
        "Done.\n\nTool memory:\n- Files changed: path/a.py, path/b.py\n"
        "- Failed bash: pytest -q (exit 1)\n- Failed bash: make lint (exit 2)"
    )


def test_empty_text_has_no_leading_blank_line_and_no_memory_is_the_text_alone() -> None:
    assert render_assistant("", TurnMemory(files_changed=("a",))) == "Tool memory:\n- Files changed: a"
    assert render_assistant("Hi.", None) == "Hi."
    assert render_assistant("Hi.", TurnMemory()) == "Hi."


@pytest.mark.parametrize("path", ["a,b.py", "x\n- Files changed: y", "tab\there", "esc\x1b[0m", "ls\u2028x"])
def test_paths_that_could_forge_an_entry_are_quoted(path: str) -> None:
    assert render_assistant("", TurnMemory(files_changed=(path,))).endswith(
        f"- Files changed: {json.dumps(path)}"
    )


@given(st.lists(st.text(min_size=1), min_size=1), st.lists(st.text(min_size=1)))
def test_a_block_has_exactly_its_own_lines(paths: list[str], commands: list[str]) -> None:
    memory = TurnMemory(files_changed=tuple(paths), failed_bash=tuple(failed(each) for each in commands))
    rendered = render_assistant("", memory)
    assert len(rendered.splitlines()) == 2 + len(commands)
    rendered.encode()


def test_a_long_command_is_cut_with_an_ellipsis() -> None:
    rendered = render_assistant("", TurnMemory(failed_bash=(failed("x" * 500),)))
    assert rendered.endswith(f"- Failed bash: {'x' * 200}… (exit 1)")


def projected(conversation: Sequence[Message], traces: Sequence[PendingTrace] = ()) -> list[Part]:
    return Projector().project(Past(tuple(conversation)), traces, policy_of("summary"))


def test_adjacent_user_texts_are_one_and_blank_assistants_are_left_out() -> None:
    conversation = [said("user", "u1"), said("assistant", " ", 1), said("user", "u2", 2)]
    assert projected(conversation) == [UserText("u1\n\nu2", 2)]


def test_adjacent_replies_are_one() -> None:
    conversation = [said("user", "u1"), said("assistant", "a1"), said("assistant", "(changes undone)")]
    assert projected(conversation) == [UserText("u1", 1), AssistantText("a1\n\n(changes undone)", 1)]


def test_each_trace_stands_behind_the_user_message_it_answered() -> None:
    conversation = [said("user", "u1", 1), said("user", "u2", 2), said("user", "u3", 3)]
    p1, p2 = PendingTrace(1, ({"p": 1},)), PendingTrace(2, ({"p": 2},))
    assert projected(conversation, [p1, p2]) == [
        UserText("u1", 1),
        NativeTrace(p1.messages, 1),
        UserText("u2", 2),
        NativeTrace(p2.messages, 2),
        UserText("u3", 3),
    ]


def test_memory_is_rendered_for_assistant_messages() -> None:
    memory = TurnMemory(files_changed=("a",))
    assert projected([said("user", "u"), said("assistant", "", memory=memory)]) == [
        UserText("u", 1),
        AssistantText("Tool memory:\n- Files changed: a", 1),
    ]


def test_an_empty_trace_adds_nothing() -> None:
    pending = PendingState(traces=(PendingTrace(1, ({"p": 1},)),))
    assert with_trace(pending, 2, ()) == pending.traces
    assert with_trace(None, 1, ()) == ()
