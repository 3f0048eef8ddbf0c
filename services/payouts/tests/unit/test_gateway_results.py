"""What the gateway answers is foreign: whatever it is, a call says that it had no answer, and never fails in an odd way."""

import httpx
import pytest

from payouts.clients.gateway import Gateway
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.gateway_results import Unclear


@pytest.mark.parametrize("body", [b'{"status": true, "data": "\xff"}', b"[" * 100_000, b"<html>", b"", b"\xff\xfe"])
async def test_a_malformed_response_has_no_result(body):
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        gateway = Gateway(client, 5.0, lambda *_: "0123456789")
        assert isinstance(await gateway.transfer("po-1", "RCP_1", 1_000), Unclear)
        assert isinstance(await gateway.verify("po-1"), Unclear)
        with pytest.raises(GatewayUnavailable):
            await gateway.balance_minor()
