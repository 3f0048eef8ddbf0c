"""Carts and their checkout."""

__all__ = [
    "check_out_cart",
    "remove_cart_item",
    "set_cart_item",
]
