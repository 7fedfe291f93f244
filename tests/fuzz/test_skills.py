"""SKILL.md files that others wrote, or broke: each is read or refused, and none drives the terminal."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from keen_tui.settings.added.skill_folders import own_folders
from keen_tui.settings.added.skills import SkillProblem, load_skill, read_skills, with_arguments
from keen_tui.text.sanitize import HIDDEN, clean
from keen_tui.tools.builtin.skill_list import MOST_BYTES, skill_list
from keen_tui.tools.builtin.skills import SkillShelf
from tests.fuzz.budget import examples
from tests.fuzz.corpora import DRIVING, NAUGHTY

PIECES = st.sampled_from(
    (
        "---\n",
        "name: pdf\n",
        "description: d\n",
        "description: |\n  a\n",
        "a: &x [*x]\n",
        "&a *a",
        "- ",
        ": ",
        "!!",
    )
) | st.sampled_from((*DRIVING, *NAUGHTY))
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=200)
FRONTS = st.tuples(TEXTS, TEXTS, TEXTS).map(
    lambda parts: f"---\nname: {parts[0]}\ndescription: {parts[1]}\n---\n{parts[2]}"
)


@examples(few=60, many=3_000)
@given(content=(TEXTS | FRONTS).map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=200))
def test_whatever_a_file_says_it_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        (home / "skills/x").mkdir(parents=True)
        (home / "skills/x/SKILL.md").write_bytes(content)
        read = read_skills(own_folders((home / "skills", home / "a", home / "b")))
        assert len(read.found) + len(read.problems) == 1
        for sentence in read.problems:
            assert not HIDDEN.search(clean(sentence).replace("\n", ""))
        for skill in read.found:
            shown = (skill.name, skill.description, skill.hint, *skill.remarks)
            assert not any(HIDDEN.search(text) or "\n" in text for text in shown)
            assert 0 < len(skill.name) <= 64
            listed = skill_list([skill]).text
            assert len(listed.encode("utf-8", "replace")) < MOST_BYTES
            assert listed.count("\n- ") == 1
            try:
                text = load_skill(skill)
            except SkillProblem:
                continue
            given_text = SkillShelf([skill]).given(skill, "words").text
            *_, begins, _ = given_text.partition("[skill ")
            number = begins and given_text.split("[skill ", 1)[1].split(" ", 1)[0]
            assert number not in text
            with_arguments(text, "'a b", skill)
