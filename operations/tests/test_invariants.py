"""The file of invariants: a block that is not a rule with its query is rejected, and none is left out."""

from pathlib import Path

import pytest

from operations.audit import invariants
from operations.audit.invariants import INVARIANTS, read_invariants

HEAD = "-- About the file.\n\n"


def test_a_block_is_a_rule_of_each_service_that_it_names() -> None:
    [first, second] = read_invariants(
        f"{HEAD}-- payments, payouts (open): nothing waits\n-- A reason.\nSELECT 1\nWHERE false;\n"
        "-- undecided\n-- Another.\nSELECT 2;\n"
    )
    assert (first.service, second.service) == ("payments", "payouts")
    assert (first.rule, first.kind) == ("nothing waits", "open")
    assert (first.offending, first.undecided) == ("SELECT 1\nWHERE false", "SELECT 2")


@pytest.mark.parametrize(
    "block",
    [
        "-- payments: a rule without its query",
        "-- a sentence without its services\nSELECT 1;",
        "-- payments (late): a rule of an unknown kind\nSELECT 1;",
        "-- payments: two rules\nSELECT 1;\n-- payments: without a line between them\nSELECT 2;",
    ],
)
def test_a_block_of_another_form_is_rejected(block: str) -> None:
    with pytest.raises(ValueError, match=block.partition("\n")[0][3:].partition("(")[0]):
        list(read_invariants(f"{HEAD}{block}\n"))


def test_every_query_of_the_file_is_a_rule_and_every_rule_has_its_own_sentence() -> None:
    text = Path(invariants.__file__).with_name("invariants.sql").read_text()
    named = [(line.service, line.rule) for line in INVARIANTS]
    assert len(set(named)) == len(named)
    assert len({line.offending for line in INVARIANTS}) + sum(
        bool(line.undecided) for line in INVARIANTS
    ) == text.count(";\n")
