from uuid import UUID

from common.primitives.ids import new_id
from orders.domain.carts import cart_id_of


def test_a_user_has_the_same_cart_on_every_device_and_after_an_upgrade() -> None:
    assert cart_id_of(UUID("01890a5d-ac96-774b-bcce-b302099a8057")) == UUID("0d805859-6403-5c31-9dbc-f70bfbc3bbc3")


def test_two_users_have_two_carts() -> None:
    assert cart_id_of(new_id()) != cart_id_of(new_id())
