"""API keys: where they are found, how they are kept, and that they show nowhere."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.models import ProviderInfo
from keen_tui.settings.credentials import FoundKey, Keys
from tests.support.keyrings import no_system_keyring, system_keyring

ACME = ProviderInfo(
    id="acme",
    name="Acme",
    api="openai-chat",
    base_url="https://acme.example",
    key_variables=("A_KEY", "B_KEY"),
)
SECRET = "sk-verysecret0123456789"


class MemoryKeyring(KeyringBackend):
    """A keyring that keeps its passwords in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    """A real backend in place of what this machine has."""
    ring = MemoryKeyring()
    with system_keyring(ring):
        yield ring


@pytest.fixture
def no_ring() -> Iterator[None]:
    with no_system_keyring():
        yield


def test_the_environment_comes_first_in_the_order_of_its_variables(tmp_path: Path) -> None:
    environ = {"B_KEY": "second", "A_KEY": " "}
    assert Keys(environ, tmp_path).find(ACME) == FoundKey(value="second", source="B_KEY")
    assert Keys(environ | {"A_KEY": " first\n"}, tmp_path).find(ACME) == FoundKey(
        value="first", source="A_KEY"
    )
    assert Keys({}, tmp_path).find(ACME) is None


@pytest.mark.usefixtures("no_ring")
def test_without_a_keyring_it_is_kept_in_a_file_that_only_the_user_reads(tmp_path: Path) -> None:
    folder = tmp_path / "settings"
    keys = Keys({}, folder)
    assert keys.destination() == str(folder / "keys.toml")
    where = keys.save("acme", f" {SECRET}\n")
    file = folder / "keys.toml"
    assert str(file) in where
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert keys.find(ACME) == FoundKey(value=SECRET, source=str(file))
    assert keys.where(ACME) == str(file)
    assert Keys({"B_KEY": "x"}, folder).where(ACME) == "B_KEY"
    assert [path.name for path in folder.iterdir()] == ["keys.toml"]
    keys.forget("acme")
    assert keys.find(ACME) is None
    assert SECRET not in file.read_text()


def test_with_a_keyring_the_file_holds_only_where_it_is(tmp_path: Path, ring: MemoryKeyring) -> None:
    keys = Keys({}, tmp_path)
    assert keys.destination() == "the system keyring"
    assert keys.save("acme", SECRET) == "the system keyring"
    assert SECRET not in (tmp_path / "keys.toml").read_text()
    assert ring.kept == {("keen-tui", "acme"): SECRET}
    ring.kept["keen-tui", "acme"] = "changed behind our back"
    assert keys.where(ACME) == "the system keyring"
    ring.kept["keen-tui", "acme"] = SECRET
    assert keys.find(ACME) == FoundKey(value=SECRET, source="the system keyring")
    keys.forget("acme")
    assert ring.kept == {}
    assert keys.find(ACME) is None


def test_a_key_that_is_not_kept_in_the_keyring_imports_none(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from keen_tui.settings.credentials import Keys; "
        "from keen_tui.domain.models import ProviderInfo; "
        "info = ProviderInfo(id='a', name='A', api='anthropic', base_url='', key_variables=('A',)); "
        f"Keys({{'A': 'k'}}, Path({str(tmp_path)!r})).find(info); "
        "sys.exit('keyring' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.usefixtures("no_ring")
def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(f"acme = '{SECRET}'")
    file.chmod(0o644)
    found = Keys({}, tmp_path).find(ACME)
    assert found is not None and found.value == SECRET
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_is_not_read(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(f"acme = '{SECRET}'")
    folder = tmp_path / "settings"
    folder.mkdir()
    (folder / "keys.toml").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="it is a link"):
        Keys({}, folder).find(ACME)


@pytest.mark.usefixtures("no_ring")
@pytest.mark.parametrize("key", ["", "  ", "sk-\x00", "sk-ü", "sk one", "sk-" + "x" * 5_000, "a\nb"])
def test_what_no_key_can_be_is_refused_and_not_quoted(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError) as entered:
        Keys({}, tmp_path).save("acme", key)
    assert not key.strip() or key not in str(entered.value)
    if key.strip():
        with pytest.raises(ConfigError, match="A_KEY") as found:
            Keys({"A_KEY": key}, tmp_path).find(ACME)
        assert key not in str(found.value)


@pytest.mark.parametrize(
    "text", [f"acme = {SECRET}", f"acme = ['{SECRET}']", "acme = {in = 'nowhere'}", "acme = ''"]
)
def test_a_file_that_is_wrong_is_named_and_no_key_is_quoted(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"keys\.toml") as error:
        Keys({}, tmp_path).find(ACME)
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None


def test_no_repr_shows_a_key() -> None:
    assert SECRET not in repr(FoundKey(value=SECRET, source="A_KEY"))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "keys.toml", 0o600)
    with pytest.raises(ConfigError, match="not your own plain file"):
        Keys({}, tmp_path).find(ACME)
