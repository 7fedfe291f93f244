"""Skills at the level of the wire, on every API: what is sent of one, for how long, and what stays (turn.md
rule 17)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, Reply, Say
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    Compacted,
    Event,
    Notice,
    SkillCalled,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    is_stored,
)
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import TurnMemory
from keen_tui.memory.conversation import conversation_of
from keen_tui.memory.unfinished import endings, unfinished
from keen_tui.settings.added.skills import Skill
from keen_tui.storage.records import event_line, parsed_event
from keen_tui.tools.rules.rules import Rules, parse_rules
from tests.support.agent import AtWork, Bench

BODY = "# PDF\n\nRead forms.md, then fill $ARGUMENTS in with ${CLAUDE_SKILL_DIR}/scripts/fill.py."
OK = Reply([Say("Ok.")])
CUT = Reply([Say("This is cut in the mid")], broken=Break("reset"))
LOAD = Call("skill", {"name": "pdf"})


@pytest.fixture
def pdf(tmp_path: Path) -> Skill:
    folder = tmp_path.resolve() / "home/.claude/skills/pdf"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: pdf\ndescription: Fills PDF forms.\n---\n\n{BODY}\n")
    (folder / "forms.md").write_text("Fields have names.\n")
    (folder / "scripts/fill.py").write_text("print('filled')\n")
    return Skill(
        name="pdf",
        description="Fills PDF forms.",
        folder=folder,
        file="SKILL.md",
        where="~/.claude/skills",
        origin="yours",
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def read(path: Path) -> Call:
    return Call("read_file", {"path": str(path)})


def in_use(bench: Bench) -> list[str]:
    return [skill.name for skill in bench.session.skills_in_use]


def reread(event: Event) -> Event:
    """The event as a session file gives it back."""
    read = parsed_event(json.loads(event_line(1, 0.0, event)))
    assert read is not None
    return read


async def test_without_skills_nothing_of_them_is_sent(work: Path, at_work: AtWork) -> None:
    async with at_work([OK], work) as bench:
        await bench.ask("/pdf fill in form.pdf")
        assert "Skills are" not in bench.system()
        assert bench.lines() == ["user: /pdf fill in form.pdf"]
        assert '"skill"' not in str(bench.server.requests[0].body)


async def test_a_skill_has_one_line_in_the_system_prompt_and_its_text_where_it_is_used(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    script = [Reply([Say("I look."), LOAD, read(pdf.folder / "forms.md")]), OK, OK]
    async with at_work(script, work, skills=[pdf], mode="ask") as bench:
        done = await bench.ask("Fill in form.pdf")
        assert isinstance(done, TurnDone)
        assert "\n- pdf: Fills PDF forms.\n" in bench.system(0)
        assert "Read forms.md" not in bench.system(0)
        given, forms = bench.results(1)
        assert given.startswith(f"Skill pdf, in the folder {pdf.folder}.")
        assert f"# PDF\n\nRead forms.md, then fill $ARGUMENTS in with {pdf.folder}/scripts/fill.py." in given
        assert "forms.md, scripts/fill.py" in given
        assert forms == "1\tFields have names.", "files beside it are read without a question"
        size = done.turn_memory.skills[0].bytes
        assert done.turn_memory == TurnMemory(skills=(SkillUsed(name="pdf", bytes=size),))
        await bench.ask("And now?")
        assert bench.lines() == [
            "user: Fill in form.pdf",
            "assistant: I look.\n\nOk.\n\nTool memory:\n- Skill in use: pdf",
            "user: And now?",
        ]
        assert bench.system(0) == bench.system(2), "prompt caches reuse it"
        bench.assert_valid_requests()


async def test_a_person_calls_a_skill_and_later_turns_carry_its_name_only(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    async with at_work([OK, OK], work, skills=[pdf]) as bench:
        done = await bench.ask("/pdf form.pdf")
        assert isinstance(done, TurnDone)
        (line,) = bench.lines(0)
        assert line.startswith(f"user: /pdf form.pdf\n\nSkill pdf, in the folder {pdf.folder}.")
        assert "then fill form.pdf in with" in line
        assert [skill.name for skill in done.turn_memory.skills] == ["pdf"]
        await bench.ask("And now?")
        assert bench.lines() == [
            "user: /pdf form.pdf",
            "assistant: Ok.\n\nTool memory:\n- Skill in use: pdf",
            "user: And now?",
        ]
        bench.assert_valid_requests()


async def test_a_retry_sends_the_same_text_and_loads_nothing_again(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    script = [Reply([LOAD]), CUT, CUT, OK, OK]
    async with at_work(script, work, skills=[pdf]) as bench:
        assert isinstance(await bench.ask("/pdf form.pdf"), TurnIncomplete)
        sent = bench.lines(1)
        (pdf.folder / "SKILL.md").write_text("---\nname: pdf\ndescription: d\n---\nNEWER\n")
        assert isinstance(await bench.retry(), TurnIncomplete)
        done = await bench.retry()
        assert isinstance(done, TurnDone)
        assert bench.lines(2) == bench.lines(3) == sent
        assert len(bench.log.of(SkillCalled)) == 1
        assert [skill.name for skill in done.turn_memory.skills] == ["pdf"]
        await bench.ask("And now?")
        assert bench.lines() == [
            "user: /pdf form.pdf",
            "assistant: Ok.\n\nTool memory:\n- Skill in use: pdf",
            "user: And now?",
        ]
        bench.assert_valid_requests()
        await bench.log.caught_up()
        written = [reread(event) for event in bench.log.events if is_stored(event)]
        assert conversation_of(written).past == bench.session.past, "a file of the session tells it all"
        half = written[: [isinstance(event, TurnIncomplete) for event in written].index(True) + 1]
        (message,) = conversation_of(half).unanswered
        assert message.skill is not None and message.skill.text in sent[0]
        (end,) = endings(unfinished(half), None)
        assert isinstance(end, TurnAbandoned), "the program was killed there"
        assert [skill.name for skill in end.turn_memory.skills] == ["pdf"]


async def test_a_message_that_failed_keeps_its_skill_for_the_retry(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    refused = HttpAnswer(401, {"error": {"message": "wrong key"}})
    async with at_work([refused, OK], work, skills=[pdf]) as bench:
        assert isinstance(await bench.ask("/pdf form.pdf"), TurnError)
        done = await bench.retry()
        assert isinstance(done, TurnDone)
        assert bench.lines(0) == bench.lines(1)
        assert (len(bench.log.of(SkillCalled)), len(done.turn_memory.skills)) == (1, 1)


async def test_abandoned_work_remembers_the_skill(work: Path, at_work: AtWork, pdf: Skill) -> None:
    async with at_work([Reply([LOAD]), CUT, OK], work, skills=[pdf]) as bench:
        await bench.ask("Fill it in.")
        assert in_use(bench) == ["pdf"]
        bench.session.discard()
        await bench.ask("Next.")
        assert bench.lines()[1] == "assistant: (turn abandoned)\n\nTool memory:\n- Skill in use: pdf"


async def test_a_summary_keeps_it_and_putting_away_forgets_it_everywhere(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    script: list[Answer] = [Reply([LOAD]), OK, OK, Reply([Say("We filled forms.")]), OK, OK, OK]
    async with at_work(script, work, skills=[pdf]) as bench:
        await bench.ask("Fill it in.")
        await bench.ask("/pdf again")
        assert isinstance(await bench.compact(), Compacted)
        assert not any("Read forms.md" in line for line in bench.lines())
        await bench.ask("/pdf once more")
        assert bench.lines()[1].endswith("We filled forms.\n\nTool memory:\n- Skill in use: pdf")
        assert in_use(bench) == ["pdf"]
        bench.session.unload("pdf")
        assert in_use(bench) == []
        with pytest.raises(SessionRefused, match="isn't in use"):
            bench.session.unload("pdf")
        await bench.ask("And now?")
        assert not any("Skill in use" in line for line in bench.lines())
        bench.assert_valid_requests()


async def test_a_steering_message_calls_a_skill_inside_the_trace(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    script = [Reply([Call("bash", {"command": "true"})]), OK, OK]
    async with at_work(script, work, skills=[pdf]) as bench:
        bench.session.submit("Go.")
        bench.session.steer("/pdf form.pdf")
        done = await bench.log.wait_for_end()
        assert isinstance(done, TurnDone)
        assert bench.lines(1)[-1].startswith("user: /pdf form.pdf\n\nSkill pdf, in the folder")
        assert [skill.name for skill in done.turn_memory.skills] == ["pdf"]
        await bench.ask("Next.")
        assert bench.lines()[:1] == ["user: Go.\n\n/pdf form.pdf"]


async def test_the_policy_decides_whether_the_text_stays(
    work: Path, at_work: AtWork, pdf: Skill, policy: PolicyName
) -> None:
    async with at_work([OK, OK], work, skills=[pdf], policy=policy) as bench:
        await bench.ask("/pdf form.pdf")
        await bench.ask("And now?")
        assert ("then fill form.pdf in" in bench.lines()[0]) is (policy == "full-trace")


async def test_the_context_view_shows_what_skills_take(work: Path, at_work: AtWork, pdf: Skill) -> None:
    async with at_work([Reply([LOAD]), CUT, OK], work, skills=[pdf]) as bench:
        await bench.ask("/pdf form.pdf")
        sizes = {part.kind: part.sizes for part in (await bench.session.context()).parts}
        assert sizes["skills"][0].text == bench.session.state.open.setup.skills
        assert sizes["turn"][0].includes.startswith("skill pdf, ")
        assert sizes["pending"][0].includes.startswith("skill pdf, ")
        await bench.retry()
        turn = next(part for part in (await bench.session.context()).parts if part.kind == "turn")
        left_out = [each.left_out for each in turn.sizes]
        assert left_out[0].startswith("1 call and its result, ")
        assert "skill pdf, " in left_out[0]
        assert (left_out[2], "skill pdf, " in turn.sizes[2].includes) == ("", True)


async def test_who_may_start_a_skill(work: Path, at_work: AtWork, pdf: Skill) -> None:
    by_person = replace(pdf, for_model=False)
    script = [Reply([LOAD]), OK, OK, Reply([LOAD]), OK]
    async with at_work(script, work, skills=[by_person]) as bench:
        await bench.ask("Fill it in.")
        assert "- pdf" not in bench.system()
        assert bench.results(1) == ["Error: only the user can start the skill pdf, with /pdf."]
        await bench.ask("/pdf form.pdf")
        await bench.ask("The next form.")
        assert bench.results()[-1].startswith("Skill pdf"), "once it is in use, the model may load it again"
    by_model = replace(pdf, for_person=False)
    async with at_work([OK], work, skills=[by_model]) as bench:
        await bench.ask("/pdf form.pdf")
        assert bench.lines() == ["user: /pdf form.pdf"]


async def test_a_skill_that_changed_since_it_was_trusted_is_not_sent(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    script = [Reply([LOAD]), OK, OK]
    async with at_work(script, work, skills=[replace(pdf, digest="of then")]) as bench:
        done = await bench.ask("Fill it in.")
        assert isinstance(done, TurnDone)
        assert "changed since you trusted it" in bench.results(1)[0]
        assert done.turn_memory == TurnMemory()
        await bench.ask("/pdf form.pdf")
        assert bench.lines()[-1].startswith("user: /pdf form.pdf\n\n[the skill pdf can't be used: its folder")
        assert bench.log.of(Notice)[0].text.startswith("The skill pdf can't be used: its folder has changed")
        assert in_use(bench) == []


def rules(*denied: str) -> Rules:
    return Rules(parse_rules("deny", denied, "settings.toml"))


@pytest.mark.parametrize(
    ("path", "denied", "why"),
    [
        ("forms.md", (), ""),
        (".env", (), "nobody to ask"),
        ("forms.md", ("read(*.md)",), "read(*.md)"),
        ("forms.md", ("read(**/skills/**)",), "read(**/skills/**)"),
        ("out.md", (), "nobody to ask"),
        ("../other/forms.md", (), "nobody to ask"),
    ],
)
async def test_reading_beside_a_skill_is_all_that_is_free(
    work: Path, at_work: AtWork, pdf: Skill, path: str, denied: Sequence[str], why: str
) -> None:
    (pdf.folder / ".env").write_text("KEY=1\n")
    (pdf.folder / "../other").mkdir()
    (pdf.folder / "../other/forms.md").write_text("Other.\n")
    (pdf.folder / "out.md").symlink_to("../other/forms.md")
    script = [Reply([read(pdf.folder / path)]), OK]
    async with at_work(script, work, skills=[pdf], mode="ask", attended=False, rules=rules(*denied)) as bench:
        await bench.ask("Read it.")
        (result,) = bench.results()
        assert (result == "1\tFields have names.") is (why == "")
        assert why in result


async def test_a_rule_denies_a_skill_itself(work: Path, at_work: AtWork, pdf: Skill) -> None:
    async with at_work([Reply([LOAD]), OK], work, skills=[pdf], rules=rules("read(SKILL.md)")) as bench:
        await bench.ask("Fill it in.")
        assert bench.results()[0].startswith("Refused: the user's rule denies read(SKILL.md)")


async def test_writing_beside_a_skill_asks_like_everywhere(work: Path, at_work: AtWork, pdf: Skill) -> None:
    write = Call("write_file", {"path": str(pdf.folder / "forms.md"), "content": "x"})
    async with at_work([Reply([write]), OK], work, skills=[pdf], mode="auto-edit", attended=False) as bench:
        await bench.ask("Write it.")
        assert "nobody to ask" in bench.results()[0]
        assert (pdf.folder / "forms.md").read_text() == "Fields have names.\n"


async def test_the_model_finds_skills_that_are_not_in_its_list(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    others = [replace(pdf, name=f"a{number:03}", description="Bakes bread. " * 10) for number in range(400)]
    script = [
        Reply([Call("skill", {"query": "fill in a form"})]),
        Reply([Call("skill", {"name": "pfd"})]),
        Reply([Call("skill", {"query": "nothing like it"})]),
        Reply([LOAD]),
        OK,
    ]
    async with at_work(script, work, skills=[*others, pdf]) as bench:
        done = await bench.ask("Fill in form.pdf")
        assert "- pdf:" not in bench.system(0)
        assert "more: find them with the tool skill and its query" in bench.system(0)
        found, unknown, nothing, given = bench.results()
        assert found == "- pdf: Fills PDF forms."
        assert "there is no skill 'pfd'" in unknown
        assert len(unknown) < 1_000, "400 names would be noise"
        assert nothing == "No skill fits. Try other words."
        assert given.startswith("Skill pdf, in the folder")
        assert isinstance(done, TurnDone)
        assert [skill.name for skill in done.turn_memory.skills] == ["pdf"]
        bench.assert_valid_requests()


async def test_without_more_skills_than_fit_there_is_nothing_to_search(
    work: Path, at_work: AtWork, pdf: Skill
) -> None:
    async with at_work([Reply([Call("skill", {"query": "forms"})]), OK], work, skills=[pdf]) as bench:
        await bench.ask("Fill in form.pdf")
        assert '"query"' not in str(bench.server.requests[0].body["tools"])
        assert "name" in bench.results()[0]
