import pytest

from common.primitives.ids import new_id
from payouts.domain import accounts
from payouts.domain.transfer_fees import FeeSchedule, fee_to_post
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate

NAIRA = 100


@pytest.mark.parametrize(
    ("amount_minor", "fee_minor"),
    [
        (1, 10 * NAIRA),
        (5_000 * NAIRA, 10 * NAIRA),
        (5_000 * NAIRA + 1, 25 * NAIRA),
        (50_000 * NAIRA, 25 * NAIRA),
        (50_000 * NAIRA + 1, 50 * NAIRA),
    ],
)
def test_the_default_schedule_is_paystacks(amount_minor, fee_minor) -> None:
    from payouts.settings import Settings

    schedule = FeeSchedule.parse(Settings.model_fields["payout_transfer_fees"].default)
    assert schedule.fee_minor(amount_minor) == fee_minor


def test_an_empty_schedule_is_free_and_the_last_tier_has_no_end() -> None:
    assert FeeSchedule.parse("").fee_minor(1) == 0
    assert FeeSchedule.parse("10:1, 20:2").fee_minor(21) == 2


@pytest.mark.parametrize("text", ["10", "10:", "x:1", "10:-1", "20:1,10:2", "*:1,10:2", "10:1,10:2"])
def test_a_malformed_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        FeeSchedule.parse(text)


# posted, source, status, reported -> to post
BOOKINGS = [
    (None, "webhook", "success", 1000, 1000),
    (None, "call", "success", 1000, 1000),
    (None, "query", "success", 0, 0),
    (None, "query", "success", None, None),
    (None, "call", "pending", 1000, None),
    (None, "query", "failed", 1000, None),
    (None, "webhook", "reversed", 1000, None),
    (1000, "webhook", "success", 1000, None),
    # An older webhook that arrives late corrects nothing.
    (0, "webhook", "success", 1000, None),
    (1000, "webhook", "reversed", 0, None),
    (1000, "query", "reversed", 0, 0),
    (1000, "query", "success", 2500, 2500),
    (1000, "query", "pending", 0, None),
]


@pytest.mark.parametrize(("booked", "source", "status", "reported", "to_post"), BOOKINGS)
def test_a_fee_is_booked_with_its_success_and_corrected_by_queries(
    booked: int | None, source: str, status: str, reported: int | None, to_post: int | None
) -> None:
    transfer = LockedTransfer(
        *(new_id() for _ in range(4)), "po-1", "pending", 500, "NGN", "pending", None, fee_minor=booked
    )
    assert fee_to_post(transfer, TransferUpdate(source, status, 500, "NGN", fee_minor=reported)) == to_post
    assert fee_to_post(transfer, TransferUpdate(source, status, 501, "NGN", fee_minor=reported)) is None


@pytest.mark.parametrize("added_minor", [1000, -1000])
def test_the_fee_and_its_return_balance(added_minor: int) -> None:
    posting = accounts.transfer_fee("transfer_fee:1", added_minor)
    assert {entry.account.name: entry.amount_minor for entry in posting.entries} == {
        "transfer_fees": added_minor,
        "gateway_cash": -added_minor,
    }
