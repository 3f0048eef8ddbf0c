"""Calls to registered addresses use the checked IP address of the moment, over real sockets."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from notifications.clients.outbound import BODY_BYTES_MAX, AddressRefused, OutboundClient
from notifications.clients.outbound_addresses import OutboundRules, is_public
from testkit.cases import for_each

DEVELOPMENT = OutboundRules(allow_loopback=True)
NAME = "hooks.example.com"
HERE, OTHER_HERE = "127.0.0.1", "127.0.0.2"
METADATA = "169.254.169.254"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
# Longer than any test takes; no test waits for it.
PATIENT = 60.0


class Names:
    """A resolver that returns one response after the other, and counts its queries."""

    def __init__(self, *responses: Sequence[str]) -> None:
        self._responses, self.requested = list(responses), 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.requested += 1
        return self._responses.pop(0)


@dataclass
class Server:
    """Record of a server: the head of each request, and the names of its TLS handshakes."""

    port: int = 0
    heads: list[str] = field(default_factory=list)
    connections: int = 0
    names: list[str | None] = field(default_factory=list)


@asynccontextmanager
async def serving(
    address: str = HERE, port: int = 0, *, response: bytes = OK, tls: ssl.SSLContext | None = None, keep: bool = False
) -> AsyncIterator[Server]:
    """Yield a server that sends each request the same response, and with `keep` then neither closes nor sends more."""
    server, held = Server(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while True:
                server.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                writer.write(response)
                if keep:
                    await held.wait()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    if tls is not None:
        tls.sni_callback = lambda _socket, name, _context: server.names.append(name)
    listening = await asyncio.start_server(serve, address, port, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        held.set()
        listening.close()


def client_of(names: Names, rules: OutboundRules = DEVELOPMENT, **more) -> OutboundClient:
    return OutboundClient(rules, **{"seconds": PATIENT, "resolve": names, **more})


@for_each(
    "number",
    [
        *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1"),
        *("198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fd00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1"),
        *("::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::169.254.169.254"),
        *("64:ff9b::8.8.8.8", "64:ff9b:1::10.0.0.1", "2002:7f00:1::", "2002:808:808::1", "2001:0:7f00:1::", "100::1"),
        *("", "not an address", "127.1", "0x7f.1", "2130706433", "8.8.8.8:53"),
    ],
)
def test_addresses_of_networks_and_of_translators_are_not_public(number) -> None:
    assert not is_public(number)


@pytest.mark.parametrize("number", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2001:4860:4860::8888", "2a00:1450::1"])
def test_addresses_of_the_internet_are_public(number: str) -> None:
    assert is_public(number)


SANDBOX = OutboundRules(trusted_origin="http://127.0.0.1:8090")


@pytest.mark.parametrize(
    "url",
    [
        *("http://push.example.com/x", "ftp://push.example.com/x", "https://127.0.0.1/x", "https://[::1]/x"),
        *("https://169.254.169.254/latest/meta-data", "https://2130706433/x", "https://0x7f.1/x", "https://127.1/x"),
        *("https://localhost/x", "https://payments/x", "https://db.internal/x", "https://printer.local./x"),
        *("https://user:secret@push.example.com/x", "https://push.example.com:6379/x", "https://push.example.com/x#a"),
        *("http://127.0.0.1:8091/push", "http://127.0.0.1:8090@evil.example.com/x", "https:///x", "https://[half"),
        *(
            "javascript:alert(1)",
            "https://push.example.com:99999/x",
            "https://a..example.com/",
            "https://a%00.example.com/",
        ),
        *("https://-a.example.com/", "https://" + "a" * 64 + ".example.com/", "https://" + "a." * 127 + "com/"),
        *("https://push.example.com\\@10.0.0.1/x", "https://a_b.example.com/", "https://bücher.example.com/"),
    ],
)
def test_an_address_of_a_forbidden_form_is_rejected(url) -> None:
    assert SANDBOX.fault_of(url) is not None


@pytest.mark.parametrize(
    "url", ["https://fcm.googleapis.com/x", "https://updates.push.example.com:443/x", "http://127.0.0.1:8090/push/x"]
)
def test_public_addresses_and_the_trusted_origin_are_accepted(url: str) -> None:
    assert SANDBOX.fault_of(url) is None


def test_high_ports_are_accepted_where_they_are_allowed() -> None:
    high = OutboundRules(allow_high_ports=True)
    for port in (443, 1_024, 8_443, 65_535):
        assert high.fault_of(f"https://hooks.example.com:{port}/x") is None
    for port in (22, 25, 80, 1_023):
        assert high.fault_of(f"https://hooks.example.com:{port}/x") == "must use port 443, or one from 1024"
    assert high.fault_of("https://10.0.0.1:8443/x") is not None


def test_loopback_is_accepted_in_development_only() -> None:
    for url in ("http://127.0.0.1:9000/x", "http://localhost:9000/x", "https://[::1]:9000/x"):
        assert DEVELOPMENT.fault_of(url) is None
        assert OutboundRules().fault_of(url) is not None
    for url in ("http://hooks.example.com/x", "http://10.0.0.1/x", "http://127.0.0.1@example.com/", "ftp://127.0.0.1/"):
        assert DEVELOPMENT.fault_of(url) is not None
    assert DEVELOPMENT.allows(HERE, "http")
    assert not DEVELOPMENT.allows("8.8.8.8", "http")
    assert not OutboundRules().allows(HERE, "https")


async def test_a_name_that_resolves_to_a_refused_address_is_never_connected() -> None:
    async with serving() as server:
        for response in ([HERE], [METADATA], ["10.0.0.1"], ["8.8.8.8", HERE], [HERE, "8.8.8.8"]):
            async with client_of(Names(response), OutboundRules()) as client:
                with pytest.raises(AddressRefused):
                    await client.post(f"https://{NAME}/")
        assert server.connections == 0


async def test_a_call_connects_to_the_checked_address(tmp_path: Path, authority) -> None:
    """DNS rebinding: the name is never resolved a second time, in either order."""
    server_of, tls = authority.server_of, authority.client
    async with serving(tls=server_of(tmp_path, NAME)) as server:
        url = f"https://{NAME}:{server.port}/"
        for responses, is_called in (([[HERE], [METADATA]], True), ([[METADATA], [HERE]], False)):
            names, before = Names(*responses), server.connections
            async with client_of(names, _AnyPort(), tls=tls) as client:
                if is_called:
                    assert (await client.post(url)).status_code == 200
                else:
                    with pytest.raises(AddressRefused):
                        await client.post(url)
            assert (names.requested, server.connections - before) == (1, int(is_called))


async def test_each_call_resolves_the_name_again(tmp_path: Path, authority) -> None:
    server_of, tls = authority.server_of, authority.client
    async with serving(tls=server_of(tmp_path, NAME)) as server:
        names = Names([HERE], [METADATA], [HERE])
        async with client_of(names, _AnyPort(), tls=tls) as client:
            url = f"https://{NAME}:{server.port}/"
            assert (await client.post(url)).status_code == 200
            with pytest.raises(AddressRefused):
                await client.post(url)
            assert (await client.post(url)).status_code == 200
        assert (names.requested, server.connections) == (3, 2)


async def test_tls_and_the_host_header_use_the_name(tmp_path: Path, authority) -> None:
    server_of, tls = authority.server_of, authority.client
    async with serving(tls=server_of(tmp_path, NAME)) as server:
        async with client_of(Names([HERE]), _AnyPort(), tls=tls) as client:
            await client.post(f"https://{NAME}:{server.port}/path?query=1", content=b"")
        assert server.names == [NAME]
        [head] = server.heads
        assert head.startswith("POST /path?query=1 HTTP/1.1\r\n")
        assert f"Host: {NAME}:{server.port}\r\n" in head


async def test_a_certificate_of_another_name_is_rejected(tmp_path: Path, authority) -> None:
    server_of, tls = authority.server_of, authority.client
    async with serving(tls=server_of(tmp_path, "other.example.com")) as server:
        async with client_of(Names([HERE]), _AnyPort(), tls=tls) as client:
            with pytest.raises(httpx.ConnectError):
                await client.post(f"https://{NAME}:{server.port}/")
        assert server.heads == []


async def test_two_names_of_one_address_share_no_connection(tmp_path: Path, authority) -> None:
    server_of, tls = authority.server_of, authority.client
    second = "second.example.com"
    async with serving(tls=server_of(tmp_path, NAME)) as server:
        async with client_of(Names([HERE], [HERE]), _AnyPort(), tls=tls) as client:
            await client.post(f"https://{NAME}:{server.port}/")
            with pytest.raises(httpx.ConnectError):
                await client.post(f"https://{second}:{server.port}/")
        assert (server.names, len(server.heads)) == ([NAME, second], 1)


async def test_an_unreachable_address_is_followed_by_the_next() -> None:
    async with serving(HERE) as server, client_of(Names(["127.0.0.9", HERE])) as client:
        assert (await client.post(f"http://localhost:{server.port}/")).status_code == 200


async def test_a_name_without_an_address_is_a_connection_error() -> None:
    async def none(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    for resolve in (none, Names([])):
        async with OutboundClient(OutboundRules(), seconds=PATIENT, resolve=resolve) as client:
            with pytest.raises(httpx.ConnectError) as failed:
                await client.post(f"https://{NAME}/")
        assert not isinstance(failed.value, AddressRefused)


async def test_addresses_of_the_system_resolver_are_checked() -> None:
    async with OutboundClient(_AnyName(), seconds=PATIENT) as client:
        with pytest.raises(AddressRefused, match="private network"):
            await client.post("https://localhost/")


async def test_the_form_of_the_address_is_checked_at_each_call() -> None:
    names = Names()
    async with client_of(names, OutboundRules()) as client:
        for url in (
            *(f"http://{NAME}/", f"https://{NAME}:8443/", "https://10.0.0.1/", f"https://a:b@{NAME}/"),
            # Not punycode, no address, and names that cannot be.
            *(
                "https://xn--a.com/",
                "https://[half",
                "https://a..example.com/",
                "https://" + "a" * 64 + ".example.com/",
            ),
        ):
            with pytest.raises(AddressRefused):
                await client.post(url)
    assert names.requested == 0


async def test_the_trusted_origin_is_called_as_it_is() -> None:
    async with serving() as server:
        names = Names()
        async with client_of(names, OutboundRules(trusted_origin=f"http://{HERE}:{server.port}")) as client:
            assert (await client.post(f"http://{HERE}:{server.port}/push")).status_code == 200
        assert names.requested == 0


async def test_a_redirect_is_not_followed() -> None:
    async with serving(OTHER_HERE) as inside:
        moved = f"HTTP/1.1 307 Go\r\nLocation: http://{OTHER_HERE}:{inside.port}/\r\nContent-Length: 0\r\n\r\n"
        async with serving(response=moved.encode()) as server, client_of(Names([HERE])) as client:
            assert (await client.post(f"http://{HERE}:{server.port}/")).status_code == 307
        assert inside.connections == 0


async def test_a_body_is_bounded_without_being_decompressed() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\nContent-Length: 10000000\r\n\r\n"
    async with serving(response=head + b"x" * 200_000, keep=True) as server, client_of(Names([HERE])) as client:
        response = await client.post(f"http://{HERE}:{server.port}/")
        assert (response.status_code, response.content) == (200, b"x" * BODY_BYTES_MAX)
        assert len(client.cookies) == 0
        assert "Accept-Encoding: identity\r\n" in server.heads[0]


@pytest.mark.parametrize("keep", [True, False])
async def test_an_interrupted_body_keeps_the_status(keep: bool) -> None:
    """The server sends nothing more, or closes the connection."""
    started = b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf"
    async with serving(response=started, keep=keep) as server:
        async with client_of(Names([HERE]), seconds=3) as client:
            response = await client.post(f"http://{HERE}:{server.port}/")
        assert (response.status_code, response.content) == (201, b"half")


async def test_a_hanging_server_or_resolver_ends_at_the_deadline() -> None:
    async def hanging(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with serving(response=b"", keep=True) as server, client_of(Names([HERE]), seconds=0.2) as client:
        with pytest.raises(httpx.TimeoutException):
            await client.post(f"http://{HERE}:{server.port}/")
    async with OutboundClient(OutboundRules(), seconds=0.2, resolve=hanging) as client:
        with pytest.raises(httpx.ConnectTimeout):
            await client.post(f"https://{NAME}/")


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(OTHER_HERE) as proxy, serving() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{OTHER_HERE}:{proxy.port}")
        async with client_of(Names([HERE])) as client:
            assert (await client.post(f"http://{HERE}:{server.port}/")).status_code == 200
        assert (proxy.connections, server.connections) == (0, 1)


class _AnyPort(OutboundRules):
    """The rules of production at the port of a test's server: loopback replaces the public internet."""

    def __init__(self) -> None:
        super().__init__(allow_loopback=True)

    def fault_of(self, url: str) -> str | None:
        return super().fault_of(str(httpx.URL(url).copy_with(port=None)))


class _AnyName(OutboundRules):
    """The rules of production for names that they refuse by their form."""

    def fault_of(self, url: str) -> str | None:
        return None
