"""Every call of the adapter is one that Paystack's API has, with the documented parameters and body."""

import json
from datetime import UTC, datetime
from uuid import uuid4

from payouts.domain.gateway_results import Recipient
from testkit.providers.paystack import checking

from .paystack import Responses, ok, paystack

CALLED = {
    "GET /balance",
    "GET /bank",
    "GET /bank/resolve",
    "GET /transfer",
    "GET /transfer/verify",
    "POST /transfer",
    "POST /transferrecipient",
}


async def test_every_call_conforms_to_the_api() -> None:
    responses = Responses(
        ok([{"currency": "NGN", "balance": 1}]),
        ok([], meta={"next": "YmFuazox"}),
        ok([], meta={"next": None}),
        ok({"account_name": "ADA OBI"}),
        ok({"recipient_code": "RCP_1"}),
        ok({}),
    )
    gateway, reference = paystack(responses), f"po-{uuid4().hex}"
    await gateway.balance_minor()
    await gateway.banks()
    await gateway.account_name("0123456789", "044")
    await gateway.create_recipient(Recipient(uuid4(), "sealed", "044", "ADA OBI"))
    await gateway.transfer(reference, "RCP_1", 50_000)
    await gateway.verify(reference)
    responses.then(ok([]))
    await gateway.page_of_transfers(datetime(2026, 1, 1, tzinfo=UTC), 2)
    for request in responses.requests:
        body = json.loads(request.content) if request.content else None
        checking.check_request(request.method, request.url.path, dict(request.url.params), body)
    assert {
        f"{request.method} {request.url.path.removesuffix('/' + reference)}" for request in responses.requests
    } == CALLED
