"""The same reads of 100,000 and of 1,000 products: first page, deep page, search, filter."""

from lab.bench import catalogs
from lab.bench.closed_loop import calling
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Goal, Row

_READS = {
    "first_page": "first page",
    "deep_page": "page 500, by its cursor (of 1,000: page 25)",
    "search": "search by relevance, typos among them",
    "filter": "filter by category and price",
}


async def measure(bench: BenchEnvironment) -> list[Row]:
    for label, products in (("small", catalogs.SMALL), ("large", catalogs.LARGE)):
        bench.log(f"creating a catalog of {products:,} products")
        made = await bench.make_database("orders", label)
        await catalogs.fill(made.admin, products)
    rows = []
    for read, name in _READS.items():
        async with (
            calling(bench, f"products_{read}", "orders", label="large") as large,
            calling(bench, f"products_{read}", "orders", label="small") as small,
        ):
            named = f"100,000 products: {name}"
            rows.append(await bench.compare(named, large, "1,000 products", small, Goal("ratio", 0.5, at_least=True)))
    return rows
