"""The content of a numbered document, in the texts that are printed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.primitives.clock import LAGOS

DocumentKind = Literal["receipt", "remittance", "invoice"]
_PREFIXES: Final[dict[DocumentKind, str]] = {"receipt": "RC", "remittance": "RA", "invoice": "CI"}


@dataclass(frozen=True, slots=True)
class Party:
    """One side of the document; an erased one has no name."""

    role: str
    name: str | None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document with the same bytes each time. `issued_at` is the instant of its fact.

    The first of `columns` holds text, the others amounts or quantities; `sums` end with the total.
    """

    title: str
    number: str
    issued_at: datetime
    parties: tuple[Party, ...]
    facts: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    sums: tuple[tuple[str, str], ...]
    note: str

    @property
    def file_name(self) -> str:
        return self.number.lower()


@dataclass(frozen=True, slots=True)
class PaperPart:
    """A part of a paper: rows of one cell (`heading`, `text`), of term and value (`facts`), or of a table, whose first
    row is its head and whose columns `numbers` stand right.
    """

    kind: Literal["heading", "text", "facts", "table"]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Paper:
    """A page as a file: without a number, as of `made_at`."""

    title: str
    made_at: datetime
    parts: tuple[PaperPart, ...]
    note: str

    @property
    def cells(self) -> int:
        """The number of its cells, which is what it costs."""
        return sum(len(row) for part in self.parts for row in part.rows)


PAPER_CELLS_MAX: Final = 6_000
"""A table of 500 rows and 12 columns: some 25 pages."""


def document_number(kind: DocumentKind, vendor_id: UUID, number: int) -> str:
    """Return the printed number: kind, the end of the vendor's id, and its number without gaps
    (`RC-9F21C0D4-000012`).
    """
    return f"{_PREFIXES[kind]}-{vendor_id.hex[-8:].upper()}-{number:06d}"


def local_time(at: datetime) -> str:
    """Return an instant in Lagos, `29 November 2026, 14:05`."""
    local = at.astimezone(LAGOS)
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}, {local:%H:%M}"


def month_name(year: int, month: int) -> str:
    """Return a month such as `November 2026`."""
    return f"{_MONTHS[month - 1]} {year}"


# `strftime` follows the locale of the process.
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
