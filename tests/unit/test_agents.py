"""Sub-agents as they are defined in files: what counts, what limits them, what the user's trust covers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.own_tools import FOR_AGENTS, own_tool
from keen_tui.frontend_setup import additions_here
from keen_tui.frontends.shared.commands.agents import rights_of
from keen_tui.settings.added.agents import BUILT_IN, AgentDefinition
from keen_tui.settings.added.definition_files import LONGEST_DESCRIPTION, MOST_FILES
from keen_tui.settings.additions import Additions, read_additions
from keen_tui.settings.project import Trust, read_project
from keen_tui.settings.schema import Settings
from keen_tui.tools.builtin.task import MOST_BYTES, Task, unseen_notice
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.tools.toolbox import build_toolbox


def front(*fields: str, body: str = "You review changes.\n") -> str:
    return "\n".join(("---", *fields, "---", body))


REVIEWER = front("name: reviewer", "description: Reviews changes.")


def write(folder: Path, text: str | bytes = REVIEWER, name: str = "reviewer.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("KEEN_HOME", str(folder / "keen"))
    return folder


@pytest.fixture
def project(home: Path) -> Path:
    folder = home.parent / "work"
    folder.mkdir()
    return folder


def read_here(folder: Path) -> Additions:
    return read_additions(folder, os.environ, check_rules, ("help",), servers={}, api_keys=lambda: ())


def of_files(read: Additions) -> tuple[AgentDefinition, ...]:
    return tuple(agent for agent in read.agents if agent not in BUILT_IN)


def only(folder: Path) -> AgentDefinition:
    read = read_here(folder)
    assert read.problems == ()
    (agent,) = of_files(read)
    return agent


def refusal(home: Path, project: Path, *fields: str) -> str:
    """Why a definition with these fields isn't used."""
    write(home / ".claude/agents", front("name: a", "description: d", *fields), "a.md")
    read = read_here(project)
    assert of_files(read) == ()
    (problem,) = read.problems
    start = "The sub-agent in ~/.claude/agents/a.md isn't used: "
    assert problem.startswith(start) and problem.endswith(".")
    return problem.removeprefix(start)


def defined(home: Path, project: Path, *fields: str) -> AgentDefinition:
    write(home / ".claude/agents", front("name: a", "description: d", *fields), "a.md")
    return only(project)


def test_where_nobody_defines_any_there_are_those_that_are_built_in(home: Path, project: Path) -> None:
    read = read_here(project)
    assert (read.agents, read.problems) == (BUILT_IN, ())
    explore, general = BUILT_IN
    assert (explore.name, explore.rights, general.name, general.rights) == (
        "explore", "reads only", "general", "all tools",
    )  # fmt: skip


def test_one_is_read_from_each_place_of_the_home(home: Path, project: Path) -> None:
    for number, place in enumerate(("keen/agents", ".agents/agents", ".claude/agents")):
        write(home / place, REVIEWER.replace("name: reviewer", f"name: r{number}"), f"{number}.md")
    read = read_here(project)
    assert read.problems == ()
    assert [(agent.name, agent.source) for agent in of_files(read)] == [
        ("r0", "~/keen/agents/0.md"), ("r1", "~/.agents/agents/1.md"), ("r2", "~/.claude/agents/2.md"),
    ]  # fmt: skip
    assert [agent.name for agent in read.agents] == ["explore", "general", "r0", "r1", "r2"]


def test_all_that_a_definition_says(home: Path, project: Path) -> None:
    agent = defined(
        home, project,
        "tools: Read, Grep, Bash", "model: claude-opus-4-5", "permissionMode: acceptEdits", "maxTurns: 12",
        "isolation: none", "color: purple",
    )  # fmt: skip
    assert agent == AgentDefinition(
        name="a",
        description="d",
        instructions="You review changes.",
        written_name="a",
        tools=("read_file", "grep_files", "bash", "task_output", "task_stop"),
        model="claude-opus-4-5",
        mode="auto-edit",
        max_steps=12,
        source="~/.claude/agents/a.md",
    )


def test_one_that_works_apart_says_so(home: Path, project: Path) -> None:
    agent = defined(home, project, "isolation: Worktree")
    assert agent.isolation == "worktree"
    assert rights_of(agent) == ("all tools", "in its own work tree")


def test_what_is_left_out_is_the_parents(home: Path, project: Path) -> None:
    agent = defined(home, project)
    assert (agent.tools, agent.model, agent.mode, agent.max_steps, agent.isolation) == (
        None, "", None, None, "",
    )  # fmt: skip


# Which tools.


@pytest.mark.parametrize(
    ("fields", "tools"),
    [
        (("tools: Read, Glob ,grep_files",), ("read_file", "glob_files", "grep_files")),
        (("tools:", "  - Read", "  - Bash"), ("read_file", "bash", "task_output", "task_stop")),
        (('tools: ["Read", \'Edit\']',), ("read_file", "edit_file")),
        (("tools: read_file bash",), ("read_file", "bash", "task_output", "task_stop")),
        (("tools: READ, LS, Read",), ("read_file", "glob_files")),
        (('tools: "*"',), None),
        (("tools: ['*']",), None),
        (("tools: []",), ()),
        (("tools: Read, mcp__github__get_issue",), ("read_file", "mcp__github__get_issue", "mcp_search")),
        (("tools: mcp__github, mcp:b:get",), ("mcp__github__*", "mcp__b__get", "mcp_search")),
        (("tools: Edit, Bash", "disallowedTools: Edit"), ("bash", "task_output", "task_stop")),
        (("tools: Read, mcp__a__*", "disallowedTools: mcp__b__*"), ("read_file", "mcp__a__*", "mcp_search")),
        (("tools: mcp__a", "disallowedTools: ToolSearch"), ("mcp__a__*",)),
        (("disallowedTools:",), None),
        (("disallowedTools: Task, NotebookEdit",), None),
    ],
)  # fmt: skip
def test_tools_are_named_as_people_name_them(
    home: Path, project: Path, fields: tuple[str, ...], tools: tuple[str, ...] | None
) -> None:
    agent = defined(home, project, *fields)
    assert (agent.tools, agent.remarks) == (tools, ())


def test_a_star_without_quotes_means_all(home: Path, project: Path) -> None:
    agent = defined(home, project, "tools: *")
    assert agent.tools is None
    assert agent.remarks == ("its front matter isn't valid YAML, and was read line by line",)


def test_without_a_list_what_is_forbidden_is_taken_from_all(home: Path, project: Path) -> None:
    agent = defined(home, project, "disallowedTools: [Write, Edit, Bash]")
    assert agent.tools is not None
    assert {each.name for each in FOR_AGENTS} - set(agent.tools) == {"write_file", "edit_file", "bash"}
    assert (agent.may_use("bash"), agent.may_use("recall"), agent.may_use("mcp__a__b")) == (False, True, True)


@pytest.mark.parametrize(
    "fields",
    [
        ("disallowedTools: mcp__github__delete_repository",),
        ("tools: Read, mcp__github", "disallowedTools: mcp__github__delete_repository"),
        ("tools: Read, mcp__git*__delete*", "disallowedTools: mcp__github*"),
    ],
)
def test_of_a_server_of_which_a_tool_is_forbidden_none_is_left(
    home: Path, project: Path, fields: tuple[str, ...]
) -> None:
    agent = defined(home, project, *fields)
    assert not agent.may_use("mcp__github__delete_repository")
    assert agent.may_use("read_file")
    assert agent.remarks == (
        "it runs without tools of MCP servers, since its disallowedTools name some of them",
    )


@pytest.mark.parametrize(
    ("tool", "may"),
    [
        ("read_file", True), ("bash", False), ("mcp__github__list", True), ("mcp__gitlab__list", False),
        ("mcp_search", True), ("mcp__web__get", True), ("mcp__web__post", False),
    ],
)  # fmt: skip
def test_which_tools_it_may_use(home: Path, project: Path, tool: str, may: bool) -> None:
    agent = defined(home, project, "tools: Read, mcp__github, mcp__web__get")
    assert agent.may_use(tool) is may
    assert agent.rights == "reads only, MCP tools"


def test_a_tool_that_is_limited_to_some_calls_is_left_out(home: Path, project: Path) -> None:
    agent = defined(home, project, "tools: Read, Bash(git diff *), Bash(git log:*)", "disallowedTools: Edit")
    assert agent.tools == ("read_file",)
    assert agent.remarks == (
        "it runs without Bash(git diff *), Bash(git log:*): Keen can't limit a tool to some calls",
    )
    agent = defined(home, project, "tools: Read, Bash", "disallowedTools: Bash(rm *)")
    assert agent.tools == ("read_file",)
    assert agent.remarks == ("Keen can't forbid only Bash(rm *), so it runs without the whole tool",)


def test_tools_of_other_agents_are_left_out_with_a_remark(home: Path, project: Path) -> None:
    agent = defined(home, project, "tools: Read, Task, NotebookEdit, Agent(worker)")
    assert agent.tools == ("read_file",)
    assert agent.remarks == ("it runs without Task, NotebookEdit, Agent: sub-agents don't have that",)


def test_a_name_that_nobody_knows_is_left_out_and_told(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: a", "description: d", "tools: Read, Raed"), "a.md")
    read = read_here(project)
    assert [agent.tools for agent in of_files(read)] == [("read_file",)]
    assert read.problems == (
        "These sub-agents name tools that Keen doesn't know and run without "
        "them: ~/.claude/agents/a.md (Raed).",
    )


def test_sub_agents_with_the_same_problem_are_named_in_one_sentence(home: Path, project: Path) -> None:
    for number in range(17):
        fields = ("description: d", f"tools: mine_{number}, yours")
        write(home / ".claude/agents", front(*fields), f"a{number:02}.md")
    assert read_here(project).problems == (
        "17 sub-agents in ~/.claude/agents aren't used (a00.md (mine_0, yours), a01.md (mine_1, yours), "
        "a02.md (mine_2, yours), a03.md (mine_3, yours), a04.md (mine_4, yours) and 12 more). The reason for "
        "each: none of its tools are available.",
    )


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("tools:", 'its list of tools is empty: name some, or write "*" for all.'),
        ("tools: {write: false}", "its tools can't be read: write a list of names."),
        ("tools: [Read, [Bash]]", "its tools can't be read: write a list of names."),
        ("tools: Read, Bash(", "its tools can't be read from ( on."),
        ("tools: Raed, Task", "none of its tools are available, Task, Raed."),
        ("tools: Bash(git *)", "none of its tools are available, Bash(git *)."),
        ("disallowedTools: Wirte", "its disallowedTools forbid Wirte; write names of tools that Keen knows."),
        (
            "disallowedTools: '*'",
            "its disallowedTools forbid everything; write names of tools that Keen knows.",
        ),
        ("disallowedTools: {a: b}", "its disallowedTools can't be read: write a list of names."),
        ("model: [a, b]", "its model isn't text: write model: value."),
        ("model: GPT 5", "its model is GPT 5; write the name of one model, or inherit."),
        ("mode: fast", "its mode is fast; write one of ask, auto-edit, plan, auto."),
        (
            "permissionMode: dontAsk",
            "its permissionMode is dontAsk; write one of ask, auto-edit, plan, auto.",
        ),
        ("max_steps: 0", "its max_steps is 0; write a whole number from 1 to 999999."),
        ("maxTurns: many", "its maxTurns is many; write a whole number from 1 to 999999."),
        (
            "isolation: remote",
            "its isolation is remote; write worktree or none.",
        ),
    ],
)
def test_what_is_wrong_is_told_and_the_definition_is_not_used(
    home: Path, project: Path, field: str, why: str
) -> None:
    assert refusal(home, project, field) == why


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        (("mode: plan",), "plan"),
        (("permissionMode: default",), "ask"),
        (("permissionMode: plan",), "plan"),
        (("permissionMode: bypassPermissions",), "auto"),
        (("mode: ask", "permissionMode: bypassPermissions"), "ask"),
        (("mode: subagent",), None),
        (("mode: subagent", "permissionMode: plan"), "plan"),
    ],
)
def test_the_permission_mode_in_keens_words_or_claude_codes(
    home: Path, project: Path, fields: tuple[str, ...], mode: str | None
) -> None:
    assert defined(home, project, *fields).mode == mode


@pytest.mark.parametrize("word", ["inherit", "sonnet", "Opus", "haiku", "sonnet[1m]", "''"])
def test_words_for_a_size_of_model_mean_the_parents(home: Path, project: Path, word: str) -> None:
    assert defined(home, project, f"model: {word}").model == ""


def test_fields_without_effect_are_named_and_colours_are_not(home: Path, project: Path) -> None:
    agent = defined(home, project, "hooks:", "  Stop: []", "skills: pdf", "color: red", "version: 2")
    assert agent.remarks == ("Keen ignores hooks, skills in it",)


# What is in a file.


def test_shapes_that_are_common_in_public_repositories_are_read(home: Path, project: Path) -> None:
    folder = home / ".claude/agents"
    # A description with colons, line ends as \n and tags, as generators write it.
    write(
        folder,
        front(
            "name: api-designer",
            r"description: Use this agent for APIs. Examples:\n\n<example>\nuser: 'Add users'\n</example>",
            "model: opus",
            "color: blue",
        ),
        "api-designer.md",
    )
    # Folded text, a list with dashes, a sub-folder.
    write(
        folder / "quality/tests",
        front(
            "name: Test Writer",
            "description: >-",
            "  Writes tests",
            "  first.",
            "tools:",
            "- Read",
            "- Write",
        ),
        "test-writer.md",
    )
    # Windows line ends, a mark at the beginning, no name.
    write(
        folder, b"\xef\xbb\xbf" + front("description: Reads logs.").replace("\n", "\r\n").encode(), "logs.md"
    )
    write(folder, "# Our agents\n", "README.md")
    read = read_here(project)
    assert read.problems[0].endswith(": test-writer (Test Writer).")
    assert [agent.name for agent in of_files(read)] == ["api-designer", "logs", "test-writer"]
    designer, logs, tests = of_files(read)
    assert designer.description == "Use this agent for APIs. Examples: <example> user: 'Add users' </example>"
    assert (logs.description, logs.remarks) == ("Reads logs.", ("it has no name; that of its file is used",))
    assert (tests.description, tests.tools) == ("Writes tests first.", ("read_file", "write_file"))


EXAMPLES = (
    "description: Use this agent to review. Examples:",
    "",
    "<example>",
    "Context: The user wrote code.",
    'user: "Is it fine?"',
    'assistant: "I\'ll ask: is it?"',
    "</example>",
)


def test_examples_that_are_not_indented_belong_to_the_description(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: a", *EXAMPLES, "model: inherit", 'tools: ["Read", "Grep"]'))
    agent = only(project)
    assert agent.description == (
        'Use this agent to review. Examples: <example> Context: The user wrote code. user: "Is it fine?" '
        'assistant: "I\'ll ask: is it?" </example>'
    )
    assert agent.tools == ("read_file", "grep_files")
    assert agent.remarks == ("its front matter isn't valid YAML, and was read line by line",)


@pytest.mark.parametrize("limit", ["  tools: Read", '"disallowedTools" : Bash', "- mode: plan"])
def test_no_limit_is_taken_for_a_part_of_the_description(home: Path, project: Path, limit: str) -> None:
    write(home / ".claude/agents", front("name: a", *EXAMPLES, limit))
    for agent in of_files(read_here(project)):
        assert agent.tools and "bash" not in agent.tools


def test_hidden_and_acting_characters_are_gone(home: Path, project: Path) -> None:
    fields = r'name: "a\e[31mb"', r'description: "c\e]0;owned\x07\u202ed"'
    text = front(*fields, body="x\u200by\U000e0041z\x1b[2J\n")
    write(home / ".claude/agents", text, "x.md")
    agent = only(project)
    assert agent.name == "ab"
    assert "\x1b" not in agent.description and "\u202e" not in agent.description
    assert agent.instructions == "xyz[2J"


def test_a_long_description_is_cut(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: a", f"description: {'d' * 5_000}"), "a.md")
    agent = only(project)
    assert len(agent.description) == LONGEST_DESCRIPTION
    assert agent.remarks == ("its description has over 1,024 characters; the rest isn't sent",)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda folder: write(folder, b"---\nname: a\ndescription: \xff\n---\nx", "a.md"), "UTF-8"),
        (lambda folder: write(folder, REVIEWER + "x" * 64_000, "a.md"), "larger than 64.0 kB"),
        (lambda folder: os.mkfifo(write(folder, name="x.md").with_name("a.md")), "regular file"),
        (lambda folder: (folder / "a.md").mkdir(parents=True), "regular file"),
        (lambda folder: write(folder, "You review.\n", "a.md"), "no front matter"),
        (lambda folder: write(folder, "---\nname: a\n", "a.md"), "no end"),
        (lambda folder: write(folder, front("name: a", "name: b"), "a.md"), "twice"),
        (lambda folder: write(folder, front("name: a", body=" \n"), "a.md"), "no instructions"),
        (lambda folder: write(folder, front("name: '!'", "description: d"), "a.md"), "no letters or digits"),
        (lambda folder: write(folder, front(f"tools: {'[' * 9000}"), "a.md"), "nests too deep"),
        (lambda folder: write(folder, front("- " * 9_000), "a.md"), "nests too deep"),
        (lambda folder: write(folder, front("tools: *undefined"), "a.md"), "isn't valid YAML"),
    ],
)
def test_a_broken_file_is_told_and_nothing_else_is_lost(
    home: Path, project: Path, make: object, why: str
) -> None:
    assert callable(make)
    make(home / ".claude/agents")
    write(home / ".claude/agents", name="x.md")
    read = read_here(project)
    assert [agent.name for agent in of_files(read)] == ["reviewer"]
    (problem,) = read.problems
    assert problem.startswith("The sub-agent in ~/.claude/agents/a.md isn't used: ")
    assert why in problem


def test_only_the_first_files_of_a_place_are_read(home: Path, project: Path) -> None:
    for number in range(MOST_FILES + 2):
        write(home / ".claude/agents", front("description: d"), f"a{number:03}.md")
    write(home / ".claude/agents", "# Our agents\n", "README.md")
    read = read_here(project)
    assert len(of_files(read)) == MOST_FILES
    assert read.problems == (
        "The sub-agent in ~/.claude/agents/a500.md isn't used: only the first 500 of 502 files in "
        "~/.claude/agents are read; this is the next.",
    )


# Which of two.


def test_of_two_with_one_name_the_first_place_counts_and_a_link_is_no_second_one(
    home: Path, project: Path
) -> None:
    write(home / ".agents/agents")
    (home / ".claude").mkdir()
    (home / ".claude/agents").symlink_to("../.agents/agents")
    assert only(project).source == "~/.agents/agents/reviewer.md"
    write(home / "keen/agents", REVIEWER.replace("Reviews", "Checks"))
    read = read_here(project)
    assert [agent.description for agent in of_files(read)] == ["Checks changes."]
    assert read.problems == (
        "The sub-agent in ~/.agents/agents/reviewer.md isn't used: another one has the same name, reviewer "
        "in ~/keen/agents/reviewer.md.",
    )


def test_ones_own_takes_the_place_of_one_that_is_built_in(home: Path, project: Path) -> None:
    write(home / ".claude/agents", REVIEWER.replace("name: reviewer", "name: Explore"), "explore.md")
    agent = only(project)
    assert agent.name == "explore"
    assert agent.remarks[-1] == "it takes the place of the built-in one"
    assert [each.name for each in read_here(project).agents] == ["explore", "general"]


def test_the_projects_goes_before_the_users_own_and_that_is_told(home: Path, project: Path) -> None:
    write(home / ".claude/agents")
    write(project / ".claude/agents", REVIEWER.replace("Reviews", "Checks"))
    write(project / ".agents/agents", REVIEWER.replace("name: reviewer", "name: general"), "general.md")
    say_yes(project)
    read = read_here(project)
    assert [(each.name, each.source) for each in of_files(read)] == [
        ("general", ".agents/agents/general.md"), ("reviewer", ".claude/agents/reviewer.md"),
    ]  # fmt: skip
    assert read.problems == (
        "The project's sub-agent general in .agents/agents/general.md takes the place of the built-in one.",
        "The project's sub-agent reviewer in .claude/agents/reviewer.md takes the place of yours in "
        "~/.claude/agents/reviewer.md.",
    )


# Of a project.


def say_yes(project: Path) -> None:
    brought = read_project(project, check_rules)
    assert brought
    Trust(os.environ).say(project, brought, trusted=True)


@pytest.mark.parametrize("place", [".keen/agents", ".agents/agents", ".claude/agents"])
def test_those_of_a_project_wait_for_trust(home: Path, project: Path, place: str) -> None:
    write(project / place)
    assert read_here(project).agents == BUILT_IN
    brought = read_project(project, check_rules)
    assert brought
    (kind,) = (kind for kind in brought.kinds if kind.rows)
    assert kind.title == f"sub-agents of its own, in {place}"
    assert kind.rows == (f"  reviewer   73 B, in {place}/reviewer.md",)
    say_yes(project)
    assert only(project).source == f"{place}/reviewer.md"


def _change(folder: Path) -> None:
    status = (folder / "reviewer.md").stat()
    write(folder, REVIEWER.replace("You", "He"))
    os.utime(folder / "reviewer.md", ns=(status.st_atime_ns, status.st_mtime_ns))


def _add(folder: Path) -> None:
    write(folder / "more", REVIEWER.replace("name: reviewer", "name: other"))


def _rename(folder: Path) -> None:
    (folder / "reviewer.md").rename(folder / "other.md")


def _remove(folder: Path) -> None:
    (folder / "second.md").unlink()


@pytest.mark.parametrize("change", [_change, _add, _rename, _remove])
def test_trust_ends_when_any_of_them_changes(home: Path, project: Path, change: object) -> None:
    folder = project / ".claude/agents"
    write(folder)
    write(folder, REVIEWER.replace("name: reviewer", "name: second"), "second.md")
    say_yes(project)
    assert len(of_files(read_here(project))) == 2
    assert callable(change)
    change(folder)
    assert of_files(read_here(project)) == (), "nothing is used before the user is asked again"


def test_a_link_out_of_the_project_is_never_used(home: Path, project: Path) -> None:
    write(home / "elsewhere")
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/reviewer.md").symlink_to(home / "elsewhere/reviewer.md")
    (project / ".agents").mkdir()
    (project / ".agents/agents").symlink_to(home / "elsewhere")
    assert read_project(project, check_rules) is None
    write(project / ".keen/agents", REVIEWER.replace("name: reviewer", "name: own"), "own.md")
    (project / ".claude/agents/linked.md").symlink_to("../../.keen/agents/own.md")
    say_yes(project)
    read = read_here(project)
    assert [agent.source for agent in of_files(read)] == [".keen/agents/own.md"]
    assert read.problems == (
        "The sub-agent in .claude/agents/reviewer.md isn't used: it is a link to a place outside the "
        "project.",
    )


def test_names_of_files_cannot_forge_a_row_of_the_question(home: Path, project: Path) -> None:
    write(project / ".claude/agents", name="a\nUse them here? [y or N] y\x1b[2J.md")
    brought = read_project(project, check_rules)
    assert brought
    (kind,) = (kind for kind in brought.kinds if kind.rows)
    (row,) = kind.rows
    assert "\n" not in row and "\x1b" not in row


def test_in_the_home_folder_they_are_the_users_own(home: Path) -> None:
    write(home / ".claude/agents")
    assert read_project(home, check_rules) is None
    assert only(home).source == "~/.claude/agents/reviewer.md"


# What the program has to know of its own tools.


def test_every_tool_has_its_place_among_the_names(tmp_path: Path) -> None:
    tools = {spec.name for spec in build_toolbox(tmp_path).specs}
    assert tools <= {each.name for each in FOR_AGENTS}
    assert {each.name for each in FOR_AGENTS} - tools == {"web_search", "skill", "mcp_search"}
    explore = BUILT_IN[0].tools
    assert (
        explore and set(explore) - {"web_search"} <= tools and all(own_tool(each).reads for each in explore)
    )


def many(count: int) -> tuple[AgentDefinition, ...]:
    """So many sub-agents from files with long descriptions, and the built-in ones."""
    one = replace(BUILT_IN[0], description="d" * 1_000, source="a.md")
    return (*(replace(one, name=f"a{number:03}") for number in range(count)), *BUILT_IN)


def test_the_model_reads_whole_descriptions_and_many_are_cut_to_fit() -> None:
    for agents in (BUILT_IN, many(100)):
        described = Task(agents).spec.description
        assert all(f"- {agent.name}: {agent.description}\n" in f"{described}\n" for agent in BUILT_IN)
        assert len(described) < MOST_BYTES + 2_000
        assert unseen_notice(agents) == ()
    assert f"- a099: {'d' * 120}…" in Task(many(100)).spec.description


def test_of_sub_agents_that_do_not_fit_the_model_sees_the_names_and_the_user_is_told() -> None:
    spec = Task(many(300)).spec
    seen = spec.description.count("\n- a") - 1
    assert 100 < seen < 300
    assert f"\n- and {300 - seen} more; the parameter `agent` lists their names" in spec.description
    assert "a299" in spec.parameters["properties"]["agent"]["enum"]
    assert unseen_notice(many(300)) == (
        f"There are 302 sub-agents. The model sees the descriptions of {seen + 2}, and only the names of the "
        "others. Shorter descriptions make room for more.",
    )


def test_the_notice_about_sub_agents_that_do_not_fit_is_given_at_the_start(home: Path, project: Path) -> None:
    for number in range(200):
        write(home / ".claude/agents", front(f"description: {'d' * 1_000}"), f"a{number}.md")
    read = additions_here(Settings(web_search=True), os.environ, project)
    assert read.problems == read.agent_problems == unseen_notice(read.agents) != ()


_PROBE = """
import os, sys
from keen_tui import frontend_setup
from keen_tui.settings.schema import Settings
read = frontend_setup.additions_here(Settings(), os.environ)
print(len(read.agents), *sorted({"yaml", "keen_tui.settings.added.agent_reading"} & set(sys.modules)))
"""


def _started(folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", _PROBE], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_nothing_is_loaded_where_nobody_defines_any(home: Path, project: Path) -> None:
    assert _started(project) == "2"
    write(project / ".claude/agents")
    assert _started(project) == "2", "the digest of a project needs no YAML"
    write(home / ".claude/agents")
    assert _started(project) == "3 keen_tui.settings.added.agent_reading yaml", "the probe notices"


def test_a_sub_agent_with_bash_has_what_background_commands_need(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: a", "description: d", "tools: Read, Bash"), "a.md")
    assert only(project).tools == ("read_file", "bash", "task_output", "task_stop")
    assert only(project).rights == "2 tools"
    fields = ("name: a", "description: d", "tools: Bash", "disallowedTools: TaskStop")
    write(home / ".claude/agents", front(*fields), "a.md")
    assert only(project).tools == ("bash", "task_output")


def test_sub_agents_that_have_other_names_here_are_named(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: Code Reviewer", "description: d"), "a.md")
    write(home / ".claude/agents", front("name: test-writer", "description: d"), "b.md")
    write(home / ".claude/agents", front("name: API_Designer", "description: d"), "c.md")
    read = read_here(project)
    assert read.problems == (
        "Some sub-agents have different names here than in their files, because names may contain only "
        "lower-case letters, digits and "
        "hyphens: code-reviewer (Code Reviewer), api-designer (API_Designer).",
    )
    assert read.agent_problems == read.problems


def test_a_tool_that_is_off_is_named(home: Path, project: Path) -> None:
    write(home / ".claude/agents", front("name: a", "description: d", "tools: Read, WebSearch"), "a.md")
    write(home / ".claude/agents", front("name: b", "description: d", "tools: Read"), "b.md")
    off = additions_here(Settings(web_search=False), os.environ, project)
    assert off.problems == off.agent_problems
    assert off.problems == ("These sub-agents can't use WebSearch, since web search is off: a.",)
    assert additions_here(Settings(web_search=True), os.environ, project).problems == ()
