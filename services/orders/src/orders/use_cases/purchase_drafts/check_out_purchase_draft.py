"""Check out a purchase draft."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.checkouts import Checkout, CheckoutRules, Placement
from orders.domain.purchase_drafts import DraftCheckedOut, DraftExpired, draft_status, orderable_items
from orders.queries.purchase_drafts import list_draft_items
from orders.store.checkout import find_by_key
from orders.store.purchase_drafts import lock_draft, save_draft_purchase
from orders.use_cases.orders.place_orders import place_orders
from orders.use_cases.orders.steps import repeated_id


async def check_out_purchase_draft(
    uow: UnitOfWork,
    caller: Caller,
    checkout: Checkout,
    *,
    key: UUID,
    now: datetime,
    rules: CheckoutRules,
) -> Placement | UUID:
    """Make the purchase of the caller's draft, once, and return it; its id when the key is bound to it already.

    Raises NotFound for another buyer's draft, DraftCheckedOut, DraftExpired, DraftUnavailable (409), and the errors of
    `place_orders`.
    """
    requested = checkout.draft
    draft = None if requested is None else await lock_draft(uow, requested.draft_id)
    if requested is None or draft is None:
        raise NotFound
    earlier = await find_by_key(uow, caller.id, key, of_purchase=True)
    if earlier is not None:
        return repeated_id(checkout, earlier)
    status = draft_status(draft.purchase_id, draft.created_at, now)
    if status != "open":
        raise DraftExpired if status == "expired" else DraftCheckedOut
    items = await list_draft_items(uow, draft.lines, now)
    requested_items = orderable_items(items, skip_unavailable=requested.skip_unavailable)
    placed = await place_orders(
        uow,
        caller,
        replace(checkout, requested_items=requested_items),
        key=key,
        now=now,
        rules=rules,
    )
    if isinstance(placed, UUID) or placed.purchase is None:
        return placed
    await save_draft_purchase(uow, requested.draft_id, placed.purchase.id)
    return placed
