"""Every statement that writes a stored state names the state before (decision 114)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, SHAPED, nodes_of, product_files, python_files, tree_of

UPDATE = re.compile(
    r"\bUPDATE\s+(?:ONLY\s+)?(?P<table>\w+)(?:\s+(?:AS\s+)?\w+)?\s+SET\b"
    r"|\bINSERT\s+INTO\s+(?P<upserted>\w+)(?:(?!\bINSERT\b).)*?\bDO\s+UPDATE\s+SET\b",
    re.DOTALL,
)
# Columns of another kind with such a name.
NO_STATES = {
    "idempotency_records.status": "the HTTP status of the stored response",
    "found_transfers.status": "the status in the gateway's list; the state is `outcome`, which the statement names",
}
# A `CASE` over the column itself names the state before, too.
ASSIGNED = re.compile(r"(?:^|,)\s*(?P<column>status|state)\s*=(?!\s*CASE (?:\w+\.)?(?P=column) WHEN)")
CONDITION = r"(?<!excluded\.)\b{0}\b\s*(?:=|IN\b)|\({0}, \$\d+::text\) IN\b|allows_change\("

# Statements that may rightly change no row, each with its reason.
OF_ANY_ROWS = {
    "identity/src/identity/store/staff.py:_EXPIRE_GRANTS": "no grant may have expired",
    "identity/src/identity/store/staff.py:_WITHDRAW_PROPOSALS": "a user may have no proposal of another role",
    "notifications/src/notifications/deliveries/store/deliveries.py:_LOG_CLAIM": (
        "a status was reported before the outcome"
    ),
    "notifications/src/notifications/deliveries/store/statuses.py:_REQUEUE_AS_TEMPLATE": (
        "a repetition: the template is queued already"
    ),
    "notifications/src/notifications/support/store/tickets.py:_EMPTY_TICKETS": "an erased user may have no ticket",
    "notifications/src/notifications/webhooks/store.py:_CANCEL_PENDING": "a disabled endpoint may wait for no event",
    "payments/src/payments/store/charges.py:_SAVE_INTENT_SPENT": (
        "a paid intent stays paid, and a repetition changes nothing"
    ),
    "payments/src/payments/store/decisions.py:_OVERTAKE": "a settled refund may have no prepared decision",
    "payouts/src/payouts/store/found_transfers.py:_SAVE_FOUND": "staff may have explained it",
    "payouts/src/payouts/store/returns.py:_WITHDRAW_UNSENT": "a returned payout may have no unsent attempt",
}


def rendered(node: ast.AST, constants: dict[str, ast.expr]) -> str | None:
    """Return the text of a string expression; a constant of the module is replaced by its text, another value by its
    source.
    """
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_part(part, constants) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{rendered(left, constants) or ''}{rendered(right, constants) or ''}"
        case ast.Name(id=name) if name in constants:
            return rendered(constants[name], constants)
    return None


def _part(part: ast.expr, constants: dict[str, ast.expr]) -> str:
    if not isinstance(part, ast.FormattedValue):
        return rendered(part, constants) or ""
    return rendered(part.value, constants) or ast.unparse(part.value)


def constants_of(path: Path) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in tree_of(path).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
    return found


def texts_with_updates(path: Path) -> Iterator[str]:
    constants = constants_of(path)
    parts = {
        id(part)
        for node in nodes_of(path)
        if isinstance(node, ast.JoinedStr | ast.BinOp)
        for part in ast.iter_child_nodes(node)
    }
    for node in nodes_of(path):
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and id(node) not in parts:
            text = rendered(node, constants)
            if text is not None and UPDATE.search(text):
                yield text


def clause(text: str) -> str:
    """Return the text up to the parenthesis that closes what stands before it, or up to the statement's end."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0 or character == ";":
            return text[:position]
    return text


def at_the_top(text: str) -> str:
    """Return the text without what is in parentheses."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def unconditional_writes(text: str) -> Iterator[str]:
    """Each UPDATE of the text that writes a state, and whose WHERE does not compare it."""
    for found in UPDATE.finditer(text):
        statement = clause(text[found.end() :])
        assignments, _, condition = re.sub(r"\s+", " ", statement).partition(" WHERE ")
        for column in ASSIGNED.findall(at_the_top(assignments)):
            if not re.search(CONDITION.format(column), condition):
                yield f"{found['table'] or found['upserted']}.{column}"


def test_every_statement_that_writes_a_state_names_the_state_before() -> None:
    broken = {
        write: path.relative_to(ROOT)
        for path in product_files()
        for text in texts_with_updates(path)
        for write in unconditional_writes(text)
    }
    assert broken.keys() == NO_STATES.keys(), broken


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("UPDATE lamps SET status = 'on' WHERE id = $1", False),
        ("UPDATE lamps SET status = 'on' WHERE id = $1 AND status = 'off'", True),
        ("UPDATE lamps AS l SET watts = 1, status = $2 WHERE l.id = $1 AND l.status IN ('off', 'on')", True),
        ("UPDATE lamps SET status = $2 WHERE id = $1 AND (status, $2::text) IN (('off', 'on'))", True),
        ("UPDATE lamps SET status = $2 WHERE id = $1 AND allows_change(LAMP, '$2')", True),
        ("UPDATE lamps SET status = 'on' WHERE id = $1 AND status <> 'broken'", False),
        ("UPDATE lamps SET watts = (SELECT 1 FROM w WHERE status = 'on') WHERE id = $1", True),
        ("UPDATE lamps SET status = (SELECT 'on') WHERE id = (SELECT id FROM w)", False),
        ("WITH l AS (UPDATE lamps SET status = 'on' WHERE id = $1) UPDATE w SET a = 1 WHERE status = 'x'", False),
        ("UPDATE lamps SET status = 'on'", False),
        (
            "INSERT INTO lamps (id, status) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET status = excluded.status",
            False,
        ),
        (
            "INSERT INTO lamps AS l VALUES ($1) ON CONFLICT (id) DO UPDATE SET status = 'on' WHERE l.status = 'off'",
            True,
        ),
        (
            "INSERT INTO lamps VALUES ($1) ON CONFLICT (id) DO UPDATE SET status = $2 WHERE excluded.status = 'on'",
            False,
        ),
        ("INSERT INTO lamps VALUES ($1) ON CONFLICT (id) WHERE status = 'on' DO UPDATE SET watts = 1", True),
        ("INSERT INTO w VALUES (1); INSERT INTO lamps VALUES (1) ON CONFLICT (id) DO UPDATE SET status = 'on'", False),
    ],
)
def test_a_statement_names_the_state_before_by_a_comparison(text: str, is_named: bool) -> None:
    assert (not list(unconditional_writes(text))) == is_named


def state_writing_constants(path: Path) -> set[str]:
    constants = constants_of(path)
    return {
        name
        for name, value in constants.items()
        for text in [rendered(value, constants) or ""]
        if any(ASSIGNED.search(at_the_top(clause(text[found.end() :]))) for found in UPDATE.finditer(text))
    }


def test_a_statement_that_changed_no_state_is_noticed() -> None:
    """Its count of rows is checked by `change_state`, or by the function that runs it."""
    ignored = set()
    for path in python_files(*SHAPED.values()):
        names = state_writing_constants(path)
        for node in nodes_of(path):
            match node:
                case ast.Expr(
                    value=ast.Await(value=ast.Call(func=ast.Attribute(attr=run), args=[ast.Name(id=name), *_]))
                ):
                    if run in ("execute", "execute_many") and name in names:
                        ignored.add(f"{path.relative_to(ROOT / 'services')}:{name}")
    assert ignored == set(OF_ANY_ROWS), "\n".join(sorted(ignored ^ set(OF_ANY_ROWS)))
