"""Lifecycles decide: their states are those of the databases, and their page shows every transition."""

import re

import pytest

from campus_tools.documents.lifecycles import LIFECYCLES
from campus_tools.documents.lifecycles_page import page
from tests.architecture.sources import ROOT

BYTES_MAX = 150_000


def states_of(table: str) -> set[str]:
    """Return the states that the constraint of `<service>.<table>` knows."""
    service, _, name = table.partition(".")
    schema = (ROOT / "services" / service / "migrations/schema.sql").read_text()
    known = re.search(rf"CONSTRAINT {name}_status_known CHECK \(\(status = ANY \(ARRAY\[(.*?)\]\)\)\)", schema)
    assert known is not None
    return set(re.findall(r"'(\w+)'", known[1]))


@pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda one: one.name)
def test_the_states_are_those_of_the_database(lifecycle) -> None:
    assert set().union(*map(states_of, LIFECYCLES[lifecycle])) == set(lifecycle.states)


@pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda one: one.name)
def test_the_page_shows_every_transition_as_text(lifecycle) -> None:
    section = page().partition(f'<h2 id="{lifecycle.name.lower()}">')[2].partition("<h2")[0]
    assert section.count("<svg") == 1
    for trigger, rule in lifecycle.rules.items():
        assert f"<code>{trigger}</code>" in section or not rule.to
        for before, after in rule.to.items():
            assert f"<code>{before}</code>" in section
            assert after == before or f"<code>{after}</code>" in section


def test_the_page_is_small_and_has_no_inline_script_or_style() -> None:
    text = page()
    assert len(text.encode()) < BYTES_MAX
    assert re.findall(r"<script[^>]*>(?!</script>)", text) == []
    assert " style=" not in text
