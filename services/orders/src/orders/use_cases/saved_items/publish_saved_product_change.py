"""Publish a change of a saved product to its savers."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.orders import SavedProductChanged
from orders.domain.saved_items import SAVERS_BATCH
from orders.store import saved_items


async def publish_saved_product_change(uow: UnitOfWork) -> bool:
    """Publish one change to the next savers of its product, and delete it after the last of them.

    Runs as the service. Returns False when no change waits.
    """
    change = await saved_items.claim_change(uow)
    if change is None:
        return False
    buyer_ids: list[UUID] = []
    if change.vendor_id is not None and change.name is not None:
        buyer_ids = await saved_items.list_savers(uow, change.product_id, change.published_to, SAVERS_BATCH)
        if buyer_ids:
            uow.publish(
                SavedProductChanged(
                    product_id=change.product_id,
                    vendor_id=change.vendor_id,
                    change_id=change.id,
                    kind=change.kind,
                    name=change.name,
                    price_minor=change.price_minor,
                    buyer_ids=tuple(buyer_ids),
                )
            )
    if len(buyer_ids) < SAVERS_BATCH:
        await saved_items.delete_change(uow, change.id)
    else:
        await saved_items.save_progress(uow, change.id, buyer_ids[-1])
    return True
