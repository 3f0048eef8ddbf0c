"""The gateway's list of refunds compared with the ledger."""

from dataclasses import replace

from common.primitives.ids import new_id
from payments.domain.identifiers import refund_reference
from payments.domain.reconciliation import RecordedRefund, compare_refund
from payments.domain.refunds import RefundUpdate


def test_a_second_refund_under_one_note_is_a_case():
    attempt_id = new_id()
    recorded = RecordedRefund(new_id(), attempt_id, new_id(), "NGN", "settled", 5_000, "501")
    first = RefundUpdate("501", refund_reference(attempt_id), "processed", 5_000, "NGN", None)
    assert compare_refund(first, attempt_id, recorded) == []
    [difference] = compare_refund(replace(first, gateway_refund_id="502"), attempt_id, recorded)
    assert (difference.kind, difference.subject, difference.order_id) == (
        "refund_not_in_book",
        "refund:502",
        recorded.order_id,
    )
    assert "second time" in difference.detail
