"""Publish all escrows."""

from typing import Final
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from contracts.payments import EscrowStated
from payments.store.escrow import list_held_orders_after, lock_escrow
from payments.use_cases.escrow.steps import describe_escrow

PUBLISHING_ESCROWS: Final = ServiceItself("publication of all escrows")
# A transaction of some hundredths of a second, so that a release or refund hardly waits.
BATCH_ORDERS: Final = 100


async def publish_escrows(database: Database) -> int:
    """Publish the present escrow of every paid order, and return their number.

    For services that project it only since a later version. The locks, in the order of the ids, put each
    publication after concurrent movements. A repetition, also after a crash, publishes the present state again.
    """
    published = 0
    last_id: UUID | None = None
    while True:
        async with database.unit_of_work(acting_as=PUBLISHING_ESCROWS) as uow:
            order_ids = await list_held_orders_after(uow, last_id, BATCH_ORDERS)
            for order_id in order_ids:
                held = await lock_escrow(uow, order_id)
                if held is None:
                    raise AssertionError("an escrow is never deleted")
                state = describe_escrow(held, held.escrow)
                uow.publish(
                    EscrowStated(
                        order_id=order_id,
                        buyer_id=held.buyer_id,
                        vendor_id=held.vendor_id,
                        escrow=state,
                        number=held.number,
                    )
                )
        if not order_ids:
            return published
        published, last_id = published + len(order_ids), order_ids[-1]
