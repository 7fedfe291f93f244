"""What is the name of a host, which addresses are on the Internet, and what rules say of hosts."""

from __future__ import annotations

from ipaddress import IPv6Address
from operator import attrgetter
from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.flags import parsed
from keen_tui.text.hosts import Host, HostPattern, NotAHost, WebHosts, host_name, host_pattern
from keen_tui.tools.access.access import Access
from keen_tui.tools.network.addresses import is_public
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.rules.rules import Rules, parse_rules
from keen_tui.tools.shell.patterns import CommandPattern

PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::101:101"]
NOT_PUBLIC = [
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "168.63.129.16",
    "192.88.99.1",
    "::",
    "::1",
    "::ffff:1.1.1.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "::ffff:101:101",
    "fe80::1",
    "fe80::1%1",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2002:7f00:1::1",
    "2001:0:1::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2001:db8::1",
    "::127.0.0.1",
    "example.org",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", ["", *NOT_PUBLIC])
def test_addresses_of_this_machine_its_network_groups_and_disguises(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["::ffff:1.1.1.1", "::ffff:101:101", "::ffff:10.0.0.1", "::ffff:7f00:1"])
def test_a_mapped_address_is_refused_by_itself(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newer Pythons judge it as the IPv4 address in it, so what they say of ::/8 doesn't refuse it."""
    for name in ("is_private", "is_global", "is_reserved", "is_loopback", "is_link_local", "is_multicast"):
        of_ipv4 = attrgetter(f"ipv4_mapped.{name}")
        monkeypatch.setattr(IPv6Address, name, property(of_ipv4))
    assert not is_public(address)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Example.ORG", "example.org"),
        ("a.b.", "a.b"),
        ("xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("a_b.c", "a_b.c"),
    ],
)
def test_names_of_hosts(text: str, name: str) -> None:
    assert host_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "127.1",
        "0x7f.1",
        "2130706433",
        "1.2.3.4.",
        "[::1]",
        "::1",
        "a.0x7f",
        "localhost",
        "a.localhost",
        "foo",
        "",
        ".",
        "a..b",
        "-a.b",
        "a-.b",
        "bücher.de",
        "a b.c",
        "a.b\n",
        "a.b\0",
        "a%2eb.c",
        "a/b.c",
        "x" * 64 + ".org",
        ".".join(["abcdefgh"] * 30),
    ],
)
def test_what_names_no_host(text: str) -> None:
    with pytest.raises(NotAHost):
        host_name(text)


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("example.org", ["example.org:80", "example.org:443"], ["example.org:22", "a.example.org:443"]),
        (
            "*.example.org",
            ["a.example.org:443", "a.b.example.org:80"],
            ["example.org:443", "badexample.org:443"],
        ),
        ("example.org:8443", ["example.org:8443"], ["example.org:443", "example.org:80"]),
        ("*", ["anything.at.all:443"], ["anything.at.all:8080"]),
        ("Example.org.", ["example.org:443"], ["example.com:443"]),
    ],
)
def test_what_a_pattern_allows(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    def host(text: str) -> Host:
        name, _, port = text.partition(":")
        return Host(name, int(port))

    assert all(host_pattern(pattern).fits(host(each)) for each in fits)
    assert not any(host_pattern(pattern).fits(host(each)) for each in fits_not)


@pytest.mark.parametrize(
    "text", ["", "foo", "a:0", "a.b:99999", "ex*.org", "*.*", "http://a.b", "127.0.0.1", "a.b:x"]
)
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(ConfigError, match="here"):
        parse_rules("allow", [f"net({text})"] if text else ["net( :80)"], "here")


def test_rules_without_a_port_deny_all_ports_and_allow_the_usual_ones() -> None:
    rules = Rules([*parse_rules("deny", ["net(a.example)"], "here"), *parse_rules("allow", ["net"], "here")])
    odd = Host("a.example", 8080)
    assert rules.about_host("deny", odd)
    assert not rules.allow_host(odd)
    assert rules.allow_host(Host("b.example", 80))


@pytest.mark.parametrize(
    ("allow", "deny", "is_open"),
    [
        (["net"], [], True),
        (["net(*)"], [], True),
        (["net(a.b)"], [], False),
        ([], [], False),
        (["net"], ["net(a.b)"], False),
    ],
)
def test_whether_rules_allow_every_host(allow: list[str], deny: list[str], is_open: bool) -> None:
    rules = Rules([*parse_rules("allow", allow, "here"), *parse_rules("deny", deny, "here")])
    assert rules.allow_all_hosts() is is_open


def test_hosts_that_are_allowed_for_good_are_kept_beside_commands(tmp_path: Path) -> None:
    file, command, host = (
        tmp_path / "allowances.json",
        CommandPattern(words=("make",)),
        HostPattern(name="a.b"),
    )
    Allowances(file, tmp_path).add([command, host])
    kept = Allowances(file, tmp_path)
    assert kept.all == (command, host)
    kept.remove(host)
    assert Allowances(file, tmp_path).all == (command,)
    page = WebHosts(host)
    kept.add([page])
    assert Allowances(file, tmp_path).all == (command, page)
    assert (str(host), str(page)) == ("net(a.b)", "web(a.b)") and Allowances(file, tmp_path).hosts == ()
    kept.remove(page)
    kept.remove(command)
    assert Allowances(file, tmp_path).all == ()


def test_rules_of_pages_and_of_commands_are_apart() -> None:
    about_pages = Rules(parse_rules("allow", ["web", "web(a.b:8080)"], "here"))
    assert not about_pages.allow_host(Host("a.b", 443)) and not about_pages.allow_all_hosts()
    about_commands = Rules(parse_rules("allow", ["net"], "here"))
    page = Access(kind="web", subject="https://a.b/", host=Host("a.b", 443))
    assert about_pages.allow_page(page) and not about_commands.allow_page(page)
    denying = Rules(parse_rules("deny", ["net(a.b)", "web(*.c.d)"], "here"))
    assert denying.first("deny", page) is None and denying.about_host("deny", Host("x.c.d", 443)) is None
    other = Access(kind="web", subject="https://x.c.d/", host=Host("x.c.d", 443))
    assert denying.first("deny", other) is not None


def test_the_flag_names_hosts_as_rules_do() -> None:
    assert parsed(["--allow-net", "a.b", "--allow-net", "*.c.d:8080"])["allow_net"] == ["a.b", "*.c.d:8080"]
    with pytest.raises(ConfigError, match=r"--allow-net http://a\.b: a host looks like"):
        parsed(["--allow-net", "http://a.b"])
    assert parsed(["--allow-web", "*"])["allow_web"] == ["*"]
    with pytest.raises(ConfigError, match=r"--allow-web intranet: intranet is a name in a local network"):
        parsed(["--allow-web", "intranet"])
