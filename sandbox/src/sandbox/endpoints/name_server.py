"""The name server: the records of every name, as UDP responses."""

import asyncio
from contextlib import suppress
from typing import cast

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from sandbox.faults import Faults
from sandbox.world import World

TTL_SECONDS = 60


class NameServer(asyncio.DatagramProtocol):
    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        with suppress(dns.exception.DNSException):
            self._transport.sendto(self._respond(dns.message.from_wire(data)).to_wire(), address)

    def _respond(self, query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query, recursion_available=True)
        if len(query.question) != 1:
            response.set_rcode(dns.rcode.FORMERR)
            return response
        question = query.question[0]
        kind = _record_kind(question)
        state = None if kind is None else self._faults.state("name_server", kind)
        if state == "absent":
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif state is not None:
            try:
                response.answer.append(_records(question, state))
            except dns.exception.DNSException:
                response.set_rcode(dns.rcode.SERVFAIL)
        return response


def _record_kind(question: dns.rrset.RRset) -> str | None:
    """Return the state in `STATES` that holds the records; None: the name has none of this type."""
    if question.rdtype != dns.rdatatype.TXT:
        return {dns.rdatatype.A: "address", dns.rdatatype.MX: "mx"}.get(question.rdtype)
    first, second = (*question.name.labels, b"")[:2]
    if first.lower() == b"_dmarc":
        return "dmarc"
    return "dkim" if second.lower() == b"_domainkey" else "spf"


def _records(question: dns.rrset.RRset, state: str) -> dns.rrset.RRset:
    """Raise DNSException for a text that is no record of this type, such as `SERVFAIL`."""
    lines = state.splitlines()
    if state == "SERVFAIL":
        raise dns.exception.DNSException
    if question.rdtype == dns.rdatatype.TXT:
        lines = [f'"{line}"' for line in (line.replace("\\", r"\\").replace('"', r"\"") for line in lines)]
    return dns.rrset.from_text_list(question.name, TTL_SECONDS, "IN", question.rdtype, lines)


async def serve_name_server(world: World) -> asyncio.DatagramTransport:
    """Listen on NAME_SERVER_PORT (UDP) in this event loop."""
    settings = world.settings
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(world.faults), (settings.host, settings.name_server_port)
    )
    return transport
