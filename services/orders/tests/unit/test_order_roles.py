from collections.abc import Callable

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import PERMISSIONS_BY_ROLE, permissions_of
from orders.domain.order_roles import cancel_trigger, may_see_commission, roles_of
from orders.domain.orders import Order
from orders.domain.transitions import State


def caller(*roles, **facts):
    return Caller(**{"user_id": new_id(), "permissions": permissions_of(roles), **facts})


def test_each_part_needs_its_role_and_its_tie_to_the_order(new_order: Callable[[State], Order]) -> None:
    order = new_order("paid_escrow")
    assert roles_of(caller("buyer", user_id=order.buyer_id), order) == {"buyer"}
    assert roles_of(caller("merchant", vendor_id=order.vendor_id), order) == {"vendor"}
    assert roles_of(caller("buyer", vendor_id=order.vendor_id), order) == set()
    assert roles_of(caller("hub_agent", campus_id=order.campus_id), order) == {"hub_agent"}
    assert roles_of(caller("hub_agent", campus_id=new_id()), order) == set()
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
def test_who_plays_several_roles_cancels_as_the_vendor_then_the_buyer_and_never_as_staff_in_their_own_case(
    roles, trigger: str | None
) -> None:
    assert cancel_trigger(frozenset(roles)) == trigger


def test_the_commission_is_shown_to_the_vendor_and_to_staff_only(new_order: Callable[[State], Order]) -> None:
    order = new_order("paid")
    assert may_see_commission(caller("merchant", vendor_id=order.vendor_id), order.vendor_id)
    assert not may_see_commission(caller("merchant", vendor_id=new_id()), order.vendor_id)
    assert not may_see_commission(caller("buyer", user_id=order.buyer_id), order.vendor_id)
    seeing = {role for role in PERMISSIONS_BY_ROLE if may_see_commission(caller(role), order.vendor_id)}
    assert seeing == {"support_agent", "auditor", "hub_agent", "campus_admin", "finance_checker"}
