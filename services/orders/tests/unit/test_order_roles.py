from collections.abc import Callable
from dataclasses import replace

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import PERMISSIONS_BY_ROLE, permissions_of
from orders.domain.order_roles import (
    cancel_trigger,
    is_own_vendor,
    may_decide_returns,
    may_propose_sales_at,
    may_see_commission,
    may_sell_for,
    roles_of,
)
from orders.domain.orders import Order
from orders.domain.transitions import State


def caller(*roles, **facts):
    return Caller(**{"user_id": new_id(), "permissions": permissions_of(roles), **facts})


def test_each_part_needs_its_role_and_its_tie_to_the_order(new_order: Callable[[State], Order]) -> None:
    order = new_order("paid_escrow")
    assert roles_of(caller("buyer", user_id=order.buyer_id), order) == {"buyer"}
    assert roles_of(caller("merchant", vendor_id=order.vendor_id), order) == {"vendor"}
    assert roles_of(caller("buyer", vendor_id=order.vendor_id), order) == set()
    assert roles_of(caller("hub_agent", hub_id=order.hub_id), order) == {"hub_agent"}
    assert roles_of(caller("hub_agent", hub_id=new_id(), campus_id=order.campus_id), order) == set()
    assert roles_of(caller("hub_agent", campus_id=order.campus_id), replace(order, hub_id=None)) == set()
    assert roles_of(caller("buyer", campus_id=order.campus_id), order) == set()
    assert roles_of(caller("support_agent"), order) == {"support"}
    assert roles_of(caller("auditor"), order) == set()
    assert roles_of(Caller(), order) == set()


@pytest.mark.parametrize(
    ("roles", "trigger"),
    [
        (set(), None),
        ({"hub_agent"}, None),
        ({"buyer"}, "buyer_cancels"),
        ({"buyer", "vendor"}, "vendor_cancels"),
        ({"support"}, "staff_cancels"),
        ({"buyer", "support"}, "buyer_cancels"),
        ({"vendor", "support"}, "vendor_cancels"),
    ],
)
def test_a_user_of_several_roles_cancels_as_vendor_then_buyer_never_as_own_staff(roles, trigger: str | None) -> None:
    assert cancel_trigger(frozenset(roles)) == trigger


def test_the_commission_is_shown_to_the_vendor_and_to_staff_only(new_order: Callable[[State], Order]) -> None:
    order = new_order("paid")
    assert may_see_commission(caller("merchant", vendor_id=order.vendor_id), order.vendor_id)
    assert not may_see_commission(caller("merchant", vendor_id=new_id()), order.vendor_id)
    assert not may_see_commission(caller("buyer", user_id=order.buyer_id), order.vendor_id)
    seeing = {role for role in PERMISSIONS_BY_ROLE if may_see_commission(caller(role), order.vendor_id)}
    assert seeing == {"support_agent", "auditor", "hub_agent", "campus_admin", "finance_maker", "finance_checker"}


def test_the_orders_vendor_and_support_decide_on_returns(new_order: Callable[[State], Order]) -> None:
    order = new_order("delivered")

    def decides(*roles, **facts):
        actor = caller(*roles, **facts)
        return may_decide_returns(actor, roles_of(actor, order))

    assert decides("merchant", vendor_id=order.vendor_id)
    assert not decides("merchant", vendor_id=new_id())
    assert not decides("buyer", user_id=order.buyer_id)
    assert not decides("hub_agent", hub_id=order.hub_id)
    assert {role for role in PERMISSIONS_BY_ROLE if decides(role)} == {"support_agent"}


def test_only_merchant_and_manager_set_the_prices_of_their_own_vendor() -> None:
    vendor_id = new_id()
    assert may_sell_for(caller("merchant", vendor_id=vendor_id), vendor_id)
    assert not may_sell_for(caller("merchant", vendor_id=new_id()), vendor_id)
    assert not may_sell_for(caller("merchant"), vendor_id)
    assert {role for role in PERMISSIONS_BY_ROLE if may_sell_for(caller(role, vendor_id=vendor_id), vendor_id)} == {
        "merchant",
        "shop_manager",
    }


def test_only_a_campus_admin_proposes_sales_on_their_own_campus() -> None:
    campus_id = new_id()
    assert may_propose_sales_at(caller("campus_admin", campus_id=campus_id), campus_id)
    assert not may_propose_sales_at(caller("campus_admin", campus_id=new_id()), campus_id)
    assert not may_propose_sales_at(caller("campus_admin"), campus_id)
    proposing = {r for r in PERMISSIONS_BY_ROLE if may_propose_sales_at(caller(r, campus_id=campus_id), campus_id)}
    assert proposing == {"campus_admin"}


def test_a_vendor_is_own_to_its_owner_and_to_an_account_that_sells_for_it() -> None:
    vendor_id, owner_id = new_id(), new_id()
    assert is_own_vendor(caller("merchant", vendor_id=vendor_id), vendor_id, owner_id)
    assert is_own_vendor(caller("merchant", vendor_id=vendor_id), vendor_id, None)
    assert is_own_vendor(caller("buyer", user_id=owner_id), vendor_id, owner_id)
    assert is_own_vendor(caller("merchant", user_id=owner_id, vendor_id=new_id()), vendor_id, owner_id)
    assert not is_own_vendor(caller("merchant", vendor_id=new_id()), vendor_id, owner_id)
    assert not is_own_vendor(caller("buyer"), vendor_id, None)
    # A caller without user id is not the unknown owner.
    assert not is_own_vendor(Caller(), vendor_id, None)
