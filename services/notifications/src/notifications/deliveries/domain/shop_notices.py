"""The notices of a shop, and who of its people gets each (decision 214).

The owner gets every notice. The table says which template a manager and a packer get in its place. No template of a
member has an amount or a secret: a test compares each with the catalog.
"""

from collections.abc import Mapping
from typing import Final, Literal

MemberRole = Literal["manager", "packer"]

_OWNER_ALONE: Final[Mapping[MemberRole, str]] = {}

SHOP_NOTICES: Final[Mapping[str, Mapping[MemberRole, str]]] = {
    "vendor_dispatch_alert": {"manager": "order_to_pack", "packer": "order_to_pack"},
    "return_requested": {"manager": "return_requested"},
    "dispute_opened": {"manager": "dispute_opened"},
    "product_delisted": {"manager": "product_delisted"},
    "product_relisted": {"manager": "product_relisted"},
    # Amounts of the wallet, or of a refund.
    "dispute_resolved": _OWNER_ALONE,
    "order_completed": _OWNER_ALONE,
    "order_refunded": _OWNER_ALONE,
    "chargeback_opened": _OWNER_ALONE,
    "chargeback_decided": _OWNER_ALONE,
    "payout_processed": _OWNER_ALONE,
    "payout_delayed": _OWNER_ALONE,
    "payout_failed": _OWNER_ALONE,
    "payout_reversed": _OWNER_ALONE,
    "bank_details_changed": _OWNER_ALONE,
    "bank_details_quarantined": _OWNER_ALONE,
    # The account of the shop.
    "vendor_suspended": _OWNER_ALONE,
    "vendor_reinstated": _OWNER_ALONE,
}


def notices_of(role: MemberRole | None) -> frozenset[str]:
    """Return the templates that a member of this role gets; none after the end of the membership."""
    if role is None:
        return frozenset()
    return frozenset(by_role[role] for by_role in SHOP_NOTICES.values() if role in by_role)


MEMBER_NOTICES: Final = notices_of("manager") | notices_of("packer")
"""Every template that a member gets."""
