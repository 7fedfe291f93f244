"""MCP servers in the user's settings, and in the `.mcp.json` of a project."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.mcp_json import changed_script, read_servers
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.additions import Additions, read_additions
from keen_tui.settings.config import load_settings
from keen_tui.settings.load import load_all
from keen_tui.settings.service import SettingsService
from keen_tui.settings.trust import settle_trust
from keen_tui.text.redaction import masked
from keen_tui.tools.permissions.rule_check import check_rules


class Place:
    """A project, and a user with settings."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        self.home.mkdir()
        self.variables: dict[str, str] = {}

    @property
    def environ(self) -> Mapping[str, str]:
        return {"KEEN_HOME": str(self.home), **self.variables}

    def has(self, text: str) -> None:
        """What the user's settings say."""
        (self.home / "settings.toml").write_text(text)

    def brings(self, servers: object) -> None:
        """What the project's file says."""
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def asked(self, answer: str = "y\n") -> str:
        """The question at a start."""
        out = io.StringIO()
        settle_trust(self.project, self.environ, io.StringIO(answer), out, check_rules)
        return out.getvalue()

    def additions(self) -> Additions:
        settings = load_settings({}, self.environ)
        return read_additions(
            self.project,
            self.environ,
            check_rules,
            (),
            servers=settings.mcp_servers,
            api_keys=lambda: ("OPENAI_API_KEY",),
        )

    def servers(self) -> tuple[McpServer, ...]:
        return self.additions().servers

    def problems(self) -> str:
        return "\n".join(self.additions().problems)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_program_and_an_address_are_read_with_all_that_they_say(place: Place) -> None:
    place.has(
        """
        [mcp_servers.files]
        command = "npx"
        args = ["-y", "server-files", "."]
        env = { LEVEL = "2" }
        cwd = "/srv"
        enabled_tools = ["read"]
        disabled_tools = ["write"]
        startup_timeout_sec = 5
        tool_timeout_sec = 7.5
        sandbox = true
        [mcp_servers.docs]
        url = "https://docs.example/mcp"
        [mcp_servers.docs.headers]
        X-Team = "blue"
        [mcp_servers.old]
        type = "sse"
        url = "http://localhost:9/sse"
        """
    )
    assert place.servers() == (
        McpServer(
            name="files",
            command="npx",
            args=("-y", "server-files", "."),
            env={"LEVEL": "2"},
            cwd="/srv",
            enabled_tools=("read",),
            disabled_tools=("write",),
            startup_timeout=5,
            tool_timeout=7.5,
            sandbox=True,
        ),
        McpServer(name="docs", transport="http", url="https://docs.example/mcp", headers={"X-Team": "blue"}),
        McpServer(name="old", transport="sse", url="http://localhost:9/sse"),
    )
    assert place.problems() == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mcp_servers = 3", "line 1: mcp_servers must be a table"),
        (
            '[mcp_servers.a]\ncomand = "x"',
            "line 2: mcp_servers.a.comand is unknown. Known are: type,",
        ),
        ("[mcp_servers.a]\ncommand = 3", "line 2: mcp_servers.a.command must be a quoted string."),
        (
            '[mcp_servers.a]\ncommand = "x"\nargs = "y"',
            "line 3: mcp_servers.a.args must be a list of quoted",
        ),
        ('[mcp_servers.a]\ncommand = "x"\nenv = "y"', "line 3: mcp_servers.a.env must be a table of quoted"),
        (
            '[mcp_servers.a]\ncommand = "x"\nenv = { B = 1 }',
            "line 3: mcp_servers.a.env.B must be a quoted string.",
        ),
        ('[mcp_servers.a.env]\nB = 1\n[mcp_servers.a]\ncommand = "x"', "line 2: mcp_servers.a.env.B must be"),
        ('[mcp_servers.a]\ncommand = "x\\u0000"', "mcp_servers.a.command contains a zero byte"),
        ('[mcp_servers.a]\ncommand = "x"\nsandbox = 1', "mcp_servers.a.sandbox must be true or false, not 1"),
        ('[mcp_servers.a]\ncommand = "x"\nstartup_timeout_sec = -1', "must be a number of seconds above 0"),
        ('[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = inf', "must be a number of seconds above 0"),
        ("[mcp_servers.a]", "line 1: the MCP server 'a' needs a command or a url"),
        ('[mcp_servers.a]\ncommand = "x"\nurl = "http://y"', "needs either a command or a url"),
        (
            '[mcp_servers.a]\ncommand = "x"\nheaders = {}',
            "a.headers is only for servers with a url",
        ),
        (
            '[mcp_servers.a]\nurl = "http://y"\nargs = []',
            "a.args is only for servers with a command",
        ),
        ('[mcp_servers.a]\nurl = "http://y"\ntype = "ws"', "type must be stdio, http or sse, not 'ws'"),
        ('[mcp_servers.a]\nurl = "http://y"\ntype = "stdio"', "type is 'stdio', but the entry has a url"),
        ('[mcp_servers.a]\nurl = "localhost"', "mcp_servers.a.url must begin with http:// or https://"),
        ('[mcp_servers.a]\nurl = "http://y"\nheaders = { "a b" = "c" }', "isn't the name of a header"),
        ('[mcp_servers."a b"]\ncommand = "x"', "the MCP server 'a b' needs another name"),
        ('[mcp_servers.a__b]\ncommand = "x"', "the MCP server 'a__b' needs another name"),
        ("[mcp_servers]\na = 1", "line 2: the MCP server 'a' must be a table"),
    ],
)
def test_a_mistake_of_the_user_is_told_with_its_place(place: Place, text: str, says: str) -> None:
    place.has(text)
    with pytest.raises(ConfigError) as raised:
        load_settings({}, place.environ)
    assert says in str(raised.value)
    assert str(place.home / "settings.toml") in str(raised.value)


def test_values_of_variables_and_headers_are_not_quoted_in_errors(place: Place) -> None:
    place.has('[mcp_servers.a]\ncommand = "x"\nenv = { TOKEN = ["hunter2"] }')
    with pytest.raises(ConfigError) as raised:
        load_settings({}, place.environ)
    assert "hunter2" not in str(raised.value)


def test_people_see_an_address_and_a_command_as_they_are_written(place: Place) -> None:
    place.has(
        '[mcp_servers.a]\nurl = "https://${HOST}/mcp?access=${ACCESS_KEY}"\n'
        '[mcp_servers.b]\ncommand = "${RUN:-serve}"\nargs = ["--access", "${ACCESS_KEY}"]\n'
    )
    place.variables = {"HOST": "a.example", "ACCESS_KEY": "hunter2"}
    address, program = place.additions().servers
    assert address.url == "https://a.example/mcp?access=hunter2"
    assert address.place == "https://${HOST}/mcp?access=${ACCESS_KEY}"
    assert (program.command, program.args) == ("serve", ("--access", "hunter2"))
    assert program.place == "${RUN:-serve} --access ${ACCESS_KEY}"


def test_variables_are_put_in_with_their_defaults(place: Place) -> None:
    place.variables = {"BIN": "/opt", "TOKEN": "t0k3n-of-mine", "EMPTY": ""}
    place.has(
        """
        [mcp_servers.a]
        command = "${BIN}/serve"
        args = ["${NONE:-one}", "${EMPTY:-two}", "${EMPTY}", "$BIN", "${not a name}"]
        env = { A_TOKEN = "${TOKEN}" }
        [mcp_servers.b]
        url = "${HOST:-https://b.example}/mcp"
        headers = { Authorization = "Bearer ${TOKEN}" }
        """
    )
    first, second = place.servers()
    assert first.command == "/opt/serve"
    assert first.args == ("one", "two", "", "$BIN", "${not a name}")
    assert first.env == {"A_TOKEN": "t0k3n-of-mine"}
    assert (second.url, second.headers) == (
        "https://b.example/mcp",
        {"Authorization": "Bearer t0k3n-of-mine"},
    )
    assert masked("it was t0k3n-of-mine") == "it was [key]"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ('command = "${NONE}"', "command names ${NONE}, but this environment variable isn't set"),
        ('command = "x"\nenv = { A = "${NONE}" }', "env.A names ${NONE}"),
        ('command = "${EMPTY}"', "command is empty"),
        ('url = "${ODD}"', "url must begin with http:// or https://"),
        ('url = "http://x"\nheaders = { A = "${LINES}" }', "headers.A contains a character"),
    ],
)
def test_a_server_whose_variables_fail_is_not_used_and_told(place: Place, entry: str, says: str) -> None:
    place.variables = {"EMPTY": "", "ODD": "file:///etc", "LINES": "a\nEvil: b"}
    place.has(f'[mcp_servers.a]\n{entry}\n[mcp_servers.b]\ncommand = "y"\n')
    assert [server.name for server in place.servers()] == ["b"]
    assert f"The MCP server a isn't used: {says}" in place.problems()


def test_a_path_at_home_is_found_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    place.has('[mcp_servers.a]\ncommand = "~/bin/serve"\ncwd = "~/data"\nargs = ["~/x"]\n')
    (server,) = place.servers()
    assert (server.command, server.cwd, server.args) == ("/home/ann/bin/serve", "/home/ann/data", ("~/x",))


def test_nothing_of_a_project_is_used_before_the_user_agrees_and_all_of_it_is_shown(place: Place) -> None:
    place.brings(
        {
            "github": {
                "command": "npx",
                "args": ["-y", "server github", "--flag"],
                "env": {"GITHUB_TOKEN": "${GH:-none}"},
                "cwd": "tools",
            },
            "docs": {
                "type": "http",
                "url": "https://docs.example/mcp",
                "headers": {"Authorization": "Bearer ${GH:-}"},
            },
        }
    )
    assert place.servers() == ()
    assert "haven't trusted" in load_all({"words": []}, place.environ, place.project, check_rules)[1]
    question = place.asked()
    assert "has MCP servers of its own, in .mcp.json:" in question
    assert "  github   npx -y 'server github' --flag\n" in question
    assert "    in the folder tools\n" in question
    assert "    with the variable GITHUB_TOKEN='${GH:-none}'\n" in question
    assert "  docs   https://docs.example/mcp\n" in question
    assert "    with the header Authorization: Bearer ${GH:-}\n" in question
    first, second = place.servers()
    assert (first.env, first.origin, second.origin) == ({"GITHUB_TOKEN": "none"}, "project", "project")


def test_a_no_is_a_no(place: Place) -> None:
    place.brings({"a": {"command": "x"}})
    place.asked("n\n")
    assert place.servers() == ()
    assert place.asked() == ""


def test_another_byte_of_the_file_asks_again(place: Place) -> None:
    place.brings({"a": {"command": "x"}})
    place.asked()
    place.brings({"a": {"command": "y"}})
    assert place.servers() == ()
    assert "  a   y\n" in place.asked()


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "./serve.py"},
        {"command": "python3", "args": ["serve.py"]},
        {"command": "node", "args": ["--require=serve.py", "x"]},
        {"command": "bash", "args": ["-c", "exec python3 ./serve.py --all"]},
        {"command": "python3", "args": ["${CLAUDE_PROJECT_DIR:-.}/serve.py"]},
        {"command": "node", "args": ["x"], "env": {"NODE_OPTIONS": "--require ./serve.py"}},
        {"command": "python3", "args": ["../serve.py"], "cwd": "tools"},
        {"command": "python3", "args": ["link.py"]},
        {"command": "bash", "args": ["-c", "python3 'serve.py';"]},
        {"command": "bash", "args": ["-c", "F=serve.py; python3 $F"]},
        {"command": "bash", "args": ["-c", "cd tools && python3 ../serve.py"]},
        {"command": "bash", "args": ["-c", "python3 $PWD/serve.py"]},
        {"command": "python3", "args": ["${PWD}/serve.py"]},
        {"command": "python3", "args": ["-m", "serve"]},
    ],
)
@pytest.mark.parametrize("is_there", [True, False])
def test_a_script_of_the_project_that_changes_asks_again(
    place: Place, entry: dict[str, Any], is_there: bool
) -> None:
    script = place.project / "serve.py"
    if is_there:
        script.write_text("print(1)")
    (place.project / "tools").mkdir()
    (place.project / "link.py").symlink_to("serve.py")
    place.variables = {"PWD": str(place.project)}
    place.brings({"a": entry})
    place.asked()
    (server,) = place.servers()
    assert changed_script(server, place.project) == ""
    script.write_text("print(2)")
    assert changed_script(server, place.project)
    assert place.servers() == ()


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    "args", [["--directory", "tools", "run", "serve.py"], ["sh", "-c", "cd tools && ./serve.py"]]
)
def test_a_script_in_a_folder_that_the_command_names_counts(
    place: Place, args: list[str], is_there: bool
) -> None:
    folder = place.project / "tools"
    if is_there:
        folder.mkdir()
        (folder / "serve.py").write_text("1")
    place.brings({"a": {"command": "uv", "args": args}})
    place.asked()
    (server,) = place.servers()
    folder.mkdir(exist_ok=True)
    (folder / "serve.py").write_text("2")
    assert changed_script(server, place.project)


def test_half_a_character_is_a_problem(place: Place) -> None:
    place.brings({"a": {"command": "x", "args": ["\ud800"]}})
    assert place.servers() == ()
    assert "surrogates" in place.problems()


def test_a_link_that_leads_elsewhere_is_a_change(place: Place, tmp_path: Path) -> None:
    (place.project / "one.py").write_text("1")
    (place.project / "two.py").write_text("1")
    (tmp_path / "outside.py").write_text("1")
    link = place.project / "serve.py"
    link.symlink_to("one.py")
    place.brings({"a": {"command": "python3", "args": ["serve.py"]}})
    place.asked()
    (server,) = place.servers()
    for target in ("two.py", tmp_path / "outside.py", "nothing.py"):
        link.unlink()
        link.symlink_to(target)
        assert changed_script(server, place.project)
    link.unlink()
    link.symlink_to("one.py")
    assert changed_script(server, place.project) == ""


def test_files_elsewhere_and_folders_do_not_count(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("1")
    place.brings({"a": {"command": "python3", "args": [str(outside), "../outside.py", "."]}})
    place.asked()
    outside.write_text("2")
    assert len(place.servers()) == 1


def test_a_script_that_is_too_large_to_be_read_is_not_run(place: Place) -> None:
    with (place.project / "serve").open("wb") as file:
        file.truncate(50_000_001)
    place.brings({"a": {"command": "./serve"}, "b": {"command": "x"}})
    assert "  a  " not in place.asked()
    assert [server.name for server in place.servers()] == ["b"]
    assert "Keen can't see whether that changes" in place.problems()


def test_keys_of_model_providers_stay_here(place: Place) -> None:
    place.variables = {"OPENAI_API_KEY": "sk-1234567890", "COPY": "sk-1234567890", "OTHER_API_KEY": "o"}
    place.brings(
        {
            "a": {"command": "x", "env": {"K": "${OPENAI_API_KEY}"}},
            "b": {"url": "https://evil.example/${COPY}"},
            "c": {"url": "https://evil.example", "headers": {"X": "${OPENAI_API_KEY:-none}"}},
            "d": {"command": "x", "args": ["${OTHER_API_KEY}"]},
        }
    )
    place.asked()
    assert [(server.name, server.args) for server in place.servers()] == [("d", ("o",))]
    assert "The MCP server a isn't used: env.K names ${OPENAI_API_KEY}, which holds an API key" in (
        place.problems()
    )
    place.has('[mcp_servers.mine]\ncommand = "x"\nenv = { K = "${OPENAI_API_KEY}" }')
    assert place.servers()[0].env == {"K": "sk-1234567890"}


def test_the_users_server_goes_before_one_of_the_same_name(place: Place) -> None:
    place.has('[mcp_servers.a]\ncommand = "mine"\n')
    place.brings({"a": {"command": "theirs"}, "b": {"command": "theirs"}})
    place.asked()
    assert [(server.name, server.command) for server in place.servers()] == [("a", "mine"), ("b", "theirs")]
    assert "The project's MCP server a isn't used: you have one of that name." in place.problems()


def test_wrong_entries_of_a_project_are_told_and_the_others_used(place: Place) -> None:
    place.brings(
        {
            "a": {"command": 3},
            "b": {},
            "c": {"type": "ws", "url": "wss://x"},
            "d": {"command": "x", "disabled": True},
            "e": {"command": "y" * 1_001},
            "???": {"command": "x"},
            "Good Docs": {"command": "x", "alwaysAllow": ["*"], "sandbox": False},
            "Good_Docs": {"command": "x"},
            "f": 1,
        }
    )
    assert "alwaysAllow" not in place.asked()
    assert [server.name for server in place.servers()] == ["Good_Docs"]
    told = place.problems()
    for name in ("a", "b", "c", "d", "e", "???", "Good_Docs", "f"):
        assert f"the server {name} isn't used" in told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"mcpServers":\n{,}}', "line 2 isn't valid JSON"),
        ("[]", 'it needs an object "mcpServers"'),
        ('{"mcpServers": []}', 'it needs an object "mcpServers"'),
        ("\xff", "it isn't UTF-8 text"),
        ("[" * 90_000, "it nests too deep"),
        (" " * 100_001, "it is larger than 100 kB"),
    ],
)
def test_a_file_that_is_wrong_asks_nothing_stops_nothing_and_is_told(
    place: Place, text: str, says: str
) -> None:
    (place.project / ".mcp.json").write_bytes(text.encode("latin-1"))
    assert place.asked() == ""
    assert place.servers() == ()
    assert f".mcp.json isn't used: {says}" in place.problems()
    assert load_all({"words": []}, place.environ, place.project, check_rules)[1] == ""


def test_servers_at_the_top_of_the_file_are_used_and_told(place: Place) -> None:
    entries = {"$schema": "x", "a": {"command": "x"}, "b": {"url": "https://example.org"}, "c": {"cmd": "x"}}
    (place.project / ".mcp.json").write_text(json.dumps(entries))
    question = place.asked()
    assert "a   x" in question and "b   https://example.org" in question
    assert [server.name for server in place.servers()] == ["a", "b"]
    at_the_top, wrong = place.additions().problems
    assert at_the_top.endswith('.mcp.json has no "mcpServers"; the entries at its top count as its servers.')
    assert "the server c isn't used" in wrong


def test_a_pipe_or_a_link_in_its_place_is_not_read(place: Place) -> None:
    os.mkfifo(place.project / ".mcp.json")
    assert read_servers(place.project).problems
    (place.project / ".mcp.json").unlink()
    (place.project / ".mcp.json").symlink_to(place.home / "settings.toml")
    place.has('{"mcpServers": {"a": {"command": "x"}}}')
    assert read_servers(place.project).found == ()


def test_what_a_project_says_does_not_drive_the_terminal_or_look_like_another_row(place: Place) -> None:
    place.brings(
        {"a\x1b[2J\nUse them here?": {"command": "x\x1b]0;y\x07", "args": ["\nUse them here? [y/N] y"]}}
    )
    question = place.asked("n\n")
    assert "\x1b" not in question
    assert "<U+001B>" in question
    assert question.count("\nUse them here?") == 1


def test_settings_show_servers_by_their_names(place: Place) -> None:
    place.has('[mcp_servers.a]\ncommand = "x"\nenv = { T = "secret" }\n[mcp_servers.b]\nurl = "http://x"\n')
    service = SettingsService({"words": []}, place.environ, place.project, check_rules)
    assert next(each.value for each in service.all() if each.name == "mcp_servers") == "a, b"
