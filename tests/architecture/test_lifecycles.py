"""Lifecycles decide: each state of the databases has one, with the same states, and their page shows every
transition.
"""

import re
from itertools import pairwise

from campus_tools.documents.lifecycles import LIFECYCLES, USUAL_WAY
from campus_tools.documents.lifecycles_page import page
from contracts.permissions import PERMISSIONS_BY_ROLE
from testkit.cases import for_each
from tests.architecture.sources import ROOT

BYTES_MAX = 150_000
KNOWN_STATES = re.compile(
    r"CONSTRAINT (?P<table>\w+)_\w+_known CHECK \(\(\(?(?:status|state) = ANY \(ARRAY\[(?P<states>.*?)\]"
)
PROJECTIONS = {
    "orders.order_refunds": "payments decides; the sequence of its events orders them",
    "payments.payable_orders": "orders decides, except that payments records its own charge as paid",
}


def states_by_table() -> dict[str, set[str]]:
    """Return the states of each `<service>.<table>` whose constraint lists them."""
    return {
        f"{schema.parts[-3]}.{known['table']}": set(re.findall(r"'(\w+)'", known["states"]))
        for schema in (ROOT / "services").glob("*/migrations/schema.sql")
        for known in KNOWN_STATES.finditer(schema.read_text())
    }


def test_every_stored_state_has_a_lifecycle() -> None:
    governed = {table for tables in LIFECYCLES.values() for table in tables}
    assert governed | set(PROJECTIONS) == set(states_by_table())


def test_the_rules_name_permissions_that_exist() -> None:
    named = {
        word
        for lifecycle in LIFECYCLES
        for rule in lifecycle.rules.values()
        for word in re.findall(r"`(\w+:\w+)`", rule.by)
    }
    assert named - set().union(*PERMISSIONS_BY_ROLE.values()) == set()


@for_each("lifecycle", LIFECYCLES, ids=lambda one: one.name)
def test_the_states_are_those_of_the_database(lifecycle) -> None:
    assert set().union(*(states_by_table()[table] for table in LIFECYCLES[lifecycle])) == set(lifecycle.states)


@for_each("lifecycle", LIFECYCLES, ids=lambda one: one.name)
def test_the_page_shows_every_transition_as_text(lifecycle) -> None:
    section = page().partition(f'<h2 id="{lifecycle.name.lower().replace(" ", "-")}">')[2].partition("<h2")[0]
    assert section.count('<ol class="way"') == 1
    for trigger, rule in lifecycle.rules.items():
        assert f"<code>{trigger}</code>" in section or not rule.to
        for before, after in rule.to.items():
            assert f"<code>{before}</code>" in section
            assert after == before or f"<code>{after}</code>" in section


@for_each("lifecycle", LIFECYCLES, ids=lambda one: one.name)
def test_the_usual_way_starts_at_the_start_and_follows_transitions(lifecycle) -> None:
    usual = USUAL_WAY[lifecycle]
    assert usual[0] == lifecycle.states[0]
    assert [step for step in pairwise(usual) if step not in lifecycle.transitions] == []


def test_the_page_is_small_and_has_no_inline_script_or_style() -> None:
    text = page()
    assert len(text.encode()) < BYTES_MAX
    assert re.findall(r"<script[^>]*>(?!</script>)", text) == []
    assert " style=" not in text
