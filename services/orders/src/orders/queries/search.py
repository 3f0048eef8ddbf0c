"""Statements of the product list: index scans, and searches whose cost does not grow with the catalog.

**A search normalizes words** without accents, wide letters and capitals, by the same rule in SQL (`plain`) and Python
(`normalize_text`), because parsers disagree about the combining marks of Yoruba.

**Joined and split words match.** `name_terms` stores each two neighbours of a name as one word too, and a search tries
its own words joined and split at digits: `iPhone13` finds iPhone 13, and `power bank` Powerbank.

**A search needs no extension and does not grow with the catalog.** It filters the next 1,000 products of the list,
then sorts up to 2,000 matches of the word index, then scans the list (`queries/search.py`). Relevance has two tiers,
matches in names first, newest first in each, so a cursor stays valid while products are added. A trigram index ranks
finer, but reads every match and is not available on every PostgreSQL.

**Typos match by spellings.** `search_words` stores the words of names and categories with each spelling that lacks
one letter; two words with a common spelling are one typo apart. Only a search without results runs again with the two
nearest words of each unknown word; its cursor contains them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.parameters import Parameters, all_of
from orders.queries.filters import Filters, FilterValue

# A search first filters the next NEAR_PRODUCTS of the list: a common word fills its page there, and a small catalog is
# read whole. At most FEW_MATCHES_MAX rarer matches are collected by the word index and sorted. More matches come from a
# scan of the list.
NEAR_PRODUCTS: Final = 1_000
FEW_MATCHES_MAX: Final = 2_000
# An unknown word is replaced by its two nearest words, for at most four words of a search: the cursor contains them.
NEAR_WORDS_MAX: Final = 2
CORRECTED_WORDS_MAX: Final = 4

# `3 in 1` finds 3in1.
JOINED_WORDS_MAX: Final = 3
_DIGIT_RUNS: Final = re.compile(r"[0-9]+|[^0-9]+")
# Those of PostgreSQL's English dictionary, which a test compares.
_STOP_WORDS: Final = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves what which who whom this that these those am is are was were be
been being have has had having do does did doing a an the and but if or because as until while of at by for with
about against between into through during before after above below to from up down in out on off over under
again further then once here there when where why how all any both each few more most other some such no nor not
only own same so than too very s t can will just don should now
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())

# Two words are one typo apart when they are equal after one letter is left out of one or both. The first letter is
# rarely the wrong one. A prefix of a known word is no typo.
NEAR_WORDS: Final = f"""
SELECT searched.position - 1 AS position, near.word
FROM unnest($1::text[]) WITH ORDINALITY AS searched (word, position)
CROSS JOIN LATERAL (
    SELECT known.word FROM search_words AS known WHERE known.spellings && spellings_of(searched.word)
    ORDER BY left(known.word, 1) = left(searched.word, 1) DESC, abs(length(known.word) - length(searched.word)),
        known.word
    LIMIT {NEAR_WORDS_MAX}
) AS near
WHERE length(searched.word) >= 3
  AND NOT EXISTS (SELECT FROM search_words AS longer
      WHERE longer.word >= searched.word AND longer.word < searched.word || chr(65533))
ORDER BY 1
"""

Corrections = list[list[int | str]]
"""For some words of the search: the position of the word and its alternatives."""


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of the product list; `column` and `id` mark the end of a page."""

    column: str
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
    """The end of the previous page. `tier` is 2 only in the second half of a list by relevance."""

    tier: int
    mark: datetime | int
    id: UUID


# Each filter is a clause with one value. A statement holds only the given filters, so each combination has its own
# plan; asyncpg caches the prepared statements.
_FILTERS: Final[Mapping[str, str]] = {
    "q": "terms @@ to_tsquery('every_word', {})",
    "vendorId": "vendor_id = {}",
    "campusId": "campus_id = {}",
    "category": "category = {}",
    "minPriceMinor": "price_minor >= {}",
    "maxPriceMinor": "price_minor <= {}",
    "inStock": "(stock > 0) = {}",
    "condition": "condition = {}",
}
# The number of matches is unknown before the search: one product, or half of all.
_SELECTIVE: Final = frozenset({"q", "minPriceMinor", "maxPriceMinor"})


def product_statement(
    columns: str,
    filters: Filters,
    sort: Sort,
    limit: int,
    after: Position | None,
    names_only: str | None,
) -> tuple[str, list[FilterValue]]:
    """Return the statement of a page and its values. `filters` holds `q` as the text of a tsquery.

    A list by relevance passes `names_only`, the same query over names: matches in names (tier 1) precede all other
    matches (tier 2), each newest first.
    """
    parameters = Parameters()
    clauses = {name: parameters.condition(_FILTERS[name], value) for name, value in filters.items()}
    selective = _SELECTIVE if sort.column != "price_minor" else frozenset({"q"})
    plain = [clause for name, clause in clauses.items() if name not in selective]
    searched = [clause for name, clause in clauses.items() if name in selective]
    if not searched:
        where = [*plain, *_position(parameters, sort, after)]
        statement = f"SELECT {columns} FROM listed_products WHERE {all_of(where)} ORDER BY {sort.order} LIMIT {limit}"
        return statement, parameters.values
    if names_only is None:
        tiers = {1: searched}
    else:
        named = parameters.condition(_FILTERS["q"], names_only)
        # A match in the name is a match in `terms` too. Both conditions together would make the planner expect few
        # rows.
        tiers = {1: [*(clause for clause in searched if clause != clauses["q"]), named], 2: [*searched, f"NOT {named}"]}
    parts: list[str] = []
    gathered: list[str] = []
    for tier, matching in tiers.items():
        if after is not None and tier < after.tier:
            continue
        position = _position(parameters, sort, after if after is not None and after.tier == tier else None)
        opaque = [_opaque(clause) for clause in matching]
        gathered.append(_near(tier, columns, sort, limit, [*plain, *position], opaque))
        gathered.append(_few(tier, sort, [*plain, *matching, *position]))
        parts += _alternatives(tier, columns, sort, limit, [*plain, *opaque, *position])
    # PostgreSQL runs the parts in order until the page is full: later parts then cost nothing.
    return f"WITH {', '.join(gathered)} {' UNION ALL '.join(parts)} LIMIT {limit}", parameters.values


def _near(tier: int, columns: str, sort: Sort, limit: int, where: Sequence[str], matching: Sequence[str]) -> str:
    """Return the matches among the next products of the list."""
    return (
        f"near_{tier} AS MATERIALIZED (SELECT {columns}, {tier} AS tier FROM (SELECT * FROM listed_products "
        f"WHERE {all_of(where)} ORDER BY {sort.order} LIMIT {NEAR_PRODUCTS}) AS listed_products WHERE "
        f"{all_of(matching)} "
        f"ORDER BY {sort.order} LIMIT {limit})"
    )


def _few(tier: int, sort: Sort, where: Sequence[str]) -> str:
    """Return the matches in no order, at most one more than `FEW_MATCHES_MAX`."""
    return (
        f"few_{tier} AS MATERIALIZED (SELECT id AS few_id, {sort.column} AS few_mark FROM listed_products "
        f"WHERE {all_of(where)} LIMIT {FEW_MATCHES_MAX + 1})"
    )


def _alternatives(tier: int, columns: str, sort: Sort, limit: int, where: Sequence[str]) -> tuple[str, str, str]:
    """Return the full page from the next products; the few matches, sorted; or a scan in list order. Only one of them
    runs.
    """
    near = f"(SELECT count(*) FROM near_{tier})"
    few = f"(SELECT count(*) FROM few_{tier})"
    nearby = f"(SELECT * FROM near_{tier} WHERE {near} = {limit})"
    gathered = (
        f"(SELECT {columns}, {tier} AS tier FROM (SELECT few_id FROM few_{tier} "
        f"WHERE CASE WHEN {near} < {limit} THEN {few} <= {FEW_MATCHES_MAX} ELSE false END "
        f"ORDER BY few_mark {sort.direction}, few_id {sort.direction} LIMIT {limit}) AS first "
        f"JOIN listed_products ON listed_products.id = first.few_id ORDER BY {sort.order})"
    )
    scanned = (
        f"(SELECT {columns}, {tier} AS tier FROM listed_products "
        f"WHERE CASE WHEN {near} < {limit} THEN {few} > {FEW_MATCHES_MAX} ELSE false END AND {all_of(where)} "
        f"ORDER BY {sort.order} LIMIT {limit})"
    )
    return nearby, gathered, scanned


def _opaque(clause: str) -> str:
    """Return the clause hidden from the planner, which must neither use its index nor estimate its matches."""
    return f"CASE WHEN {clause} THEN true ELSE false END"


def _position(parameters: Parameters, sort: Sort, after: Position | None) -> list[str]:
    if after is None:
        return []
    return [parameters.condition(f"({sort.column}, id) {sort.beyond} ({{}}, {{}})", after.mark, after.id)]


def search_terms(words: Sequence[str], corrections: Sequence[Sequence[int | str]] = (), weight: str = "") -> str:
    """Return a tsquery: each word must match a word or its prefix, so `jol rice` finds Jollof Rice. No words match
    nothing.

    A word also matches joined with its neighbours, and split at its digits. Stop words count only in a search without
    other words, and then as whole words.
    """
    near = {position: others for position, *others in corrections}
    positions = [position for position, word in enumerate(words) if word not in STOP_WORDS]
    if not positions:
        return " & ".join(f"'{word}':{weight or 'ABCD'}" for word in words)
    return " & ".join(
        f"({' | '.join(_alternatives_of(words, position, near.get(position, ()), weight))})" for position in positions
    )


def _alternatives_of(
    words: Sequence[str], position: int, corrections: Sequence[int | str], weight: str
) -> Iterator[str]:
    """Yield the tsqueries of which one must match for the word at this position."""
    yield f"'{words[position]}':*{weight}"
    for start in range(max(0, position - JOINED_WORDS_MAX + 1), position + 1):
        for end in range(max(position, start + 1) + 1, min(start + JOINED_WORDS_MAX, len(words)) + 1):
            yield f"'{''.join(words[start:end])}':*{weight}"
    *parts, last = _DIGIT_RUNS.findall(words[position])
    if 0 < len(parts) < JOINED_WORDS_MAX:
        yield "(" + " & ".join([*(f"'{part}':{weight or 'ABCD'}" for part in parts), f"'{last}':*{weight}"]) + ")"
    for other in corrections:
        yield f"'{other}':{weight or 'ABCD'}"
