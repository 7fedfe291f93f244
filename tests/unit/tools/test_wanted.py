"""Which commands may want the network, and whose registry an install wants."""

from __future__ import annotations

import pytest

from keen_tui.tools.network.network_words import in_words, install_in, may_want_network, registries
from keen_tui.tools.shell.mentions import mentioned_commands


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a | grep b | wc -l",
        "git status",
        "git stash",
        "git -C x log",
        "mkdir -p a && touch a/b",
        "for f in *; do echo $f; done",
        "X=1; echo $X",
        "sed -i s/a/b/ c",
        "cd a && pwd",
    ],
)
def test_commands_that_work_without_the_network_get_none(command: str) -> None:
    assert not may_want_network(mentioned_commands(command))


@pytest.mark.parametrize(
    "command",
    [
        "curl -s x",
        "git fetch",
        "git -C x pull",
        "git $verb",
        "npm test",
        "make",
        "./run.sh",
        "python3 x.py",
        "ls $(curl x)",
        "bash -c 'wget x'",
        "$X",
        "env npm ci",
        "find . -exec curl {} ;",
        "pytest",
        "go build",
        "",
    ],
)
def test_all_others_may_want_it(command: str) -> None:
    assert may_want_network(mentioned_commands(command))


@pytest.mark.parametrize(
    ("command", "words", "hosts"),
    [
        ("npm install", "npm install", []),
        ("cd web && npm ci", "npm ci", []),
        ("npm i --registry=http://r.example:8080/", "npm i", ["r.example:8080"]),
        ("pnpm add x", "pnpm add", []),
        ("yarn", "yarn install", []),
        ("pip3 install x", "pip install", []),
        ("python3.12 -m pip install -r r.txt", "pip install", []),
        ("pip install -i https://r.example/simple x", "pip install", ["r.example"]),
        ("uv pip install x", "pip install", []),
        ("uv sync", "uv sync", []),
        ("poetry install", "poetry install", []),
        ("cargo add x", "cargo add", []),
        ("go mod tidy", "go mod", []),
        ("gem install x", "gem install", []),
        ("bundle install", "bundle install", []),
        ("mvn dependency:resolve", "mvn dependency:resolve", []),
        ("./gradlew --refresh-dependencies", "gradle --refresh-dependencies", []),
    ],
)
def test_an_install_is_known_by_its_words_with_the_registry_that_it_names(
    command: str, words: str, hosts: list[str]
) -> None:
    install = install_in(mentioned_commands(command))
    assert in_words(install) == words
    assert list(map(str, registries(install))) == hosts


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npm run install",
        "npm install --offline",
        "npx tsc",
        "yarn build",
        "pip list",
        "pip install --no-index x",
        "cargo build",
        "go test ./...",
        "mvn -o test",
        "gradle build",
        "uv run pytest",
        "echo npm install",
        "pip --version",
    ],
)
def test_what_installs_nothing_wants_none(command: str) -> None:
    assert install_in(mentioned_commands(command)) == ()


@pytest.mark.parametrize(
    ("npmrc", "host"),
    [
        ("registry=https://r.example/npm/\n", "r.example"),
        ("a=b\n  registry = http://r.example/\n", "r.example"),
        ("@team:registry=https://r.example:8443\n", "r.example:8443"),
        ("; registry=https://r.example\n", ""),
        ("registry=${SECRET}\n", ""),
        ("registry=http://127.0.0.1/\n", ""),
    ],
)
def test_a_project_may_name_its_registry(npmrc: str, host: str) -> None:
    hosts = registries(("npm", "install"), npmrc)
    assert [str(each) for each in hosts] == ([host] if host else [])
