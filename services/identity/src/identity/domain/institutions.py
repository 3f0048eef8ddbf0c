"""The campus of a mail address: the longest matching suffix of its domain, on label boundaries (contract section
10).

**A campus exists from its first student on.** Of the 224 institutions of `data/university-domains.json` only those
with users are campuses. The id is a UUIDv5 of the institution's first domain; demo campuses keep their fixed ids. A
domain must be plain ASCII without a trailing dot, and only ASCII letters are lowered: U+212A would become `k`. A user
cannot choose a campus, because a campus gives some users rights.

`data/university-domains.json` holds the institutions of Nigeria, Ghana, Kenya and South Africa from
Hipo/university-domains-list (bb07faf, 2026-06-20, MIT licence).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from common.primitives.cells import Cells
from identity.domain.addresses import domain_of

# The campus id derives from the institution's first domain, so concurrent creations agree on it.
_CAMPUS_NAMESPACE: Final = UUID("6f0f4d0e-52f4-5a06-9d5f-3a0c2f6b7e11")


@dataclass(frozen=True, slots=True)
class Institution:
    """A university with the id of its campus, which may not exist yet."""

    campus_id: UUID
    name: str
    domain: str


class Institutions:
    """The institutions by each of their mail domains."""

    def __init__(
        self, entries: Iterable[tuple[str, list[str]]], known_ids: Mapping[str, UUID], cells: Cells | None = None
    ) -> None:
        """`entries` are names with their domains. `known_ids` fixes campus ids by first domain."""
        self._cells = cells
        self._by_domain: dict[str, Institution] = {}
        for name, domains in entries:
            first = domains[0]
            institution = Institution(known_ids.get(first, uuid5(_CAMPUS_NAMESPACE, first)), name, first)
            self._by_domain.update(dict.fromkeys(domains, institution))

    def institution_of(self, address: str) -> Institution | None:
        """Return the institution of a normal mail address, or None. Raises Misdirected (421) for one of another
        cell.
        """
        domain = domain_of(address)
        while domain:
            found = self._by_domain.get(domain)
            if found is not None:
                if self._cells is not None:
                    self._cells.check_campus(found.campus_id)
                return found
            domain = domain.partition(".")[2]
        return None
