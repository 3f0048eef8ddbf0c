"""Delivery PINs: one text message has those of all orders that one payment paid (decision 163)."""

from datetime import timedelta
from typing import Final

from contracts import demo
from lab.stepped.actions import Facts, deliver, with_pin
from lab.stepped.actors import BUYER, VENDORS
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.purchases import place_purchase, products_of_each_vendor
from lab.stepped.scenarios.steps import End

_WORKER: Final = "notifications-worker"
_NO_MAIL: Final = """
INSERT INTO notification_preferences (user_id, channels, timezone, locale, revision, updated_at)
SELECT user_id, '{"email": false}', 'Africa/Lagos', 'en', 1, now() FROM unnest($1::uuid[]) AS listed (user_id)
ON CONFLICT DO NOTHING
"""
# Longer than the claim of a worker that died, and than the wait for a receipt.
_CLAIM_ENDS: Final = timedelta(seconds=20)
_RECEIPT_IS_LATE: Final = timedelta(seconds=100)
_PHONE: Final = next(user.phone for user in demo.USERS if user.id == BUYER.id)
_OPEN: Final = """
SELECT count(*) FROM pin_watches w
JOIN notification_deliveries d ON d.notification_id = ANY (ARRAY[w.notification_id, w.text_id])
WHERE w.order_id = ANY ($1) AND (d.due_at IS NOT NULL OR d.claimed_at IS NOT NULL OR w.due_at IS NOT NULL)
"""
_USED: Final = """
SELECT count(*) FROM pin_watches w
JOIN notification_deliveries d ON d.notification_id = ANY (ARRAY[w.notification_id, w.text_id])
WHERE w.order_id = $1 AND d.sealed ?| ARRAY['pin', 'pin:' || $1::text]
"""


async def unpaid_purchase(market: Marketplace) -> Facts:
    """Return a purchase of two vendors with an open payment. Its effects have one sequence: messages are handled one by
    one, and no mail is sent.
    """
    market.processes[_WORKER].messages_max = 1
    await market.databases["notifications"].execute(_NO_MAIL, [user.id for user in (BUYER, *VENDORS)])
    return await place_purchase(market, await products_of_each_vendor(market))


async def pins_of_one_payment(market: Marketplace, purchase: Facts) -> End:
    """Pay two orders at once, send the text with their PINs, and use one of them.

    A worker that dies while it sends repeats the text once: a repeated PIN is harmless, a missing one is not. A PIN
    that arrives late has a text of its own.
    """
    await market.sandbox.act(f"charges/{purchase['reference']}/pay")
    await market.run_until_idle()
    repeated = await _send(market)
    market.clock.advance(_CLAIM_ENDS)
    repeated += await _send(market)
    first, second = [await with_pin(market, order) for order in purchase["orders"]]
    await deliver(market, first, VENDORS[0])
    # Without a receipt the unused PIN goes to the next channel.
    market.clock.advance(_RECEIPT_IS_LATE)
    await market.run_timers(_WORKER, "forward-pins")
    repeated += await _send(market)

    async def end() -> None:
        for _ in range(2):
            await market.time_passes()
            await market.run_timers(_WORKER, "forward-pins")
            await _send(market)
        texts = await _messages(market, "sms")
        for order in (first, second):
            with_it = [text for text in texts if order["pin"] in text]
            assert 1 <= len(with_it) <= 1 + repeated, with_it
            assert all(order["number"] in text for text in with_it)
        if not market.effects.fired:
            assert [first["pin"] in text for text in texts if second["pin"] in text] == [True]
        forwarded = await _messages(market, "messaging")
        assert [sum(order["pin"] in text for text in forwarded) for order in (first, second)] in (
            [0, 1],
            [0, 1 + repeated],
        )
        ids = [order["id"] for order in (first, second)]
        assert await market.databases["notifications"].fetchval(_OPEN, ids) == 0
        assert await market.databases["notifications"].fetchval(_USED, first["id"]) == 0

    return end


async def _send(market: Marketplace) -> int:
    """Send what is due, also again after a death, and return the number of deaths meanwhile."""
    deaths = len(market.effects.fired)
    await market.run_timers(_WORKER, "resolve-abandoned-deliveries", "send-deliveries")
    return len(market.effects.fired) - deaths


async def _messages(market: Marketplace, channel: str) -> list[str]:
    query = {"to": _PHONE, "channel": channel, "limit": "100"}
    listed = (await market.sandbox.client.get("/control/messages", params=query)).raise_for_status().json()
    return [message["text"] for message in listed]
