"""A vendor's shop, in the order of the menu."""

from console.families import Family
from console.pages.vendor import (
    conversations,
    flash_sales,
    members,
    money,
    notifications,
    orders,
    packing,
    product_files,
    products,
    results,
    returns,
    shop,
    variants,
)

FAMILIES = (
    Family(
        "Shop",
        30,
        orders.SCREENS,
        packing.SCREENS,
        notifications.SCREENS,
        returns.SCREENS,
        conversations.SCREENS,
        product_files.SCREENS,
        products.SCREENS,
        variants.SCREENS,
        flash_sales.SCREENS,
        results.SCREENS,
        shop.SCREENS,
        members.SCREENS,
    ),
    Family("Money", 31, money.SCREENS),
)
