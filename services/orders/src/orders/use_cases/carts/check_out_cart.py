"""Check out a cart."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.carts import cart_id_of
from orders.domain.checkouts import Checkout, CheckoutRules, Placement
from orders.domain.errors import EmptyCart, VendorRequired
from orders.store import carts
from orders.store.checkout import find_by_key
from orders.use_cases.orders.place_orders import place_orders
from orders.use_cases.orders.steps import repeated_id


async def check_out_cart(
    uow: UnitOfWork,
    caller: Caller,
    checkout: Checkout,
    *,
    key: UUID,
    now: datetime,
    rules: CheckoutRules,
) -> Placement | UUID:
    """Order all lines of one vendor, or of all for a purchase, and remove them from the cart in the same transaction.

    Raises NotFound for another buyer's cart, VendorRequired and EmptyCart (422), and the errors of `place_orders`.
    """
    cart = checkout.cart
    if cart is None or cart.cart_id != cart_id_of(caller.id):
        raise NotFound
    if (earlier := await find_by_key(uow, caller.id, key, of_purchase=checkout.is_purchase)) is not None:
        return repeated_id(checkout, earlier)
    vendor_id = cart.vendor_id
    if vendor_id is None and not checkout.is_purchase:
        vendor_ids = await carts.list_vendors(uow, caller.id)
        if len(vendor_ids) > 1:
            raise VendorRequired
        vendor_id = vendor_ids[0] if vendor_ids else None
    claims = vendor_id is not None or checkout.is_purchase
    requested_items = await carts.claim_cart_items(uow, caller.id, vendor_id) if claims else []
    if not requested_items:
        # A concurrent checkout under the same key may have claimed the lines while this one waited for them.
        if (earlier := await find_by_key(uow, caller.id, key, of_purchase=checkout.is_purchase)) is not None:
            return repeated_id(checkout, earlier)
        raise EmptyCart("vendorId" if cart.vendor_id else "cartId")
    return await place_orders(
        uow,
        caller,
        replace(checkout, requested_items=requested_items),
        key=key,
        now=now,
        rules=rules,
    )
