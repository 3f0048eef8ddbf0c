"""Every amount of money in an event or work item is bounded where it is decoded (decision 31)."""

import importlib
import pkgutil
from typing import get_args, get_type_hints
from uuid import uuid4

import msgspec
import pytest

import contracts
from common.messaging.faults import PermanentFault
from common.messaging.messages import read_payload
from contracts.money import AMOUNT_MINOR_MAX, TOTAL_MINOR_MAX
from contracts.payments import EscrowReleased, ReleaseStatement
from identity.consumers import WORK as IDENTITY_WORK
from identity.domain.campuses import DELIVERY_FEE_MINOR_MAX
from notifications.consumers import WORK as NOTIFICATIONS_WORK
from orders.domain.products import PRICE_MINOR_MAX
from orders.schemas.carts import SetCartItemRequest
from orders.use_cases.carts.set_cart_item import ITEMS_MAX
from payments.consumers import WORK as PAYMENTS_WORK
from payouts.consumers import WORK as PAYOUTS_WORK

WORK = (*IDENTITY_WORK, *NOTIFICATIONS_WORK, *PAYMENTS_WORK, *PAYOUTS_WORK)


def structs() -> set[type[msgspec.Struct]]:
    modules = [
        importlib.import_module(f"contracts.{module.name}") for module in pkgutil.iter_modules(contracts.__path__)
    ]
    found = {
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type) and issubclass(member, msgspec.Struct)
    }
    return found | {item.payload for item in WORK}


# Signed by payments: the sum of all movements of a vendor.
TOTALS = {(ReleaseStatement, "net_minor")}
AMOUNTS = [(it, field) for it in structs() for field in it.__struct_fields__ if field.endswith("_minor")]


def test_events_have_amounts() -> None:
    assert (EscrowReleased, "net_minor") in AMOUNTS


@pytest.mark.parametrize(("struct", "name"), AMOUNTS, ids=lambda it: getattr(it, "__name__", it))
def test_an_amount_is_between_zero_and_the_largest_order(struct, name) -> None:
    hint = get_type_hints(struct, include_extras=True)[name]
    kinds = get_args(hint) if type(None) in get_args(hint) else (hint,)
    decoded = [msgspec.inspect.type_info(kind) for kind in kinds]
    bounds = [(kind.ge, kind.le) for kind in decoded if isinstance(kind, msgspec.inspect.IntType)]
    expected = (-TOTAL_MINOR_MAX, TOTAL_MINOR_MAX) if (struct, name) in TOTALS else (0, AMOUNT_MINOR_MAX)
    assert bounds == [expected], f"{struct.__name__}.{name}: write MinorAmount (contracts.money)"


def test_the_largest_order_that_checkout_accepts_is_within_the_bound() -> None:
    quantity_max = next(
        constraint.le
        for constraint in SetCartItemRequest.model_fields["quantity"].metadata
        if hasattr(constraint, "le")
    )
    assert ITEMS_MAX * quantity_max * PRICE_MINOR_MAX + DELIVERY_FEE_MINOR_MAX <= AMOUNT_MINOR_MAX


@pytest.mark.parametrize("net_minor", [-1, AMOUNT_MINOR_MAX + 1])
def test_a_release_of_an_impossible_amount_is_not_decoded(net_minor) -> None:
    ids = dict.fromkeys(("orderId", "buyerId", "vendorId", "releaseId"), str(uuid4()))
    amounts = dict.fromkeys(
        ("grossMinor", "commissionMinor", "deliveryFeeMinor", "remainingMinor", "remainingVendorMinor"), 0
    )
    body = msgspec.json.encode({**ids, **amounts, "netMinor": net_minor})
    with pytest.raises(PermanentFault):
        read_payload(msgspec.Raw(body), EscrowReleased)
