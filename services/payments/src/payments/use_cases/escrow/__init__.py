"""Money held for an order: hold, freeze, release."""

__all__ = [
    "close_order",
    "freeze_escrow",
    "publish_escrows",
    "release_by_staff",
    "release_on_delivery",
    "unfreeze_escrow",
]
