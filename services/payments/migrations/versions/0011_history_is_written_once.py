"""The service's roles may not change or delete rows that are history (decision 31).

Revision ID: 0011
"""

from typing import Final

from alembic import op

from common.migrations.functions import protect_history_v1, release_history_v1

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

SERVICE = "payments"

# The columns that may still change; all others are written once.
HISTORY: Final = {
    "charges": "verdict, order_id",
    "releases": "",
    "payment_references": "",
    "payment_intent_keys": "",
    "payment_intents": (
        "access_code, authorization_url, callback_url, channel, failed_at, failure_reason, "
        "opening_until, paid_at, queries, query_at, reference, status"
    ),
    "processed_webhook_events": "outcome",
    "dead_letter_webhooks": "replayed_at",
    "escrows": (
        "charged_back_minor, dispute_sequence, disputed_at, locked_commission_minor, locked_delivery_fee_minor, "
        "locked_vendor_minor, refunded_minor, released_commission_minor, released_delivery_fee_minor, released_vendor_minor"
    ),
    "refunds": (
        "amount_minor, attempt_id, due_at, failure, gateway_refund_id, questions, "
        "reason, recipient_code, settled_at, status, submitted_at"
    ),
    "failed_refund_attempts": "confirmed_at, failure, recipient_code",
    "quarantined_charges": "order_id, refund_id, status",
    "quarantine_decisions": "decided_at, decided_by, reason, rejection, status",
    "refund_decisions": (
        "account_last4, account_name, bank_code, decided_at, decided_by, "
        "name_at_bank, reason, recipient_code, rejection, status"
    ),
    "chargebacks": (
        "amount_minor, decided_at, locked_commission_minor, locked_delivery_fee_minor, locked_vendor_minor, "
        "loss_minor, released_commission_minor, released_delivery_fee_minor, released_vendor_minor, status"
    ),
    "reconciliation_cases": (
        "alerted_at, closed_at, closed_by, currency, detail, evidence, "
        "ours_minor, seen_at, status, theirs_minor, unexplained_minor"
    ),
}

# The followers and the condition of `payments.store.retention`, under the owner's rights. Seven days is the least that
# WEBHOOKS_KEEP_DAYS may be: the service itself cannot remove what is younger.
_REMOVE_FINAL_WEBHOOKS: Final = """
CREATE FUNCTION remove_final_webhooks(until timestamptz, rows_max integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE removed bigint;
BEGIN
    IF until > now() - interval '7 days' THEN
        RAISE EXCEPTION 'webhooks are kept for at least seven days' USING ERRCODE = 'restrict_violation';
    END IF;
    WITH old AS MATERIALIZED (
        SELECT id FROM processed_webhook_events AS event
        WHERE processed_at <= until AND outcome IN ('done', 'ignored') AND NOT EXISTS (
            SELECT FROM dead_letter_webhooks AS letter
            WHERE letter.webhook_id = event.id AND coalesce(letter.replayed_at, letter.failed_at) > until
        ) AND NOT EXISTS (
            SELECT FROM revised_webhooks AS revised
            WHERE revised.webhook_id = event.id AND (revised.due_at IS NOT NULL OR revised.revised_at > until)
        )
        ORDER BY processed_at LIMIT rows_max FOR UPDATE OF event SKIP LOCKED
    ), letters AS (DELETE FROM dead_letter_webhooks USING old WHERE dead_letter_webhooks.webhook_id = old.id),
    revisions AS (DELETE FROM webhook_revisions USING old WHERE webhook_revisions.webhook_id = old.id),
    revised AS (DELETE FROM revised_webhooks USING old WHERE revised_webhooks.webhook_id = old.id)
    DELETE FROM processed_webhook_events AS going USING old WHERE going.id = old.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$
"""


def upgrade() -> None:
    for table, updatable in HISTORY.items():
        protect_history_v1(SERVICE, table, updatable)
    op.execute(_REMOVE_FINAL_WEBHOOKS)
    op.execute("REVOKE EXECUTE ON FUNCTION remove_final_webhooks FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION remove_final_webhooks TO campus_{SERVICE}_service")


def downgrade() -> None:
    op.execute("DROP FUNCTION remove_final_webhooks")
    for table in HISTORY:
        release_history_v1(SERVICE, table)
