"""When a reported fee of a refund's transfer enters the ledger."""

from dataclasses import replace

import pytest

from payments.domain.refunds import RefundUpdate, fee_to_post, refund_of_transfer
from payments.domain.transfers import TransferUpdate

UPDATE = RefundUpdate("TRF_1", "re-1", "processed", 100_000, "NGN", None, transfer_fee_minor=1_000)


@pytest.mark.parametrize(
    ("status", "reported", "booked", "by_webhook", "by_query"),
    [
        ("processed", 1_000, None, 1_000, 1_000),
        ("processed", 0, None, 0, 0),
        ("processed", None, None, None, None),
        ("processed", 1_000, 1_000, None, None),
        ("processed", 1_000, 0, None, 1_000),
        ("processed", None, 1_000, None, None),
        ("pending", 1_000, None, None, None),
        ("pending", 0, 1_000, None, None),
        ("failed", 1_000, None, None, None),
        ("reversed", 1_000, None, None, None),
        ("reversed", 0, 1_000, None, 0),
        ("failed", 0, 1_000, None, 0),
    ],
)
def test_a_success_posts_and_only_a_query_corrects(
    status: str, reported: int | None, booked: int | None, by_webhook: int | None, by_query: int | None
) -> None:
    update = replace(UPDATE, status=status, transfer_fee_minor=reported)
    assert fee_to_post(update, booked, is_queried=False) == by_webhook
    assert fee_to_post(update, booked, is_queried=True) == by_query


@pytest.mark.parametrize(("currency", "fee_minor"), [("NGN", 1_000), ("GHS", None)])
def test_only_a_transfer_in_naira_has_a_fee(currency: str, fee_minor: int | None) -> None:
    transfer = TransferUpdate(
        "re-1", "TRF_1", 100_000, currency, "success", "success", None, None, None, None, fee_minor=1_000
    )
    assert refund_of_transfer(transfer).transfer_fee_minor == fee_minor
