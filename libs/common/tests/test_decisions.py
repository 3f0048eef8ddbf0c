"""The checker decides once, on exactly what the maker prepared."""

from uuid import uuid4

import pytest

from common.primitives.decisions import (
    AlreadyDecided,
    DecidedByItsMaker,
    NothingPrepared,
    OtherContent,
    PreparedDecision,
    content_hash,
    evaluate_approval,
    evaluate_rejection,
)

MAKER, CHECKER = uuid4(), uuid4()
HASH = content_hash({"amountMinor": 1})


def _decision(status: str) -> PreparedDecision:
    return PreparedDecision(status, MAKER, HASH)


def test_an_approval_is_applied_once() -> None:
    assert evaluate_approval(_decision("prepared"), HASH, CHECKER) is True
    assert evaluate_approval(_decision("approved"), HASH, CHECKER) is False


def test_a_rejection_is_applied_once() -> None:
    assert evaluate_rejection(_decision("prepared"), CHECKER) is True
    assert evaluate_rejection(_decision("rejected"), CHECKER) is False


@pytest.mark.parametrize("status", ["rejected", "overtaken", "expired"])
def test_a_closed_decision_is_not_approved(status: str) -> None:
    with pytest.raises(AlreadyDecided):
        evaluate_approval(_decision(status), HASH, CHECKER)


@pytest.mark.parametrize("status", ["approved", "overtaken", "expired"])
def test_a_closed_decision_is_not_rejected(status: str) -> None:
    with pytest.raises(AlreadyDecided):
        evaluate_rejection(_decision(status), CHECKER)


@pytest.mark.parametrize("status", ["prepared", "approved", "rejected"])
def test_the_maker_of_a_decision_cannot_decide_it(status: str) -> None:
    with pytest.raises(DecidedByItsMaker):
        evaluate_approval(_decision(status), HASH, MAKER)
    with pytest.raises(DecidedByItsMaker):
        evaluate_rejection(_decision(status), MAKER)


@pytest.mark.parametrize("status", ["prepared", "approved", "rejected"])
@pytest.mark.parametrize("other", [content_hash({"amountMinor": 2}), "", HASH.upper(), HASH[:-1], "\N{SNOWMAN}"])
def test_the_hash_of_another_content_approves_nothing(status: str, other: str) -> None:
    with pytest.raises(OtherContent):
        evaluate_approval(_decision(status), other, CHECKER)


def test_a_decision_that_was_never_prepared_is_rejected() -> None:
    with pytest.raises(NothingPrepared):
        evaluate_approval(None, HASH, CHECKER)
    with pytest.raises(NothingPrepared):
        evaluate_rejection(None, CHECKER)


def test_the_order_of_the_fields_does_not_change_the_hash() -> None:
    assert content_hash({"a": 1, "b": {"c": 2, "d": 3}}) == content_hash({"b": {"d": 3, "c": 2}, "a": 1})
