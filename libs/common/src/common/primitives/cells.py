"""Cells: whole systems for disjoint sets of campuses, and the rule that no cell acts for a campus of another one.

docs/cells.md has the design. Without the settings `CELL` and `CELLS` there is one cell, and nothing here is called.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.primitives.problems import ValidationFailed

_NAME: Final = re.compile("[a-z][a-z0-9-]{0,31}")
_ADDRESS: Final = re.compile(r"https?://[^/\s]+")


class Misdirected(ValidationFailed):
    """The request belongs to another cell. Nothing was changed."""

    status, detail = 421, "This campus is served by another cell. Send the request to that cell."

    def __init__(self, cell: str) -> None:
        super().__init__(extensions={"cell": cell})


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the address of its gateway inside the network, its campuses, and the mail domains of their users."""

    name: str
    url: str
    campuses: tuple[UUID, ...] = ()
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cells:
    """All cells, as this one sees them. The first has also the campuses and mail domains that no other cell names."""

    own: str
    all: Sequence[Cell]
    _by_campus: dict[UUID, Cell]
    _by_domain: dict[str, Cell]

    @classmethod
    def of(cls, own: str, cells: Sequence[Cell]) -> "Cells | None":
        """None without cells.

        Raises:
            ValueError: a name, campus or domain is in two cells, the own cell is not listed, or a name or address is
            invalid.
        """
        if not own and not cells:
            return None
        names = [cell.name for cell in cells]
        if own not in names:
            raise ValueError(f"CELLS has no cell {own!r}")
        for cell in cells:
            if not _NAME.fullmatch(cell.name) or not _ADDRESS.fullmatch(cell.url):
                raise ValueError(
                    f"CELLS needs names of lowercase letters and addresses like http://host:port, not {cell}"
                )
        by_campus = {campus: cell for cell in cells for campus in cell.campuses}
        by_domain = {domain.lower(): cell for cell in cells for domain in cell.domains}
        unique = (len(set(names)), len(by_campus), len(by_domain))
        if unique != (len(names), sum(len(cell.campuses) for cell in cells), sum(len(cell.domains) for cell in cells)):
            raise ValueError("a name, a campus or a domain is in CELLS twice")
        return cls(own, cells, by_campus, by_domain)

    def of_campus(self, campus_id: UUID) -> Cell:
        """Return the cell of a campus."""
        return self._by_campus.get(campus_id, self.all[0])

    def of_address(self, email: str) -> Cell:
        """Return the cell of a mail address: by the longest suffix of its domain that a cell names."""
        domain = email.strip().lower().rpartition("@")[2]
        while domain:
            if domain in self._by_domain:
                return self._by_domain[domain]
            domain = domain.partition(".")[2]
        return self.all[0]

    def check_campus(self, campus_id: UUID | None) -> None:
        """Raise Misdirected (421) for a campus of another cell. Without a campus every cell may act."""
        if campus_id is not None and (cell := self.of_campus(campus_id)).name != self.own:
            raise Misdirected(cell.name)
