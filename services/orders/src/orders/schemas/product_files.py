"""The CSV file of an import, row by row (contract section 11.5)."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from common.web.csv_export import read_csv
from common.web.schemas import IN_DIGITS, RequestBody
from orders.domain.errors import InvalidFile
from orders.domain.product_files import COLUMNS, IMPORT_ROWS_MAX, ImportedRow, ImportResult
from orders.domain.products import PRICE_MINOR_MAX, STOCK_MAX, Condition
from orders.domain.variants import OPTIONS_MAX
from orders.schemas.own_products import Category, Name, OptionText, Sku, Text

_NEEDED: Final = frozenset({"sku", "name", "description", "category", "priceMinor", "stock"})
_ACTIVE: Final = {"": True, "true": True, "false": False}
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs"}


def _active(text: str) -> object:
    return _ACTIVE.get(text.strip().lower(), text)


def _reason_of(message: str) -> str:
    """Return a message of the validation for a vendor, who reads it beside the column."""
    return message.removeprefix("Value error, ").replace("Input should be", "must be").replace("String should", "must")


class _Row(RequestBody):
    """A row of the file; an empty cell is its default."""

    sku: Sku | None
    name: Name
    description: Text
    category: Category
    condition: Condition
    price_minor: Annotated[int, Field(ge=1, le=PRICE_MINOR_MAX), IN_DIGITS]
    stock: Annotated[int, Field(ge=0, le=STOCK_MAX), IN_DIGITS]
    active: Annotated[bool, Field(strict=True), BeforeValidator(_active)]


class _Option(BaseModel):
    name: OptionText
    value: OptionText


def read_import(content: bytes) -> tuple[list[ImportedRow], ImportResult]:
    """Return the valid rows, and a result with the faults of all others.

    Raises InvalidFile (422) for another encoding than UTF-8, other separators or columns, or too many rows.
    """
    try:
        text = content.decode("utf-8-sig")
        _check_separator(text.partition("\n")[0])
        # A spreadsheet writes an empty row as an empty line or as separators.
        filled = ((row, cells) for row, cells in enumerate(read_csv(text), start=1) if any(map(str.strip, cells)))
        lines = list(islice(filled, IMPORT_ROWS_MAX + 2))
    except UnicodeDecodeError as error:
        raise InvalidFile("is not UTF-8; save it as CSV UTF-8") from error
    except ValueError as error:
        raise InvalidFile(f"is no CSV: {error}") from error
    columns = lines[0][1] if lines else []
    if len(set(columns)) < len(columns) or not _NEEDED <= set(columns) <= set(COLUMNS):
        raise InvalidFile(f"needs a head with these columns: {', '.join(COLUMNS)}")
    if len(lines) > IMPORT_ROWS_MAX + 1:
        raise InvalidFile(f"has more than {IMPORT_ROWS_MAX} rows; import it in parts")
    rows, result = [], ImportResult()
    for number, cells in lines[1:]:
        try:
            rows.append(_row(number, columns, cells))
        except ValidationError as error:
            for fault in error.errors():
                result.add_fault(number, f"{'.'.join(map(str, fault['loc']))}: {_reason_of(fault['msg'])}")
        except ValueError as error:
            result.add_fault(number, str(error))
    return rows, result


def _check_separator(head: str) -> None:
    for separator, name in _SEPARATORS.items():
        if separator in head and "," not in head:
            raise InvalidFile(f"is separated by {name}; save it with commas")


def _row(number: int, columns: Sequence[str], cells: Sequence[str]) -> ImportedRow:
    if len(cells) != len(columns):
        raise ValueError("has another number of cells than the head")
    texts = dict(zip(columns, cells, strict=True))
    options = tuple(
        (option.name, option.value)
        for position in range(1, OPTIONS_MAX + 1)
        if (option := _option(texts, position)) is not None
    )
    fields = {name: texts.get(name, "") for name in COLUMNS[:8]}
    row = _Row.model_validate(
        {**fields, "sku": fields["sku"].strip() or None, "condition": fields["condition"].strip() or "new"}
    )
    return ImportedRow(
        number,
        row.sku,
        row.name,
        row.description,
        row.category,
        row.condition,
        row.price_minor,
        row.stock,
        row.active,
        options,
    )


def _option(texts: Mapping[str, str], position: int) -> _Option | None:
    name, value = (texts.get(f"option{position}{part}", "") for part in ("Name", "Value"))
    if not name.strip() and not value.strip():
        return None
    if not name.strip() or not value.strip():
        raise ValueError(f"option{position}Name and option{position}Value come together")
    return _Option(name=name, value=value)
