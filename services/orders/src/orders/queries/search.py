"""The statements of the product list: walks along an index, and searches that cost the same in a small and in a large catalog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# A search with at most so many matches gathers and sorts them all. One with more walks the list in its order and picks what
# matches, which is dense there. Neither cost grows with the catalog.
FEW_MATCHES_MAX: Final = 500
# A word that nobody wrote is read as its two nearest, in at most four places of a search: what a cursor can carry.
NEAR_WORDS_MAX: Final = 2
CORRECTED_WORDS_MAX: Final = 4

# One typo apart: the same when a letter is left out of one or both (a letter wrong, missing, too many, or two exchanged). The
# first letter is seldom the wrong one. A word that some product's words begin with is no typo.
NEAR_WORDS: Final = f"""
SELECT wanted.place - 1 AS place, near.word
FROM unnest($1::text[]) WITH ORDINALITY AS wanted (word, place)
CROSS JOIN LATERAL (
    SELECT known.word FROM search_words AS known WHERE known.spellings && spellings_of(wanted.word)
    ORDER BY left(known.word, 1) = left(wanted.word, 1) DESC, abs(length(known.word) - length(wanted.word)), known.word
    LIMIT {NEAR_WORDS_MAX}
) AS near
WHERE length(wanted.word) >= 3
  AND NOT EXISTS (SELECT FROM search_words AS begun WHERE begun.word >= wanted.word AND begun.word < wanted.word || chr(65533))
ORDER BY 1
"""

Corrections = Sequence[Sequence[Any]]
"""For places of the search's words: the place and the words that may stand there as well."""


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of the product list; `column` and `id` together say where a page ends."""

    column: str
    field: str
    descending: bool

    @property
    def direction(self) -> str:
        return "DESC" if self.descending else "ASC"

    @property
    def beyond(self) -> str:
        return "<" if self.descending else ">"

    @property
    def order(self) -> str:
        return f"{self.column} {self.direction}, id {self.direction}"


@dataclass(frozen=True, slots=True)
class Position:
    """Where the last page ended. `tier` is 1 but in the second part of a list by relevance."""

    tier: int
    mark: Any
    id: Any


# Each filter is a clause with one value; what is not asked for does not stand in the statement, so that each combination has the
# plan that fits it. asyncpg keeps them prepared.
_FILTERS: Final[Mapping[str, str]] = {
    "q": "words @@ to_tsquery('english', {})",
    "vendorId": "vendor_id = {}",
    "campusId": "campus_id = {}",
    "category": "category = {}",
    "minPriceMinor": "price_minor >= {}",
    "maxPriceMinor": "price_minor <= {}",
    "inStock": "(stock > 0) = {}",
}
# How many match is not known before the search: one product, or half of all.
_SELECTIVE: Final = frozenset({"q", "minPriceMinor", "maxPriceMinor"})


class Values:
    """The parameters of a statement."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def place(self, value: Any) -> str:
        self.all.append(value)
        return f"${len(self.all)}"


def product_statement(
    columns: str,
    filters: Mapping[str, Any],
    sort: Sort,
    limit: int,
    after: Position | None,
    names_only: str | None,
) -> tuple[str, list[Any]]:
    """The statement of a page and its values. `filters` holds `q` as the text of a tsquery.

    `names_only` is the same query over names, in a list by relevance: what a name says comes first (tier 1), then the
    rest (tier 2), each newest first.
    """
    values = Values()
    clauses = {name: _FILTERS[name].format(values.place(value)) for name, value in filters.items()}
    selective = _SELECTIVE if sort.column != "price_minor" else frozenset({"q"})
    plain = [clause for name, clause in clauses.items() if name not in selective]
    sought = [clause for name, clause in clauses.items() if name in selective]
    if not sought:
        where = [*plain, *_position(values, sort, after)]
        filtered = f" WHERE {' AND '.join(where)}" if where else ""
        return f"SELECT {columns} FROM shelf{filtered} ORDER BY {sort.order} LIMIT {limit}", values.all
    if names_only is None:
        tiers = {1: sought}
    else:
        named = _FILTERS["q"].format(values.place(names_only))
        tiers = {1: [*sought, named], 2: [*sought, f"NOT {named}"]}
    parts: list[str] = []
    few: list[str] = []
    for tier, wanted in tiers.items():
        if after is not None and tier < after.tier:
            continue
        position = _position(values, sort, after if after is not None and after.tier == tier else None)
        few.append(_few(tier, sort, [*plain, *wanted, *position]))
        parts += _both_ways(tier, columns, sort, limit, [*plain, *(f"({one}) IS TRUE" for one in wanted), *position])
    # The parts are run one after the other until the page is full: what comes later costs nothing.
    return f"WITH {', '.join(few)} {' UNION ALL '.join(parts)} LIMIT {limit}", values.all


def _few(tier: int, sort: Sort, where: Sequence[str]) -> str:
    """What matches, in no order, as far as it is few."""
    return (
        f"few_{tier} AS MATERIALIZED (SELECT id AS few_id, {sort.column} AS few_mark FROM shelf "
        f"WHERE {' AND '.join(where)} LIMIT {FEW_MATCHES_MAX + 1})"
    )


def _both_ways(tier: int, columns: str, sort: Sort, limit: int, where: Sequence[str]) -> tuple[str, str]:
    """The few, sorted; or the walk, in which `IS TRUE` keeps the search's own index out. Only one of them runs."""
    count = f"(SELECT count(*) FROM few_{tier})"
    gathered = (
        f"(SELECT {columns}, {tier} AS tier FROM (SELECT few_id FROM few_{tier} WHERE {count} <= {FEW_MATCHES_MAX} "
        f"ORDER BY few_mark {sort.direction}, few_id {sort.direction} LIMIT {limit}) AS first "
        f"JOIN shelf ON shelf.id = first.few_id ORDER BY {sort.order})"
    )
    walked = (
        f"(SELECT {columns}, {tier} AS tier FROM shelf WHERE {count} > {FEW_MATCHES_MAX} AND {' AND '.join(where)} "
        f"ORDER BY {sort.order} LIMIT {limit})"
    )
    return gathered, walked


def _position(values: Values, sort: Sort, after: Position | None) -> list[str]:
    if after is None:
        return []
    return [f"({sort.column}, id) {sort.beyond} ({values.place(after.mark)}, {values.place(after.id)})"]


def search_terms(words: Sequence[str], corrections: Corrections = (), weight: str = "") -> str:
    """Every word, or the beginning of one, must occur: `jol rice` finds Jollof Rice. No word at all finds nothing."""
    near = {place: others for place, *others in corrections}
    return " & ".join(
        "("
        + " | ".join([f"'{word}':*{weight}", *(f"'{other}':{weight or 'ABCD'}" for other in near.get(place, ()))])
        + ")"
        for place, word in enumerate(words)
    )
