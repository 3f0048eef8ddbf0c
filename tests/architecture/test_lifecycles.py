"""The page of lifecycles shows every transition of the tables, and the tables agree with the databases and statements."""

import re

import pytest

from campus_tools.documents.lifecycles import lifecycles
from campus_tools.documents.lifecycles_page import page
from tests.architecture.sources import ROOT

# The table of each lifecycle: its service, its name, and triggers' targets that are written as parameters.
TABLES = {
    "Order": ("orders", "orders"),
    "Payment": ("payments", "payment_intents"),
    "Refund": ("payments", "refunds"),
    "Payout": ("payouts", "payout_requests"),
    "Transfer": ("payouts", "payout_transfers"),
    "Exception": ("payouts", "payout_exceptions"),
    "Ticket": ("notifications", "support_tickets"),
}
BYTES_MAX = 100_000


def test_every_lifecycle_has_its_table() -> None:
    assert [one.name for one in lifecycles()] == list(TABLES)


@pytest.mark.parametrize("lifecycle", lifecycles(), ids=lambda one: one.name)
def test_the_states_are_those_of_the_database(lifecycle) -> None:
    service, table = TABLES[lifecycle.name]
    schema = (ROOT / "services" / service / "migrations/schema.sql").read_text()
    known = re.search(rf"CONSTRAINT {table}_status_known CHECK \(\(status = ANY \(ARRAY\[(.*?)\]\)\)\)", schema)
    assert known is not None
    assert set(re.findall(r"'(\w+)'", known[1])) == set(lifecycle.states)


@pytest.mark.parametrize("lifecycle", lifecycles(), ids=lambda one: one.name)
def test_a_statement_writes_only_states_of_the_table(lifecycle) -> None:
    service, table = TABLES[lifecycle.name]
    statement = re.compile(
        rf"UPDATE {table}(?: AS \w+)?\s+SET\s+status = (?:CASE WHEN .*? THEN )?'(\w+)'(?: ELSE '(\w+)')?"
    )
    written = {
        state
        for path in (ROOT / "services" / service / "src").rglob("store/**/*.py")
        for found in statement.findall(path.read_text())
        for state in found
        if state
    }
    assert written <= {each.after for each in lifecycle.transitions}


def test_the_page_shows_every_transition_as_text() -> None:
    text = page()
    for lifecycle in lifecycles():
        section = text.partition(f'<h2 id="{lifecycle.name.lower()}">')[2].partition("<h2")[0]
        assert section.count("<svg") == 1
        for each in lifecycle.transitions:
            assert f"<code>{each.trigger}</code>" in section
            assert f"<code>{each.before}</code>" in section
            assert each.after == each.before or f"<code>{each.after}</code>" in section


def test_the_page_is_small_and_has_no_inline_script_or_style() -> None:
    text = page()
    assert len(text.encode()) < BYTES_MAX
    assert re.findall(r"<script[^>]*>(?!</script>)", text) == []
    assert " style=" not in text
