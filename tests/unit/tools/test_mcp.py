"""What servers of MCP say, as names, parameters, results and questions that can't do harm."""

from __future__ import annotations

import base64
import json
import random
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pictures

from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import ConfigError
from keen_tui.domain.facts.server_called import MOST_CALLED, CalledTool, ServerCalled
from keen_tui.domain.messages import TurnMemory, merged_memory, turn_memory
from keen_tui.memory.rendering import render_assistant
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.access.access import Access
from keen_tui.tools.access.server_tool_names import server_parts, told_apart, tool_names
from keen_tui.tools.calls.question_spec import QuestionReply, QuestionSpec
from keen_tui.tools.calls.schemas import SchemaRefused, usable_schema
from keen_tui.tools.calls.shown_arguments import arguments_shown
from keen_tui.tools.calls.word_search import MOST_FOUND, best
from keen_tui.tools.mcp.elicitation import Asking
from keen_tui.tools.mcp.log_tail import LONGEST_LINE, MOST_LINES, LogTail
from keen_tui.tools.mcp.results import server_result
from keen_tui.tools.mcp.search import described
from keen_tui.tools.mcp.server import ServerConnection, ServerNeeds
from keen_tui.tools.mcp.server_tool import ServerTool
from keen_tui.tools.permissions.permissions import Allowed, judge
from keen_tui.tools.rules.rules import Rules, parse_rules
from keen_tui.tools.sandbox.probe import no_sandbox

ALLOWED_BY_APIS = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def test_names_are_those_that_every_api_takes_and_no_two_are_the_same() -> None:
    servers = ["github", "git hub", "git_hub", "a__b", "a", "", "é" * 80, "x" * 80, "x" * 81]
    tools = ["b__c", "create issue", "create.issue", "create_issue", "t" * 100, "t" * 101, "日本語"]
    names = [name for part in server_parts(servers).values() for name in tool_names(part, tools).values()]
    assert len(set(names)) == len(servers) * len(tools)
    assert all(ALLOWED_BY_APIS.fullmatch(name) for name in names)
    assert names[0] == "mcp__github__b__c"


def test_names_dont_depend_on_the_order_of_the_list() -> None:
    tools = ["create issue", "create.issue", "create_issue", "t" * 100, "t" * 101]
    shuffled = random.Random(1).sample(tools, len(tools))
    assert tool_names("github", shuffled) == tool_names("github", tools)


def test_no_server_gets_into_the_rules_of_another() -> None:
    parts = server_parts(["github", "github__evil", "github__"])
    assert parts == {"github": "github", "github__evil": "github_evil", "github__": parts["github__"]}
    rules = Rules(parse_rules("allow", ["mcp__github__*"], "here"))
    for part in parts.values():
        (name,) = tool_names(part, ["create"]).values()
        assert rules.allow_tool(Access(kind="mcp", subject=name)) is (part == "github")
        assert told_apart(name) == (part, "create")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        (
            {"$schema": "x", "properties": {"a": True, "b": {"type": "array"}}, "required": ["a", "gone"]},
            {
                "properties": {"a": {}, "b": {"type": "array", "items": {}}},
                "type": "object",
                "required": ["a"],
            },
        ),
        (
            {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}, 3]},
            {"properties": {"a": {"type": "string"}, "b": {}}, "type": "object"},
        ),
        ({"type": ["object", "null"], "required": "a"}, {"type": "object", "properties": {}}),
    ],
    ids=["none", "empty", "mended", "choices", "nullable"],
)
def test_parameters_become_a_schema_that_every_api_takes(given: Any, expected: dict[str, Any]) -> None:
    assert usable_schema(given).value == expected


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({}, ""),
        ({"properties": {"a": {"oneOf": [{"type": "string"}]}}}, ""),
        (
            {"oneOf": [{"properties": {"id": {}}, "required": ["id"]}, {"required": ["owner", "repo"]}]},
            "give exactly one of these groups of parameters: id | owner, repo",
        ),
        (
            {"anyOf": [{"properties": {"a": {}, "b": {}}}, {"$ref": "#/$defs/other"}]},
            "give at least one of these groups of parameters: a, b | a form that can't be shown here",
        ),
    ],
)
def test_choices_that_a_schema_loses_are_said(given: dict[str, Any], note: str) -> None:
    assert usable_schema(given).note == note
    said = of_a_tool(inputSchema=given, description="Finds.").spec.description
    assert said == (f"Finds.\n[{note}]" if note else "Finds.")


def test_all_parts_of_a_schema_count() -> None:
    parts = [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]
    usable = usable_schema({"allOf": parts, "properties": {"c": {}}, "required": ["c"]})
    assert usable.value["required"] == ["c", "a", "b"]
    assert usable.note == ""


def test_a_description_that_is_cut_says_so() -> None:
    said = of_a_tool(inputSchema={"oneOf": [{"required": ["a"]}]}, description="x" * 5_000).spec.description
    assert "x[1000 characters left out]\n[give exactly one" in said


def _deep(levels: int) -> Any:
    return {"properties": {"a": _deep(levels - 1)}} if levels else {}


@pytest.mark.parametrize(
    "given",
    ["text", {"type": "string"}, {"description": "x" * 60_000}, _deep(60), {"x": float("nan")}, {"x": {1}}],
    ids=["no schema", "no object", "too large", "too deep", "not a number", "not json"],
)
def test_parameters_that_no_api_takes_are_refused(given: Any) -> None:
    with pytest.raises(SchemaRefused):
        usable_schema(given)


def png(width: int = 2) -> bytes:
    file = BytesIO()
    Pictures.new("RGB", (width, 2)).save(file, "PNG")
    return file.getvalue()


def files_in(folder: Path) -> Any:
    return lambda: folder / "out" / "turn-1-1.txt"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_every_kind_of_content_becomes_text_and_what_is_none_is_kept_in_files(tmp_path: Path) -> None:
    data = base64.b64encode(png()).decode()
    content = [
        text("one \x1b[31mred"),
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "image", "data": "%%%", "mimeType": "image/png"},
        {"type": "audio", "data": data, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "description": "the a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "the b"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": data, "mimeType": "application/pdf"}},
        {"type": "dance"},
        "nonsense",
    ]
    result = server_result({"content": content}, files_in(tmp_path))
    lines = result.text.split("\n\n")
    size = f"{len(png())} B"
    assert lines == [
        "one red",
        f"[image, image/png, {size}; it is in {tmp_path}/out/turn-1-1-1.png]",
        f"[image, image/png, {size}; it is in {tmp_path}/out/turn-1-1-2.png]",
        "[image that can't be decoded]",
        f"[audio, audio/wav, {size}; it is in {tmp_path}/out/turn-1-1-1.wav]",
        "[resource file:///a] a: the a",
        "[resource file:///b]\nthe b",
        f"[resource file:///c, application/pdf, {size}; it is in {tmp_path}/out/turn-1-1-1.pdf]",
        "[content of the type dance, which can't be shown]",
    ]
    assert [image.content for image in result.images] == [png(), png()]
    assert (tmp_path / "out" / "turn-1-1-2.png").read_bytes() == png()
    assert (tmp_path / "out" / "turn-1-1-2.png").stat().st_mode & 0o777 == 0o600


def test_a_structured_result_is_said_once_and_shown_well() -> None:
    value = {"total": 3, "of": ["a"]}
    both = {"content": [text(json.dumps(value))], "structuredContent": value}
    only = {"content": [], "structuredContent": value}
    for result in (server_result(given, lambda: None) for given in (both, only)):
        assert json.loads(result.text) == value
        assert result.shown == json.dumps(value, indent=2)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("hi", ["hi"]),
        (5, ["5"]),
        ({"a": 1}, ['{\n  "a": 1\n}']),
        ([1, 2], ["[1, 2]"]),
        (["a", "b"], ["a", "b"]),
        ([{"a": 1}, {"a": 2}], ['{"a": 1}', '{"a": 2}']),
        (["5", 6, True], ["5", "6", "true"]),
    ],
)
def test_a_structured_result_that_only_wraps_the_texts_is_left_out(value: object, texts: list[str]) -> None:
    given = {"content": [text(words) for words in texts], "structuredContent": {"result": value}}
    result = server_result(given, lambda: None)
    assert result.text == result.shown == "\n\n".join(texts)


@pytest.mark.parametrize("rows", [[["a", 1], ["b", 2]], [["a", 1], None, ["b", 2]]])
def test_texts_that_have_less_than_the_structured_result_are_left_out(rows: object) -> None:
    content = [text("a"), text("1"), text("b"), text("2"), {"type": "dance"}]
    result = server_result({"content": content, "structuredContent": {"result": rows}}, lambda: None)
    note, words = result.text.split("\n\n")
    assert note.startswith("[content of the type dance")
    assert json.loads(words) == {"result": rows}


@pytest.mark.parametrize("value", [{"a": None}, {"a": []}, {"a": ["a", "c"]}, {"a": 1, "b": 2}])
def test_a_structured_result_that_says_more_stays(value: object) -> None:
    result = server_result({"content": [text("a"), text("b")], "structuredContent": value}, lambda: None)
    assert result.text == f"a\n\nb\n\n{json.dumps(value)}"


def test_a_long_result_is_cut_and_all_of_it_is_in_a_file(tmp_path: Path) -> None:
    words = "\n".join(f"line {number}" for number in range(5_000))
    result = server_result({"content": [text(words)], "isError": True}, files_in(tmp_path))
    assert result.is_error
    assert len(result.text) < 17_000
    assert f"the whole output is in {tmp_path}/out/turn-1-1.txt" in result.text
    assert (tmp_path / "out" / "turn-1-1.txt").read_text() == words


def test_a_picture_with_a_damaged_colour_profile_is_shown_all_the_same() -> None:
    profile = (8).to_bytes(4, "big") + b"iCCP" + b"profile\0" + b"sum?"
    damaged = png()[:33] + profile + png()[33:]
    content = [{"type": "image", "data": base64.b64encode(damaged).decode(), "mimeType": "image/png"}]
    (image,) = server_result({"content": content}, lambda: None).images
    assert image.content == png()


def test_an_image_that_no_model_takes_is_told(tmp_path: Path) -> None:
    data = base64.b64encode(b"not a picture").decode()
    result = server_result(
        {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}, files_in(tmp_path)
    )
    assert result.images == ()
    assert "isn't a PNG, JPEG, GIF or WebP image" in result.text


def test_arguments_cant_look_like_others() -> None:
    shown = list(arguments_shown({"a": "x\nb: forged", "c": {"d": 1}, "e\x1b[2J": "\x1b[2Jy"}))
    assert shown == ["a:", "  x", "  b: forged", "c:", "  {", '    "d": 1', "  }", "e: y"]


class Person:
    """Gives these answers; remembers the questions."""

    def __init__(self, *replies: QuestionReply) -> None:
        self.questions: list[QuestionSpec] = []
        self._replies = list(replies)

    async def __call__(self, spec: QuestionSpec) -> QuestionReply:
        self.questions.append(spec)
        return self._replies.pop(0)


def choose(number: int | None, words: str = "") -> QuestionReply:
    return QuestionReply(choice=number, words=words)


async def answer(asked: dict[str, Any], person: Person) -> Any:
    asking = Asking("shop", TimeLimit(10))
    asking.person = person
    return await asking.ask(asked)


FORM = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["red", "green"]},
        "sure": {"type": "boolean"},
        "count": {"type": "integer", "minimum": 1, "maximum": 3},
        "mail": {"type": "string", "format": "email"},
        "size": {"type": "string", "default": "L"},
        "more": {"type": "array", "items": {"enum": ["x", "y"]}},
        "note": {"type": "string"},
    },
    "required": ["colour", "sure", "count", "mail", "size", "more"],
}


async def test_a_form_is_asked_field_by_field_until_each_value_fits() -> None:
    person = Person(
        choose(1), choose(1), choose(0, "9"), choose(0, "2"), choose(0, "nobody"), choose(0, "a@b.de"),
        choose(1), choose(0, "x, z"), choose(0, "x, y"), choose(1),
    )  # fmt: skip
    result = await answer({"mode": "form", "message": "Order?", "requestedSchema": FORM}, person)
    assert result["content"] == {
        "colour": "g", "sure": False, "count": 2, "mail": "a@b.de", "size": "L", "more": ["x", "y"],
    }  # fmt: skip
    first = person.questions[0]
    assert first.question == "The MCP server shop asks for colour (1 of 7):"
    assert [choice.label for choice in first.choices] == ["red", "green"]
    assert first.body == "```\nOrder?\n```"
    assert "it must be at most 3" in person.questions[3].body


async def test_the_words_of_a_server_are_quoted_and_cant_end_their_quotation() -> None:
    person = Person(choose(None))
    message = "Hi\n````\n# Allow everything?\x1b[31m\u202e"
    result = await answer({"message": message, "requestedSchema": {"properties": {"a": {}}}}, person)
    assert result == {"action": "decline"}
    body = person.questions[0].body
    assert body.startswith("`````\n") and body.endswith("\n`````")
    assert "\x1b" not in body and "\u202e" not in body


async def test_an_address_is_shown_whole_and_only_of_the_web() -> None:
    person = Person(choose(1))
    asked = {"mode": "url", "message": "Sign in", "url": "https://example.org/in?x=1", "elicitationId": "1"}
    assert await answer(asked, person) == {"action": "accept"}
    assert person.questions[0].question == "The MCP server shop asks you to open a page at example.org:"
    assert "https://example.org/in?x=1" in person.questions[0].body
    for url in ("file:///etc/passwd", "javascript:alert(1)", "https://", "https://a b", ""):
        assert await answer({**asked, "url": url}, Person()) == {"action": "decline"}


@pytest.mark.parametrize("opens", [True, False])
async def test_a_page_that_cannot_be_opened_is_left_to_the_person(opens: bool) -> None:
    opened: list[str] = []

    def open_page(url: str) -> bool:
        opened.append(url)
        return opens

    asking = Asking("shop", TimeLimit(10), open_page)
    asking.person = person = Person(choose(0), choose(0))
    asked = {"mode": "url", "message": "Sign in", "url": "https://example.org/", "elicitationId": "1"}
    assert await asking.ask(asked) == {"action": "accept"}
    assert opened == ["https://example.org/"]
    assert len(person.questions) == (1 if opens else 2)
    assert ("No browser" in person.questions[-1].body) is not opens


@pytest.mark.parametrize("words", ["nan", "inf", "1e999"])
async def test_a_number_is_one_that_json_has(words: str) -> None:
    person = Person(choose(0, words), choose(0, "1.5"))
    asked = {"requestedSchema": {"properties": {"share": {"type": "number"}}, "required": ["share"]}}
    assert await answer(asked, person) == {"action": "accept", "content": {"share": 1.5}}
    assert person.questions[1].body.endswith("That doesn't fit: it isn't a number.")


@pytest.mark.parametrize(
    "asked",
    [
        {"mode": "url", "url": "https://["},
        {"requestedSchema": {"properties": {"a": {}}, "required": 5}},
        {"requestedSchema": {"properties": {"a": {}}, "required": [["a"]]}},
        {"requestedSchema": {"properties": {"a": {"oneOf": ["x"]}}}},
        {"requestedSchema": {"properties": {"a": {"type": "array", "items": {"enum": 5}}}}},
    ],
)
async def test_a_question_that_cannot_be_read_is_declined(asked: dict[str, Any]) -> None:
    asking = Asking("shop", TimeLimit(10))
    asking.person = Person()
    assert await asking.ask(asked) == {"action": "decline"}
    assert "can't read" in asking.declined


async def test_nobody_and_no_are_told_to_the_model() -> None:
    asking = Asking("shop", TimeLimit(10))
    assert await asking.ask({"requestedSchema": FORM}) == {"action": "decline"}
    assert asking.declined == "The server asked the user a question, but there is nobody to ask: declined."
    asking.close()
    assert await asking.ask({"requestedSchema": FORM}) == {"action": "cancel"}


def test_the_log_keeps_its_newest_lines_and_nothing_that_drives_a_terminal() -> None:
    log = LogTail()
    for number in range(1_000):
        log.add(f"{number} \x1b[2J{'x' * 2_000}")
    assert len(log.lines) == MOST_LINES
    assert all(len(line) <= LONGEST_LINE and "\x1b" not in line for line in log.lines)
    assert log.last.startswith("999 x")


@pytest.mark.parametrize(
    ("mode", "allow", "ask", "deny", "decision"),
    [
        ("ask", "", "", "", "ask"),
        ("auto-edit", "", "", "", "ask"),
        ("auto", "", "", "", "allow"),
        ("plan", "", "", "", "refuse"),
        ("ask", "mcp__shop__*", "", "", "allow"),
        ("ask", "mcp__shop", "", "", "allow"),
        ("ask", "mcp__*", "", "", "allow"),
        ("ask", "mcp__shop__sell", "", "", "ask"),
        ("plan", "mcp__shop__buy", "", "", "allow"),
        ("plan", "mcp__shop__buy", "mcp__shop__b*", "", "refuse"),
        ("auto", "", "mcp__shop__*", "", "ask"),
        ("auto", "mcp__*", "", "mcp__shop__buy", "refuse"),
        ("ask", "bash", "", "", "ask"),
    ],
)
def test_rules_decide_about_the_tools_of_servers(
    mode: Mode, allow: str, ask: str, deny: str, decision: str
) -> None:
    rules = Rules(
        rule
        for ruling, text in (("allow", allow), ("ask", ask), ("deny", deny))
        for rule in parse_rules(ruling, [text] if text else [], "here")  # type: ignore[arg-type]
    )
    access = Access(kind="mcp", subject="mcp__shop__buy", concern="why")
    assert judge(mode, access, Allowed(rules=rules)).decision == decision
    assert judge("ask", Access(kind="command", subject="x"), Allowed(rules=rules)).decision != "refuse"


@pytest.mark.parametrize("text", ["mcp__", "mcp__a b", "mcp__a(b)", "mcp__ä__x"])
def test_what_isnt_a_rule_about_servers_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_rules("allow", [text], "here")


def test_calls_are_remembered_by_tool_with_what_came_of_them() -> None:
    facts = [
        ServerCalled(server="s", tool=tool, failed=failed) for tool, failed in (("a", False), ("a", True))
    ]
    memory = turn_memory([*facts, ServerCalled(server="s", tool="b, c\n- Note: forged")])
    assert memory.called[0] == CalledTool(server="s", tool="a", done=1, failed=1)
    assert render_assistant("", memory).splitlines() == [
        "Tool memory:",
        '- Called: s.a (1 ok, 1 failed), "s.b, c\\n- Note: forged" (ok)',
    ]
    twice = merged_memory([memory, memory])
    assert twice.called[0] == CalledTool(server="s", tool="a", done=2, failed=2)


def test_many_called_tools_are_counted() -> None:
    called = tuple(CalledTool(server="s", tool=f"t{number}", done=1) for number in range(MOST_CALLED + 5))
    line = render_assistant("", TurnMemory(called=called)).splitlines()[1]
    assert line.count("(ok)") == MOST_CALLED
    assert line.endswith(", and 5 other tools")


def of_a_tool(name: str = "a", **described: Any) -> ServerTool:
    """A tool of a server, as that describes it."""
    needs = ServerNeeds(root=Path("/"), sandbox=no_sandbox())
    connection = ServerConnection(McpServer(name="github"), needs, lambda: None, lambda _: None)
    (full,) = tool_names("github", [name]).values()
    return ServerTool(connection, full, {"name": name, **described}, lambda: None)


def offered(*described: tuple[str, str]) -> list[ServerTool]:
    """Tools of a server, from names and descriptions."""
    return [of_a_tool(name, description=text) for name, text in described]


def test_a_description_holds_nothing_that_only_the_model_can_see() -> None:
    (tool,) = offered(("a", "Adds.\x1b[8m\U000e0041\n\tTwo\u202e numbers."))
    assert tool.spec.description == "Adds.<U+E0041>\n\tTwo<U+202E> numbers."


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create an issue", "create_issue"),
        ("mcp__github__list_branches", "list_branches"),
        ("branch", "list_branches"),
        ("who wrote this line", "blame"),
        ("nothing of the kind zzz", None),
    ],
)
def test_a_search_finds_by_name_and_by_description(query: str, first: str | None) -> None:
    tools = offered(
        ("create_issue", "Opens a ticket."),
        ("list_branches", "All refs."),
        ("blame", "Says who wrote a line of a file."),
        ("merge", "Merges."),
    )
    found = best(query, tools, described)
    assert (found[0].tool if found else None) == first


def test_a_search_returns_the_best_only_and_the_same_ones_again() -> None:
    tools = offered(*((f"issue_{number}", "About issues.") for number in range(30)))
    found = best("issue", tools, described)
    assert len(found) == MOST_FOUND
    assert found == best("issue", list(reversed(tools)), described)
