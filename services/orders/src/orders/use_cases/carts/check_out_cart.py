"""Checking out one vendor's part of a cart."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders import store
from orders.domain.carts import cart_id_of
from orders.domain.errors import EmptyCart, VendorRequired
from orders.domain.orders import Windows
from orders.store import carts
from orders.use_cases.orders.place_order import Checkout, place_order


async def check_out_cart(
    uow: UnitOfWork, caller: Caller, checkout: Checkout, *, key: UUID, now: datetime, windows: Windows
) -> dict[str, Any] | UUID:
    """A buyer orders what their cart holds of one vendor; these lines leave the cart in the same transaction.

    Raises NotFound for a cart that is not theirs, VendorNotChosen and CartHasNothing (422), and what `place_order` refuses.
    """
    cart = checkout.cart
    if cart is None or cart.cart_id != cart_id_of(caller.id):
        raise NotFound
    standing = await store.find_order_by_key(uow, caller.id, key)
    if standing is not None:
        return checkout.repeated_order_id(standing)
    vendor_id = cart.vendor_id
    if vendor_id is None:
        held = await carts.list_vendors(uow, caller.id)
        if len(held) > 1:
            raise VendorRequired
        vendor_id = held[0] if held else None
    requested_items = await carts.claim_cart_items(uow, caller.id, vendor_id) if vendor_id else []
    if not requested_items:
        # Whoever took the lines while we waited for them may have done it under this very key.
        standing = await store.find_order_by_key(uow, caller.id, key)
        if standing is not None:
            return checkout.repeated_order_id(standing)
        raise EmptyCart("vendorId" if cart.vendor_id else "cartId")
    return await place_order(
        uow, caller, replace(checkout, requested_items=requested_items), key=key, now=now, windows=windows
    )
