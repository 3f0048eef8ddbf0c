"""The statements of the product list: walks along an index, and searches that cost the same in a small and in a large catalog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# A search first looks through so many products in the order of the list: a common word fills its page there, and a small catalog
# is seen to its end. What is rarer is gathered and sorted when it is at most so many, and else, being spread thinly over very much,
# picked from a walk through the list. None of it grows with the catalog.
NEAR_PRODUCTS: Final = 1_000
FEW_MATCHES_MAX: Final = 2_000
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
        # What stands in the name stands among all words: asking for both would make the planner think that few match.
        tiers = {1: [*(clause for clause in sought if clause != clauses["q"]), named], 2: [*sought, f"NOT {named}"]}
    parts: list[str] = []
    gathered: list[str] = []
    for tier, wanted in tiers.items():
        if after is not None and tier < after.tier:
            continue
        position = _position(values, sort, after if after is not None and after.tier == tier else None)
        seen_through = [_opaque(clause) for clause in wanted]
        gathered.append(_near(tier, columns, sort, limit, [*plain, *position], seen_through))
        gathered.append(_few(tier, sort, [*plain, *wanted, *position]))
        parts += _three_ways(tier, columns, sort, limit, [*plain, *seen_through, *position])
    # The parts are run one after the other until the page is full: what comes later costs nothing.
    return f"WITH {', '.join(gathered)} {' UNION ALL '.join(parts)} LIMIT {limit}", values.all


def _near(tier: int, columns: str, sort: Sort, limit: int, where: Sequence[str], wanted: Sequence[str]) -> str:
    """What matches among the next products of the list."""
    filtered = f" WHERE {' AND '.join(where)}" if where else ""
    return (
        f"near_{tier} AS MATERIALIZED (SELECT {columns}, {tier} AS tier FROM (SELECT * FROM shelf{filtered} "
        f"ORDER BY {sort.order} LIMIT {NEAR_PRODUCTS}) AS shelf WHERE {' AND '.join(wanted)} "
        f"ORDER BY {sort.order} LIMIT {limit})"
    )


def _few(tier: int, sort: Sort, where: Sequence[str]) -> str:
    """What matches, in no order, as far as it is few."""
    return (
        f"few_{tier} AS MATERIALIZED (SELECT id AS few_id, {sort.column} AS few_mark FROM shelf "
        f"WHERE {' AND '.join(where)} LIMIT {FEW_MATCHES_MAX + 1})"
    )


def _three_ways(tier: int, columns: str, sort: Sort, limit: int, where: Sequence[str]) -> tuple[str, str, str]:
    """The full page from nearby; the few, sorted; or the walk along the order's own index. Only one of them runs."""
    near = f"(SELECT count(*) FROM near_{tier})"
    few = f"(SELECT count(*) FROM few_{tier})"
    nearby = f"(SELECT * FROM near_{tier} WHERE {near} = {limit})"
    gathered = (
        f"(SELECT {columns}, {tier} AS tier FROM (SELECT few_id FROM few_{tier} "
        f"WHERE CASE WHEN {near} < {limit} THEN {few} <= {FEW_MATCHES_MAX} ELSE false END "
        f"ORDER BY few_mark {sort.direction}, few_id {sort.direction} LIMIT {limit}) AS first "
        f"JOIN shelf ON shelf.id = first.few_id ORDER BY {sort.order})"
    )
    walked = (
        f"(SELECT {columns}, {tier} AS tier FROM shelf "
        f"WHERE CASE WHEN {near} < {limit} THEN {few} > {FEW_MATCHES_MAX} ELSE false END AND {' AND '.join(where)} "
        f"ORDER BY {sort.order} LIMIT {limit})"
    )
    return nearby, gathered, walked


def _opaque(clause: str) -> str:
    """The clause as the planner cannot see through it: it shall neither use its index nor guess how few match."""
    return f"CASE WHEN {clause} THEN true ELSE false END"


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
