"""Functions of a program as tools: what the model is told of them, what it gets, and what is remembered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from keen_tui import Allow, Approval, ConfigError, Deny, FunctionResult, ToolFailure, events, tool
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.tools.functions.signature import function_spec, function_specs
from tests.support.programs_api import ApiWorld, all_of, api_world, of
from tests.support.waiting import LIMIT, until

OK = Reply([Say("Ok.")])

Worlds = Callable[..., Any]


@pytest.fixture
async def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worlds]:
    """Makes a world whose model makes these calls in one step, and then ends."""
    yield lambda *calls: api_world(tmp_path, monkeypatch, [Reply(calls), OK, OK])


@dataclass
class Basket:
    """A parameter with fields."""

    items: list[str]
    gift: bool = False


def order(
    basket: Basket,
    address: str,
    speed: Literal["slow", "fast"] = "slow",
    copies: Annotated[int, Meta(ge=1, le=9)] = 1,
    note: str | None = None,
) -> str:
    """Order a basket.

    It is delivered tomorrow.

    Args:
        basket: what to order
        address (str): where to,
            with the town
        note: for the driver

    Returns:
        The number of the order.
    """
    return f"{basket.items} to {address}, {speed}, {copies}, {note}"


async def ran(world: ApiWorld, *functions: Any, **arguments: Any) -> str:
    """The result of the only call."""
    async with world.open(**{"mode": "auto", "tools": functions, **arguments}) as session:
        await session.ask("go").end()
    (result,) = world.results()
    return result


# What the model is told


async def test_the_signature_and_the_docstring_are_the_declaration(worlds: Worlds) -> None:
    async with worlds() as world:
        async with world.open(tools=[order]) as session:
            await session.ask("go").end()
        told = next(
            each["function"]
            for each in world.server.requests[0].body["tools"]
            if each["function"]["name"] == "order"
        )
    assert told["description"] == (
        "Order a basket.\n\nIt is delivered tomorrow.\n\nReturns:\n    The number of the order."
    )
    parameters = told["parameters"]
    assert parameters["required"] == ["basket", "address"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["address"] == {
        "type": "string",
        "description": "where to, with the town",
    }
    assert parameters["properties"]["speed"]["enum"] == ["fast", "slow"]
    assert parameters["properties"]["copies"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 1}
    assert set(parameters["$defs"]["Basket"]["properties"]) == {"items", "gift"}


@tool(name="look-up", reads_only=True)
def look_up(word: str) -> str:
    """Look a word up."""
    return word.upper()


def _no_docstring(x: int) -> None:
    pass


def _no_type(x) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Do it."""


def _any_number(*x: int) -> None:
    """Do it."""


def _by_position(x: int, /) -> None:
    """Do it."""


def _not_json(x: complex, y: threading.Lock) -> None:
    """Do it."""


def _unknown_type(x: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do it."""


def bash(command: str) -> None:
    """Do it."""


@tool(name="mcp__a__b")
def _like_a_server() -> None:
    """Do it."""


WRONG = {
    "no docstring": (_no_docstring, "_no_docstring has no docstring"),
    "no type": (_no_type, "the argument x of _no_type has no type"),
    "any number": (_any_number, "_any_number takes *x by position"),
    "by position": (_by_position, "_by_position takes x by position"),
    "no JSON": (_not_json, "an argument of _not_json has a type that JSON can't express"),
    "unknown type": (_unknown_type, "the signature of _unknown_type can't be read: name 'Nowhere'"),
    "no name": (partial(order, note="x"), "can't be the name of a tool"),
    "a lambda": (lambda: "", "'<lambda>' can't be the name of a tool"),
    "the name of one of Keen's": (bash, "bash is the name of one of Keen's own tools"),
    "a name of servers": (_like_a_server, "mcp__a__b is the name of one of Keen's own tools"),
    "no function": ("order", "'order' isn't a function"),
}


@pytest.mark.parametrize(("function", "says"), WRONG.values(), ids=WRONG)
def test_a_function_that_can_be_no_tool_is_refused_in_a_sentence(function: Any, says: str) -> None:
    with pytest.raises(ConfigError) as told:
        function_specs([function])
    assert says in str(told.value)
    assert str(told.value).startswith("tools: ")


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two functions are called order"):
        function_specs([order, order])


async def test_open_session_refuses_them_before_anything_runs(worlds: Worlds) -> None:
    async with worlds() as world:
        with pytest.raises(ConfigError, match="has no docstring"):
            async with world.open(tools=[_no_docstring]):
                pass


def test_a_method_is_a_tool() -> None:
    class Shop:
        def sell(self, item: str) -> str:
            """Sell it."""
            return item

    spec = function_spec(Shop().sell)
    assert (spec.spec.name, list(spec.spec.parameters["properties"])) == ("sell", ["item"])


# What it gets


async def test_arguments_come_with_their_types(worlds: Worlds) -> None:
    given = {"basket": {"items": ["a"]}, "address": "X", "copies": "3", "note": None, "speed": None}
    async with worlds(Call("order", given)) as world:
        assert await ran(world, order) == "['a'] to X, slow, 3, None"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"address": "X"}, "Error: order: Object missing required field basket."),
        (
            {"basket": {"items": [1]}, "address": "X"},
            "Error: order: Expected str, got int - at $.basket.items",
        ),
        ({"basket": {"items": []}, "address": "X", "copies": 10}, "Error: order: Expected int <= 9"),
        (
            {"basket": {"items": []}, "address": "X", "town": "Y"},
            "Error: order: Object contains unknown field",
        ),
    ],
    ids=["missing", "nested", "too many", "unknown"],
)
async def test_wrong_arguments_are_told_to_the_model(worlds: Worlds, given: Any, says: str) -> None:
    async with worlds(Call("order", given)) as world:
        assert (await ran(world, order)).startswith(says)


def returning(value: Any) -> Callable[[], Any]:
    def give() -> Any:
        """Give it."""
        return value

    return give


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", "text"),
        (None, "(the tool returned nothing)"),
        ({"a": [1, 2]}, '{"a":[1,2]}'),
        (Basket(["x"]), '{"items":["x"],"gift":false}'),
        (FunctionResult(text="no such item", is_error=True), "Error: no such item"),
        (object(), "Error: give ran, but its result is lost: object can't become JSON."),
    ],
    ids=["text", "nothing", "JSON", "a dataclass", "an error", "no JSON"],
)
async def test_what_it_returns_is_the_result(worlds: Worlds, value: Any, result: str) -> None:
    async with worlds(Call("give")) as world:
        assert await ran(world, returning(value)) == result


async def test_an_argument_may_have_any_name(worlds: Worlds) -> None:
    def explain(function: str, arguments: str, named: str) -> str:
        """Explain a function."""
        return f"{function} {arguments} {named}"

    async with worlds(Call("explain", {"function": "f", "arguments": "x", "named": "y"})) as world:
        assert await ran(world, explain) == "f x y"


async def test_a_function_whose_own_job_was_cancelled_has_failed_and_the_turn_goes_on(worlds: Worlds) -> None:
    async def fetch() -> None:
        """Fetch it."""
        job = asyncio.create_task(asyncio.Event().wait())
        job.cancel()
        await job

    async with worlds(Call("fetch")) as world:
        assert await ran(world, fetch) == "Error: fetch failed (RuntimeError: it raised CancelledError)."


async def test_a_long_text_is_cut_and_kept(worlds: Worlds) -> None:
    async with worlds(Call("give")) as world:
        result = await ran(world, returning("line\n" * 100_000))
    assert len(result) < 30_000
    assert "the whole output is in" in result


async def test_what_it_raises_is_an_error_result(worlds: Worlds) -> None:
    def refuse() -> None:
        """Refuse."""
        raise ToolFailure("the shop is closed. Try tomorrow.")

    async def break_down() -> None:
        """Break."""
        raise KeyError("shelf")

    async with worlds(Call("refuse"), Call("break_down")) as world:
        async with world.open(mode="auto", tools=[refuse, break_down]) as session:
            assert isinstance(await session.ask("go").end(), events.TurnDone)
        assert world.results() == [
            "Error: the shop is closed. Try tomorrow.",
            "Error: break_down failed (KeyError: 'shelf').",
        ]


# Approvals


def touch(name: str) -> str:
    """Touch it."""
    return "touched"


async def test_it_asks_unless_it_only_reads(worlds: Worlds) -> None:
    asked: list[Approval] = []

    def approve(call: Approval) -> Allow | Deny:
        asked.append(call)
        return Deny("No.")

    calls = (Call("look-up", {"word": "a"}), Call("touch", {"name": "b"}))
    async with worlds(*calls) as world:
        async with world.open(tools=[look_up, touch], approve=approve) as session:
            await session.ask("go").end()
        assert world.results()[0] == "A"
        assert "No." in world.results()[1]
    (call,) = asked
    assert (call.tool, call.target, call.question) == ("touch", "name: b", "Call touch?")
    assert call.grant == "allow touch for this session"


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "plan"])
async def test_without_a_person_only_those_that_only_read_run(worlds: Worlds, mode: str) -> None:
    calls = (Call("look-up", {"word": "a"}), Call("touch", {"name": "b"}))
    async with worlds(*calls) as world:
        async with world.open(tools=[look_up, touch], mode=mode) as session:
            await session.ask("go").end()
        assert world.results()[0].startswith("A")
        assert "touched" not in world.results()[1]


async def test_a_yes_for_the_session_is_for_that_function(worlds: Worlds) -> None:
    asked: list[str] = []

    def approve(call: Approval) -> Allow:
        asked.append(call.tool)
        return Allow(scope="session")

    def other() -> str:
        """Do something else."""
        return "done"

    calls = (Call("touch", {"name": "a"}), Call("touch", {"name": "b"}), Call("other"))
    async with worlds(*calls) as world, world.open(tools=[touch, other], approve=approve) as session:
        await session.ask("go").end()
    assert asked == ["touch", "other"]


# What is remembered


async def test_files_that_it_changes_are_remembered(worlds: Worlds) -> None:
    async with worlds(Call("write")) as world:
        (world.folder / "old.txt").write_text("x")

        def write() -> FunctionResult:
            """Write files."""
            (world.folder / "told.txt").write_text("x")
            (world.folder / "seen.txt").write_text("x")
            return FunctionResult(text="written", files_changed=["told.txt", world.folder / ".." / "far.txt"])

        async with world.open(mode="auto", tools=[write]) as session:
            memory = (await session.ask("go").end()).turn_memory
    assert set(memory.files_changed) == {"told.txt", "../far.txt", "seen.txt"}
    assert memory.by_command == ("seen.txt",)


async def test_one_path_may_stand_without_a_list(worlds: Worlds) -> None:
    async with (
        worlds(Call("give")) as world,
        world.open(
            mode="auto", tools=[returning(FunctionResult(text="x", files_changed="a.txt"))]
        ) as session,
    ):
        assert (await session.ask("go").end()).turn_memory.files_changed == ("a.txt",)


async def test_a_plain_function_blocks_nothing_and_a_stop_leaves_it(worlds: Worlds) -> None:
    begun, release = threading.Event(), threading.Event()

    def wait() -> str:
        """Wait."""
        begun.set()
        release.wait(LIMIT)
        return "late"

    try:
        async with worlds(Call("wait")) as world, world.open(mode="auto", tools=[wait]) as session:
            reading = asyncio.create_task(session.ask("go").end())
            await until(begun.is_set)
            session.stop()
            end = await reading
            assert isinstance(end, events.TurnIncomplete)
            assert [call.name for call in end.unknown_calls] == ["wait"]
            await session.retry().end()
            assert "effects unknown" in world.results()[0]
    finally:
        release.set()


async def test_functions_that_only_read_run_side_by_side(worlds: Worlds) -> None:
    together = asyncio.Barrier(2)

    @tool(reads_only=True)
    async def meet(who: str) -> str:
        """Wait for the other one."""
        async with asyncio.timeout(LIMIT), together:
            return who

    calls = (Call("meet", {"who": "a"}), Call("meet", {"who": "b"}))
    async with worlds(*calls) as world, world.open(tools=[meet]) as session:
        found = await all_of(session.ask("go"))
        assert [each.result.text for each in of(events.ToolFinished, found)] == ["a", "b"]
        assert session.memory[1].files_changed == ()


async def test_later_turns_see_nothing_of_its_output(worlds: Worlds) -> None:
    async with worlds(Call("look-up", {"word": "secret"})) as world, world.open(tools=[look_up]) as session:
        await session.ask("go").end()
        await session.ask("and now?").end()
        assert "SECRET" not in msgspec.json.encode(world.server.requests[-1].body).decode()
        assert [each.role for each in seen(world.server.requests[-1])][1:] == ["user", "assistant", "user"]
