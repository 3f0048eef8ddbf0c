"""A vendor's shop, in the order of the menu."""

from console.families import Family
from console.pages.vendor import flash_sales, money, orders, products, results, returns

FAMILIES = (
    Family(
        "Shop",
        30,
        orders.SCREENS,
        returns.SCREENS,
        products.SCREENS,
        flash_sales.SCREENS,
        results.SCREENS,
    ),
    Family("Money", 31, money.SCREENS),
)
