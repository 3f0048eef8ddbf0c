"""Users and their messages, when identity and notifications run too: the last ones are sent, and what must hold of
them.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from lab.simulation.run import Run, phone_of

# Longer than quiet hours, and than most delays between two attempts.
_WAIT: Final = timedelta(hours=13)
_WAITS_MAX: Final = 8
_OPEN: Final = "SELECT count(*) FROM notification_deliveries WHERE due_at IS NOT NULL OR claimed_at IS NOT NULL"
_ERASURES: Final = "SELECT user_id, status FROM erasure_requests WHERE user_id = ANY ($1)"
_NOTIFIED: Final = "SELECT DISTINCT subject ->> 'orderId' FROM notifications WHERE subject ->> 'orderId' = ANY ($1)"


async def send_messages(run: Run) -> None:
    """Let time pass until each message was sent, or given up."""
    for _ in range(_WAITS_MAX):
        if not await _open_deliveries(run):
            return
        run.problems += await run.market.pass_time(_WAIT)
        await run.market.run_until_idle()


async def broken_messages(run: Run) -> Sequence[str]:
    """Per user: requests for erasure are decided, text messages arrived once, and each order of a user was notified."""
    broken = [f"{count} messages were neither sent nor given up" for count in [await _open_deliveries(run)] if count]
    users = [user.id for user in (*run.vendors, *run.buyers)]
    rows = await run.market.databases["identity"].fetch(_ERASURES, users)
    broken += [f"the erasure of {user_id} is not decided" for user_id, status in rows if status == "asked"]
    for user_id in users:
        broken += [
            f"{user_id} got {count} text messages: {text}" for text, count in await _repeated_texts(run, user_id)
        ]
    erased = {user_id for user_id, status in rows if status == "done"}
    expected = {order.id for order in run.orders.values() if order.buyer.id not in erased}
    notified = await run.market.databases["notifications"].fetch(_NOTIFIED, sorted(expected))
    return broken + [f"order {order_id} has no notification" for order_id in expected - {row[0] for row in notified}]


async def _open_deliveries(run: Run) -> int:
    return int(await run.market.databases["notifications"].fetchval(_OPEN))


async def _repeated_texts(run: Run, user_id: UUID) -> Sequence[tuple[str, int]]:
    query = {"to": phone_of(user_id), "channel": "sms", "limit": "500"}
    listed = (await run.market.sandbox.client.get("/control/messages", params=query)).raise_for_status().json()
    return [(text, count) for text, count in Counter(message["text"] for message in listed).items() if count > 1]
