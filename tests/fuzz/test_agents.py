"""Definitions of sub-agents that others wrote, or broke: each is read or refused, none drives the terminal,
and nothing that can't be read gives more rights."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.own_tools import FOR_AGENTS, OWN_TOOLS
from keen_tui.settings.added.agent_files import AgentFile
from keen_tui.settings.added.agent_reading import FoundAgents, read_agents
from keen_tui.settings.added.definition_files import LONGEST_DESCRIPTION
from keen_tui.text.sanitize import HIDDEN
from tests.fuzz.budget import examples
from tests.fuzz.corpora import DRIVING, NAUGHTY

PIECES = st.sampled_from(
    (
        "---\n",
        "name: a\n",
        "description: d\n",
        "tools: Read, Bash(git *)\n",
        "tools: [",
        "tools:\n- Read\n",
        "disallowedTools: Bash\n",
        "mode: plan\n",
        "max_steps: 3\n",
        "a: &x [*x]\n",
        "{a: b}",
        "[[a], b]",
        "*",
        "- ",
        ": ",
        ", ",
        "mcp__a__*",
    )
) | st.sampled_from((*DRIVING, *NAUGHTY))
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=200)
FRONTS = st.tuples(TEXTS, TEXTS, TEXTS, TEXTS).map(
    lambda parts: f"---\nname: {parts[0]}\ndescription: {parts[1]}\ntools: {parts[2]}\n---\n{parts[3]}"
)
USUAL = {tool.usual_name: tool.name for tool in FOR_AGENTS}
NAMES = st.lists(
    st.sampled_from(
        (*USUAL, *USUAL.values(), "Bash(git *)", "mcp__a__b", "mcp__a__*", "mcp__a*", "Task", "Nothing")
    ),
    max_size=6,
)


def read(content: bytes) -> FoundAgents:
    return read_agents([AgentFile(stem="x", place="here", where="here/x.md", content=content)])


@examples(few=60, many=3_000)
@given(content=(TEXTS | FRONTS).map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=200))
def test_whatever_a_file_says_it_is_read_or_refused(content: bytes) -> None:
    result = read(content)
    assert len(result.found) + len(result.problems) in (1, 2)
    assert len(result.found) <= 1
    for agent in result.found:
        assert 0 < len(agent.name) <= 64
        assert 0 < len(agent.description) <= LONGEST_DESCRIPTION
        assert not HIDDEN.search(agent.instructions.replace("\n", "").replace("\t", ""))
        shown = (agent.name, agent.description, agent.model, agent.rights, *agent.remarks)
        assert not any(HIDDEN.search(text) or "\n" in text for text in shown)
        assert all(tool in OWN_TOOLS or tool.startswith("mcp__") for tool in agent.tools or ())
    for sentence in result.problems:
        assert not HIDDEN.search(sentence) and "\n" not in sentence
        assert len(sentence) < 1_000


@examples(few=60, many=3_000)
@given(value=TEXTS)
def test_a_list_of_tools_that_cannot_be_read_never_means_all(value: str) -> None:
    front = f"---\nname: a\ndescription: d\ntools: {value}\n---\nDo it.\n"
    for agent in read(front.encode("utf-8", "replace")).found:
        assert agent.tools is not None or "*" in value


@examples(few=60, many=3_000)
@given(allowed=st.none() | NAMES, refused=NAMES)
def test_what_is_forbidden_is_never_allowed(allowed: Sequence[str] | None, refused: Sequence[str]) -> None:
    tools = "" if allowed is None else f"tools: {', '.join(allowed)}\n"
    front = f"---\nname: a\ndescription: d\n{tools}disallowedTools: {', '.join(refused)}\n---\nDo it.\n"
    for agent in read(front.encode()).found:
        assert "Nothing" not in refused, "a name that nobody knows refuses the definition"
        for name in refused:
            tool = USUAL.get(name.partition("(")[0], name).replace("*", "b")
            assert name == "Task" or not agent.may_use(tool)
