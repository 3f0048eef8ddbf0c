"""Rules inside one database, read from `invariants.sql`: a sentence, and a query for the rows that break it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from operations.audit.findings import KINDS, Kind

# Offending rows that a finding lists; run the query to see all.
ROWS_MAX: Final = 20
_HEADING: Final = re.compile(r"^-- (?P<services>[a-z, ]+)(?: \((?P<kind>[a-z]+)\))?: (?P<rule>.+)$")


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule of one service's database, and the query for the rows that break it.

    `kind`: the kind of such a row. It is `open` instead where `undecided` selects its first column: staff must decide.
    """

    service: str
    rule: str
    offending: str
    kind: Kind = "broken"
    undecided: str = ""


def read_invariants(text: str) -> Iterator[Invariant]:
    """Yield the rules of a file, each for every service of its heading. Raises ValueError: it has another form."""
    for block in text.split("\n\n")[1:]:
        heading, _, queries = block.partition("\n")
        offending, _, undecided = (_query(part) for part in queries.partition("-- undecided\n"))
        found = _HEADING.match(heading)
        kind = next((kind for kind in KINDS if found and kind == (found["kind"] or "broken")), None)
        if found is None or kind is None or not offending or ";" in offending + undecided:
            raise ValueError(f"not a rule with its query: {heading}")
        for service in found["services"].split(", "):
            yield Invariant(service, found["rule"], offending, kind, undecided)


def _query(lines: str) -> str:
    """Return a query without its comments and its end."""
    return "\n".join(line for line in lines.splitlines() if not line.startswith("--")).strip().removesuffix(";")


INVARIANTS: Final = tuple(read_invariants(Path(__file__).with_name("invariants.sql").read_text()))
