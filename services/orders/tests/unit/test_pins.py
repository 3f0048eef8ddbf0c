from uuid import UUID

import pytest

from common.primitives.ids import new_id
from orders.domain.errors import ForbiddenTransition, NoDeliveryPinYet
from orders.domain.pins import (
    WRONG_ATTEMPTS_MAX,
    CorrectPin,
    IssuedPin,
    LockedPin,
    PinKey,
    WrongPin,
    attempts_remaining,
    check_pin_visible,
    evaluate_attempt,
    missing_pin_error,
)
from orders.domain.transitions import STATES

KEY = PinKey("a pin key for the tests")
ORDER = new_id()


def issued(wrong_tries=0, issue=1):
    return IssuedPin(issue, KEY.digest(ORDER, issue, "123456"), wrong_tries)


def tried(pin, issue=1, order=ORDER):
    return KEY.digests(order, issue, pin)


@pytest.mark.parametrize(
    ("state", "is_delivered"), [("paid_escrow", True), ("dispatched", True), ("delivered", False), ("paid", False)]
)
def test_the_right_pin_delivers_once(state: str, is_delivered: bool) -> None:
    assert evaluate_attempt(state, issued(), tried("123456")) == CorrectPin(is_delivered)


@pytest.mark.parametrize("wrong_tries", range(WRONG_ATTEMPTS_MAX))
def test_a_wrong_pin_counts_an_attempt(wrong_tries: int) -> None:
    attempt = evaluate_attempt("dispatched", issued(wrong_tries), tried("123457"))
    assert attempt == WrongPin(4 - wrong_tries, counts=True)
    assert attempt.event == ("pin_locked" if wrong_tries == 4 else "pin_rejected")


def test_after_five_wrong_attempts_even_the_correct_pin_is_rejected() -> None:
    assert evaluate_attempt("dispatched", issued(5), tried("123456")) == LockedPin(3)


@pytest.mark.parametrize(
    "state", [state for state in STATES if state not in ("paid_escrow", "dispatched", "delivered", "paid")]
)
def test_no_other_state_accepts_a_pin_or_counts_an_attempt(state) -> None:
    with pytest.raises(ForbiddenTransition):
        evaluate_attempt(state, issued(), tried("123456"))


def test_a_pin_opens_its_own_order_and_its_own_issue_only() -> None:
    assert evaluate_attempt("dispatched", issued(issue=2), tried("123456", issue=1)) == WrongPin(4)
    assert evaluate_attempt("dispatched", issued(), tried("123456", order=new_id())) == WrongPin(4)


@pytest.mark.parametrize("state", ["paid_escrow", "dispatched", "delivered", "paid"])
def test_an_order_without_pin_accepts_no_attempt(state: str) -> None:
    with pytest.raises(ForbiddenTransition):
        evaluate_attempt(state, None, tried("123456"))


def test_a_pin_that_was_stored_under_the_previous_key_is_accepted_during_a_rotation() -> None:
    during = PinKey("the next pin key", previous="a pin key for the tests")
    assert evaluate_attempt("dispatched", issued(), during.digests(ORDER, 1, "123456")) == CorrectPin(delivers=True)
    assert evaluate_attempt("dispatched", issued(), during.digests(ORDER, 1, "123457")) == WrongPin(4)
    after = PinKey("the next pin key")
    assert during.digest(ORDER, 1, "123456") == after.digest(ORDER, 1, "123456")
    assert evaluate_attempt("dispatched", issued(), after.digests(ORDER, 1, "123456")) == WrongPin(4)


def test_a_stored_digest_stays_valid_after_an_upgrade_of_the_service() -> None:
    order_id = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
    assert KEY.digest(order_id, 1, "123456").hex() == "7a2516ac093e8d7281f546d88207a40781dbe152971514db461ab8614e332607"
    assert (
        KEY.fingerprints(order_id, "123456")[0].hex()
        == "67940e1e73ad177dd5de8b7dfe938dcce572e6d72cc89d6682451f6b06b8806e"
    )


def test_a_repeated_verification_is_recognized_by_order_and_pin_under_both_keys() -> None:
    (stored,) = KEY.fingerprints(ORDER, "123456")
    during = PinKey("the next pin key", previous="a pin key for the tests")
    assert stored in during.fingerprints(ORDER, "123456")
    assert stored != during.fingerprints(ORDER, "123456")[0]
    assert stored not in KEY.fingerprints(ORDER, "123457")
    assert stored not in KEY.fingerprints(new_id(), "123456")
    assert stored not in KEY.digests(ORDER, 1, "123456")


@pytest.mark.parametrize("state", STATES)
def test_an_unpaid_order_has_no_pin_yet(state) -> None:
    is_unpaid = state in ("Processing", "expired", "cancelled")
    assert isinstance(missing_pin_error(state), NoDeliveryPinYet if is_unpaid else ForbiddenTransition)


@pytest.mark.parametrize("state", STATES)
def test_the_pin_is_visible_until_its_use_or_a_refund(state) -> None:
    if state in ("paid_escrow", "dispatched", "disputed"):
        check_pin_visible(state)
    else:
        with pytest.raises(ForbiddenTransition):
            check_pin_visible(state)


def test_digests_of_two_keys_differ() -> None:
    assert PinKey("another pin key for tests").digests(ORDER, 1, "123456") != tried("123456")


def test_the_remaining_attempts_are_never_negative() -> None:
    assert [attempts_remaining(count) for count in range(7)] == [5, 4, 3, 2, 1, 0, 0]


@pytest.mark.parametrize("state", ["delivered", "paid"])
@pytest.mark.parametrize("wrong_tries", [0, WRONG_ATTEMPTS_MAX])
def test_a_used_pin_counts_no_attempt_and_is_never_locked(state: str, wrong_tries) -> None:
    assert evaluate_attempt(state, issued(wrong_tries), tried("123456")) == CorrectPin(delivers=False)
    wrong = evaluate_attempt(state, issued(wrong_tries), tried("123457"))
    assert wrong == WrongPin(WRONG_ATTEMPTS_MAX - wrong_tries, counts=False)
