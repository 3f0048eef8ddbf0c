import pytest

from common.primitives.ids import new_id
from orders.domain.errors import DeliveryPinLocked, ForbiddenTransition
from orders.domain.pins import (
    WRONG_ATTEMPTS_MAX,
    CorrectPin,
    IssuedPin,
    PinKey,
    WrongPin,
    attempts_remaining,
    evaluate_attempt,
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
    assert evaluate_attempt("dispatched", issued(wrong_tries), tried("123457")) == WrongPin(4 - wrong_tries)


def test_after_five_wrong_attempts_even_the_correct_pin_is_rejected() -> None:
    with pytest.raises(DeliveryPinLocked) as error:
        evaluate_attempt("dispatched", issued(5), tried("123456"))
    assert int(error.value.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    "state", [state for state in STATES if state not in ("paid_escrow", "dispatched", "delivered", "paid")]
)
def test_no_other_state_accepts_a_pin_or_counts_an_attempt(state) -> None:
    with pytest.raises(ForbiddenTransition):
        evaluate_attempt(state, issued(), tried("123456"))


def test_a_pin_opens_its_own_order_and_its_own_issue_only() -> None:
    assert evaluate_attempt("dispatched", issued(issue=2), tried("123456", issue=1)) == WrongPin(4)
    assert evaluate_attempt("dispatched", issued(), tried("123456", order=new_id())) == WrongPin(4)


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
