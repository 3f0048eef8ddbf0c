"""Identifiers that a repetition computes again, also after an upgrade: another value would pay twice."""

from uuid import UUID

import pytest

from payments.domain import identifiers

FIRST, SECOND = UUID(int=1), UUID(int=2)


def test_releases_and_refunds_keep_their_ids_over_versions() -> None:
    computed = (
        identifiers.delivery_release_id(FIRST),
        identifiers.resolution_release_id(FIRST, 1),
        identifiers.resolution_release_id(FIRST, 2),
        identifiers.won_chargeback_release_id(FIRST, 1),
        identifiers.quarantine_refund_id("ch-1/7"),
        identifiers.overpayment_refund_id("ch-1/7"),
        identifiers.reversal_refund_id(FIRST, 1, SECOND),
    )
    assert [str(identifier) for identifier in computed] == [
        "34a66abd-6071-5813-806b-479e98725355",
        "b6c70ce6-1ca6-5b70-8025-568d715138f3",
        "c837082d-024d-5177-97e8-317929bcac18",
        "a742b88b-81b3-5f58-bf5d-2ff7af5de589",
        "3db3ec44-b830-59f3-bd7d-c40a0b06387f",
        "1259e8a9-fd96-5154-b1f9-79a038c9f3c1",
        "9a2be860-363f-5b78-bdd3-2fb1e472326b",
    ]


def test_a_second_loss_of_a_dispute_has_ids_of_its_own() -> None:
    assert identifiers.won_chargeback_release_id(FIRST, 2) != identifiers.won_chargeback_release_id(FIRST, 1)
    assert identifiers.reversal_refund_id(FIRST, 2, SECOND) != identifiers.reversal_refund_id(FIRST, 1, SECOND)


def test_references_are_a_prefix_and_32_hex_digits() -> None:
    assert identifiers.charge_reference(FIRST) == "ch-00000000000000000000000000000001"
    assert identifiers.refund_reference(FIRST) == "re-00000000000000000000000000000001"


def test_an_attempt_is_found_by_its_reference() -> None:
    attempt = UUID("018cc251-f400-7000-8000-00000000000a")
    assert identifiers.attempt_of_reference("re-018cc251f4007000800000000000000a") == attempt


@pytest.mark.parametrize(
    "note",
    [
        None,
        "",
        "Refund for Chidi",
        "re-",
        "re-018cc251f400700080000000000000a",
        "re-018cc251f4007000800000000000000a0",
        "re-018cc251f4007000800000000000000a\n",
        "re-018CC251F4007000800000000000000A",
        "re-018cc251-f400-7000-8000-00000000000a",
        " re-018cc251f4007000800000000000000a",
        "ch-018cc251f4007000800000000000000a",
        "018cc251f4007000800000000000000a",
    ],
)
def test_any_other_text_names_no_attempt(note: str | None) -> None:
    assert identifiers.attempt_of_reference(note) is None
