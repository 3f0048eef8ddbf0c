"""The parts of `make client-chaos`: connections that lose a response, and users whose history has the keys of their
forms.
"""

import asyncio
import json
import runpy
from pathlib import Path
from random import Random
from uuid import uuid4

import httpx
import pytest

from lab.drills.client_chaos.network import Cuts, served
from lab.histories.checking import check_file
from lab.histories.recording import History

CHAOS = runpy.run_path("clients/python/scripts/chaos.py")


class LossyMarketplace:
    """Orders by key; the response to each first request is lost."""

    def __init__(self) -> None:
        self.orders: dict[str, str] = {}

    def handle(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        is_first = not self.orders
        order_id = self.orders.setdefault(key, str(uuid4()))
        if is_first:
            raise httpx.ReadError("lost")
        return httpx.Response(201, json={"data": {"id": order_id, "status": "Processing"}})

    def append_final_reads(self, history: History) -> None:
        for key, order_id in self.orders.items():
            timeline = [("placed", "Processing")]
            fields = {"id": order_id, "status": "Processing", "key": key, "at": 2e9, "timeline": timeline}
            history.write("final", what="order", **fields, credits=0)
        history.write("final", what="transfers", amounts=[])


@pytest.mark.parametrize(("client", "kinds"), [(httpx.AsyncClient, set()), (CHAOS["NewKeys"], {"double effect"})])
async def test_a_user_with_a_lost_response_has_one_order_unless_the_client_changes_keys(
    tmp_path: Path, client: type[httpx.AsyncClient], kinds: set[str]
) -> None:
    marketplace, history = LossyMarketplace(), History(tmp_path / "history.jsonl", "buyer")
    async with client(transport=httpx.MockTransport(marketplace.handle)) as http:
        user = CHAOS["User"](CHAOS["AsyncCampus"]("http://api", http=http), history, Random(1), "")
        order = await user.press("/api/orders/checkout", {"items": []})
    assert order["status"] == "Processing"
    invoked = [json.loads(line) for line in history.path.read_text().splitlines()]
    assert len({line["key"] for line in invoked if line["type"] == "invoke"}) == 1
    marketplace.append_final_reads(history)
    assert {found.partition(":")[0] for found in check_file(history.path)} == kinds


@pytest.mark.parametrize(("rate", "received"), [(0.0, b"response"), (1.0, b"")])
async def test_a_cut_connection_drops_the_response_and_not_the_request(
    tmp_path: Path, rate: float, received: bytes
) -> None:
    requests: list[bytes] = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readexactly(7))
        writer.write(b"response")
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        cuts = Cuts(rate, 1)
        async with served(tmp_path / "api", server.sockets[0].getsockname()[1], cuts):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "api")
            writer.write(b"request")
            async with asyncio.timeout(30):
                assert await reader.read() == received
            writer.close()
    assert requests == [b"request"]
    assert cuts.count == int(rate)
