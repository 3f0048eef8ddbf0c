"""Check out one vendor's lines of a cart."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.cells import Cells
from common.primitives.problems import NotFound
from orders.domain.carts import cart_id_of
from orders.domain.errors import EmptyCart, VendorRequired
from orders.domain.orders import NewOrder, Windows
from orders.domain.unpaid_limits import UnpaidLimits
from orders.store import carts
from orders.store.checkout import find_order_by_key
from orders.use_cases.orders.place_order import Checkout, place_order


async def check_out_cart(
    uow: UnitOfWork,
    caller: Caller,
    checkout: Checkout,
    *,
    key: UUID,
    now: datetime,
    windows: Windows,
    limits: UnpaidLimits,
    cells: Cells | None,
) -> NewOrder | UUID:
    """Order all lines of one vendor in the buyer's cart and remove them from the cart in the same transaction.

    Raises NotFound for another buyer's cart, VendorRequired and EmptyCart (422), and the errors of `place_order`.
    """
    cart = checkout.cart
    if cart is None or cart.cart_id != cart_id_of(caller.id):
        raise NotFound
    if (earlier := await find_order_by_key(uow, caller.id, key)) is not None:
        return checkout.repeated_order_id(earlier)
    vendor_id = cart.vendor_id
    if vendor_id is None:
        vendor_ids = await carts.list_vendors(uow, caller.id)
        if len(vendor_ids) > 1:
            raise VendorRequired
        vendor_id = vendor_ids[0] if vendor_ids else None
    requested_items = await carts.claim_cart_items(uow, caller.id, vendor_id) if vendor_id else []
    if not requested_items:
        # A concurrent checkout under the same key may have claimed the lines while this one waited for them.
        if (earlier := await find_order_by_key(uow, caller.id, key)) is not None:
            return checkout.repeated_order_id(earlier)
        raise EmptyCart("vendorId" if cart.vendor_id else "cartId")
    return await place_order(
        uow,
        caller,
        replace(checkout, requested_items=requested_items),
        key=key,
        now=now,
        windows=windows,
        limits=limits,
        cells=cells,
    )
