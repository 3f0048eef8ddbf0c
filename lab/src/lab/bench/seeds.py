"""Seed rows: a catalog of 10,000 products, and buyers with a history of orders."""

from typing import Final
from uuid import UUID

from contracts.demo import ADA, LAGOS, USERS
from operations.connecting import connected

PRODUCTS: Final = 10_000
BUYERS: Final = 1_000
ORDERS_OF_EACH: Final = 50
PRICE_MINOR: Final = 150_000
BUYER: Final = USERS[0]

# The ids have the same form in SQL and here: a number in the last twelve digits.
PRODUCT_IDS: Final = "'0000be0c-0000-7000-8000-"
BUYER_IDS: Final = "'0000be0c-0000-7000-9000-"

_PRODUCTS: Final = f"""
INSERT INTO products (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock,
                      images, rating_sum, rating_count, revision, created_at, updated_at)
SELECT ({PRODUCT_IDS}' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, $3, 'Bench product', 'Something to measure with.',
       (ARRAY['meals', 'snacks', 'drinks', 'groceries'])[1 + n % 4], {PRICE_MINOR}, 'NGN', 1000000000, '[]', n % 50,
       n % 10, 1, now() - n * interval '1 minute', now()
FROM generate_series(1, {PRODUCTS}) AS n
"""
_VENDOR: Final = """
INSERT INTO vendors (id, business_name, campus_id, commission_basis_points, sequence) VALUES ($1, $2, $3, 500, 1)
ON CONFLICT DO NOTHING
"""
_CAMPUS: Final = "INSERT INTO campuses (id, name, active, sequence) VALUES ($1, $2, true, 1) ON CONFLICT DO NOTHING"
_ORDERS: Final = f"""
INSERT INTO orders (id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, subtotal_minor,
                    delivery_fee_minor, commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint,
                    revision, created_at, updated_at)
SELECT gen_random_uuid(), 'CM-0000-' || lpad(upper(to_hex(buyer * {ORDERS_OF_EACH} + n)), 4, '0'),
       ({BUYER_IDS}' || lpad(to_hex(buyer), 12, '0'))::uuid, $1, $2, 'paid', 'NGN', {PRICE_MINOR},
       {PRICE_MINOR}, 0, 7500, 0, now(), gen_random_uuid(), '\\x00', 1, now() - n * interval '1 hour', now()
FROM generate_series(1, {ORDERS_OF_EACH}) AS n, generate_series(1, {BUYERS}) AS buyer
"""
_ITEMS: Final = f"""
INSERT INTO order_items (id, order_id, buyer_id, vendor_id, campus_id, position, product_id, name, quantity,
                         unit_price_minor, line_total_minor)
SELECT gen_random_uuid(), id, buyer_id, vendor_id, campus_id, 1, gen_random_uuid(), 'Bench product', 1, {PRICE_MINOR},
       {PRICE_MINOR}
FROM orders
"""


def product_id(number: int) -> UUID:
    """Return the id of a seeded product, from 1."""
    return UUID(f"{PRODUCT_IDS[1:]}{number:012x}")


def buyer_id(number: int) -> UUID:
    """Return the id of a seeded buyer, from 1."""
    return UUID(f"{BUYER_IDS[1:]}{number:012x}")


async def seed_catalog(admin_url: str) -> None:
    """Insert 10,000 products of one vendor, each with a stock of a billion."""
    async with connected(admin_url) as connection:
        await connection.execute(_VENDOR, ADA.id, ADA.business_name, LAGOS.id)
        await connection.execute(_CAMPUS, LAGOS.id, LAGOS.name)
        await connection.execute(_PRODUCTS, ADA.id, ADA.business_name, LAGOS.id)
        await connection.execute("VACUUM ANALYZE products, vendors, campuses")


async def seed_orders(admin_url: str) -> None:
    """Insert 50 orders of one item for each of 1,000 buyers."""
    async with connected(admin_url) as connection:
        await connection.execute(_ORDERS, ADA.id, LAGOS.id)
        await connection.execute(_ITEMS)
        await connection.execute("VACUUM ANALYZE orders, order_items")
