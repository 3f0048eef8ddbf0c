"""Faults in SQL: a condition that is always true, a lock or a conflict clause that is missing, another comparison or
sign.
"""

import re
from collections.abc import Iterator
from typing import Final

_STATEMENT: Final = re.compile(r"\s*((SELECT|INSERT|UPDATE|DELETE|WITH|FROM)\s|\w+ AS (MATERIALIZED )?\()")
_KEYWORDS: Final = re.compile(r"\b(WHERE|AND|HAVING)\b")
# Ends a condition at its own depth of brackets, as a comma does.
_END: Final = re.compile(
    r"\b(AND|OR|ORDER BY|GROUP BY|HAVING|RETURNING|FOR|ON|LIMIT|OFFSET|UNION|WINDOW|DO|WHERE|WHEN|THEN|ELSE|END|AS"
    r"|FROM|SET"
    r"|LEFT|RIGHT|FULL|INNER|CROSS|JOIN|DESC)\b"
)
# A literal is one token, whatever it contains.
_TOKEN: Final = re.compile(r"'[^']*'|\w+|[(),;]")
_DROPPED: Final = {
    "lock": re.compile(r"FOR (NO KEY )?UPDATE( OF [a-z, ]+?)?( SKIP LOCKED| NOWAIT)?(?=\s|$|\))"),
    "conflict clause": re.compile(r"ON CONFLICT( \([^)]*\))?( WHERE [^)]*?)? DO NOTHING"),
}
_SWAPPED: Final = ((" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" + ", " - "), (" - ", " + "))


def is_statement(text: str) -> bool:
    """Return whether a text is SQL that the service executes; `Writes` has its common table expressions alone."""
    return _STATEMENT.match(text) is not None


def faults_of_statement(text: str) -> Iterator[tuple[str, str]]:
    """Descriptions, each with a changed statement."""
    for start, end in _conditions(text):
        condition = text[start:end].strip()
        # The condition stays in the statement, so that its parameters keep their types.
        yield f"no condition {_short(condition)}", f"{text[:start]} (({condition}) IS NOT NULL OR true) {text[end:]}"
    for name, pattern in _DROPPED.items():
        for match in pattern.finditer(text):
            yield f"no {name} {match[0]}", text[: match.start()] + text[match.end() :]
    for before, after in _SWAPPED:
        for match in re.finditer(re.escape(before), text):
            near = text[max(0, match.start() - 20) : match.end() + 20]
            yield f"{_short(near)} with{after.rstrip()}", text[: match.start()] + after + text[match.end() :]


def _conditions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the conjuncts after each WHERE, AND and HAVING. The AND of a BETWEEN starts none."""
    for keyword in _KEYWORDS.finditer(text):
        if keyword[0] == "AND" and re.search(r"\bBETWEEN\s+\S+\s+$", text[: keyword.start()]):
            continue
        start = keyword.end()
        end = _end_of(text, start)
        if end > start + 1:
            yield start, end


def _end_of(text: str, start: int) -> int:
    depth, is_between = 0, False
    for token in _TOKEN.finditer(text, start):
        word = token[0]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth < 0 or (depth == 0 and word in (",", ";")):
            return token.start()
        if depth == 0 and word == "BETWEEN":
            is_between = True
        elif depth == 0 and word == "AND" and is_between:
            is_between = False
        elif depth == 0 and _END.match(text, token.start()):
            return token.start()
    return len(text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:67]}..."
