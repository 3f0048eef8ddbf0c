"""The personal records that this service stores, for the user's own export."""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section("contact", "SELECT user_id::text AS place, email, heard_at FROM buyers WHERE user_id = $1"),
    Section(
        "payments",
        "SELECT id::text AS place, id, order_id, reference, amount_minor, currency, status, channel, "
        "callback_url, created_at, paid_at, "
        "failure_reason "
        "FROM payment_intents WHERE buyer_id = $1",
    ),
    Section("purchases", "SELECT id::text AS place, id, number FROM purchases WHERE buyer_id = $1"),
    Section(
        "refunds",
        "SELECT refunds.id::text AS place, refunds.id, refunds.order_id, refunds.kind, refunds.amount_minor, "
        "refunds.currency, "
        "refunds.status, refunds.reason, refunds.failure, refunds.created_at, refunds.settled_at "
        "FROM refunds JOIN payable_orders AS placed ON placed.id = refunds.order_id WHERE placed.buyer_id = $1",
        past_policies=True,
    ),
    Section(
        "refundDestinations",
        "SELECT decision.id::text AS place, decision.refund_id, decision.status, decision.account_last4, "
        "decision.bank_code, "
        "decision.account_name, decision.prepared_at FROM refund_decisions AS decision JOIN refunds ON "
        "refunds.id = decision.refund_id "
        "JOIN payable_orders AS placed ON placed.id = refunds.order_id WHERE placed.buyer_id = $1 AND action = "
        "'other_destination'",
        past_policies=True,
    ),
    Section(
        "balance",
        "SELECT lpad(sequence::text, 12, '0') AS place, id, kind, order_id, amount_minor, balance_minor, at "
        "FROM balance_lines WHERE user_id = $1",
    ),
    Section(
        "withdrawals",
        "SELECT id::text AS place, id, amount_minor, status, account_last4, bank_code, account_name, failure, "
        "created_at, paid_at FROM withdrawals WHERE user_id = $1",
    ),
)
