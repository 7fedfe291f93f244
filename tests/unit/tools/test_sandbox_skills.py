"""Commands in every sandbox can read the folders of the user's skills, and nothing else of the home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.tools.sandbox.policy import policy_for
from keen_tui.tools.sandbox.probe import policy_here, skill_folders
from keen_tui.tools.sandbox.scratch import scratch_in
from keen_tui.tools.sandbox.seatbelt import profile
from tests.support.jail import SANDBOXES, Jail


@pytest.fixture(params=sorted(SANDBOXES))
def jail(request: pytest.FixtureRequest, tmp_path: Path) -> Jail:
    return Jail(request.param, tmp_path.resolve())


def skill_in(folder: Path) -> Path:
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("the skill\n")
    (folder / "scripts/run.sh").write_text('echo it ran; cat "$(dirname "$0")/../SKILL.md"\n')
    (folder / ".env").write_text("TOP SECRET\n")
    return folder


@pytest.mark.parametrize("place", [".claude/skills/pdf", ".config/keen-tui/skills/pdf"])
async def test_a_script_of_a_skill_runs_and_nothing_beside_it_is_seen(jail: Jail, place: str) -> None:
    folder = skill_in(jail.home / place)
    other = skill_in(folder.parent / "other")
    jail.show_skill(folder, folder / ".env")
    result = await jail(f"sh {folder}/scripts/run.sh")
    assert result.text.splitlines()[:2] == ["it ran", "the skill"]
    for hidden in (other / "SKILL.md", folder / ".env", jail.own / "session.jsonl"):
        assert "SECRET" not in (seen := await jail(f"cat {hidden}; echo end")).text
        assert "the skill" not in seen.text
    await jail(f"echo changed > {folder}/SKILL.md; rm -r {folder}")
    assert (folder / "SKILL.md").read_text() == "the skill\n"


def test_skills_of_the_workspace_and_around_it_are_no_mounts_of_their_own(tmp_path: Path) -> None:
    work = tmp_path / "dev/pdf"
    own = tmp_path / "home/.claude/skills/pdf"
    skills = (work / ".claude/skills/a", work, work.parent, own, own / "inner")
    policy = policy_for(work, tmp_path / "home", (), os.environ, skills=skills)
    assert policy.skills == (own,)


def test_secrets_in_a_skill_are_hidden(tmp_path: Path) -> None:
    folder = skill_in(tmp_path / "pdf")
    policy = policy_here(tmp_path / "work", os.environ, (folder,))
    assert folder / ".env" in policy.hidden
    assert folder / "SKILL.md" not in policy.hidden


def test_many_skills_of_one_folder_are_one_place_without_what_is_beside_them(tmp_path: Path) -> None:
    skills = [skill_in(tmp_path / f"home/.claude/skills/s{number}") for number in range(60)]
    other = skill_in(skills[0].parent / "other")
    few = skill_in(tmp_path / "few/pdf")
    policy = policy_here(tmp_path / "work", os.environ, (*skills, few))
    assert policy.skills == (skills[0].parent, few)
    assert other in policy.hidden
    assert skills[3] / ".env" in policy.hidden


async def test_commands_see_many_skills_and_nothing_beside_them(jail: Jail) -> None:
    skills = [skill_in(jail.home / f".claude/skills/s{number}") for number in range(60)]
    other = skill_in(skills[0].parent / "other")
    (skills[0].parent / "notes.txt").write_text("TOP SECRET\n")
    (place,), beside = skill_folders(skills, jail.workspace)
    jail.show_skill(place, *beside, skills[5] / ".env")
    assert (await jail(f"sh {skills[59]}/scripts/run.sh")).text.splitlines()[:2] == ["it ran", "the skill"]
    for hidden in (other / "SKILL.md", skills[0].parent / "notes.txt", skills[5] / ".env"):
        seen = (await jail(f"cat {hidden}; echo end")).text
        assert "SECRET" not in seen
        assert "the skill" not in seen


def test_the_profile_of_macos_opens_a_skill_in_a_hidden_folder_last(tmp_path: Path) -> None:
    own = tmp_path / "own"
    policy = policy_for(
        tmp_path / "work", tmp_path / "home", (own,), os.environ, skills=(own / "skills/pdf",)
    )
    policy = replace(policy, hidden=(*policy.hidden, own / "skills/pdf/.env"))
    with scratch_in(tmp_path).folders(lasting=False) as folders:
        lines = profile(policy, folders).splitlines()
    hides, opens, hides_again = (
        next(place for place, line in enumerate(lines) if what in line and path in line)
        for what, path in (
            ("deny file-read* file-write*", f'"{own}"'),
            ("allow file-read*", f'"{own}/skills/pdf"'),
            ("deny file-read* (", f'"{own}/skills/pdf/.env"'),
        )
    )
    assert hides < opens < hides_again
