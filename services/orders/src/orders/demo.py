"""Demo data: the products of the two demo vendors, with fixed ids.

Loading twice changes nothing, so products keep the stock that a demo has left.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from common.auth.caller import THE_SERVICE
from contracts.demo import ADA, BOLA, DemoVendor
from orders.dependencies import Dependencies
from orders.store import products
from orders.store.stock import StockLevel, save_product_if_new
from orders.use_cases.products.publish_stock_changes import publish_stock_changes


class DemoLine(NamedTuple):
    """A product line with its variants: `(variant, price in naira)`."""

    category: str
    name: str
    description: str
    variants: tuple[tuple[str, int], ...]


_PLATES: Final = ("small plate", "regular plate", "large plate")
_PACKS: Final = ("single", "pack of 6", "pack of 12")
_COLOURS: Final = ("black", "white", "blue")


def _line(category: str, name: str, description: str, variants: tuple[str, ...], *naira: int) -> DemoLine:
    return DemoLine(category, name, description, tuple(zip(variants, naira, strict=True)))


_ADAS_PRODUCTS: Final = (
    _line("meals", "Jollof Rice", "Smoky party jollof with fried plantain.", _PLATES, 1_200, 1_800, 2_500),
    _line("meals", "Fried Rice", "With liver, carrots and green peas.", _PLATES, 1_300, 1_900, 2_600),
    _line("meals", "Ofada Rice and Ayamase", "Served in leaf, with boiled egg.", _PLATES, 1_800, 2_500, 3_300),
    _line("meals", "Coconut Rice", "Cooked in fresh coconut milk.", _PLATES, 1_500, 2_100, 2_800),
    _line("meals", "Pounded Yam and Egusi", "Egusi soup with goat meat and stockfish.", _PLATES, 2_200, 3_000, 3_900),
    _line("meals", "Amala and Ewedu", "With gbegiri and assorted meat.", _PLATES, 1_500, 2_200, 3_000),
    _line("meals", "Eba and Okra Soup", "Yellow eba, okra soup with fish.", _PLATES, 1_400, 2_000, 2_700),
    _line("meals", "Semo and Ogbono", "Ogbono soup with beef and ponmo.", _PLATES, 1_500, 2_100, 2_900),
    _line("meals", "Beans and Plantain", "Honey beans in palm oil sauce, with dodo.", _PLATES, 900, 1_400, 1_900),
    _line("meals", "Yam Porridge", "Asaro with smoked fish and ugu.", _PLATES, 1_200, 1_700, 2_300),
    _line("meals", "Spaghetti Jollof", "With chicken and peppers.", _PLATES, 1_100, 1_600, 2_200),
    _line("meals", "Indomie Special", "Noodles with egg, sausage and vegetables.", _PLATES, 900, 1_300, 1_800),
    _line("snacks", "Meat Pie", "Baked this morning, beef and potato.", _PACKS, 700, 3_900, 7_500),
    _line("snacks", "Chicken Pie", "Baked this morning, shredded chicken.", _PACKS, 800, 4_500, 8_600),
    _line("snacks", "Sausage Roll", "Flaky pastry, seasoned beef.", _PACKS, 500, 2_800, 5_400),
    _line("snacks", "Puff Puff", "Soft and golden.", _PACKS, 100, 550, 1_000),
    _line("snacks", "Chin Chin", "Crunchy, lightly sweet.", _PACKS, 600, 3_300, 6_300),
    _line("snacks", "Plantain Chips", "Ripe or unripe, thinly cut.", _PACKS, 500, 2_800, 5_400),
    _line("snacks", "Akara", "Bean cakes, fried in the morning.", _PACKS, 150, 800, 1_500),
    _line("snacks", "Moi Moi", "Steamed bean pudding with egg and fish.", _PACKS, 700, 3_900, 7_600),
    _line("snacks", "Suya", "Beef suya with yaji and onions.", _PACKS, 1_000, 5_700, 11_000),
    _line("snacks", "Samosa", "Spicy beef filling.", _PACKS, 300, 1_700, 3_200),
    _line("drinks", "Zobo", "Hibiscus, ginger and pineapple, chilled.", _PACKS, 500, 2_800, 5_400),
    _line("drinks", "Kunu", "Millet and ginger, chilled.", _PACKS, 500, 2_800, 5_400),
    _line("drinks", "Tigernut Milk", "Dates and coconut, no sugar.", _PACKS, 900, 5_100, 9_900),
    _line("drinks", "Chapman", "With cucumber and lemon.", _PACKS, 1_200, 6_800, 13_200),
    _line("drinks", "Bottled Water 75cl", "Table water.", _PACKS, 250, 1_400, 2_600),
    _line("drinks", "Malt Drink 33cl", "Non-alcoholic, chilled.", _PACKS, 600, 3_400, 6_600),
    _line("groceries", "Garri Ijebu", "Crisp and sour.", ("1 kg", "2 kg", "5 kg"), 1_500, 2_900, 7_000),
    _line("groceries", "Long Grain Rice", "Stone-free.", ("1 kg", "2 kg", "5 kg"), 2_000, 3_900, 9_500),
    _line("groceries", "Honey Beans", "Oloyin, picked clean.", ("1 kg", "2 kg", "5 kg"), 2_200, 4_300, 10_500),
    _line("groceries", "Instant Noodles", "Chicken flavour.", ("1 pack", "10 packs", "carton of 40"), 300, 2_900,
        11_000),
    _line("groceries", "Powdered Milk", "Full cream.", ("refill 300 g", "refill 800 g", "tin 900 g"), 2_600, 6_400,
        8_200),
    _line("groceries", "Cornflakes", "Family cereal.", ("350 g", "500 g", "1 kg"), 2_400, 3_300, 6_100),
    _line("groceries", "Groundnut Oil", "Cold pressed.", ("75 cl", "2 litres", "5 litres"), 2_300, 5_900, 14_500),
    _line("groceries", "Tomato Paste", "For stew.", ("sachet", "strip of 10", "carton of 50"), 200, 1_900, 9_200),
)  # fmt: skip

_BOLAS_PRODUCTS: Final = (
    _line("phone-accessories", "USB-C Cable", "Braided, fast charging.", ("1 m", "2 m", "3 m"), 2_500, 3_500, 4_800),
    _line("phone-accessories", "Lightning Cable", "Braided, certified.", ("1 m", "2 m", "3 m"), 3_500, 4_800, 6_200),
    _line("phone-accessories", "Wall Charger", "UK plug.", ("18 W", "33 W", "65 W"), 5_500, 9_000, 16_500),
    _line("phone-accessories", "Phone Case", "Shockproof silicone.", _COLOURS, 3_000, 3_000, 3_200),
    _line("phone-accessories", "Screen Protector", "Tempered glass.", _PACKS, 1_500, 8_000, 15_000),
    _line("phone-accessories", "Ring Holder", "With magnetic plate.", _COLOURS, 1_200, 1_200, 1_300),
    _line("phone-accessories", "Phone Tripod", "With Bluetooth remote.", ("1 m", "1.5 m", "2 m"), 6_500, 9_500, 13_500),
    _line("phone-accessories", "SIM Adapter Kit", "Nano, micro and pin.", _PACKS, 500, 2_700, 5_000),
    _line("power", "Power Bank", "Two USB ports, LED gauge.", ("10,000 mAh", "20,000 mAh", "30,000 mAh"), 12_000,
        18_500, 26_000),
    _line("power", "Rechargeable Fan", "With light, six hours.", ("8 inch", "12 inch", "16 inch"), 18_000, 29_500,
        46_000),
    _line("power", "Rechargeable Lamp", "For reading when the light goes.", _COLOURS, 6_500, 6_500, 6_800),
    _line("power", "Extension Box", "With surge protection.", ("3 way", "5 way", "8 way"), 4_500, 7_000, 10_500),
    _line("power", "Solar Charger", "Foldable panel.", ("10 W", "20 W", "30 W"), 15_500, 25_000, 36_000),
    _line("power", "AA Batteries", "Alkaline.", ("4 pieces", "8 pieces", "20 pieces"), 1_800, 3_400, 7_900),
    _line("audio", "Wired Earphones", "With microphone.", _COLOURS, 2_000, 2_000, 2_200),
    _line("audio", "Wireless Earbuds", "Charging case, 24 hours.", _COLOURS, 13_500, 13_500, 14_000),
    _line("audio", "Over-ear Headphones", "Foldable, with cable.", _COLOURS, 17_000, 17_000, 17_800),
    _line("audio", "Bluetooth Speaker", "Splash-proof.", ("5 W", "10 W", "20 W"), 11_000, 18_000, 31_500),
    _line("audio", "Lapel Microphone", "For lectures and content.", ("wired", "wireless", "wireless pair"), 4_500,
        14_000, 24_500),
    _line("computing", "Flash Drive", "USB 3.0.", ("16 GB", "32 GB", "64 GB"), 4_000, 5_500, 8_500),
    _line("computing", "Memory Card", "Class 10, with adapter.", ("32 GB", "64 GB", "128 GB"), 5_000, 8_000, 14_500),
    _line("computing", "External Hard Disk", "USB 3.0.", ("500 GB", "1 TB", "2 TB"), 38_000, 62_000, 98_000),
    _line("computing", "Wireless Mouse", "Silent click.", _COLOURS, 6_000, 6_000, 6_300),
    _line("computing", "Keyboard", "UK layout.", ("wired", "wireless", "mechanical"), 7_500, 14_000, 33_000),
    _line("computing", "Laptop Sleeve", "Water-resistant.", ("13 inch", "14 inch", "15.6 inch"), 6_500, 7_000, 7_800),
    _line("computing", "Laptop Stand", "Aluminium, foldable.", _COLOURS, 12_500, 12_500, 13_000),
    _line("computing", "USB Hub", "For every port you miss.", ("4 ports", "7 ports", "10 ports"), 7_000, 12_500,
        19_000),
    _line("computing", "HDMI Cable", "4K.", ("1.5 m", "3 m", "5 m"), 3_500, 5_500, 8_000),
    _line("stationery", "Higher Education Notebook", "Hard cover, ruled.", ("2A", "3A", "4A"), 1_200, 1_700, 2_300),
    _line("stationery", "Biro", "Writes to the last drop.", _PACKS, 150, 800, 1_500),
    _line("stationery", "Scientific Calculator", "Allowed in examinations.", ("basic", "fx series", "graphing"), 5_500,
        14_500, 88_000),
    _line("stationery", "Drawing Board", "For technical drawing.", ("A3", "A2", "A1"), 8_500, 14_000, 23_500),
    _line("stationery", "Lab Coat", "White, cotton.", ("small", "medium", "large"), 7_500, 7_500, 8_000),
    _line("hostel", "Bucket with Lid", "For water scarcity.", ("10 litres", "20 litres", "40 litres"), 2_000, 3_500,
        6_000),
    _line("hostel", "Mosquito Net", "Treated.", ("single bunk", "double bunk", "family"), 5_000, 6_500, 8_500),
    _line("hostel", "Electric Kettle", "Auto shut-off.", ("1 litre", "1.8 litres", "2.5 litres"), 8_500, 11_500,
        15_000),
)  # fmt: skip

# Every 17th product is sold out, so that a demo shows this state.
_SOLD_OUT_EVERY: Final = 17
_FIRST_CREATED_AT: Final = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)


class DemoProduct(NamedTuple):
    """A demo product with its stock."""

    level: StockLevel
    vendor_name: str
    description: str
    category: str
    created_at: datetime


def demo_product_id(number: int) -> UUID:
    """Return the id of the demo product with this number, counted from 1; it shares its prefix with the ids of
    `contracts.demo`.
    """
    return UUID(f"018cc251-f400-7005-8000-{number:012x}")


def demo_products() -> list[DemoProduct]:
    """All demo products, the same on every call."""
    return [
        _demo_product(number, vendor, line, variant, naira)
        for number, (vendor, line, variant, naira) in enumerate(_variants(), start=1)
    ]


def _variants() -> Iterator[tuple[DemoVendor, DemoLine, str, int]]:
    for vendor, lines in ((ADA, _ADAS_PRODUCTS), (BOLA, _BOLAS_PRODUCTS)):
        for line in lines:
            for variant, naira in line.variants:
                yield vendor, line, variant, naira


def _demo_product(number: int, vendor: DemoVendor, line: DemoLine, variant: str, naira: int) -> DemoProduct:
    stock = 0 if number % _SOLD_OUT_EVERY == 0 else 20 + number % 60
    level = StockLevel(
        product_id=demo_product_id(number),
        vendor_id=vendor.id,
        campus_id=vendor.campus_id,
        name=f"{line.name}, {variant}",
        price_minor=naira * 100,
        stock=stock,
        availability_changed=True,
        removed=False,
    )
    created_at = _FIRST_CREATED_AT + timedelta(minutes=number)
    return DemoProduct(level, vendor.business_name, line.description, line.category, created_at)


async def load_demo_data(dependencies: Dependencies) -> None:
    """Insert the demo products, and publish each new one."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for level, vendor_name, description, category, created_at in demo_products():
            if await save_product_if_new(uow, level, vendor_name, description, category, created_at):
                await products.save_search_words(uow, level.name, category)
                publish_stock_changes(uow, [level])
