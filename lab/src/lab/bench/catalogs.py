"""A small and a large catalog, to compare the cost of the same reads."""

from typing import Final

from operations.connecting import connected

SMALL: Final = 1_000
LARGE: Final = 100_000

# A word of a kind is in every fortieth name; the word of a maker is in a few names.
_KINDS: Final = (
    "Jollof Rice", "Fried Rice", "Meat Pie", "Puff Puff", "Chin Chin", "Plantain Chips", "Moi Moi", "Beef Suya",
    "Zobo Drink",
    "Tigernut Milk", "Malt Drink", "Garri Ijebu", "Honey Beans", "Instant Noodles", "Powdered Milk", "Groundnut Oil",
    "Tomato Paste", "Lightning Cable", "Wall Charger", "Phone Case", "Screen Protector", "Power Bank",
    "Rechargeable Fan",
    "Rechargeable Lamp", "Solar Charger", "Wired Earphones", "Wireless Earbuds", "Bluetooth Speaker", "Flash Drive",
    "Memory Card", "Wireless Mouse", "Laptop Sleeve", "Laptop Stand", "Ruled Notebook", "Scientific Calculator",
    "Drawing Board", "Lab Coat", "Mosquito Net", "Electric Kettle", "Velvet Slippers",
)  # fmt: skip
SEARCHES: Final = (
    "jollof rice",
    "rice",
    "wireless",
    "scientific calc",
    "velvet",
    "jolof ryce",
    "pwoer bnak",
    "powerbank",
    "maker7",
)

_PRODUCTS: Final = """
INSERT INTO products (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock,
    created_at, updated_at)
SELECT gen_random_uuid(), md5('vendor' || n % ($2 / 20))::uuid, 'Vendor', md5('campus' || n % 20)::uuid,
       ($1::text[])[1 + n % cardinality($1::text[])] || ' maker' || n % ($2 / 8),
       'Sold on the campus, and sent to your hall.', 'category ' || n % 50, 10000 + (n * 7919) % 4000000, n % 17,
       now() - n * interval '20 seconds', now()
FROM generate_series(1, $2) AS n
"""
_WORDS: Final = """
INSERT INTO search_words (word) SELECT DISTINCT word FROM products, words_in(name || ' ' || category) AS word
ON CONFLICT DO NOTHING
"""


async def fill(admin_url: str, products: int) -> None:
    """Insert that many products of a twentieth as many vendors."""
    async with connected(admin_url, command_seconds_max=300) as connection:
        await connection.execute(_PRODUCTS, list(_KINDS), products)
        await connection.execute(_WORDS)
        await connection.execute("VACUUM ANALYZE products, search_words, vendors")
