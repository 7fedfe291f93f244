"""The skills in the system prompt: a line for each, bounded, in an order that stays."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from keen_tui.settings.added.skills import Skill
from keen_tui.tools.builtin.skill_list import MOST_BYTES, skill_list

PDF = Skill(
    name="pdf",
    description="Fills PDF forms.",
    folder=Path("/s/pdf"),
    file="SKILL.md",
    where="~/.claude/skills",
    origin="yours",
)


def lines(*skills: Skill) -> list[str]:
    return [line for line in skill_list(skills).text.splitlines() if line.startswith("- ")]


def many(count: int, length: int) -> list[Skill]:
    return [replace(PDF, name=f"s{number:04}", description="é" * length) for number in range(count)]


def test_skills_stand_in_the_order_of_their_names_whatever_was_found_first() -> None:
    docx = replace(PDF, name="docx", description="Writes letters.")
    assert lines(PDF, docx) == ["- docx: Writes letters.", "- pdf: Fills PDF forms."]
    assert skill_list([PDF, docx]) == skill_list([docx, PDF])
    assert skill_list([]).text == ""


def test_a_skill_that_only_a_person_starts_has_no_line() -> None:
    only_person = replace(PDF, for_model=False)
    assert lines(only_person) == []
    assert "Skill in use" in skill_list([only_person]).text, "the model still has to know what that means"


def test_all_descriptions_are_cut_to_one_length_that_fits() -> None:
    listed = lines(*many(40, 1_000))
    assert len(listed) == 40
    assert {len(line) for line in listed} == {len("- s0000: ") + 120 + 1}
    assert len(skill_list(many(40, 1_000)).text.encode()) < MOST_BYTES + 1_000
    assert lines(*many(5, 1_024))[0] == f"- s0000: {'é' * 1_024}"


def test_skills_that_do_not_fit_are_counted_and_keep_a_part_of_their_description() -> None:
    *listed, last = lines(*many(3_000, 200))
    assert listed[0] == f"- s0000: {'é' * 120}…"
    assert last == f"- and {3_000 - len(listed)} more: find them with the tool skill and its query"
    assert len(skill_list(many(3_000, 200)).text.encode()) < MOST_BYTES + 1_000


def test_a_project_s_skills_are_listed_before_the_user_s() -> None:
    of_project = replace(PDF, name="zebra", origin="project")
    listed = skill_list([*many(3_000, 100), of_project])
    assert "\n- zebra: Fills PDF forms.\n- s0000" in listed.text


def test_a_notice_says_how_many_skills_the_model_sees() -> None:
    listed = skill_list(many(812, 100))
    assert (
        listed.notice
        == f"The model can use 812 skills: it sees {listed.shown} and can search for the others."
    )
    assert 60 < listed.shown < 812
    assert skill_list(many(40, 1_000)).notice == ""
