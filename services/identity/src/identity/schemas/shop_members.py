"""Request models of shop members."""

from typing import Annotated

from pydantic import Field

from common.web.schemas import RequestBody
from identity.domain.shop_members import ShopRole
from identity.schemas.fields import Email

_Role = Annotated[
    ShopRole,
    Field(
        description="`manager`: products, orders, returns and messages, without wallet, payouts, bank details, API "
        "keys and members. `packer`: the orders to pack, without any amount."
    ),
]


class InviteShopMemberRequest(RequestBody):
    email: Annotated[Email, Field(description="The mail address that the person has confirmed, or will.")]
    role: _Role


class ChangeShopMemberRequest(RequestBody):
    role: _Role
