"""A release that payments never made is published on the broker itself: nothing of it is sent, and it is named until it
is resolved.
"""

import json
from datetime import UTC, datetime
from uuid import uuid4

import aio_pika

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.command_line import cli_of_the_machine
from tests.end_to_end.steps import open_shop

from .conftest import Users

SURPLUS = 77_700


async def publish(url: str, event_type: str, subject: str, data: dict[str, object]) -> None:
    """Publish an event of the right shape, from a holder of a broker account."""
    event = {
        "specversion": "1.0",
        "id": str(uuid4()),
        "source": "/services/payments",
        "type": event_type,
        "subject": subject,
        "time": datetime.now(UTC).isoformat(),
        "datacontenttype": "application/json",
        "sequence": 1,
        "data": data,
    }
    connection = await aio_pika.connect(url)
    async with connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange("campus.events", ensure=False)
        message = aio_pika.Message(
            json.dumps(event).encode(), message_id=str(event["id"]), content_type="application/cloudevents+json"
        )
        await exchange.publish(message, event_type)


async def test_a_release_payments_never_made_is_not_sent_until_the_wallet_is_corrected(
    system: System, market: Marketplace, users: Users
) -> None:
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
    # Of its own: the audit compares no order of a vendor whose wallet was corrected.
    shop = await open_shop(market, users)
    assert (await shop.set_account(market, shop.accounts[0]))[0] == 200
    [order] = await market.get("/api/orders", shop.owner, params={"as": "vendor"})
    honest = (await market.get("/api/wallets/current", shop.owner))["availableMinor"]

    async def wallet_above(amount_minor):
        wallet = await market.get("/api/wallets/current", shop.owner)
        return wallet["availableMinor"] if wallet["availableMinor"] > amount_minor else None

    release_id, order_id = str(uuid4()), order["id"]
    forged = {
        "orderId": order_id, "buyerId": str(uuid4()), "vendorId": order["vendorId"], "releaseId": release_id,
        "grossMinor": SURPLUS, "commissionMinor": 0, "deliveryFeeMinor": 0, "netMinor": SURPLUS, "remainingMinor": 0,
        "remainingVendorMinor": 0,
    }  # fmt: skip
    await publish(system.secrets["BROKER_URL"], "payments.escrow_released.v1", order_id, forged)
    await market.until("the forged credit arrives", lambda: wallet_above(honest), 60)

    payout = await market.request_payout(shop.owner, 10_000)
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert (batch["submitted"], batch["skipped"]) == (0, [{"payoutId": payout["id"], "reason": "credit_not_released"}])
    params = {"vendorId": order["vendorId"], "status": "open", "cause": "credit_not_released"}
    [held] = await market.get("/api/payout-exceptions", users.auditor, params=params)
    assert (held["severity"], held["payoutId"], held["batchId"]) == ("SEV-1", None, None)
    assert f"release:{release_id}" in held["detail"]

    findings = await findings_of(system.secrets, market.sandbox, settle_seconds=0)
    named = {finding.rule: (finding.kind, finding.rows) for finding in findings}
    kind, rows = named["every line that a release, refund or chargeback made in a wallet is a posting of payments"]
    assert kind == "broken"
    assert any(release_id in row for row in rows)

    correction = ("correct-wallet", order["vendorId"], str(SURPLUS), "a forged event of the end-to-end test")
    await cli_of_the_machine(system).done("service", "payouts", *correction)
    assert await market.get("/api/payout-exceptions", users.auditor, params=params) == []
    batch = await market.dispatch_payouts(users.maker, [payout["id"]])
    assert batch["submitted"] == 1
    await market.payout_reaches(shop.owner, payout["id"], "processed")
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
