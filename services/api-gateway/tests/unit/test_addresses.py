"""Whose address is counted."""

import ipaddress

import pytest

from api_gateway.addresses import ClientAddresses

TRUSTED = ClientAddresses([ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("127.0.0.1/32")])
NO_PROXY = ClientAddresses([])


def test_without_trusted_proxies_only_the_peer_counts() -> None:
    assert NO_PROXY.of("127.0.0.1", b"203.0.113.9") == "127.0.0.1"


def test_an_untrusted_peer_cannot_set_its_address() -> None:
    assert TRUSTED.of("203.0.113.1", b"203.0.113.9") == "203.0.113.1"


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        (b"203.0.113.9", "203.0.113.9"),
        (b"198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (b"198.51.100.1, 203.0.113.9, 10.0.0.7", "203.0.113.9"),
        (b"10.0.0.8, 10.0.0.7", "10.0.0.8"),
        (b"203.0.113.9:4711", "203.0.113.9"),
        (b"::ffff:203.0.113.9", "203.0.113.9"),
        (b"[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"),
        (b"2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        (b"198.51.100.1, nonsense", "10.0.0.1"),
        (b"", "10.0.0.1"),
    ],
)
def test_after_a_trusted_proxy_the_rightmost_untrusted_entry_counts(forwarded: bytes, expected: str) -> None:
    assert TRUSTED.of("10.0.0.1", forwarded) == expected


def test_without_the_header_a_trusted_proxy_counts_itself() -> None:
    assert TRUSTED.of("10.0.0.1", None) == "10.0.0.1"


async def test_a_named_proxy_is_trusted_at_its_current_addresses() -> None:
    named = ClientAddresses(["localhost"])
    assert named.of("127.0.0.1", b"203.0.113.9") == "127.0.0.1"
    await named.resolve()
    assert named.of("127.0.0.1", b"203.0.113.9") == "203.0.113.9"
    assert named.of("127.0.0.2", b"203.0.113.9") == "127.0.0.2"


async def test_a_name_that_is_not_found_trusts_no_address() -> None:
    named = ClientAddresses(["nothing.invalid", ipaddress.ip_network("10.0.0.1/32")])
    await named.resolve()
    assert named.of("127.0.0.1", b"203.0.113.9") == "127.0.0.1"
    assert named.of("10.0.0.1", b"203.0.113.9") == "203.0.113.9"
