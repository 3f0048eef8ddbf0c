"""The CSV file of a vendor's products: one row for each variant, or for a product without (contract section 11.5)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from common.web.csv_export import csv_head, csv_lines
from orders.domain.products import Condition
from orders.domain.variants import OPTIONS_MAX

# A spreadsheet opens this many rows well.
ROWS_MAX: Final = 10_000
COLUMNS: Final = (
    "sku",
    "name",
    "description",
    "category",
    "condition",
    "priceMinor",
    "stock",
    "active",
    *(f"option{number}{part}" for number in range(1, OPTIONS_MAX + 1) for part in ("Name", "Value")),
)


class ExportedProduct(NamedTuple):
    """A row of the file; the price in kobo. A draft is not active. `option_values` are pairs of option and value.

    `sku` is the id of the product or variant where it has no SKU.
    """

    sku: str
    name: str
    description: str
    category: str
    condition: Condition
    price_minor: int
    stock: int
    active: bool
    option_values: Sequence[Sequence[str]]


def csv_of_products(products: Iterable[ExportedProduct]) -> Iterator[str]:
    """Yield the file, a line after the other."""
    yield csv_head(COLUMNS)
    for product in products:
        *fields, active, option_values = product
        options = [text for pair in option_values for text in pair]
        padding = [""] * (2 * OPTIONS_MAX - len(options))
        yield csv_lines([[*fields, "true" if active else "false", *options, *padding]])


# Some seconds of one transaction.
IMPORT_ROWS_MAX: Final = 1_000
IMPORT_BYTES_MAX: Final = 1024 * 1024


class ImportedRow(NamedTuple):
    """A valid row of an import; `row` is its line in the file, of which the head is the first."""

    row: int
    sku: str | None
    name: str
    description: str
    category: str
    condition: Condition
    price_minor: int
    stock: int
    active: bool
    option_values: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class ImportResult:
    """The numbers of products that an import created and updated, and the faults of rows by their lines."""

    created: int = 0
    updated: int = 0
    faults: dict[int, list[str]] = field(default_factory=dict)

    def add_fault(self, row: int, reason: str) -> None:
        self.faults.setdefault(row, []).append(reason)


def products_of(rows: Iterable[ImportedRow]) -> list[list[ImportedRow]]:
    """Return the rows of each product: a row without options, or all rows with options and the same name."""
    products: dict[object, list[ImportedRow]] = {}
    for row in rows:
        products.setdefault(row.name.casefold() if row.option_values else row.row, []).append(row)
    return list(products.values())
